"""Undo what an event did to an insight, and let nobody learn of a run any more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, select, update

from config.errors import ErrorCode, Problem
from memory.experience.credit_assignment import recount_wins
from memory.experience.insights import Insight, find_insight_in, insight_event_data, put
from memory.experience.tables import experiences, insight_runs, insights
from storage.events import LoggedEvent, Reversal, undoing

_InsightState = Mapping[str, Any]


def undo_insight_change(connection: Connection, logged: LoggedEvent) -> Reversal:
    """Take back one change of an insight.

    Raises:
        Problem: `undo_conflict` if it was changed since.
    """
    owner, insight = logged.event.owner, logged.event.item
    one = find_insight_in(connection, owner, insight)
    verb = logged.event.name.partition(".")[2]
    if one is None:
        raise _conflict(logged)
    if verb in ("agree", "disagree"):
        _take_back(connection, logged, str((logged.event.after or {})["run"]))
        return _reversal(connection, logged, one, _state(one))
    now, back = _state(one), _before(logged, one, verb)
    if back is None:
        raise _conflict(logged)
    if verb == "merge":
        _part(connection, owner, insight, (logged.event.after or {})["of"])
    return _reversal(connection, logged, one, {**now, **back})


def _before(logged: LoggedEvent, one: Insight, verb: str) -> _InsightState | None:
    """Return what an insight was before an event; nothing where it was changed since."""
    before, after = logged.event.before, logged.event.after
    now = _state(one)
    if verb == "end":
        return {"live": True} if not one.live and not one.merged_into else None
    if after is None or any(now[name] != after[name] for name in after.keys() & now.keys()):
        return None
    if verb in ("add", "merge"):
        return {"live": False} if one.live else None
    return before if verb == "undo" or one.live else None


def _part(connection: Connection, owner: str, heir: str, old: list[str]) -> None:
    """Let those that were joined stand for themselves again."""
    mine = (insights.c.owner == owner, insights.c.id.in_(old), insights.c.merged_into == heir)
    parted = connection.execute(select(insights.c.id).where(*mine)).scalars().all()
    connection.execute(update(insights).where(*mine).values(live=1, merged_into=""))
    for one in parted:
        recount_wins(connection, owner, one)


def _take_back(connection: Connection, logged: LoggedEvent, run: str) -> None:
    its = insight_runs.c
    mine = (its.owner == logged.event.owner, its.insight == logged.event.item, its.run == run)
    if not connection.execute(delete(insight_runs).where(*mine, its.said == "model")).rowcount:
        raise _conflict(logged)


def _state(one: Insight) -> dict[str, Any]:
    return {**insight_event_data(one), "live": one.live}


def _reversal(
    connection: Connection, logged: LoggedEvent, one: Insight, new: _InsightState
) -> Reversal:
    """Return how an insight gets a state."""
    undone = undoing(logged, "insight.undo", run=logged.event.run)
    event = undone._replace(before=_state(one), after=new)
    values = {
        "content": new["content"],
        "projections": json.dumps(dict(new["projections"]), ensure_ascii=False),
        "live": int(new["live"]),
        "provenance": new["provenance"],
    }
    return Reversal(event, partial(put, connection, event, values))


def undo_run_end(connection: Connection, logged: LoggedEvent) -> Reversal | None:
    """Let nobody learn of a run any more, or again; what it has taught is taken back apart.

    Raises:
        Problem: `undo_conflict` if it stands so already.
    """
    owner, run = logged.event.owner, logged.event.item
    live = int(logged.event.name == "experience.undo" and bool((logged.event.before or {})["live"]))
    mine = (experiences.c.owner == owner, experiences.c.run == run, experiences.c.live == 1 - live)
    event = undoing(logged, "experience.undo", run=run)._replace(
        before={"live": not live}, after={"live": bool(live)}
    )
    if connection.execute(select(experiences.c.run).where(*mine)).first() is None:
        if live:
            raise _conflict(logged)
        # A run that was closed twice is taken back at once.
        return None

    def write(number: int) -> None:
        values = {"live": live, "revision": number}
        connection.execute(update(experiences).where(*mine).values(values))

    return Reversal(event, write)


def _conflict(logged: LoggedEvent) -> Problem:
    what = f"{logged.event.name} of {logged.event.item} was changed since"
    return Problem(ErrorCode.UNDO_CONFLICT, what, hint="see `dossier memory log`")
