"""Bring the tables of an older program up to date, step by step."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

SPELLINGS = {
    "sqlite": {"key": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT", "clustered": "WITHOUT ROWID"},
    "postgresql": {"key": "SERIAL PRIMARY KEY", "clustered": ""},
}
"""What the dialects spell differently."""

NAMESPACES = """
CREATE TABLE namespaces (
    number {key}, name VARCHAR(32) NOT NULL, owner VARCHAR(200) NOT NULL,
    kind VARCHAR(16) NOT NULL, "group" TEXT NOT NULL, pages INTEGER NOT NULL,
    words INTEGER NOT NULL, title_words INTEGER NOT NULL, UNIQUE (name)
)"""

MEMBERS = """
CREATE TABLE members (
    namespace INTEGER NOT NULL, page INTEGER NOT NULL, "key" VARCHAR(200) NOT NULL,
    PRIMARY KEY (namespace, page)
) {clustered}"""

PAGES = """
CREATE TABLE pages (
    number {key}, id VARCHAR(32) NOT NULL, owner VARCHAR(200) NOT NULL,
    kind VARCHAR(16) NOT NULL, origin TEXT NOT NULL, origin_id VARCHAR(32) NOT NULL,
    place TEXT NOT NULL, session TEXT NOT NULL, session_id VARCHAR(32) NOT NULL,
    position INTEGER NOT NULL, title TEXT NOT NULL, abstract TEXT NOT NULL, text TEXT NOT NULL,
    sha256 VARCHAR(64) NOT NULL, speaker TEXT NOT NULL, said VARCHAR(40) NOT NULL,
    links TEXT NOT NULL, provenance VARCHAR(8) NOT NULL, run VARCHAR(80) NOT NULL,
    created FLOAT NOT NULL, expires FLOAT, superseded_by VARCHAR(32) NOT NULL,
    words TEXT NOT NULL, title_words TEXT NOT NULL, indexed INTEGER NOT NULL, UNIQUE (id)
)"""

BEFORE = (
    "DROP TABLE IF EXISTS page_words",
    "DROP INDEX pages_origin",
    "ALTER TABLE pages RENAME TO pages_before",
    NAMESPACES,
    MEMBERS,
    PAGES,
    # The words are cut at the next search, since `indexed` is 0.
    """
    INSERT INTO pages
    SELECT number, id, owner, kind, origin, '', place, '', '', position, title, abstract, text,
           sha256, '', '', '[]',
           CASE kind WHEN 'file' THEN 'user' WHEN 'web' THEN 'web' ELSE 'model' END,
           CASE kind WHEN 'report' THEN origin ELSE '' END,
           created, NULL, '', '', '', 0
    FROM pages_before ORDER BY number
    """,
    "DROP TABLE pages_before",
)

AFTER = (
    """
    INSERT INTO members
    SELECT namespaces.number, pages.number, '' FROM pages JOIN namespaces
    ON namespaces.owner = pages.owner AND namespaces.kind = pages.kind AND namespaces."group" = ''
    """,
    """
    INSERT INTO members
    SELECT DISTINCT namespaces.number, pages.number, '' FROM pages JOIN documents
    ON documents.owner = pages.owner AND documents.sha256 = pages.origin AND pages.kind = 'file'
    JOIN namespaces
    ON namespaces.owner = pages.owner AND namespaces.kind = 'file'
    AND namespaces."group" = documents.root
    """,
    "DROP INDEX ix_documents_sha256",
    "CREATE INDEX documents_content ON documents (owner, sha256, root)",
    "CREATE INDEX ix_namespaces_owner ON namespaces (owner)",
    'CREATE INDEX members_key ON members (namespace, "key")',
    "CREATE INDEX members_page ON members (page)",
    "CREATE INDEX pages_origin ON pages (owner, origin_id, indexed)",
    "CREATE INDEX pages_session ON pages (owner, session_id, position)",
    "CREATE INDEX pages_indexed ON pages (owner, indexed)",
    "CREATE INDEX pages_expires ON pages (owner, expires) WHERE expires IS NOT NULL",
)

# SQLite holds as much as it is given, whatever the type of the column.
WIDER = """
ALTER TABLE documents
    ALTER COLUMN root TYPE TEXT, ALTER COLUMN path TYPE TEXT,
    ALTER COLUMN size TYPE BIGINT, ALTER COLUMN modified TYPE BIGINT
"""

NEXT = """
SELECT setval(pg_get_serial_sequence('pages', 'number'), COALESCE(MAX(number), 1)) FROM pages
"""

GROUPS = """
SELECT DISTINCT owner, kind, '' AS "group" FROM pages
UNION SELECT DISTINCT owner, 'file', root FROM documents
"""


def _number_pages(connection: Connection) -> None:
    """Make pages what they are in version 3; they are cut again when they are searched."""
    sqlite = connection.dialect.name == "sqlite"
    spelt = SPELLINGS[connection.dialect.name]
    before = BEFORE if sqlite else (*BEFORE, WIDER)
    _execute(connection, *(statement.format(**spelt) for statement in before))
    _name(connection)
    _execute(connection, *AFTER if sqlite else (*AFTER, NEXT))


def _execute(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.execute(text(statement))


def _name(connection: Connection) -> None:
    """Write the hashes by which namespaces, origins and sessions are found."""
    new = text(
        'INSERT INTO namespaces (name, owner, kind, "group", pages, words, title_words) '
        "VALUES (:name, :owner, :kind, :of, 0, 0, 0)"
    )
    for owner, kind, group in connection.execute(text(GROUPS)).all():
        values = {"name": _digest(owner, kind, group), "owner": owner, "kind": kind, "of": group}
        connection.execute(new, values)
    named = text(
        "UPDATE pages SET origin_id = :id, session_id = :session, "
        "session = CASE kind WHEN 'file' THEN origin ELSE '' END "
        "WHERE kind = :kind AND origin = :origin"
    )
    for kind, origin in connection.execute(text("SELECT DISTINCT kind, origin FROM pages")).all():
        values = {"id": _digest(kind, origin), "kind": kind, "origin": origin}
        values["session"] = _digest(origin) if kind == "file" else ""
        connection.execute(named, values)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


UpgradeStep = Callable[[Connection], None]
"""What one version changed, in the caller's transaction.

A step stands for ever as it was released, so it names tables and columns itself and takes nothing
from `storage.tables`; its statements are such that SQLite and PostgreSQL both read them. New tables
are made after the last step; new indexes of older tables are not.
"""


def upgrade_tables(connection: Connection, version: int) -> None:
    """Take the steps that a database of this version lacks."""
    for step in STEPS[version - 1 :]:
        step(connection)


def _out(connection: Connection) -> None:
    """Runs know where their report was asked for."""
    # Some databases of version 1 have the column already.
    if "out" not in {column["name"] for column in inspect(connection).get_columns("runs")}:
        _execute(connection, "ALTER TABLE runs ADD COLUMN out TEXT NOT NULL DEFAULT ''")


def _trust(connection: Connection) -> None:
    """Sets of vectors know what they are worth."""
    # Some databases of version 3 have no vectors yet.
    if inspect(connection).has_table("vector_sets"):
        _execute(
            connection,
            "ALTER TABLE vector_sets ADD COLUMN trust TEXT NOT NULL DEFAULT '{}'",
            "ALTER TABLE vector_sets ADD COLUMN judged INTEGER NOT NULL DEFAULT 0",
        )


def _events(connection: Connection) -> None:
    """Events say what was changed, where, and why."""
    short, long = "VARCHAR(200) NOT NULL DEFAULT ''", "TEXT NOT NULL DEFAULT ''"
    columns = {"step": short, "item": short, "provenance": short, "why": long}
    columns |= {"before": long, "after": long}
    _execute(
        connection,
        *(f"ALTER TABLE events ADD COLUMN {name} {kind}" for name, kind in columns.items()),
        "UPDATE events SET after = data",
        "ALTER TABLE events DROP COLUMN data",
        "DROP INDEX ix_events_owner",
        "CREATE INDEX events_owner ON events (owner, id)",
        "CREATE INDEX events_item ON events (owner, item)",
        "CREATE INDEX ix_events_run ON events (run)",
    )


def _attempts(connection: Connection) -> None:
    """Every attempt at a model call has a row; of older runs only successful ones are known."""
    _execute(
        connection,
        "CREATE TABLE attempts (id VARCHAR(32) NOT NULL PRIMARY KEY, run VARCHAR(80) NOT NULL, "
        "session VARCHAR(64) NOT NULL, role VARCHAR(32) NOT NULL, step VARCHAR(32) NOT NULL, "
        "model VARCHAR(120) NOT NULL, status VARCHAR(64) NOT NULL, tokens_in BIGINT NOT NULL, "
        "tokens_out BIGINT NOT NULL, cost FLOAT NOT NULL, started FLOAT NOT NULL, "
        "ended FLOAT NOT NULL)",
        "CREATE INDEX ix_attempts_run ON attempts (run)",
        "INSERT INTO attempts SELECT SUBSTR(key, 1, 32), run, session, role, step, model, "
        "'ok', tokens_in, tokens_out, cost, started, ended FROM calls WHERE kind = 'model'",
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
    _execute(connection, "ALTER TABLE events ADD COLUMN undoes INTEGER NOT NULL DEFAULT 0")
    wanted = text("SELECT id, owner, name, provenance, why FROM events WHERE why LIKE 'undo of %'")
    undo = text(
        "UPDATE events SET undoes = :undone WHERE id = :id AND EXISTS (SELECT 1 FROM "
        "events AS e WHERE e.id = :undone AND e.owner = :owner AND e.name LIKE :alike)"
    )
    for row in connection.execute(wanted).all():
        undone = undone_number(row.id, row.name, row.provenance, row.why)
        # What was imported may name an event that was not imported with it.
        alike = f"{row.name.partition('.')[0]}.%"
        values = {"undone": undone, "id": row.id, "owner": row.owner, "alike": alike}
        connection.execute(undo, values)


FEEDBACK_STEP = "feedback"
"""The step of the events of feedback from version 8 on."""


def feedback_step(run: str, step: str, provenance: str, why: str) -> str:
    """Return the step of an event of version 7, in which only the reason tells feedback."""
    is_feedback = provenance == "user" and run and why == f"feedback on {run}"
    return FEEDBACK_STEP if is_feedback else step


def _feedback(connection: Connection) -> None:
    """Events know whether a person's feedback on their run led to them."""
    _execute(
        connection,
        f"UPDATE events SET step = '{FEEDBACK_STEP}' WHERE provenance = 'user' AND run != '' "  # noqa: S608
        "AND why = 'feedback on ' || run",
    )


def _metadata(connection: Connection) -> None:
    """Pages know their site, date, author, language and genre; of older ones none is known."""
    short, long = "VARCHAR({}) NOT NULL DEFAULT ''", "TEXT NOT NULL DEFAULT ''"
    columns = {"site": long, "published": short.format(40), "author": long}
    columns |= {"language": short.format(16), "genre": short.format(16)}
    _execute(
        connection,
        *(f"ALTER TABLE pages ADD COLUMN {name} {kind}" for name, kind in columns.items()),
    )


STEPS: tuple[UpgradeStep, ...]
STEPS = (_out, _number_pages, _trust, _events, _attempts, _undoes, _feedback, _metadata)
"""The steps to version 2, 3 and so on."""

SCHEMA_VERSION = 1 + len(STEPS)
"""The version of the tables; an older program refuses a newer database."""
