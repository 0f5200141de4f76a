"""The table of facts; a change needs a step in `storage.upgrades` too."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    text,
)

from storage.tables import metadata

LIVE = text("live = 1")

facts = Table(
    "facts",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("key", String(32), nullable=False),
    Column("content", Text, nullable=False),
    Column("category", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("quote", Text, nullable=False),
    Column("thread", String(64), nullable=False),
    Column("run", String(80), nullable=False),
    Column("message", Text, nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("created", Float, nullable=False),
    Column("valid_from", Float, nullable=False),
    Column("valid_to", Float),
    Column("superseded_by", String(32), nullable=False),
    Column("live", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Index("facts_revision", "owner", "revision"),
    Index("facts_live", "owner", "key", unique=True, sqlite_where=LIVE),
)
"""What is known of a person.

`key` is a hash of the content, however it is written; no two that are `live` (1, else 0) have the
same. `message` is the one that `quote` stands in. A fact holds from `valid_from` to `valid_to`, and
`superseded_by` is the one that took its place. `revision` is the event that changed it last. Of a
fact that was forgotten only its id and its revision are left.
"""
