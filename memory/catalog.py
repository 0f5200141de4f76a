"""List, search and edit what all memories store, and explain what the calls of a run were told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple

from config.errors import ErrorCode, Problem
from memory.agents_md.recall import AgentsMdView, file_notes, list_memory_files
from memory.facts import fact
from memory.facts.recall import FactView
from memory.protocol import CatalogItem, MemoryView
from memory.registry import MEMORY_VIEWS
from runs.trace import read_trace
from storage.events import find_event
from text.normalization import is_blank

SHORTEST = 4
"""So many letters an id must be told with at the least."""


async def list_items(
    owner: str, limit: int, memory: str = "", *, every: bool = False
) -> dict[str, list[CatalogItem]]:
    """Return what each memory keeps, the newest first.

    Args:
        owner: Whose.
        limit: How many of each at most.
        memory: Only of this one.
        every: Also what is only history.

    Raises:
        Problem: `memory_unknown`.
    """
    shelves = _views(memory)
    found = await asyncio.gather(*(one.list_items(owner, limit, every=every) for one in shelves))
    return {one.name: items for one, items in zip(shelves, found, strict=True)}


async def search_items(
    owner: str, query: str, limit: int, memory: str = ""
) -> dict[str, list[CatalogItem]]:
    """Return what fits some words in each memory, best first.

    Raises:
        Problem: `memory_unknown`, or `usage` without words.
    """
    if is_blank(query):
        raise Problem(
            ErrorCode.USAGE, "there is nothing to search for", hint='dossier memory search "tea"'
        )
    shelves = _views(memory)
    found = await asyncio.gather(*(one.search(owner, query, limit) for one in shelves))
    return {one.name: items for one, items in zip(shelves, found, strict=True)}


async def find_items(owner: str, id: str) -> list[CatalogItem]:
    """Return what an id means: one thing, or all pages that a run has reported.

    Raises:
        Problem: `memory_not_found`, or `memory_ambiguous` when several ids begin so.
    """
    items = [item for one in MEMORY_VIEWS for item in await one.find_by_id(owner, id)] if id else []
    reported = [item for item in items if item.run == id and item.kind == "report"]
    if reported:
        return reported
    exact = [item for item in items if item.id == id]
    if exact:
        return exact[:1]
    if len(id) < SHORTEST or not items:
        hint = "see `dossier memory list` or `dossier memory search`"
        raise Problem(ErrorCode.MEMORY_NOT_FOUND, f"nothing here has the id {id!r}", hint=hint)
    if len(items) > 1:
        hint = f"write more of it: {', '.join(item.id for item in items[:3])}"
        raise Problem(ErrorCode.MEMORY_AMBIGUOUS, f"{len(items)} ids begin with {id!r}", hint=hint)
    return items


async def edit_item(owner: str, id: str, text: str) -> CatalogItem:
    """Let one thing say something else.

    Raises:
        Problem: What `find_items` raises, `not_editable`, or why this text will not do.
    """
    item = (await find_items(owner, id))[0]
    shelf = next(one for one in MEMORY_VIEWS if one.name == item.memory)
    return await shelf.edit(owner, item.id, text)


def _views(memory: str) -> list[MemoryView]:
    shelves = [one for one in MEMORY_VIEWS if memory in ("", one.name)]
    if not shelves:
        hint = ", ".join(one.name for one in MEMORY_VIEWS)
        raise Problem(ErrorCode.MEMORY_UNKNOWN, f"there is no memory {memory!r}", hint=hint)
    return shelves


class RecalledItem(NamedTuple):
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
    item: CatalogItem | None
    """What it says now, of a file without its comments; `None` where it is there no more."""
    cut: tuple[int, int] = (0, 0)
    """Where not all of it fitted: the fewest lines that a call was told, and how many it had."""


class RecallExplanation(NamedTuple):
    """What a run was told, and how many calls it made that were told anything."""

    items: list[RecalledItem]
    calls: int
    tokens: int
    estimated: bool = False
    """Whether the tokens were estimated where they were counted."""


async def explain_recall(owner: str, run: str) -> RecallExplanation:
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
        RecalledItem(
            *named,
            one["score"],
            one["where"],
            *await _said_and_says(owner, *named),
            cut=tuple(one.get("cut", (0, 0))),
        )
        for named, one in notes.items()
    ]
    estimated = any(line.get("estimated") for line in lines)
    return RecallExplanation(told, len(lines), sum(line["tokens"] for line in lines), estimated)


async def _said_and_says(
    owner: str, memory: str, id: str, revision: int
) -> tuple[str | None, CatalogItem | None]:
    """Return what a thing said at a revision, and what it says now."""
    item = await _item(owner, memory, id)
    if memory == FactView.name:
        return await _fact_then(owner, id, revision), item
    if memory == AgentsMdView.name and item is not None and not item.state:
        return await _file_then(owner, id, item)
    return None, item


async def _fact_then(owner: str, id: str, revision: int) -> str | None:
    logged = await find_event(owner, revision)
    told = fact.facts_in_event(logged.event.item, logged.event.after) if logged else {}
    return str(told[id]["content"]) if id in told else None


async def _file_then(owner: str, id: str, item: CatalogItem) -> tuple[str | None, CatalogItem]:
    """Return what a file said if that is what it still says; its id has the hash of its content."""
    every = [one for one in await list_memory_files(owner) if one.source.path == item.id]
    notes = [note for one in every for note in file_notes(one.source.path, one.data)]
    said = next((note.text for note in notes if note.id == id), None)
    now = next((note.text for note in notes if note.title == id.rpartition("@")[0]), "")
    return said, item._replace(text=now, state="changed since" if said is None else "")


async def _item(owner: str, memory: str, id: str) -> CatalogItem | None:
    for shelf in MEMORY_VIEWS:
        if shelf.name == memory and id:
            return next(iter(await shelf.find_by_id(owner, id)), None)
    return None
