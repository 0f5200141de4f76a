"""Bring the tables of an older program up to date, step by step."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from storage.upgrade_pages import pages_step

Step = Callable[[Connection], None]
"""What one version changed, in the caller's transaction.

A step stands for ever as it was released, so it names tables and columns itself and takes nothing
from `storage.tables`; its statements are such that SQLite and PostgreSQL both read them. New tables
are made after the last step; new indexes of older tables are not.
"""


def upgrade(connection: Connection, version: int) -> None:
    """Take the steps that a database of this version lacks."""
    for step in STEPS[version - 1 :]:
        step(connection)


def _out(connection: Connection) -> None:
    """Runs know where their report was asked for."""
    # Some databases of version 1 have the column already.
    if "out" not in {column["name"] for column in inspect(connection).get_columns("runs")}:
        connection.execute(text("ALTER TABLE runs ADD COLUMN out TEXT NOT NULL DEFAULT ''"))


def _trust(connection: Connection) -> None:
    """Sets of vectors know what they are worth."""
    # Some databases of version 3 have no vectors yet.
    if inspect(connection).has_table("vector_sets"):
        for column in ("trust TEXT NOT NULL DEFAULT '{}'", "judged INTEGER NOT NULL DEFAULT 0"):
            connection.execute(text(f"ALTER TABLE vector_sets ADD COLUMN {column}"))


def _events(connection: Connection) -> None:
    """Events say what was changed, where, and why."""
    short, long = "VARCHAR(200) NOT NULL DEFAULT ''", "TEXT NOT NULL DEFAULT ''"
    columns = {"step": short, "item": short, "provenance": short, "why": long}
    for name, kind in {**columns, "before": long, "after": long}.items():
        connection.execute(text(f"ALTER TABLE events ADD COLUMN {name} {kind}"))
    connection.execute(text("UPDATE events SET after = data"))
    connection.execute(text("ALTER TABLE events DROP COLUMN data"))
    connection.execute(text("DROP INDEX ix_events_owner"))
    for name, columns_of in {
        "events_owner": "owner, id",
        "events_item": "owner, item",
        "ix_events_run": "run",
    }.items():
        connection.execute(text(f"CREATE INDEX {name} ON events ({columns_of})"))


def _attempts(connection: Connection) -> None:
    """Every attempt at a model call has a row; of older runs only successful ones are known."""
    connection.execute(
        text(
            "CREATE TABLE attempts (id VARCHAR(32) NOT NULL PRIMARY KEY, run VARCHAR(80) NOT NULL, "
            "session VARCHAR(64) NOT NULL, role VARCHAR(32) NOT NULL, step VARCHAR(32) NOT NULL, "
            "model VARCHAR(120) NOT NULL, status VARCHAR(64) NOT NULL, tokens_in BIGINT NOT NULL, "
            "tokens_out BIGINT NOT NULL, cost FLOAT NOT NULL, started FLOAT NOT NULL, "
            "ended FLOAT NOT NULL)"
        )
    )
    connection.execute(text("CREATE INDEX ix_attempts_run ON attempts (run)"))
    connection.execute(
        text(
            "INSERT INTO attempts SELECT SUBSTR(key, 1, 32), run, session, role, step, model, "
            "'ok', tokens_in, tokens_out, cost, started, ended FROM calls WHERE kind = 'model'"
        )
    )


UNDOING = frozenset(
    (
        *("fact.undo", "profile.undo", "insight.undo", "experience.undo", "run.undo"),
        *("file.edit", "project.trust"),
        *("pages.keep", "pages.retire", "pages.remove", "pages.restore"),
    )
)
"""The events of version 6 that may undo another one."""

_UNDO = re.compile(r"undo of (?:event )?([1-9]\d{0,17})")


def undone_number(number: int, name: str, provenance: str, why: str) -> int:
    """Return the number of the event that an event of version 6 undoes; 0 where it undoes none.

    Version 6 and exported documents have it in the reason alone. The reasons of events whose
    provenance is not `user` are those of a model.
    """
    said = _UNDO.fullmatch(why) if provenance == "user" and name in UNDOING else None
    undone = int(said[1]) if said else 0
    return undone if undone < number else 0


def _undoes(connection: Connection) -> None:
    """Events know by its number which event they undo."""
    connection.execute(text("ALTER TABLE events ADD COLUMN undoes INTEGER NOT NULL DEFAULT 0"))
    wanted = "SELECT id, owner, name, provenance, why FROM events WHERE why LIKE 'undo of %'"
    for row in connection.execute(text(wanted)).all():
        undone = undone_number(row.id, row.name, row.provenance, row.why)
        # What was imported may name an event that was not imported with it.
        alike = f"{row.name.partition('.')[0]}.%"
        connection.execute(
            text(
                "UPDATE events SET undoes = :undone WHERE id = :id AND EXISTS (SELECT 1 FROM "
                "events AS e WHERE e.id = :undone AND e.owner = :owner AND e.name LIKE :alike)"
            ),
            {"undone": undone, "id": row.id, "owner": row.owner, "alike": alike},
        )


STEPS: tuple[Step, ...] = (_out, pages_step, _trust, _events, _attempts, _undoes)
"""The steps to version 2, 3 and so on."""

SCHEMA = 1 + len(STEPS)
"""The version of the tables; an older program refuses a newer database."""
