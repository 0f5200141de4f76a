"""Bring the tables of an older program up to date, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

Step = Sequence[str]
"""Statements that SQLite and PostgreSQL both read."""

STEPS: tuple[Step, ...] = ()
"""What each version changed, version 2 first.

A step stands for ever as it was released, so it names tables and columns itself and takes nothing
from `storage.tables`. Tables and indexes that a step does not make are made after the last one,
except an index of a table that was there before.
"""

SCHEMA = 1 + len(STEPS)
"""The version of the tables; an older program refuses a newer database."""


def upgrade(connection: Connection, version: int) -> None:
    """Execute the steps that a database of this version lacks, in the caller's transaction."""
    for step in STEPS[version - 1 :]:
        for statement in step:
            connection.execute(text(statement))
