"""The tables of the memories; a change needs a step in `storage.upgrades` too."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, String, Table, Text, text
from sqlalchemy.types import TypeEngine

from storage.tables import metadata

LIVE = text("live = 1")


def _keys(**lengths: int) -> list[Column[str]]:
    """Return the columns of a primary key of strings, by their lengths."""
    return [Column(name, String(length), primary_key=True) for name, length in lengths.items()]


def _columns(**types: TypeEngine[Any] | type[TypeEngine[Any]]) -> list[Column[Any]]:
    """Return columns that always have a value, by their types."""
    return [Column(name, kind, nullable=False) for name, kind in types.items()]


def _counts(**defaults: int) -> list[Column[int]]:
    """Return columns of integers, by their defaults."""
    return [
        Column(name, Integer, nullable=False, default=value) for name, value in defaults.items()
    ]


facts = Table(
    "facts",
    metadata,
    *_keys(owner=200, id=32),
    *_columns(key=String(32), content=Text, category=String(16), confidence=Float),
    *_columns(quote=Text, thread=String(64), run=String(80), message=Text, provenance=String(8)),
    *_columns(created=Float, valid_from=Float),
    Column("valid_to", Float),
    *_columns(superseded_by=String(32), live=Integer, revision=Integer),
    Index("facts_revision", "owner", "revision"),
    Index("facts_live", "owner", "key", unique=True, sqlite_where=LIVE),
)
"""What is known of a person.

`key` is a hash of the content, however it is written; no two that are `live` (1, else 0) have the
same. `message` is the one that `quote` stands in. A fact holds from `valid_from` to `valid_to`, and
`superseded_by` is the one that took its place. `revision` is the event that changed it last. Of a
fact that was forgotten only its id and its revision are left.
"""

heard = Table("heard", metadata, *_keys(owner=200, thread=64, message=80), *_columns(at=Float))
"""The messages that were put into the outbox to be learnt from, each once."""

profiles = Table("profiles", metadata, *_keys(owner=200), *_columns(data=Text, revision=Integer))
"""Who a person is and how they like their answers; `data` is JSON (`memory.profile`)."""

proposals = Table(
    "proposals",
    metadata,
    *_keys(id=32),
    Column("owner", String(200), nullable=False, index=True),
    *_columns(path=Text, base=Text, proposed=Text, why=Text, run=String(80), step=String(32)),
    *_columns(provenance=String(8), status=String(16), created=Float),
    Column("decided", Float),
)
"""Edits of memory files that agents proposed: what stood there, and what shall."""

projects = Table(
    "projects", metadata, *_keys(user=100, name=100), *_columns(folder=Text, trusted=Float)
)
"""The folders whose memory files a user has said may be read, by the project's name."""

utterances = Table(
    "utterances",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    *_columns(owner=String(200), run=String(80), step=String(32), who=String(32), kind=String(16)),
    *_columns(action=Text, observation=Text),
    Column("builds_on", Text, nullable=False, default="[]"),
    *_counts(main=0),
    *_columns(at=Float),
    Index("utterances_run", "owner", "run", "id"),
)
"""What was said and done in a run, as it went; `builds_on` is a JSON list of earlier ids.

`main` is 1 for the key steps, which are chosen when the run ends.
"""

experiences = Table(
    "experiences",
    metadata,
    *_keys(owner=200, run=80),
    *_columns(question=Text, status=String(16), outcome=Float, signs=Text, reason=Text),
    *_columns(vector=LargeBinary, revision=Integer, created=Float),
    *_counts(live=1),
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
    *_keys(owner=200, run=80, other=80, kind=16),
    *_columns(weight=Float),
    Index("experience_edges_other", "owner", "other", "weight"),
)
"""Runs whose questions are `similar`, by their cosine; and runs whose insights a run has `used`."""

insights = Table(
    "insights",
    metadata,
    *_keys(id=32),
    *_columns(owner=String(200), content=Text, projections=Text, provenance=String(8)),
    *_counts(wins=0, uses=0, live=1),
    Column("merged_into", String(32), nullable=False, default=""),
    *_columns(created=Float, revision=Integer),
    Index("insights_owner", "owner", "live", "revision"),
)
"""What to do differently; `projections` is JSON: what it says to each role it concerns.

Of its `uses` in later runs so many were `wins`. One that was merged is not `live`, and says into
which.
"""

insight_runs = Table(
    "insight_runs",
    metadata,
    *_keys(owner=200, insight=32, run=80),
    *_columns(sign=Integer, said=String(8)),
    Index("insight_runs_run", "owner", "run"),
)
"""Which runs speak for an insight (1) or against it (-1).

Why they do is `said`: an insight is from its `source`, was `used` by a run that ended well or
badly, or a `model` agreed or disagreed.
"""

insight_edges = Table("insight_edges", metadata, *_keys(owner=200, one=32, other=32, run=80))
"""Two insights that were used in one run, or that one run gave rise to; or, without a run, one that
was joined and the one it was joined to."""

credits = Table(
    "credits", metadata, *_keys(owner=200, run=80, insight=32, role=32), Column("won", Integer)
)
"""Which insight was told to which role of which run; `won` is empty until the run has ended."""

recalls = Table(
    "recalls",
    metadata,
    *_keys(owner=200, run=80, other=80),
    *_columns(similarity=Float, hops=Integer, rating=Float),
)
"""Which earlier runs were found for a run when it was planned, and how well they fit, in 0..1."""

meanings = Table(
    "meanings", metadata, *_keys(owner=200, embedder=200, key=32), *_columns(vector=LargeBinary)
)
"""The vector of a fact or a question, as 16-bit floats, by the hash of its words.

It is made again where it is missing, so whoever forgets anything forgets all of an owner's.
"""
