"""The tables of proposed edits and of trusted projects.

A change needs a step in `storage.upgrades` too.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    String,
    Table,
    Text,
)

from storage.tables import metadata

proposals = Table(
    "proposals",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("path", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("proposed", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("run", String(80), nullable=False),
    Column("step", String(32), nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("status", String(16), nullable=False),
    Column("created", Float, nullable=False),
    Column("decided", Float),
)
"""Edits of memory files that agents proposed: what stood there, and what shall."""

projects = Table(
    "projects",
    metadata,
    Column("user", String(100), primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("folder", Text, nullable=False),
    Column("trusted", Float, nullable=False),
)
"""The folders whose memory files a user has said may be read, by the project's name."""
