"""The tables of the users of a server and of their tokens."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, String, Table

from storage.tables import metadata

server_users = Table(
    "server_users",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("key", String(100), nullable=False, unique=True),
    Column("identity", String(100), nullable=False, unique=True),
    Column("operator", Integer, nullable=False, default=0),
    Column("created", Float, nullable=False),
    Column("removed", Float),
)
"""One row per user; `key` is the name in casefold, `identity` the user part of the owner of what
they store. Removed users keep their rows, so that nobody else gets their names."""

user_tokens = Table(
    "user_tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("user", String(100), nullable=False, index=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("label", String(100), nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("used", Float),
)
"""One row per token that was not revoked; only its SHA-256 is stored. `used` is the hour of the
last request with it."""
