"""What to do differently: insights, the runs that speak for them, and how they fared."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Row, insert, select, update

from config.errors import Problem
from memory.experience.credits import heir, inherit, join, join_taught, support
from memory.experience.outcome import least
from prompts.methods import named
from runs.ledger import storable
from storage.engine import read, read_rows, write
from storage.events import Event, hold, log, newest
from storage.tables import insight_runs, insights

TRUSTED = "user"
"""The provenance of an insight whose words the person has written or vouches for."""


class Wording(NamedTuple):
    """What an insight says, and who has written it."""

    content: str
    projections: Mapping[str, str]
    """What it says to each role it concerns."""
    provenance: str = "model"
    why: str = ""
    run: str = ""


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
    provenance: str = "model",
    why: str = "",
    run: str = "",
) -> Insight:
    """Keep a new insight with the runs that speak for it; one that says the same gets them.

    Args:
        owner: Whose.
        content: What to do differently.
        projections: What it says to each role it concerns.
        runs: The runs that taught it.
        provenance: Who is behind it.
        why: Why, for the log.
        run: The run in which it is written.
    """
    new = Wording(content, projections, provenance, why, run)
    return await write(lambda connection: add_in(connection, owner, new, runs))


def add_in(connection: Connection, owner: str, new: Wording, runs: Sequence[str]) -> Insight:
    """Do the same in a transaction of the caller's."""
    hold(connection, owner)
    same = _same(connection, owner, storable(new.content))
    number = same.id if same else _new(connection, owner, new, "add")
    if same:
        _vouch(connection, owner, same, new)
    for run in runs:
        support(connection, owner, number, run, 1, "source")
        join_taught(connection, owner, number, run)
    return _of(connection, owner, number)


def vouch_in(connection: Connection, owner: str, new: Wording) -> bool:
    """Let the insight that says the same be told as trusted words; return whether that is new."""
    hold(connection, owner)
    same = _same(connection, owner, storable(new.content))
    return same is not None and _vouch(connection, owner, same, new)


async def edit(owner: str, insight: str, new: Wording) -> Insight:
    """Give an insight other words; its runs and its record stay.

    One that was joined to others means the one that stands now.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        old = _standing(connection, owner, insight)
        event = _event(owner, "edit", old.id, new)._replace(before=words(old))
        change(connection, event, {**_columns(new), "provenance": new.provenance})
        return _of(connection, owner, old.id)

    return await write(work)


async def agree(owner: str, insight: str, run: str, *, agrees: bool = True) -> Insight:
    """Let a run speak for an insight, or against it.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        old = _standing(connection, owner, insight)
        support(connection, owner, old.id, run, 1 if agrees else -1, "model")
        verb = "agree" if agrees else "disagree"
        after = {"run": run}
        change(
            connection, Event(owner, f"insight.{verb}", old.id, None, after, "model", run=run), {}
        )
        return _of(connection, owner, old.id)

    return await write(work)


async def merge(owner: str, ids: Sequence[str], new: Wording) -> Insight:
    """Join insights into one that has all their runs and their whole record.

    Those that were joined are kept and say into which; all others stay as they are. Where only one
    stands behind all the ids, it stays as it is.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        each = {one.id: one for one in (_standing(connection, owner, id) for id in ids)}
        if len(each) < 2:
            return next(iter(each.values()))
        number = _new(connection, owner, new, "merge", of=list(each))
        inherit(connection, owner, number, list(each))
        revision = newest(connection, owner)
        ended = update(insights).where(insights.c.owner == owner, insights.c.id.in_(each))
        connection.execute(ended.values(live=0, merged_into=number, revision=revision))
        for old in each:
            join(connection, owner, "", [number, old])
        return _of(connection, owner, number)

    return await write(work)


async def listed(owner: str, *, every: bool = False) -> list[Insight]:
    """Return an owner's insights, the best first; also those that ended, if so wished."""
    wanted = select(insights).where(insights.c.owner == owner)
    if not every:
        wanted = wanted.where(insights.c.live == 1)
    rows = await read(lambda connection: connection.execute(wanted).all())
    return sorted(map(read_row, rows), key=lambda one: (-one.score, one.created, one.id))


async def supporters(owner: str) -> dict[str, list[tuple[str, int]]]:
    """Return the runs that speak for each insight (1) and against it (-1)."""
    runs = insight_runs.c
    wanted = select(runs.insight, runs.run, runs.sign).where(runs.owner == owner)
    found: dict[str, list[tuple[str, int]]] = {}
    for row in await read_rows(wanted.order_by(runs.insight, runs.run)):
        found.setdefault(row.insight, []).append((row.run, row.sign))
    return found


def read_row(row: Row[Any]) -> Insight:
    """Return an insight of its row."""
    told = {name: getattr(row, name) for name in Insight._fields}
    projections = json.loads(row.projections)
    return Insight(**{**told, "projections": projections, "live": bool(row.live)})


def guidance(one: Insight, role: str) -> str:
    """Return what a role may be told of an insight; "" if nothing.

    That is the sentence of a method for this role, or what the person has written or vouches for.
    Any other words are a model's or a log's, which may be those of any page or file.
    """
    said = one.projections.get(role, "")
    return said if one.provenance == TRUSTED or is_method(said, role) else ""


def is_method(said: str, role: str) -> bool:
    """Tell whether a sentence is that of a method for a role."""
    method = named(said)
    return method is not None and method.role == role


def guides(one: Insight) -> bool:
    """Tell whether any role may be told of an insight."""
    return any(guidance(one, role) for role in one.projections)


def found_in(connection: Connection, owner: str, insight: str) -> Insight | None:
    """Return an insight of an owner, whether it stands or is history."""
    wanted = select(insights).where(insights.c.owner == owner, insights.c.id == insight)
    row = connection.execute(wanted).first()
    return None if row is None else read_row(row)


def change(connection: Connection, event: Event, values: Mapping[str, Any]) -> None:
    """Give an insight other values, and log the event of it."""
    put(connection, event, values, log(connection, event))


def put(connection: Connection, event: Event, values: Mapping[str, Any], number: int) -> None:
    """Give an insight other values for an event that has been logged under a number."""
    its = (insights.c.owner == event.owner, insights.c.id == event.item)
    connection.execute(update(insights).where(*its).values({**values, "revision": number}))


def _standing(connection: Connection, owner: str, insight: str) -> Insight:
    """Return what stands now for an insight."""
    hold(connection, owner)
    one = _of(connection, owner, heir(connection, owner, insight))
    if not one.live:
        hint = "see `dossier memory list --all`"
        raise Problem("insight_not_found", f"the insight {insight!r} has ended", hint=hint)
    return one


def _of(connection: Connection, owner: str, insight: str) -> Insight:
    one = found_in(connection, owner, insight)
    if one is None:
        hint = "see `dossier memory insights`"
        raise Problem("insight_not_found", f"there is no insight {insight!r}", hint=hint)
    return one


def _same(connection: Connection, owner: str, content: str) -> Insight | None:
    """Return the insight that says the same; a method is the same one in either language."""
    method = named(content)
    wordings = [method.english, method.chinese] if method else [content]
    wanted = select(insights).where(
        insights.c.owner == owner, insights.c.live == 1, insights.c.content.in_(wordings)
    )
    row = connection.execute(wanted).first()
    return None if row is None else read_row(row)


def _vouch(connection: Connection, owner: str, one: Insight, new: Wording) -> bool:
    """Give an insight the trusted words of another one; of its own it keeps those that are told."""
    own = {role: said for role in one.projections if (said := guidance(one, role))}
    trusted = new._replace(content=one.content, projections={**_clean(new.projections), **own})
    has = (one.provenance, one.projections)
    if new.provenance != TRUSTED or has == (TRUSTED, trusted.projections):
        return False
    event = _event(owner, "edit", one.id, trusted)._replace(before=words(one))
    change(connection, event, {**_columns(trusted), "provenance": TRUSTED})
    return True


def _new(
    connection: Connection, owner: str, new: Wording, verb: str, of: Sequence[str] = ()
) -> str:
    number = uuid4().hex
    event = _event(owner, verb, number, new)
    if of:
        event = event._replace(after={**(event.after or {}), "of": list(of)})
    row = {"id": number, "owner": owner, "provenance": new.provenance, "created": time.time()}
    made = insert(insights).values({**row, **_columns(new), "revision": log(connection, event)})
    connection.execute(made)
    return number


def _event(owner: str, verb: str, insight: str, new: Wording) -> Event:
    said = {"content": storable(new.content), "projections": _clean(new.projections)}
    after = {**said, "provenance": new.provenance}
    name = f"insight.{verb}"
    return Event(owner, name, insight, None, after, new.provenance, new.why, new.run)


def words(one: Insight) -> dict[str, Any]:
    """Return what an insight says, as events have it."""
    said = {"content": one.content, "projections": dict(one.projections)}
    return {**said, "provenance": one.provenance}


def _columns(new: Wording) -> dict[str, str]:
    projections = json.dumps(_clean(new.projections), ensure_ascii=False)
    return {"content": storable(new.content), "projections": projections}


def _clean(projections: Mapping[str, str]) -> dict[str, str]:
    return {role: storable(text) for role, text in projections.items()}
