"""The one database: engine, log of events, outbox, upgrades."""
