"""The table of profiles; a change needs a step in `storage.upgrades` too."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Integer,
    String,
    Table,
    Text,
)

from storage.tables import metadata

profiles = Table(
    "profiles",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("data", Text, nullable=False),
    Column("revision", Integer, nullable=False),
)
"""Who a person is and how they like their answers; `data` is JSON (`memory.profile`)."""
