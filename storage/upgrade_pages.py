"""To version 3: pages have namespaces, an end, and say who is behind them."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, text

NUMBERED = {
    "sqlite": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
    "postgresql": "SERIAL PRIMARY KEY",
}

NAMESPACES = """
CREATE TABLE namespaces (
    number {numbered}, name VARCHAR(32) NOT NULL, owner VARCHAR(200) NOT NULL,
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
    number {numbered}, id VARCHAR(32) NOT NULL, owner VARCHAR(200) NOT NULL,
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


def pages_step(connection: Connection) -> None:
    """Make pages what they are in version 3; they are cut again when they are searched."""
    sqlite = connection.dialect.name == "sqlite"
    spelt = {
        "numbered": NUMBERED[connection.dialect.name],
        "clustered": "WITHOUT ROWID" if sqlite else "",
    }
    for statement in BEFORE if sqlite else (*BEFORE, WIDER):
        connection.execute(text(statement.format(**spelt)))
    _name(connection)
    for statement in AFTER if sqlite else (*AFTER, NEXT):
        connection.execute(text(statement))


def _name(connection: Connection) -> None:
    """Write the hashes by which namespaces, origins and sessions are found."""
    for owner, kind, group in connection.execute(text(GROUPS)).all():
        values = {"name": _digest(owner, kind, group), "owner": owner, "kind": kind, "of": group}
        new = """
            INSERT INTO namespaces (name, owner, kind, "group", pages, words, title_words)
            VALUES (:name, :owner, :kind, :of, 0, 0, 0)
        """
        connection.execute(text(new), values)
    origins = connection.execute(text("SELECT DISTINCT kind, origin FROM pages")).all()
    for kind, origin in origins:
        values = {"id": _digest(kind, origin), "kind": kind, "origin": origin}
        values["session"] = _digest(origin) if kind == "file" else ""
        named = """
            UPDATE pages SET origin_id = :id, session_id = :session,
                   session = CASE kind WHEN 'file' THEN origin ELSE '' END
            WHERE kind = :kind AND origin = :origin
        """
        connection.execute(text(named), values)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
