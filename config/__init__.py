"""Settings, and the tables an operator edits."""
