"""The tables of the memories; a change needs a step in `storage.upgrades` too."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text, text

from storage.tables import metadata

LIVE = text("live = 1")

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

heard = Table(
    "heard",
    metadata,
    Column("owner", String(200), primary_key=True),
    Column("thread", String(64), primary_key=True),
    Column("message", String(80), primary_key=True),
    Column("at", Float, nullable=False),
)
"""The messages that were put into the outbox to be learnt from, each once."""

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
