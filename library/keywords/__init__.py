"""The keyword index of pages, which SQLite and PostgreSQL implement differently."""

from __future__ import annotations

from sqlalchemy import Connection

from library.keywords.fts5 import Fts5Index
from library.keywords.gin import GinIndex
from library.keywords.keyword_protocol import KeywordIndex


def keyword_index(connection: Connection) -> KeywordIndex:
    """Return the keyword index for the dialect of a connection."""
    return Fts5Index() if connection.dialect.name == "sqlite" else GinIndex()
