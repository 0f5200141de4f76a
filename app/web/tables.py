"""The table of the sessions of people who are signed in at the console."""

from __future__ import annotations

from sqlalchemy import Column, Float, LargeBinary, String, Table

from storage.tables import metadata

console_sessions = Table(
    "console_sessions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False, index=True),
)
"""One row per session; `id` is a hash of the secret in the cookie, `sealed` the token with which
somebody signed in, encrypted with a key that only the cookie yields."""
