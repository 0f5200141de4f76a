"""What surrounds a run: paid once, capped, seen, resumable."""
