"""The tables of pages, of their documents and namespaces, of knowledge bases, and of uploads."""

from __future__ import annotations

import sqlalchemy as sa

from library.keyword_index import keyword_index
from storage.tables import metadata

PAGE_NUMBERS: sa.BindParameter[int] = sa.bindparam("given", expanding=True)
"""The numbers of pages that a statement is about; there may be hundreds."""

EXPIRE = sa.text("expires IS NOT NULL")

documents = sa.Table(
    "documents",
    metadata,
    sa.Column("owner", sa.String(200), primary_key=True),
    sa.Column("root", sa.Text, primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("modified", sa.BigInteger, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("reader", sa.Integer, nullable=False),
    sa.Column("code", sa.String(64), nullable=False, default=""),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Index("documents_content", "owner", "sha256", "root"),
)
"""One row per file of a folder that was read in; `code` says why it could not be read."""

former_documents = sa.Table(
    "former_documents",
    metadata,
    sa.Column("owner", sa.String(200), primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("sha256", sa.String(64), primary_key=True),
    sa.Column("root", sa.Text, nullable=False),
)
"""What files held before they changed, went or were removed, while any page still says it."""

namespaces = sa.Table(
    "namespaces",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(32), nullable=False, unique=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("group", sa.Text, nullable=False),
    sa.Column("pages", sa.Integer, nullable=False, default=0),
    sa.Column("words", sa.Integer, nullable=False, default=0),
    sa.Column("title_words", sa.Integer, nullable=False, default=0),
    sqlite_autoincrement=True,
)
"""Sets of pages that are searched on their own, with the counts of those that can be found.

One for each kind of page an owner has, with an empty `group`; one more for each group of them, such
as a folder of files or a conversation. `name` is a hash of owner, kind and group.
"""

members = sa.Table(
    "members",
    metadata,
    sa.Column("namespace", sa.Integer, primary_key=True),
    sa.Column("page", sa.Integer, primary_key=True),
    sa.Column("key", sa.String(200), nullable=False),
    sa.Index("members_key", "namespace", "key"),
    sa.Index("members_page", "page"),
    sqlite_with_rowid=False,
)
"""Which pages are in which namespace; `key` is the title as other pages mention it."""

pages = sa.Table(
    "pages",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("id", sa.String(32), nullable=False, unique=True),
    sa.Column("owner", sa.String(200), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("origin", sa.Text, nullable=False),
    sa.Column("origin_id", sa.String(32), nullable=False),
    sa.Column("place", sa.Text, nullable=False),
    sa.Column("session", sa.Text, nullable=False),
    sa.Column("session_id", sa.String(32), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("abstract", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("speaker", sa.Text, nullable=False),
    sa.Column("said", sa.String(40), nullable=False),
    sa.Column("links", sa.Text, nullable=False),
    sa.Column("site", sa.Text, nullable=False, default=""),
    sa.Column("published", sa.String(40), nullable=False, default=""),
    sa.Column("author", sa.Text, nullable=False, default=""),
    sa.Column("language", sa.String(16), nullable=False, default=""),
    sa.Column("genre", sa.String(16), nullable=False, default=""),
    sa.Column("provenance", sa.String(8), nullable=False),
    sa.Column("run", sa.String(80), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("expires", sa.Float),
    sa.Column("superseded_by", sa.String(32), nullable=False),
    sa.Column("words", sa.Text, nullable=False),
    sa.Column("title_words", sa.Text, nullable=False),
    sa.Column("indexed", sa.Integer, nullable=False),
    sa.Index("pages_origin", "owner", "origin_id", "indexed"),
    sa.Index("pages_session", "owner", "session_id", "position"),
    sa.Index("pages_indexed", "owner", "indexed"),
    sa.Index("pages_expires", "owner", "expires", sqlite_where=EXPIRE),
    sqlite_autoincrement=True,
)
"""Everything that was read.

`origin` is the file's content hash, the address or the run; `origin_id` and `session_id` are hashes
of what may be longer than an index takes. `links` is JSON. `site` to `genre` are as in
`library.page_metadata`. `words` and `title_words` are what the
keyword index holds; `indexed` is the version of the cutting they are from, 0 as long as the page is
not in the index, -1 when it is not to be found any more.
"""

vector_sets = sa.Table(
    "vector_sets",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("namespace", sa.Integer, nullable=False),
    sa.Column("embedder", sa.String(300), nullable=False),
    sa.Column("whole", sa.Integer, nullable=False),
    sa.Column("collection", sa.String(64), nullable=False, default=""),
    sa.Column("covered", sa.Integer, nullable=False, default=0),
    sa.Column("held", sa.Integer, nullable=False, default=0),
    sa.Column("apart", sa.Integer, nullable=False, default=0),
    sa.Column("building", sa.String(64), nullable=False, default=""),
    sa.Column("trust", sa.Text, nullable=False, default="{}"),
    sa.Column("judged", sa.Integer, nullable=False, default=0),
    sa.UniqueConstraint("namespace", "embedder"),
    sqlite_autoincrement=True,
)
"""The vectors that one embedder makes of the pages of a kind's namespace.

`whole` is 1 when every page has its vector or is in the outbox, and 0 while vectors are still made
again that another embedder made before. `collection` is the index that holds the vectors numbered
up to `covered`, `held` of them; `apart` others cannot be found in it, so they have got higher
numbers. `building` is a collection that is not finished, or never was. `trust` is JSON:
what the vectors are worth beside words, by language, as measured when there were `judged` of them.
"""

vectors = sa.Table(
    "vectors",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("set", sa.Integer, nullable=False),
    sa.Column("page", sa.Integer, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("set", "page"),
    sa.Index("vectors_set", "set", "number"),
    sqlite_autoincrement=True,
)
"""A vector of length 1, as 16-bit floats; what is committed later to a set has a higher number."""

sources = sa.Table(
    "sources",
    metadata,
    sa.Column("thread", sa.String(64), primary_key=True),
    sa.Column("page", sa.String(32), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.UniqueConstraint("thread", "number"),
)
"""Which page got which number in which thread; a number is never used twice."""

knowledge_bases = sa.Table(
    "knowledge_bases",
    metadata,
    sa.Column("owner", sa.String(200), primary_key=True),
    sa.Column("name", sa.String(64), primary_key=True),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("location", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
"""The knowledge bases that people have added; `options` is JSON, without keys or passwords."""


uploads = sa.Table(
    "uploads",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("folder", sa.String(40), nullable=False, default=""),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("size", sa.BigInteger, nullable=False),
    sa.Column("received", sa.BigInteger, nullable=False, default=0),
    sa.Column("parts", sa.Text, nullable=False, default=""),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("code", sa.String(64), nullable=False, default=""),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("updated", sa.Float, nullable=False),
    sa.Index("uploads_folder", "owner", "folder"),
)
"""Files that people have uploaded, as `library.uploads.UploadedFile`; `folder` is the id of one.

`size` are the bytes that it has or will have. `parts` names what has come in so far, a part to a
line, until all of it is there.
"""

upload_folders = sa.Table(
    "upload_folders",
    metadata,
    sa.Column("id", sa.String(40), primary_key=True),
    sa.Column("owner", sa.String(200), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
"""Folders of such files."""


@sa.event.listens_for(metadata, "after_create")
def _create_keyword_index(_metadata: sa.MetaData, connection: sa.Connection, **_: object) -> None:
    keyword_index(connection).create_index(connection)
