"""What was said and done in a run: kept as it goes, and sparsified when it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from runs.ledger import clipped
from storage.engine import read, read_rows
from storage.tables import runs, utterances

PERSON = "person"
"""Who speaks where the person does."""

EDIT = "edit"
"""The kind of the words that a person has put into a plan; they are no step of the work."""

MAIN = 12
"""How many key steps a run has at the most."""


class Utterance(NamedTuple):
    """One thing that somebody said or did, and what came of it."""

    who: str
    action: str
    observation: str = ""
    kind: str = "model"
    """`model` for what was said; `search`, `fetch` or `sandbox` for what was done."""
    step: str = ""
    builds_on: tuple[int, ...] = ()
    """The ids of the earlier ones that it builds on: the edges of inspiration."""
    id: int = 0
    main: bool = False


def row(owner: str, run: str, said: Utterance) -> dict[str, Any]:
    """Return the row that keeps an utterance; long texts keep their beginning and their end."""
    return {
        "owner": owner,
        "run": run,
        "step": said.step,
        "who": said.who,
        "kind": said.kind,
        "action": clipped(said.action),
        "observation": clipped(said.observation),
        "builds_on": json.dumps(said.builds_on),
        "main": int(said.main),
        "at": time.time(),
    }


def keep(connection: Connection, owner: str, run: str, said: Sequence[Utterance]) -> None:
    """Keep utterances in the order in which they came.

    What they build on is told by their places among them, from 1.
    """
    ids: list[int] = []
    for one in said:
        on = tuple(ids[place - 1] for place in one.builds_on)
        values = row(owner, run, one._replace(builds_on=on))
        made = insert(utterances).returning(utterances.c.id)
        ids.append(connection.execute(made, values).scalar_one())


async def spoken(owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return what was said and done in a run, in order; only the key steps if so wished."""
    return await read(lambda connection: said_in(connection, owner, run, main=main))


def said_in(connection: Connection, owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(utterances).where(utterances.c.owner == owner, utterances.c.run == run)
    if main:
        wanted = wanted.where(utterances.c.main == 1)
    return [_read(one) for one in connection.execute(wanted.order_by(utterances.c.id))]


async def said_by_person(owner: str, threads: Sequence[str]) -> list[str]:
    """Return what the person asked, said about plans, and added to plans in some threads."""
    its = (runs.c.owner == owner, runs.c.thread.in_(threads))
    asked = (await read_rows(select(runs.c.id, runs.c.question).where(*its))).all()
    mine = (utterances.c.owner == owner, utterances.c.run.in_([row.id for row in asked]))
    spoke = select(utterances.c.action).where(*mine, utterances.c.who == PERSON)
    return [*(row.question for row in asked), *(await read_rows(spoke)).scalars()]


def temporal(said: Sequence[Utterance]) -> list[tuple[int, int]]:
    """Return the edges of time: from each utterance to the next one of the same step."""
    last: dict[str, int] = {}
    edges = []
    for one in said:
        if one.step in last:
            edges.append((last[one.step], one.id))
        last[one.step] = one.id
    return edges


def key_steps(said: Sequence[Utterance], limit: int = MAIN) -> list[int]:
    """Return the ids of the steps that led to the end, in order; none that was not there.

    The last utterance, and backwards whatever it builds on, through those that were built on
    themselves. Where nobody says what builds on what, each builds on the one before it. Of two that
    did the same the later one stays, which is nearer to the end.
    """
    if not said:
        return []
    by_id = {one.id: one for one in said}
    before = _before(said)
    kept: dict[int, None] = {}
    done: set[tuple[str, str]] = set()
    frontier = [said[-1].id]
    seen: set[int] = set()
    while frontier and len(kept) < limit:
        frontier.sort()
        at = frontier.pop()
        if at in seen:
            continue
        seen.add(at)
        one = by_id[at]
        if (one.who, one.action) not in done:
            done.add((one.who, one.action))
            kept[at] = None
        frontier += [earlier for earlier in before[at] if earlier in by_id]
    return sorted(kept)


def mark(connection: Connection, said: Sequence[Utterance]) -> None:
    """Write down what the utterances of a run build on, and which of them are its key steps."""
    main = {*key_steps(said)}
    marked = update(utterances).where(utterances.c.id == bindparam("one"))
    values = [
        {"one": one.id, "on": json.dumps(one.builds_on), "is_main": int(one.id in main)}
        for one in said
    ]
    if values:
        columns: dict[str, Any] = {"builds_on": bindparam("on"), "main": bindparam("is_main")}
        connection.execute(marked.values(columns), values)


def _before(said: Sequence[Utterance]) -> Mapping[int, Sequence[int]]:
    if any(one.builds_on for one in said):
        return {one.id: one.builds_on for one in said}
    ids = [one.id for one in said]
    return {after: ids[at - 1 : at] if at else [] for at, after in enumerate(ids)}


def _read(one: Any) -> Utterance:
    builds_on = tuple(json.loads(one.builds_on))
    told = (one.who, one.action, one.observation, one.kind, one.step, builds_on)
    return Utterance(*told, one.id, bool(one.main))


def inspired(said: Sequence[Utterance]) -> list[Utterance]:
    """Return utterances with what each of them builds on, where nobody has said so.

    Whoever speaks in a step builds on all that was said and done in it since somebody last spoke,
    and on that; the first one in a step builds on the last word that was spoken for the whole run,
    such as the plan. Who speaks for the whole run builds on the last word of every step since then.
    """
    spoken_last: dict[str, int] = {}
    done_since: dict[str, list[int]] = {}
    joined = []
    for one in said:
        here = [spoken_last[one.step]] if one.step in spoken_last else []
        above = [spoken_last[""]] if one.step and "" in spoken_last and not here else []
        steps = [] if one.step else [last for step, last in spoken_last.items() if step]
        if one.kind == "model":
            since = [*here, *above, *steps, *done_since.pop(one.step, [])]
            if not one.step:
                spoken_last.clear()
            spoken_last[one.step] = one.id
        else:
            since = [*here, *above]
            done_since.setdefault(one.step, []).append(one.id)
        joined.append(one if one.builds_on else one._replace(builds_on=tuple(sorted({*since}))))
    return joined
