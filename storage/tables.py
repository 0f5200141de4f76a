"""Every table of the one database; a change needs a step in `storage.upgrades` too."""

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
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
    text,
)

GIVEN: BindParameter[int] = bindparam("given", expanding=True)
"""The numbers of pages that a statement is about; there may be hundreds."""

EXPIRE = text("expires IS NOT NULL")
LIVE = text("live = 1")

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

attempts = Table(
    "attempts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run", String(80), nullable=False, index=True),
    Column("session", String(64), nullable=False),
    Column("role", String(32), nullable=False),
    Column("step", String(32), nullable=False),
    Column("model", String(120), nullable=False),
    Column("status", String(64), nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cost", Float, nullable=False),
    Column("started", Float, nullable=False),
    Column("ended", Float, nullable=False),
)
"""Every attempt at a model call, written before it is sent.

`status` is `open` until its end is known; until then the numbers are the maximum it may use, and
`ended` is the latest time at which it ends.
"""

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

meanings = Table(
    "meanings",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("embedder", String(200), primary_key=True),
    Column("key", String(32), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""The vector of a fact or a question, as 16-bit floats, by the hash of its words.

It is made again where it is missing, so whoever forgets anything forgets all of an owner's.
"""

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
    Column("owner", String(200), nullable=False),
    Column("run", String(80), nullable=False, index=True),
    Column("step", String(32), nullable=False, default=""),
    Column("name", String(64), nullable=False),
    Column("item", String(200), nullable=False, default=""),
    Column("before", Text, nullable=False, default=""),
    Column("after", Text, nullable=False, default=""),
    Column("provenance", String(8), nullable=False, default=""),
    Column("why", Text, nullable=False, default=""),
    Column("undoes", Integer, nullable=False, default=0),
    Column("at", Float, nullable=False),
    Index("events_owner", "owner", "id"),
    Index("events_item", "owner", "item"),
)
"""An append-only log of every change of a memory (`storage.events.Event`)."""

facts = Table(
    "facts",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("key", String(32), nullable=False),
    Column("content", Text, nullable=False),
    Column("category", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    Column("quote", Text, nullable=False),
    Column("thread", String(64), nullable=False),
    Column("run", String(80), nullable=False),
    Column("message", Text, nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("created", Float, nullable=False),
    Column("valid_from", Float, nullable=False),
    Column("valid_to", Float),
    Column("superseded_by", String(32), nullable=False),
    Column("live", Integer, nullable=False),
    Column("revision", Integer, nullable=False),
    Index("facts_revision", "owner", "revision"),
    Index("facts_live", "owner", "key", unique=True, sqlite_where=LIVE),
)
"""What is known of a person.

`key` is a hash of the content, however it is written; no two that are `live` (1, else 0) have the
same. `message` is the one that `quote` stands in. A fact holds from `valid_from` to `valid_to`, and
`superseded_by` is the one that took its place. `revision` is the event that changed it last. Of a
fact that was forgotten only its id and its revision are left.
"""

profiles = Table(
    "profiles",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("data", Text, nullable=False),
    Column("revision", Integer, nullable=False),
)
"""Who a person is and how they like their answers; `data` is JSON (`memory.profile`)."""

proposals = Table(
    "proposals",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False, index=True),
    Column("path", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("proposed", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("run", String(80), nullable=False),
    Column("step", String(32), nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("status", String(16), nullable=False),
    Column("created", Float, nullable=False),
    Column("decided", Float),
)
"""Edits of memory files that agents proposed: what stood there, and what shall."""

heard = Table(
    "heard",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("thread", String(64), primary_key=True),
    Column("message", String(80), primary_key=True),
    Column("at", Float, nullable=False),
)
"""Which messages of a person were put into the outbox to be learnt from; each is so only once."""

projects = Table(
    "projects",
    metadata,
    Column("user", String(100), primary_key=True),
    Column("name", String(100), primary_key=True),
    Column("folder", Text, nullable=False),
    Column("trusted", Float, nullable=False),
)
"""The folders whose memory files a user has said may be read, by the project's name."""

utterances = Table(
    "utterances",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("owner", String(200), nullable=False),
    Column("run", String(80), nullable=False),
    Column("step", String(32), nullable=False),
    Column("who", String(32), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("action", Text, nullable=False),
    Column("observation", Text, nullable=False),
    Column("builds_on", Text, nullable=False, default="[]"),
    Column("main", Integer, nullable=False, default=0),
    Column("at", Float, nullable=False),
    Index("utterances_run", "owner", "run", "id"),
)
"""What was said and done in a run, as it went; `builds_on` is a JSON list of earlier ids.

`main` is 1 for the key steps, which are chosen when the run ends.
"""

experiences = Table(
    "experiences",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("run", String(80), primary_key=True),
    Column("question", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("outcome", Float, nullable=False),
    Column("signs", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created", Float, nullable=False),
    Column("live", Integer, nullable=False, default=1),
    Index("experiences_revision", "owner", "revision"),
)
"""How a run ended: `resolved`, `partial` or `failed`; `outcome` in 0..1, its `signs` as JSON.

One that was taken back is not `live`: nobody learns of it any more.

`vector` is that of the question, of length 1, as 16-bit floats. `revision` is the event that
changed it last.
"""

experience_edges = Table(
    "experience_edges",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("run", String(80), primary_key=True),
    Column("other", String(80), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("weight", Float, nullable=False),
    Index("experience_edges_other", "owner", "other", "weight"),
)
"""Runs whose questions are `similar`, by their cosine; and runs whose insights a run has `used`."""

insights = Table(
    "insights",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("owner", String(200), nullable=False),
    Column("content", Text, nullable=False),
    Column("projections", Text, nullable=False),
    Column("provenance", String(8), nullable=False),
    Column("wins", Integer, nullable=False, default=0),
    Column("uses", Integer, nullable=False, default=0),
    Column("live", Integer, nullable=False, default=1),
    Column("merged_into", String(32), nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("revision", Integer, nullable=False),
    Index("insights_owner", "owner", "live", "revision"),
)
"""What to do differently; `projections` is JSON: what it says to each role it concerns.

Of its `uses` in later runs so many were `wins`. One that was merged is not `live`, and says into
which.
"""

insight_runs = Table(
    "insight_runs",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("insight", String(32), primary_key=True),
    Column("run", String(80), primary_key=True),
    Column("sign", Integer, nullable=False),
    Column("said", String(8), nullable=False),
    Index("insight_runs_run", "owner", "run"),
)
"""Which runs speak for an insight (1) or against it (-1).

Why they do is `said`: an insight is from its `source`, was `used` by a run that ended well or
badly, or a `model` agreed or disagreed.
"""

insight_edges = Table(
    "insight_edges",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("one", String(32), primary_key=True),
    Column("other", String(32), primary_key=True),
    Column("run", String(80), primary_key=True),
)
"""Two insights that were used in one run, or that one run gave rise to; or, without a run, one that
was joined and the one it was joined to."""

credits = Table(
    "credits",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("run", String(80), primary_key=True),
    Column("insight", String(32), primary_key=True),
    Column("role", String(32), primary_key=True),
    Column("won", Integer),
)
"""Which insight was told to which role of which run; `won` is empty until the run has ended."""

recalls = Table(
    "recalls",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("run", String(80), primary_key=True),
    Column("other", String(80), primary_key=True),
    Column("similarity", Float, nullable=False),
    Column("hops", Integer, nullable=False),
    Column("rating", Float, nullable=False),
)
"""Which earlier runs were found for a run when it was planned, and how well they fit, in 0..1."""

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


def for_postgresql() -> None:
    """Make the indexes of a part of a table such on PostgreSQL, too.

    Named beside `sqlite_where` this would import the dialect, which takes as long as all tables.
    """
    for table in metadata.tables.values():
        for index in table.indexes:
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
