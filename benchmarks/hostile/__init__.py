"""Every command with hostile input and stored data."""
