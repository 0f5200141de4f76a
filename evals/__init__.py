"""How good it is, on data."""
