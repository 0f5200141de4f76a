"""Keep of a pruned run what its report is drawn from, so that forgetting reaches its files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from graph.records import of_turn
from memory.forgetting.checkpoints import Saved, Told, opened, shown
from memory.forgetting.erasure import MARK, Erasure
from memory.forgetting.tree import left, see
from runs.lifecycle import Run, folders, found
from runs.retention import Old
from storage.engine import read, write
from storage.events import Event, log, read_event
from storage.tables import events, runs

KEPT = "report.kept"
"""The event that holds the state in which a pruned run left its report."""

DRAWN = ("run", "turn", "question", "language", "status", "report")
"""What a report is drawn from, beside the sources and what was found in its turn."""

FOUND = ("findings", "background", "unsearched")
"""What was found, by turn and step or query."""


class Pruned(NamedTuple):
    """A run that is pruned, or about to be, and the state in which it left its report."""

    run: Run
    state: dict[str, Any]

    def cited(self, pages: Collection[str]) -> dict[str, str]:
        """Return those of some pages that are among its sources, by the ids it cites them by."""
        its = self.state["sources"].items()
        return {id: source["page"] for id, source in its if source["page"] in pages}

    def texts(self) -> list[str]:
        """Return every text of its report and findings."""
        said: list[str] = []
        see(self.state, said.append)
        return said

    def told(self, erasure: Erasure) -> Told | None:
        """Return its state as it is and as it will be, where something goes of it, or went."""
        rest = left(self.state, erasure) if erasure else self.state
        told = Told(self.run.id, self.state, rest)
        return told if told.changed or MARK in str(shown(rest)) else None


async def keep_report(owner: str, old: Old) -> None:
    """Write down what the reports of a thread that is about to be pruned are drawn from.

    Those without files need nothing: what they said stays as a page.
    """
    with opened() as saved:
        states = {run: state for run, state, *_ in saved.states(old.thread)}
    for name in old.runs:
        run = await found(owner, name)
        if name in states and await folders(run):
            event = Event(owner, KEPT, name, None, _kept(run, states[name]), "tool", run=name)
            await write(partial(log, event=event))


async def kept(owner: str, run: str) -> Run | None:
    """Return a pruned run of which the report's state is kept."""
    every = await read(lambda connection: _newest(connection, owner))
    return every[run].run if run in every else None


def pruned(connection: Connection, owner: str, saved: Saved) -> list[Pruned]:
    """Return the runs of an owner of whose reports nothing else is left to draw them from."""
    every = _newest(connection, owner)
    wanted = select(runs.c.id, runs.c.thread).where(runs.c.id.in_(every))
    there = {row.id: row.thread for row in connection.execute(wanted)} if every else {}
    threads = set(saved.threads()) if there else set()
    return [one for run, one in every.items() if there.get(run) not in threads]


def _newest(connection: Connection, owner: str) -> dict[str, Pruned]:
    wanted = select(events).where(events.c.owner == owner, events.c.name == KEPT)
    rows = connection.execute(wanted.order_by(events.c.id)).all()
    told = (read_event(row).event.after for row in rows)
    return {one["run"]["id"]: Pruned(Run(**one["run"]), one["state"]) for one in told if one}


def _kept(run: Run, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report is drawn from; passages are read again from the pages."""
    cited = set(state["report"].get("cited", ()))
    sources = {id: one for id, one in state.get("sources", {}).items() if id in cited}
    parts = {name: of_turn(state.get(name), state["turn"]) for name in FOUND}
    turn = f"{state['turn']}/"
    drawn = {
        name: {f"{turn}{key}": _bare(one) for key, one in parts[name].items()} for name in FOUND
    }
    its = {name: state[name] for name in DRAWN if name in state}
    # What was chosen may hold the person's words, and a report is not drawn from it.
    plain = run._replace(context={})._asdict()
    return {"run": plain, "state": {**its, **drawn, "sources": sources}}


def _bare(found: Any) -> Any:
    if not isinstance(found, dict) or not found.get("passages"):
        return found
    return {**found, "passages": [{"source": one["source"]} for one in found["passages"]]}
