"""Everything that was read: pages, their indexes, search, outline, upkeep."""
