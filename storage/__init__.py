"""The one database."""
