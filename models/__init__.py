"""Which model plays which role."""
