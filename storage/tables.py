"""Every table of the one database; a change needs a step in `storage.upgrades` too."""

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

schema = Table("schema", metadata, Column("version", Integer, primary_key=True))

runs = Table(
    "runs",
    metadata,
    Column("id", String(80), primary_key=True),
    Column("thread", String(64), nullable=False, index=True),
    Column("turn", Integer, nullable=False),
    Column("owner", String(200), nullable=False, index=True),
    Column("question", Text, nullable=False),
    Column("status", String(32), nullable=False),
    Column("code", String(64), nullable=False, default=""),
    Column("context", Text, nullable=False),
    Column("folder", Text, nullable=False, default=""),
    Column("out", Text, nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
)
"""One row per question; `context` is JSON, times are seconds since 1970.

`out` is where the report shall go, if that was said; `folder` is where it lies.
"""

calls = Table(
    "calls",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("run", String(80), nullable=False, index=True),
    Column("session", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("role", String(32), nullable=False),
    Column("step", String(32), nullable=False),
    Column("model", String(120), nullable=False, default=""),
    Column("result", Text, nullable=False),
    Column("tokens_in", Integer, nullable=False, default=0),
    Column("tokens_out", Integer, nullable=False, default=0),
    Column("cost", Float, nullable=False, default=0.0),
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
)
"""The ledger: every paid result, committed before it is used."""

documents = Table(
    "documents",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("root", String(700), primary_key=True),
    Column("path", String(700), primary_key=True),
    Column("size", Integer, nullable=False),
    Column("modified", Integer, nullable=False),
    Column("sha256", String(64), nullable=False, index=True),
    Column("reader", Integer, nullable=False),
    Column("code", String(64), nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
)
"""One row per file of a folder that was read in; `code` says why it could not be read."""

pages = Table(
    "pages",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("owner", String(200), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("origin", String(700), nullable=False),
    Column("place", String(300), nullable=False),
    Column("position", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("abstract", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Index("pages_origin", "owner", "kind", "origin"),
)
"""Everything that was read; `origin` is the file's content hash, the address or the run."""

sources = Table(
    "sources",
    metadata,
    Column("thread", String(64), primary_key=True),
    Column("page", String(32), primary_key=True),
    Column("number", Integer, nullable=False),
    UniqueConstraint("thread", "number"),
)
"""Which page got which number in which thread; a number is never used twice."""

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("run", String(80), nullable=False),
    Column("name", String(64), nullable=False),
    Column("data", Text, nullable=False),
    Column("at", Float, nullable=False),
)
"""The append-only log of every write to a memory; `data` is JSON."""

outbox = Table(
    "outbox",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(200), nullable=False),
    Column("job", String(32), nullable=False),
    Column("data", Text, nullable=False),
    Column("due", Float, nullable=False, index=True),
    Column("tries", Integer, nullable=False, default=0),
)
"""Work that is done after a run, kept until it is done; `data` is JSON."""
