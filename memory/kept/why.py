"""Tell what the calls of a run were reminded of, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from memory.facts import rows
from memory.files.memory import notes_of
from memory.files.reading import held
from memory.kept.facts import FactShelf
from memory.kept.files import FileShelf
from memory.kept.shelf import Item
from memory.registry import SHELVES
from runs.trace import read_trace
from storage.events import found


class Told(NamedTuple):
    """Something that calls of a run were told."""

    memory: str
    id: str
    revision: int
    score: Mapping[str, float]
    """The parts of its score, the first time."""
    where: Mapping[str, int]
    """How many calls were told it, by role and step, in their order."""
    said: str | None
    """What they were told; `None` where nobody knows that any more."""
    item: Item | None
    """What it says now, of a file without its comments; `None` where it is there no more."""
    cut: tuple[int, int] = (0, 0)
    """Where not all of it fitted: the fewest lines that a call was told, and how many it had."""


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
            if "cut" in note:
                one["cut"] = min(one.get("cut", note["cut"]), note["cut"])
    told = [
        Told(
            *named,
            one["score"],
            one["where"],
            *await _said_and_says(owner, *named),
            cut=tuple(one.get("cut", (0, 0))),
        )
        for named, one in notes.items()
    ]
    estimated = any(line.get("estimated") for line in lines)
    return Why(told, len(lines), sum(line["tokens"] for line in lines), estimated)


async def _said_and_says(
    owner: str, memory: str, id: str, revision: int
) -> tuple[str | None, Item | None]:
    """Return what a thing said at a revision, and what it says now."""
    item = await _item(owner, memory, id)
    if memory == FactShelf.name:
        return await _fact_then(owner, id, revision), item
    if memory == FileShelf.name and item is not None and not item.state:
        return await _file_then(owner, id, item)
    return None, item


async def _fact_then(owner: str, id: str, revision: int) -> str | None:
    logged = await found(owner, revision)
    told = rows.told(logged.event.item, logged.event.after) if logged else {}
    return str(told[id]["content"]) if id in told else None


async def _file_then(owner: str, id: str, item: Item) -> tuple[str | None, Item]:
    """Return what a file said if that is what it still says; its id has the hash of its content."""
    every = [one for one in await held(owner) if one.source.path == item.id]
    notes = [note for one in every for note in notes_of(one.source.path, one.data)]
    said = next((note.text for note in notes if note.id == id), None)
    now = next((note.text for note in notes if note.title == id.rpartition("@")[0]), "")
    return said, item._replace(text=now, state="changed since" if said is None else "")


async def _item(owner: str, memory: str, id: str) -> Item | None:
    for shelf in SHELVES:
        if shelf.name == memory and id:
            return next(iter(await shelf.named(owner, id)), None)
    return None
