"""The table of the messages that were put into the outbox to be learnt from."""

from __future__ import annotations

from sqlalchemy import Column, Float, String, Table

from storage.tables import metadata

heard = Table(
    "heard",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("thread", String(64), primary_key=True),
    Column("message", String(80), primary_key=True),
    Column("at", Float, nullable=False),
)
"""The messages that were put into the outbox to be learnt from, each once."""
