"""What is known and kept of a run.

Where it is, how it stands, its trace, its lock and its checkpoints.
"""
