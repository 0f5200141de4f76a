"""How runs ended: one node for each, joined with those that asked something similar."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select

from memory.experience.credits import settle, turn
from memory.experience.outcome import Signs, end, outcome
from memory.experience.similar import (
    Known,
    joined,
    matrix_of,
    meant,
    packed,
    shared,
    vector_of,
)
from memory.experience.utterances import EDIT, Utterance, inspired, keep, mark, said_in
from runs.ledger import storable
from storage.engine import read, write
from storage.events import Event, hold, log
from storage.tables import events, experience_edges, experiences
from storage.upsert import upsert

NEIGHBOURS = 10
"""To so many similar runs an edge is drawn."""

ALIKE = 0.3
"""The least cosine of two similar questions; the vectors are of words (`similar.vector_of`)."""

TOPIC = 0.4
"""So much of what they are about two questions share at the least that are similar by words."""


class Experience(NamedTuple):
    """How a run ended."""

    run: str
    question: str
    status: str
    outcome: float
    signs: Signs
    reason: str
    created: float
    revision: int


class Ending(NamedTuple):
    """How a run ends."""

    question: str
    signs: Signs
    reason: str = ""
    """Why it did not end well."""
    said: Sequence[Utterance] = ()
    """What was said and done, where it was not kept as the run went."""
    alike: Mapping[str, float] = MappingProxyType({})
    """How far other runs asked what it means, where an embedder knows."""


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
    alike = await meant(owner, question, without=run)
    ending = Ending(question, signs, reason, said or (), alike)
    return await write(lambda connection: close_in(connection, owner, run, ending))


def close_in(connection: Connection, owner: str, run: str, ending: Ending) -> Experience:
    """Do the same in a transaction of the caller's."""
    hold(connection, owner)
    keep(connection, owner, run, ending.said)
    steps = [one for one in said_in(connection, owner, run) if one.kind != EDIT]
    mark(connection, inspired(steps))
    vector = vector_of(ending.question)
    words = matrix_of(connection, owner).nearest(vector, NEIGHBOURS, ALIKE, without=run)
    words = on_topic(connection, owner, ending.question, words)
    near = joined(words, ending.alike, NEIGHBOURS, ALIKE)
    _join(connection, owner, run, near)
    return _put(connection, owner, run, _with_person(connection, owner, run, ending))


async def judge(owner: str, run: str, good: bool, why: str = "") -> Experience | None:
    """Let a person say how a run ended; return how it stands now, or `None` if there is no such."""

    def work(connection: Connection) -> Experience | None:
        hold(connection, owner)
        known = found_in(connection, owner, run)
        if known is None:
            return None
        signs = known.signs._replace(person=float(good))
        reason = why if why or good else known.reason
        return _put(connection, owner, run, Ending(known.question, signs, reason))

    return await write(work)


async def ended(owner: str, limit: int = 100) -> list[Experience]:
    """Return how an owner's runs ended, the newest first."""
    wanted = select(experiences).where(*_mine(owner))
    newest = wanted.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
    return await read(lambda connection: [read_row(row) for row in connection.execute(newest)])


async def found(owner: str, run: str) -> Experience | None:
    """Return how a run of an owner ended, or `None`."""
    return await read(lambda connection: found_in(connection, owner, run))


def found_in(connection: Connection, owner: str, run: str) -> Experience | None:
    """Return the same, in a transaction of the caller's."""
    wanted = select(experiences).where(*_mine(owner), experiences.c.run == run)
    row = connection.execute(wanted).first()
    return None if row is None else read_row(row)


def found_each(connection: Connection, owner: str, named: Sequence[str]) -> list[Experience]:
    """Return how some runs ended, in any order; those that are unknown are left out."""
    wanted = select(experiences).where(*_mine(owner), experiences.c.run.in_(named))
    return [read_row(row) for row in connection.execute(wanted)]


def on_topic(
    connection: Connection, owner: str, question: str, near: Sequence[Known]
) -> list[Known]:
    """Return those of some runs whose questions are about what a question is about."""
    asked = {one.run: one.question for one in found_each(connection, owner, [r for r, _ in near])}
    return [one for one in near if shared(question, asked.get(one[0], "")) >= TOPIC]


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


def _mine(owner: str) -> tuple[ColumnElement[bool], ...]:
    return experiences.c.owner == owner, experiences.c.live == 1


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


def _with_person(connection: Connection, owner: str, run: str, ending: Ending) -> Ending:
    """Return an ending with what the person has said of the run, before it ended or at any time."""
    if ending.signs.person is not None:
        return ending
    said = select(events.c.name, events.c.after).where(
        events.c.owner == owner, events.c.item == run, events.c.name.startswith("feedback.")
    )
    newest = connection.execute(said.order_by(events.c.id.desc()).limit(1)).first()
    if newest is None:
        return ending
    why = str((json.loads(newest.after or "{}")).get("text", ""))
    good = float(newest.name == "feedback.up")
    return ending._replace(signs=ending.signs._replace(person=good), reason=why or ending.reason)


def _put(connection: Connection, owner: str, run: str, ending: Ending) -> Experience:
    before = found_in(connection, owner, run)
    value = outcome(ending.signs)
    question, reason = storable(ending.question), storable(ending.reason)
    created = before.created if before else time.time()
    now = Experience(run, question, end(value), value, ending.signs, reason, created, 0)
    was, told = _plain(before) if before else None, _plain(now)
    revision = log(connection, Event(owner, "experience.end", run, was, told, "tool", reason, run))
    now = now._replace(revision=revision)
    connection.execute(upsert(experiences, {"owner": owner, "run": run}, _row(now)))
    won = now.status == "resolved"
    if before is not None and won != (before.status == "resolved"):
        turn(connection, owner, run, won)
    settle(connection, owner, run, won, revision)
    return now


def _plain(one: Experience) -> dict[str, Any]:
    return {"status": one.status, "outcome": one.outcome, "signs": one.signs._asdict()}


def _row(one: Experience) -> dict[str, Any]:
    row = {**one._asdict(), "signs": json.dumps(one.signs._asdict()), "live": 1}
    return {**row, "vector": packed(vector_of(one.question))}


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
    return Experience(**{**told, "signs": Signs(**json.loads(row.signs))})
