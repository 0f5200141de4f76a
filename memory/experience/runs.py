"""How runs ended: one node for each, joined with those that asked something similar."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, insert, select

from memory.experience.credits import settle
from memory.experience.outcome import Signs, end, outcome
from memory.experience.similar import Known, matrix_of, packed, vector_of
from memory.experience.utterances import Utterance, inspired, keep, mark, said_in
from models.bert import Floats
from storage.engine import read, write
from storage.events import Event, log
from storage.tables import experience_edges, experiences
from storage.upsert import upsert

NEIGHBOURS = 10
"""To so many similar runs an edge is drawn."""

ALIKE = 0.3
"""The least cosine of two similar questions; the vectors are of words (`similar.vector_of`)."""


class Experience(NamedTuple):
    """How a run ended."""

    run: str
    question: str
    status: str
    outcome: float
    signs: Mapping[str, float | None]
    reason: str
    created: float
    revision: int


async def close(
    owner: str,
    run: str,
    question: str,
    signs: Signs,
    *,
    reason: str = "",
    said: Sequence[Utterance] | None = None,
) -> Experience:
    """Write down how a run ended, in one transaction: node, edges, key steps and credit.

    Doing it again, as after a crash or when a run goes on, puts the new ending in place of the old.

    Args:
        owner: Whose run.
        run: Its id.
        question: What was asked.
        signs: What tells how it ended.
        reason: Why it did not end well.
        said: What was said and done, where it was not kept as the run went.
    """
    vector = await asyncio.to_thread(vector_of, question)

    def work(connection: Connection) -> Experience:
        keep(connection, owner, run, said or ())
        mark(connection, inspired(said_in(connection, owner, run)))
        near = matrix_of(connection, owner).nearest(vector, NEIGHBOURS, ALIKE, without=run)
        _join(connection, owner, run, near)
        return _put(connection, owner, run, question, signs, reason, vector)

    return await write(work)


async def judge(owner: str, run: str, good: bool, why: str = "") -> Experience | None:
    """Let a person say how a run ended; return how it stands now, or `None` if there is no such."""

    def work(connection: Connection) -> Experience | None:
        known = found_in(connection, owner, run)
        if known is None:
            return None
        signs = Signs(**{**known.signs, "person": 1.0 if good else 0.0})  # type: ignore[arg-type]
        reason = why or known.reason
        vector = vector_of(known.question)
        return _put(connection, owner, run, known.question, signs, reason, vector)

    return await write(work)


async def ended(owner: str, limit: int = 100) -> list[Experience]:
    """Return how an owner's runs ended, the newest first."""
    wanted = select(experiences).where(experiences.c.owner == owner)
    newest = wanted.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
    return await read(lambda connection: [read_row(row) for row in connection.execute(newest)])


async def found(owner: str, run: str) -> Experience | None:
    """Return how a run of an owner ended, or `None`."""
    return await read(lambda connection: found_in(connection, owner, run))


def found_in(connection: Connection, owner: str, run: str) -> Experience | None:
    """Return the same, in a transaction of the caller's."""
    wanted = select(experiences).where(experiences.c.owner == owner, experiences.c.run == run)
    row = connection.execute(wanted).first()
    return None if row is None else read_row(row)


def found_each(connection: Connection, owner: str, named: Sequence[str]) -> list[Experience]:
    """Return how some runs ended, in any order; those that are unknown are left out."""
    wanted = select(experiences).where(experiences.c.owner == owner, experiences.c.run.in_(named))
    return [read_row(row) for row in connection.execute(wanted)]


def beside(connection: Connection, owner: str, here: Mapping[str, float]) -> dict[str, float]:
    """Return the runs one edge away from some runs, with the best product of weight and edge.

    Of the edges that lead to a run, of which there may be many, the heaviest are followed.

    Args:
        connection: Of a transaction that reads.
        owner: Whose runs.
        here: Where to start, and the weight of each.
    """
    reached: dict[str, float] = {}
    for run, worth in here.items():
        values = {"its_owner": owner, "here": run}
        for edges in (OUT, IN):
            for there, weight in connection.execute(edges, values):
                if there not in here:
                    reached[there] = max(worth * weight, reached.get(there, 0.0))
    return reached


OUT = select(experience_edges.c.other, experience_edges.c.weight).where(
    experience_edges.c.owner == bindparam("its_owner"),
    experience_edges.c.run == bindparam("here"),
)
IN = (
    select(experience_edges.c.run, experience_edges.c.weight)
    .where(
        experience_edges.c.owner == bindparam("its_owner"),
        experience_edges.c.other == bindparam("here"),
    )
    .order_by(experience_edges.c.weight.desc())
    .limit(NEIGHBOURS)
)


def _put(
    connection: Connection,
    owner: str,
    run: str,
    question: str,
    signs: Signs,
    reason: str,
    vector: Floats,
) -> Experience:
    before = found_in(connection, owner, run)
    value = outcome(signs)
    plain: dict[str, Any] = {"status": end(value), "outcome": value, "signs": signs._asdict()}
    was = None if before is None else {name: getattr(before, name) for name in plain}
    event = Event(owner, "run.end", run, was, plain, "tool", reason, run)
    revision = log(connection, event)
    created = before.created if before else time.time()
    values = {
        "question": question,
        "status": plain["status"],
        "outcome": value,
        "signs": json.dumps(plain["signs"]),
        "reason": reason,
        "vector": packed(vector),
        "revision": revision,
        "created": created,
    }
    connection.execute(upsert(experiences, {"owner": owner, "run": run}, values))
    settle(connection, owner, run, plain["status"] == "resolved", revision)
    return Experience(
        run, question, plain["status"], value, plain["signs"], reason, created, revision
    )


def _join(connection: Connection, owner: str, run: str, near: Sequence[Known]) -> None:
    edges = experience_edges
    mine = (edges.c.owner == owner, edges.c.run == run, edges.c.kind == "similar")
    connection.execute(delete(edges).where(*mine))
    if near:
        row = {"owner": owner, "run": run, "kind": "similar"}
        rows = [{**row, "other": other, "weight": cosine} for other, cosine in near]
        connection.execute(insert(edges), rows)


def read_row(row: Row[Any]) -> Experience:
    """Return an experience of its row."""
    told = {name: getattr(row, name) for name in Experience._fields}
    return Experience(**{**told, "signs": json.loads(row.signs)})
