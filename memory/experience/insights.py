"""What to do differently: insights, the runs that speak for them, and how they fared."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Row, insert, select, update

from config.errors import Problem
from memory.experience.credits import support
from memory.experience.outcome import least, most
from storage.engine import alone, read, write
from storage.events import Event, Logged, log
from storage.tables import insight_edges, insight_runs, insights
from storage.upsert import insert_new

TRIES, HOPELESS = 5, 0.5
"""An insight ends when it was used so often, and its share of wins is likely below this."""


class Insight(NamedTuple):
    """Something that was learnt of past runs."""

    id: str
    content: str
    projections: Mapping[str, str]
    """What it says to each role it concerns; a role that is not there is not told."""
    provenance: str
    wins: int
    uses: int
    live: bool
    merged_into: str
    created: float
    revision: int

    @property
    def score(self) -> float:
        """The lower bound of its share of wins (`outcome.least`), in 0..1."""
        return least(self.wins, self.uses)


async def add(
    owner: str,
    content: str,
    projections: Mapping[str, str],
    runs: Sequence[str],
    *,
    against: Sequence[str] = (),
    provenance: str = "model",
    why: str = "",
) -> Insight:
    """Keep a new insight with the runs that speak for it; one that says the same gets them."""

    def work(connection: Connection) -> Insight:
        alone(connection, f"events {owner}")
        same = _same(connection, owner, content)
        number = same.id if same else uuid4().hex
        if same is None:
            after = {"content": content, "projections": dict(projections)}
            event = Event(owner, "insight.add", number, None, after, provenance, why)
            row = _row(owner, number, content, projections, provenance, log(connection, event))
            connection.execute(insert(insights), row)
        for run, sign in _signed(runs, against):
            support(connection, owner, number, run, sign)
        return _of(connection, owner, number)

    return await write(work)


async def edit(
    owner: str, insight: str, content: str, projections: Mapping[str, str], why: str = ""
) -> Insight:
    """Give an insight other words; its runs and its record stay.

    Raises:
        Problem: `insight_not_found`.
    """
    new = {"content": content, "projections": dict(projections)}
    return await write(lambda connection: _edit(connection, owner, insight, new, why))


async def agree(owner: str, insight: str, run: str, *, agrees: bool = True) -> Insight:
    """Let a run speak for an insight, or against it.

    Raises:
        Problem: `insight_not_found`.
    """

    def work(connection: Connection) -> Insight:
        _of(connection, owner, insight)
        support(connection, owner, insight, run, 1 if agrees else -1)
        verb = "agree" if agrees else "disagree"
        log(connection, Event(owner, f"insight.{verb}", insight, None, {"run": run}, "model"))
        return _of(connection, owner, insight)

    return await write(work)


async def merge(
    owner: str, ids: Sequence[str], content: str, projections: Mapping[str, str], why: str = ""
) -> Insight:
    """Join insights into one that has all their runs and their whole record.

    Those that were joined are kept and say into which; all others stay as they are.

    Raises:
        Problem: `insight_not_found`, or `usage` for fewer than two.
    """
    if len(set(ids)) < 2:
        raise Problem("usage", "a merge needs two insights", hint="name two different ones")

    def work(connection: Connection) -> Insight:
        old = [_of(connection, owner, one) for one in dict.fromkeys(ids)]
        number = uuid4().hex
        after = {"content": content, "projections": dict(projections), "of": [o.id for o in old]}
        event = Event(owner, "insight.merge", number, None, after, "model", why)
        revision = log(connection, event)
        record = {"wins": sum(one.wins for one in old), "uses": sum(one.uses for one in old)}
        row = _row(owner, number, content, projections, "model", revision)
        connection.execute(insert(insights), {**row, **record})
        _inherit(connection, owner, number, [one.id for one in old], revision)
        return _of(connection, owner, number)

    return await write(work)


async def listed(owner: str, *, every: bool = False) -> list[Insight]:
    """Return an owner's insights, the best first; also those that ended, if so wished."""
    wanted = select(insights).where(insights.c.owner == owner)
    if not every:
        wanted = wanted.where(insights.c.live == 1)
    rows = await read(lambda connection: connection.execute(wanted).all())
    return sorted(map(read_row, rows), key=lambda one: (-one.score, one.created, one.id))


async def supporters(owner: str, insight: str) -> list[tuple[str, int]]:
    """Return the runs that speak for an insight (1) and against it (-1)."""
    mine = (insight_runs.c.owner == owner, insight_runs.c.insight == insight)
    wanted = select(insight_runs.c.run, insight_runs.c.sign).where(*mine)
    ordered = wanted.order_by(insight_runs.c.run)
    return await read(lambda connection: [(run, sign) for run, sign in connection.execute(ordered)])


async def retire(owner: str) -> list[str]:
    """End the insights that were used often and to no good; return their ids."""

    def work(connection: Connection) -> list[str]:
        tried = select(insights).where(
            insights.c.owner == owner, insights.c.live == 1, insights.c.uses >= TRIES
        )
        bad = [one for one in map(read_row, connection.execute(tried)) if _hopeless(one)]
        for one in bad:
            was = {"content": one.content, "wins": one.wins, "uses": one.uses}
            number = log(connection, Event(owner, "insight.end", one.id, was, None, "tool"))
            ended = update(insights).where(insights.c.id == one.id)
            connection.execute(ended.values(live=0, revision=number))
        return [one.id for one in bad]

    return await write(work)


async def undo(logged: Logged) -> None:
    """Take back an addition, an edit or the end of an insight (`memory.base.Undo`).

    Raises:
        Problem: `undo_conflict` if it was changed since, or if the change cannot be taken back.
    """
    event = logged.event

    def work(connection: Connection) -> None:
        now = _of(connection, event.owner, event.item)
        verb = event.name.partition(".")[2]
        if (
            verb == "edit"
            and event.before
            and event.after
            and now.content == event.after["content"]
        ):
            _edit(connection, event.owner, event.item, event.before, f"undo {logged.id}")
        elif verb in ("add", "end"):
            live = int(verb == "end")
            told = Event(event.owner, "insight.undo", event.item, event.after, event.before)
            changed = update(insights).where(insights.c.id == event.item)
            connection.execute(changed.values(live=live, revision=log(connection, told)))
        else:
            what = f"{event.name} of {event.item} cannot be taken back"
            raise Problem("undo_conflict", what, hint="see `dossier memory log`")

    await write(work)


def read_row(row: Row[Any]) -> Insight:
    """Return an insight of its row."""
    told = {name: getattr(row, name) for name in Insight._fields}
    projections = json.loads(row.projections)
    return Insight(**{**told, "projections": projections, "live": bool(row.live)})


def _of(connection: Connection, owner: str, insight: str) -> Insight:
    wanted = select(insights).where(insights.c.owner == owner, insights.c.id == insight)
    row = connection.execute(wanted.with_for_update()).first()
    if row is None:
        hint = "see `dossier memory insights`"
        raise Problem("insight_not_found", f"there is no insight {insight!r}", hint=hint)
    return read_row(row)


def _row(
    owner: str,
    number: str,
    content: str,
    projections: Mapping[str, str],
    provenance: str,
    revision: int,
) -> dict[str, Any]:
    return {
        "id": number,
        "owner": owner,
        "content": content,
        "projections": json.dumps(dict(projections), ensure_ascii=False),
        "provenance": provenance,
        "created": time.time(),
        "revision": revision,
    }


def _edit(
    connection: Connection, owner: str, insight: str, new: Mapping[str, Any], why: str
) -> Insight:
    old = _of(connection, owner, insight)
    was = {"content": old.content, "projections": dict(old.projections)}
    event = Event(owner, "insight.edit", insight, was, dict(new), "model", why)
    values = {
        "content": new["content"],
        "projections": json.dumps(new["projections"], ensure_ascii=False),
        "revision": log(connection, event),
    }
    connection.execute(update(insights).where(insights.c.id == insight).values(values))
    return _of(connection, owner, insight)


def _same(connection: Connection, owner: str, content: str) -> Insight | None:
    wanted = select(insights).where(
        insights.c.owner == owner, insights.c.live == 1, insights.c.content == content
    )
    row = connection.execute(wanted).first()
    return None if row is None else read_row(row)


def _signed(runs: Sequence[str], against: Sequence[str]) -> list[tuple[str, int]]:
    return [*((run, 1) for run in runs), *((run, -1) for run in against)]


def _inherit(
    connection: Connection, owner: str, number: str, old: Sequence[str], revision: int
) -> None:
    mine = (insight_runs.c.owner == owner, insight_runs.c.insight.in_(old))
    for run, sign in connection.execute(
        select(insight_runs.c.run, insight_runs.c.sign).where(*mine)
    ):
        support(connection, owner, number, run, sign)
    ended = update(insights).where(insights.c.owner == owner, insights.c.id.in_(old))
    connection.execute(ended.values(live=0, merged_into=number, revision=revision))
    rows = [{"one": number, "other": one, "run": "", "owner": owner} for one in old]
    connection.execute(insert_new(insight_edges).on_conflict_do_nothing(), rows)


def _hopeless(one: Insight) -> bool:
    return most(one.wins, one.uses) < HOPELESS
