"""Erase what is stored for good, prune old runs, export everything and import it elsewhere."""
