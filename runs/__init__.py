"""What is kept of a run: its record, checkpoints, trace and lock."""
