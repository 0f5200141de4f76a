"""The keyword index of pages: the one thing SQLite and PostgreSQL do each in its own way."""

from __future__ import annotations

from sqlalchemy import Connection

from storage.keywords import fts5, gin
from storage.keywords.base import Entry as Entry
from storage.keywords.base import Keywords


def keywords(connection: Connection) -> Keywords:
    """Return the keyword index that this kind of database has."""
    return fts5 if connection.dialect.name == "sqlite" else gin
