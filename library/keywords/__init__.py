"""The keyword index of pages: the one thing SQLite and PostgreSQL do each in its own way."""

from __future__ import annotations

from sqlalchemy import Connection

from library.keywords import fts5, gin
from library.keywords.keyword_protocol import KeywordIndex


def keyword_index(connection: Connection) -> KeywordIndex:
    """Return the keyword index that this kind of database has."""
    return fts5 if connection.dialect.name == "sqlite" else gin
