"""The users of a server: how they log in, and what belongs to them."""
