"""Who uses a server: users, how they log in, and what is theirs."""
