"""All memories, and what people ask of all of them: list, search, find, edit and explain."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from config.errors import ErrorCode, Problem
from memory.agents_md.memory import INSTRUCTIONS
from memory.experience.memory import EXPERIENCE
from memory.facts.memory import FACTS
from memory.page_memory import PAGES
from memory.profile.memory import PROFILE
from memory.protocol import Memory, MemoryItem
from memory.reports import REPORTS
from runs.trace import read_trace
from text.normalization import is_blank

MEMORIES: tuple[Memory, ...] = (INSTRUCTIONS, PROFILE, FACTS, EXPERIENCE, REPORTS, PAGES)
"""All memories in the order of their notes in a call: what changes least comes first."""

MIN_ID_CHARS = 4
"""The fewest characters by which an id is named."""


async def list_items(
    owner: str, limit: int, memory: str = "", *, every: bool = False
) -> dict[str, list[MemoryItem]]:
    """Return the newest items of each memory, the newest first.

    Args:
        owner: Whose.
        limit: How many of each at most.
        memory: The only memory to list, by its name; all of them without a name.
        every: Also what is only history.

    Raises:
        Problem: `memory_unknown`.
    """
    chosen = _memories_named(memory)
    found = await asyncio.gather(*(one.list_items(owner, limit, every=every) for one in chosen))
    return _by_name(chosen, found)


async def search_items(
    owner: str, query: str, limit: int, memory: str = ""
) -> dict[str, list[MemoryItem]]:
    """Return the items of each memory that match some words, best first.

    Raises:
        Problem: `memory_unknown`, or `usage` without words.
    """
    if is_blank(query):
        what, hint = "there is nothing to search for", 'dossier memory search "tea"'
        raise Problem(ErrorCode.USAGE, what, hint=hint)
    chosen = _memories_named(memory)
    found = await asyncio.gather(*(one.search(owner, query, limit) for one in chosen))
    return _by_name(chosen, found)


async def find_items(owner: str, id: str) -> list[MemoryItem]:
    """Return the item that an id names, or all pages that a run has reported.

    Raises:
        Problem: `memory_not_found`, or `memory_ambiguous` when several ids begin so.
    """
    items = [item for one in MEMORIES for item in await one.find_by_id(owner, id)] if id else []
    reported = [item for item in items if item.run == id and item.kind == "report"]
    exact = [item for item in items if item.id == id]
    if reported or exact:
        return reported or exact[:1]
    if len(id) < MIN_ID_CHARS or not items:
        hint = "see `dossier memory list` or `dossier memory search`"
        raise Problem(ErrorCode.MEMORY_NOT_FOUND, f"nothing here has the id {id!r}", hint=hint)
    if len(items) > 1:
        hint = f"write more of it: {', '.join(item.id for item in items[:3])}"
        raise Problem(ErrorCode.MEMORY_AMBIGUOUS, f"{len(items)} ids begin with {id!r}", hint=hint)
    return items


async def edit_item(owner: str, id: str, text: str) -> MemoryItem:
    """Replace the text of one item.

    Raises:
        Problem: What `find_items` raises, `not_editable`, or why the text is refused.
    """
    item = (await find_items(owner, id))[0]
    return await _get_memory(item.memory).edit(owner, item.id, text)


def _memories_named(name: str) -> list[Memory]:
    return [_get_memory(name)] if name else list(MEMORIES)


def _get_memory(name: str) -> Memory:
    for memory in MEMORIES:
        if memory.name == name:
            return memory
    hint = ", ".join(one.name for one in MEMORIES)
    raise Problem(ErrorCode.MEMORY_UNKNOWN, f"there is no memory {name!r}", hint=hint)


def _by_name(
    memories: Sequence[Memory], found: Sequence[list[MemoryItem]]
) -> dict[str, list[MemoryItem]]:
    return {one.name: items for one, items in zip(memories, found, strict=True)}


class RecalledItem(NamedTuple):
    """A note that calls of a run were given."""

    memory: str
    id: str
    revision: int
    score: Mapping[str, float]
    """The parts of its score, in the first call."""
    where: Mapping[str, int]
    """How many calls were given it, by role and step, in their order."""
    said: str | None
    """What it said then; `None` if that is no longer known."""
    item: MemoryItem | None
    """What it says now, of a file without its comments; `None` if it is gone."""
    cut: tuple[int, int] = (0, 0)
    """Where not all of it fitted: the fewest lines that a call was given, and how many it had."""


class RecallExplanation(NamedTuple):
    """The notes that a run was given, and how many of its calls were given any."""

    items: list[RecalledItem]
    calls: int
    tokens: int
    estimated: bool = False
    """Whether the tokens were estimated instead of counted."""


async def explain_recall(owner: str, run: str) -> RecallExplanation:
    """Return the notes that the calls of an owner's run were given, in the order of the calls.

    Args:
        owner: Whose; nothing of another owner's memories is looked up.
        run: One of their runs.
    """
    lines = [line for line in await read_trace(run) if line["kind"] == "memory"]
    notes: dict[tuple[str, str, int], dict[str, Any]] = {}
    for line in lines:
        place = f"{line['role']} {line['step']}".strip()
        for note in line["notes"]:
            key = (note["memory"], note["id"], note["revision"])
            known = notes.setdefault(key, {"score": note["score"], "where": {}})
            known["where"][place] = known["where"].get(place, 0) + 1
            if "cut" in note:
                known["cut"] = min(known.get("cut", note["cut"]), note["cut"])
    items, memories = [], {one.name: one for one in MEMORIES}
    for (name, id, revision), known in notes.items():
        memory = memories.get(name, Memory())
        said, item = await memory.find_revision(owner, id, revision)
        cut = tuple(known.get("cut", (0, 0)))
        items.append(
            RecalledItem(name, id, revision, known["score"], known["where"], said, item, cut)
        )
    estimated = any(line.get("estimated") for line in lines)
    return RecallExplanation(items, len(lines), sum(line["tokens"] for line in lines), estimated)
