"""What was said and done in a run: kept as it goes, and sparsified when it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from storage.engine import read
from storage.tables import utterances

LONGEST = 2_000
"""How many characters of an action or an observation are kept."""

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
        "action": _cut(said.action),
        "observation": _cut(said.observation),
        "builds_on": json.dumps(said.builds_on),
        "main": int(said.main),
        "at": time.time(),
    }


def keep(connection: Connection, owner: str, run: str, said: Sequence[Utterance]) -> list[int]:
    """Keep utterances in the order in which they came; return their ids."""
    rows = [row(owner, run, one) for one in said]
    return [
        connection.execute(insert(utterances).returning(utterances.c.id), one).scalar_one()
        for one in rows
    ]


async def spoken(owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return what was said and done in a run, in order; only the key steps if so wished."""
    return await read(lambda connection: said_in(connection, owner, run, main=main))


def said_in(connection: Connection, owner: str, run: str, *, main: bool = False) -> list[Utterance]:
    """Return the same, in a transaction of the caller's."""
    wanted = select(utterances).where(utterances.c.owner == owner, utterances.c.run == run)
    if main:
        wanted = wanted.where(utterances.c.main == 1)
    return [_read(one) for one in connection.execute(wanted.order_by(utterances.c.id))]


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
    while frontier and len(kept) < limit:
        frontier.sort()
        at = frontier.pop()
        one = by_id[at]
        if at in kept or (one.who, one.action) in done:
            continue
        done.add((one.who, one.action))
        kept[at] = None
        frontier += [earlier for earlier in before[at] if earlier in by_id]
    return sorted(kept)


def mark(connection: Connection, owner: str, run: str, main: Sequence[int]) -> None:
    """Write down which utterances of a run are its key steps."""
    mine = (utterances.c.owner == owner, utterances.c.run == run)
    connection.execute(update(utterances).where(*mine).values(main=0))
    connection.execute(update(utterances).where(*mine, utterances.c.id.in_(main)).values(main=1))


def _before(said: Sequence[Utterance]) -> Mapping[int, Sequence[int]]:
    if any(one.builds_on for one in said):
        return {one.id: one.builds_on for one in said}
    ids = [one.id for one in said]
    return {after: ids[at - 1 : at] if at else [] for at, after in enumerate(ids)}


def _read(one: Any) -> Utterance:
    builds_on = tuple(json.loads(one.builds_on))
    told = (one.who, one.action, one.observation, one.kind, one.step, builds_on)
    return Utterance(*told, one.id, bool(one.main))


def _cut(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
