"""Tell what the calls of a run were reminded of, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from memory.kept.shelf import Item
from memory.registry import SHELVES
from runs.trace import read_trace


class Told(NamedTuple):
    """Something that calls of a run were told."""

    memory: str
    id: str
    revision: int
    score: Mapping[str, float]
    """The parts of its score, the first time."""
    where: Mapping[str, int]
    """How many calls were told it, by role and step, in their order."""
    item: Item | None
    """What it says now; `None` where it is there no more."""


class Why(NamedTuple):
    """What a run was told, and how many calls it made that were told anything."""

    told: list[Told]
    calls: int
    tokens: int
    estimated: bool = False
    """Whether the tokens were estimated where they were counted."""


async def why(owner: str, run: str) -> Why:
    """Return what the calls of an owner's run were told, in the order in which it came.

    Args:
        owner: Whose; nothing of another owner's memories is looked up.
        run: One of their runs.
    """
    lines = [line for line in await read_trace(run) if line["kind"] == "memory"]
    notes: dict[tuple[str, str, int], dict[str, Any]] = {}
    for line in lines:
        place = f"{line['role']} {line['step']}".strip()
        for note in line["notes"]:
            named = (note["memory"], note["id"], note["revision"])
            one = notes.setdefault(named, {"score": note["score"], "where": {}})
            one["where"][place] = one["where"].get(place, 0) + 1
    told = [
        Told(*named, one["score"], one["where"], await _item(owner, *named[:2]))
        for named, one in notes.items()
    ]
    estimated = any(line.get("estimated") for line in lines)
    return Why(told, len(lines), sum(line["tokens"] for line in lines), estimated)


async def _item(owner: str, memory: str, id: str) -> Item | None:
    for shelf in SHELVES:
        if shelf.name == memory and id:
            return next(iter(await shelf.named(owner, id)), None)
    return None
