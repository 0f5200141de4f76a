"""Give every command hostile words, settings and stored data, and see how each ends."""
