"""Take back what was done to insights, and that a run teaches anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update

from config.errors import Problem
from memory.experience.credits import recount
from memory.experience.insights import Insight, change, found_in, words
from storage.engine import write
from storage.events import Logged, hold, log, undoing
from storage.tables import experiences, insight_runs, insights

State = Mapping[str, Any]


async def undo(logged: Logged) -> None:
    """Take back one change of an insight (`memory.base.Undo`).

    Raises:
        Problem: `undo_conflict` if it was changed since.
    """
    await write(lambda connection: _undo(connection, logged))


async def undo_end(logged: Logged) -> None:
    """Let nobody learn of a run any more, or again; what it has taught is taken back apart.

    Raises:
        Problem: `undo_conflict` if it stands so already.
    """
    await write(lambda connection: _undo_end(connection, logged))


def _undo(connection: Connection, logged: Logged) -> None:
    owner, insight = logged.event.owner, logged.event.item
    hold(connection, owner)
    one = found_in(connection, owner, insight)
    verb = logged.event.name.partition(".")[2]
    if one is None:
        raise _conflict(logged)
    if verb in ("agree", "disagree"):
        _take_back(connection, logged, str((logged.event.after or {})["run"]))
        _log(connection, logged, one, _state(one))
        return
    now, back = _state(one), _before(logged, one, verb)
    if back is None:
        raise _conflict(logged)
    if verb == "merge":
        _part(connection, owner, insight, (logged.event.after or {})["of"])
    _log(connection, logged, one, {**now, **back})


def _before(logged: Logged, one: Insight, verb: str) -> State | None:
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
        recount(connection, owner, one)


def _take_back(connection: Connection, logged: Logged, run: str) -> None:
    its = insight_runs.c
    mine = (its.owner == logged.event.owner, its.insight == logged.event.item, its.run == run)
    if not connection.execute(delete(insight_runs).where(*mine, its.said == "model")).rowcount:
        raise _conflict(logged)


def _state(one: Insight) -> dict[str, Any]:
    return {**words(one), "live": one.live}


def _log(connection: Connection, logged: Logged, one: Insight, new: State) -> None:
    """Give an insight a state, and log whose wish that was."""
    undone = undoing(logged, "insight.undo", run=logged.event.run)
    event = undone._replace(before=_state(one), after=new)
    values = {
        "content": new["content"],
        "projections": json.dumps(dict(new["projections"]), ensure_ascii=False),
        "live": int(new["live"]),
        "provenance": new["provenance"],
    }
    change(connection, event, values)


def _undo_end(connection: Connection, logged: Logged) -> None:
    owner, run = logged.event.owner, logged.event.item
    hold(connection, owner)
    live = int(logged.event.name == "experience.undo" and bool((logged.event.before or {})["live"]))
    mine = (experiences.c.owner == owner, experiences.c.run == run, experiences.c.live == 1 - live)
    event = undoing(logged, "experience.undo", run=run)._replace(
        before={"live": not live}, after={"live": bool(live)}
    )
    if connection.execute(select(experiences.c.run).where(*mine)).first() is None:
        if live:
            raise _conflict(logged)
        # A run that was closed twice is taken back at once.
        return
    values = {"live": live, "revision": log(connection, event)}
    connection.execute(update(experiences).where(*mine).values(values))


def _conflict(logged: Logged) -> Problem:
    what = f"{logged.event.name} of {logged.event.item} was changed since"
    return Problem("undo_conflict", what, hint="see `dossier memory log`")
