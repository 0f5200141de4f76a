"""Take everything that is remembered to another home, as one JSON document."""
