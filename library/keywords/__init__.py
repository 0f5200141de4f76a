"""The keyword index of pages: the one thing SQLite and PostgreSQL do each in its own way."""

from __future__ import annotations

from sqlalchemy import Connection

from library.keywords.fts5 import Fts5Index
from library.keywords.gin import GinIndex
from library.keywords.keyword_protocol import KeywordIndex


def keyword_index(connection: Connection) -> KeywordIndex:
    """Return the keyword index that this kind of database has."""
    return Fts5Index() if connection.dialect.name == "sqlite" else GinIndex()
