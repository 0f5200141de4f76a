"""Report sentences that are known to be right or wrong, and what the checks make of them."""
