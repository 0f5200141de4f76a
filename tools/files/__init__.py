"""Read documents of many formats into text that knows where it stands."""
