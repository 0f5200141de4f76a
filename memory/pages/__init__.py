"""Everything that was read or said: kept as pages, found again, forgotten."""
