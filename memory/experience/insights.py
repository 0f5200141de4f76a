"""Insights: what to do differently, the runs that support it, and their record of wins."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import Connection, Row, func, insert, select, update

from config.errors import ErrorCode, Problem
from memory.experience import credit_assignment
from memory.tables import (
    credits,
    experience_edges,
    experiences,
    insight_edges,
    insight_runs,
    insights,
    recalls,
)
from prompts.methods import find_method
from storage.engine import read_rows, run_read, run_write
from storage.events import Event, current_revision, lock_owner, log_event
from text.normalization import drop_unstorable

VOUCHED_PROVENANCE = "user"
"""The provenance of an insight in words that the person has written or vouches for."""


class InsightText(NamedTuple):
    """The words of an insight, and who wrote them."""

    content: str
    projections: Mapping[str, str]
    """Its words for each role it concerns."""
    provenance: str = "model"
    why: str = ""
    run: str = ""


class Insight(NamedTuple):
    """Something that past runs taught."""

    id: str
    content: str
    projections: Mapping[str, str]
    """Its words for each role it concerns; other roles are not given it."""
    provenance: str
    wins: int
    uses: int
    live: bool
    merged_into: str
    created: float
    revision: int

    @property
    def score(self) -> float:
        """The lower bound of its share of wins (`win_rate_lower_bound`), in 0..1."""
        return credit_assignment.win_rate_lower_bound(self.wins, self.uses)


async def add_insight(owner: str, new: InsightText, runs: Sequence[str]) -> Insight:
    """Add an insight with the runs that taught it, or these runs to one that says the same."""
    return await run_write(lambda connection: add_insight_in(connection, owner, new, runs))


def add_insight_in(
    connection: Connection, owner: str, new: InsightText, runs: Sequence[str]
) -> Insight:
    """Do the same in a transaction of the caller's."""
    lock_owner(connection, owner)
    new = _clean(new)
    same = _same(connection, owner, new.content)
    number = same.id if same else _new(connection, owner, new, "add")
    if same:
        _vouch(connection, owner, same, new)
    for run in runs:
        credit_assignment.set_support(connection, owner, number, run, 1, "source")
        credit_assignment.link_siblings(connection, owner, number, run)
    return _get_insight(connection, owner, number)


def vouch_insight_in(connection: Connection, owner: str, new: InsightText) -> bool:
    """Vouch for the insight that says the same; return whether that changes it."""
    lock_owner(connection, owner)
    new = _clean(new)
    same = _same(connection, owner, new.content)
    return same is not None and _vouch(connection, owner, same, new)


async def edit_insight(owner: str, insight: str, new: InsightText) -> Insight:
    """Replace the words of an insight; its runs and its record stay.

    A merged insight stands for the one it was merged into.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        old = _get_current(connection, owner, insight)
        _edit(connection, owner, old, _clean(new))
        return _get_insight(connection, owner, old.id)

    return await run_write(work)


async def record_agreement(owner: str, insight: str, run: str, *, agrees: bool = True) -> Insight:
    """Record that a run agrees or disagrees with an insight.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        old = _get_current(connection, owner, insight)
        credit_assignment.set_support(connection, owner, old.id, run, 1 if agrees else -1, "model")
        name = "insight.agree" if agrees else "insight.disagree"
        event = Event(owner, name, old.id, None, {"run": run}, "model", run=run)
        update_insight(connection, event, {})
        return _get_insight(connection, owner, old.id)

    return await run_write(work)


async def merge_insights(owner: str, ids: Sequence[str], new: InsightText) -> Insight:
    """Merge insights into one that has all their runs and their whole record.

    The merged ones are kept with the id of the new one. If all ids stand for one insight, nothing
    changes.

    Raises:
        Problem: `insight_not_found`, also for one that has ended.
    """

    def work(connection: Connection) -> Insight:
        """Let a new insight inherit the runs and wins of the old ones, which end."""
        each = {one.id: one for one in (_get_current(connection, owner, id) for id in ids)}
        if len(each) < 2:
            return next(iter(each.values()))
        number = _new(connection, owner, _clean(new), "merge", of=list(each))
        credit_assignment.inherit_record(connection, owner, number, list(each))
        revision = current_revision(connection, owner)
        ended = update(insights).where(insights.c.owner == owner, insights.c.id.in_(each))
        connection.execute(ended.values(live=0, merged_into=number, revision=revision))
        for old in each:
            credit_assignment.link_insights(connection, owner, "", [number, old])
        return _get_insight(connection, owner, number)

    return await run_write(work)


async def list_insights(owner: str, *, include_ended: bool = False) -> list[Insight]:
    """Return an owner's insights, the best first."""
    wanted = select(insights).filter_by(owner=owner)
    if not include_ended:
        wanted = wanted.filter_by(live=1)
    rows = await run_read(lambda connection: connection.execute(wanted).all())
    return sorted(map(insight_from_row, rows), key=lambda one: (-one.score, one.created, one.id))


async def list_insight_support(owner: str) -> dict[str, list[tuple[str, int]]]:
    """Return the runs that support each insight (1) or contradict it (-1)."""
    mine = select(insight_runs).filter_by(owner=owner)
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for row in await read_rows(mine.order_by(insight_runs.c.insight, insight_runs.c.run)):
        found[row.insight].append((row.run, row.sign))
    return found


def insight_from_row(row: Row[Any]) -> Insight:
    """Return the insight of a row."""
    fields = {name: getattr(row, name) for name in Insight._fields}
    projections = json.loads(row.projections)
    return Insight(**{**fields, "projections": projections, "live": bool(row.live)})


def get_role_guidance(one: Insight, role: str) -> str:
    """Return the words of an insight that a role may be given, if any.

    These are the sentence of a method for this role, or words that the person has written or
    vouches for. Any other words are a model's or a log's, which may be those of any page or file.
    """
    words = one.projections.get(role, "")
    is_trusted = one.provenance == VOUCHED_PROVENANCE or is_method_sentence(words, role)
    return words if is_trusted else ""


def is_method_sentence(said: str, role: str) -> bool:
    """Tell whether a sentence is a method's for a role."""
    method = find_method(said)
    return method is not None and method.role == role


def has_guidance(one: Insight) -> bool:
    """Tell whether any role may be given an insight."""
    return any(get_role_guidance(one, role) for role in one.projections)


def find_insight_in(connection: Connection, owner: str, insight: str) -> Insight | None:
    """Return an insight of an owner, live or history."""
    wanted = select(insights).filter_by(owner=owner, id=insight)
    row = connection.execute(wanted).first()
    return None if row is None else insight_from_row(row)


def update_insight(connection: Connection, event: Event, values: Mapping[str, Any]) -> None:
    """Change columns of an insight, and log the event."""
    put(connection, event, values, log_event(connection, event))


def put(connection: Connection, event: Event, values: Mapping[str, Any], number: int) -> None:
    """Change columns of an insight for an event that is logged under a number."""
    its = (insights.c.owner == event.owner, insights.c.id == event.item)
    connection.execute(update(insights).where(*its).values({**values, "revision": number}))


def _get_current(connection: Connection, owner: str, insight: str) -> Insight:
    """Return the live insight for an id, which may be that of a merged one."""
    lock_owner(connection, owner)
    heirs = credit_assignment.find_successors(connection, owner, [insight])
    one = _get_insight(connection, owner, heirs[insight])
    if not one.live:
        hint = "see `dossier memory list --all`"
        raise Problem(ErrorCode.INSIGHT_NOT_FOUND, f"the insight {insight!r} has ended", hint=hint)
    return one


def _get_insight(connection: Connection, owner: str, insight: str) -> Insight:
    one = find_insight_in(connection, owner, insight)
    if one is None:
        hint = "see `dossier memory insights`"
        raise Problem(ErrorCode.INSIGHT_NOT_FOUND, f"there is no insight {insight!r}", hint=hint)
    return one


def _same(connection: Connection, owner: str, content: str) -> Insight | None:
    """Return the live insight that says the same; a method is the same in either language."""
    method = find_method(content)
    wordings = [method.english, method.chinese] if method else [content]
    live = select(insights).filter_by(owner=owner, live=1)
    row = connection.execute(live.where(insights.c.content.in_(wordings))).first()
    return None if row is None else insight_from_row(row)


def _vouch(connection: Connection, owner: str, one: Insight, new: InsightText) -> bool:
    """Add vouched words to an insight beside its own trusted ones; return whether it changes."""
    trusted = {role: words for role in one.projections if (words := get_role_guidance(one, role))}
    projections = {**new.projections, **trusted}
    is_known = one.provenance == VOUCHED_PROVENANCE and one.projections == projections
    if new.provenance != VOUCHED_PROVENANCE or is_known:
        return False
    _edit(connection, owner, one, new._replace(content=one.content, projections=projections))
    return True


def _edit(connection: Connection, owner: str, old: Insight, new: InsightText) -> None:
    event = _event(owner, "edit", old.id, new)._replace(before=insight_event_data(old))
    update_insight(connection, event, _columns(new))


def _new(
    connection: Connection, owner: str, new: InsightText, verb: str, **logged: list[str]
) -> str:
    number = uuid4().hex
    row = {"id": number, "owner": owner, "created": time.time(), **_columns(new)}
    row["revision"] = log_event(connection, _event(owner, verb, number, new, **logged))
    connection.execute(insert(insights).values(row))
    return number


def _event(owner: str, verb: str, insight: str, new: InsightText, **logged: list[str]) -> Event:
    after = insight_event_data(new) | logged
    name = f"insight.{verb}"
    return Event(owner, name, insight, None, after, new.provenance, new.why, new.run)


def insight_event_data(one: Insight | InsightText) -> dict[str, Any]:
    """Return the data of an insight for the log."""
    words = {"content": one.content, "projections": dict(one.projections)}
    return {**words, "provenance": one.provenance}


def _columns(new: InsightText) -> dict[str, Any]:
    projections = json.dumps(dict(new.projections), ensure_ascii=False)
    return {**insight_event_data(new), "projections": projections}


def _clean(new: InsightText) -> InsightText:
    """Return words without the characters that no database stores."""
    projections = {role: drop_unstorable(text) for role, text in new.projections.items()}
    return new._replace(content=drop_unstorable(new.content), projections=projections)


async def count_dangling_edges() -> dict[str, int]:
    """Return how many edges of each table lead nowhere; empty if none does.

    The runs that support an insight need not be here: it may be from another home.
    """
    return await run_read(_count_dangling)


def _count_dangling(connection: Connection) -> dict[str, int]:
    pair = insight_edges.c
    targets = {
        experiences.c.run: [experience_edges.c.run, experience_edges.c.other, recalls.c.other],
        insights.c.id: [insight_runs.c.insight, credits.c.insight, pair.one, pair.other],
    }
    counts: dict[str, int] = {}
    for there, edges in targets.items():
        for here in edges:
            same_owner = there.table.c.owner == here.table.c.owner
            dangling = ~select(there).where(there == here, same_owner).exists()
            counted = select(func.count()).select_from(here.table).where(dangling)
            counts[str(here)] = connection.execute(counted).scalar_one()
    return {name: count for name, count in counts.items() if count}
