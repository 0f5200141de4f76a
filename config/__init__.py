"""Settings, error codes, and the table of models that an operator edits."""
