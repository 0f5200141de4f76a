"""The table of the vectors of short texts; a change needs a step in `storage.upgrades` too."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    LargeBinary,
    String,
    Table,
)

from storage.tables import metadata

meanings = Table(
    "meanings",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("embedder", String(200), primary_key=True),
    Column("key", String(32), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""The vector of a fact or a question, as 16-bit floats, by the hash of its words.

It is made again where it is missing, so whoever forgets anything forgets all of an owner's.
"""
