"""Which model plays which role, the extractive model, and embedders."""
