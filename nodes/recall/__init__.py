"""The memory researcher: plan, search, integrate, check, at most a few rounds."""
