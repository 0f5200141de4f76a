"""The tables of pages, of the documents and namespaces they are in, and of their vectors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    event,
    text,
)

from library.keywords import keyword_index
from storage.tables import metadata

PAGE_NUMBERS: BindParameter[int] = bindparam("given", expanding=True)
"""The numbers of pages that a statement is about; there may be hundreds."""

EXPIRE = text("expires IS NOT NULL")

documents = Table(
    "documents",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("root", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("modified", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("reader", Integer, nullable=False),
    Column("code", String(64), nullable=False, default=""),
    Column("reason", Text, nullable=False, default=""),
    Index("documents_content", "owner", "sha256", "root"),
)
"""One row per file of a folder that was read in; `code` says why it could not be read."""

former_documents = Table(
    "former_documents",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("path", Text, primary_key=True),
    Column("sha256", String(64), primary_key=True),
    Column("root", Text, nullable=False),
)
"""What files held before they changed, went or were removed, while any page still says it."""

namespaces = Table(
    "namespaces",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("name", String(32), nullable=False, unique=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("kind", String(16), nullable=False),
    Column("group", Text, nullable=False),
    Column("pages", Integer, nullable=False, default=0),
    Column("words", Integer, nullable=False, default=0),
    Column("title_words", Integer, nullable=False, default=0),
    sqlite_autoincrement=True,
)
"""Sets of pages that are searched on their own, with the counts of those that can be found.

One for each kind of page an owner has, with an empty `group`; one more for each group of them, such
as a folder of files or a conversation. `name` is a hash of owner, kind and group.
"""

members = Table(
    "members",
    metadata,
    Column("namespace", Integer, primary_key=True),
    Column("page", Integer, primary_key=True),
    Column("key", String(200), nullable=False),
    Index("members_key", "namespace", "key"),
    Index("members_page", "page"),
    sqlite_with_rowid=False,
)
"""Which pages are in which namespace; `key` is the title as other pages mention it."""

pages = Table(
    "pages",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("owner", String(200), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("origin", Text, nullable=False),
    Column("origin_id", String(32), nullable=False),
    Column("place", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("session_id", String(32), nullable=False),
    Column("position", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("abstract", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("speaker", Text, nullable=False),
    Column("said", String(40), nullable=False),
    Column("links", Text, nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("run", String(80), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("superseded_by", String(32), nullable=False),
    Column("words", Text, nullable=False),
    Column("title_words", Text, nullable=False),
    Column("indexed", Integer, nullable=False),
    Index("pages_origin", "owner", "origin_id", "indexed"),
    Index("pages_session", "owner", "session_id", "position"),
    Index("pages_indexed", "owner", "indexed"),
    Index("pages_expires", "owner", "expires", sqlite_where=EXPIRE),
    sqlite_autoincrement=True,
)
"""Everything that was read.

`origin` is the file's content hash, the address or the run; `origin_id` and `session_id` are hashes
of what may be longer than an index takes. `links` is JSON. `words` and `title_words` are what the
keyword index holds; `indexed` is the version of the cutting they are from, 0 as long as the page is
not in the index, -1 when it is not to be found any more.
"""

vector_sets = Table(
    "vector_sets",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("namespace", Integer, nullable=False),
    Column("embedder", String(300), nullable=False),
    Column("whole", Integer, nullable=False),
    Column("collection", String(64), nullable=False, default=""),
    Column("covered", Integer, nullable=False, default=0),
    Column("held", Integer, nullable=False, default=0),
    Column("apart", Integer, nullable=False, default=0),
    Column("building", String(64), nullable=False, default=""),
    Column("trust", Text, nullable=False, default="{}"),
    Column("judged", Integer, nullable=False, default=0),
    UniqueConstraint("namespace", "embedder"),
    sqlite_autoincrement=True,
)
"""The vectors that one embedder makes of the pages of a kind's namespace.

`whole` is 1 when every page has its vector or is in the outbox, and 0 while vectors are still made
again that another embedder made before. `collection` is the index that holds the vectors numbered
up to `covered`, `held` of them; `apart` others cannot be found in it, so they have got higher
numbers. `building` is a collection that is not finished, or never was. `trust` is JSON:
what the vectors are worth beside words, by language, as measured when there were `judged` of them.
"""

vectors = Table(
    "vectors",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("set", Integer, nullable=False),
    Column("page", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    UniqueConstraint("set", "page"),
    Index("vectors_set", "set", "number"),
    sqlite_autoincrement=True,
)
"""A vector of length 1, as 16-bit floats; what is committed later to a set has a higher number."""

sources = Table(
    "sources",
    metadata,
    Column("thread", String(64), primary_key=True),
    Column("page", String(32), primary_key=True),
    Column("number", Integer, nullable=False),
    UniqueConstraint("thread", "number"),
)
"""Which page got which number in which thread; a number is never used twice."""


@event.listens_for(metadata, "after_create")
def _create_keyword_index(_metadata: MetaData, connection: Connection, **_: object) -> None:
    keyword_index(connection).create_index(connection)
