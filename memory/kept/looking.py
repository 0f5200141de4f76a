"""Look at everything that is kept, whichever memory it is in."""

from __future__ import annotations

import asyncio

from config.errors import Problem
from memory.kept.shelf import Item, Shelf
from memory.registry import SHELVES
from retrieval.text import blank

SHORTEST = 4
"""So many letters an id must be told with at the least."""


async def listed(
    owner: str, limit: int, memory: str = "", *, every: bool = False
) -> dict[str, list[Item]]:
    """Return what each memory keeps, the newest first.

    Args:
        owner: Whose.
        limit: How many of each at most.
        memory: Only of this one.
        every: Also what is only history.

    Raises:
        Problem: `memory_unknown`.
    """
    shelves = _shelves(memory)
    found = await asyncio.gather(*(one.listed(owner, limit, every=every) for one in shelves))
    return {one.name: items for one, items in zip(shelves, found, strict=True)}


async def search(owner: str, query: str, limit: int, memory: str = "") -> dict[str, list[Item]]:
    """Return what fits some words in each memory, best first.

    Raises:
        Problem: `memory_unknown`, or `usage` without words.
    """
    if blank(query):
        raise Problem("usage", "there is nothing to search for", hint='dossier memory search "tea"')
    shelves = _shelves(memory)
    found = await asyncio.gather(*(one.search(owner, query, limit) for one in shelves))
    return {one.name: items for one, items in zip(shelves, found, strict=True)}


async def found(owner: str, id: str) -> list[Item]:
    """Return what an id means: one thing, or all pages that a run has reported.

    Raises:
        Problem: `memory_not_found`, or `memory_ambiguous` when several ids begin so.
    """
    items = [item for one in SHELVES for item in await one.named(owner, id)] if id else []
    reported = [item for item in items if item.run == id and item.kind == "report"]
    if reported:
        return reported
    exact = [item for item in items if item.id == id]
    if exact:
        return exact[:1]
    if len(id) < SHORTEST or not items:
        hint = "see `dossier memory list` or `dossier memory search`"
        raise Problem("memory_not_found", f"nothing here has the id {id!r}", hint=hint)
    if len(items) > 1:
        hint = f"write more of it: {', '.join(item.id for item in items[:3])}"
        raise Problem("memory_ambiguous", f"{len(items)} ids begin with {id!r}", hint=hint)
    return items


async def edit(owner: str, id: str, text: str) -> Item:
    """Let one thing say something else.

    Raises:
        Problem: What `found` raises, `not_editable`, or why this text will not do.
    """
    item = (await found(owner, id))[0]
    shelf = next(one for one in SHELVES if one.name == item.memory)
    return await shelf.edit(owner, item.id, text)


def _shelves(memory: str) -> list[Shelf]:
    shelves = [one for one in SHELVES if memory in ("", one.name)]
    if not shelves:
        hint = ", ".join(one.name for one in SHELVES)
        raise Problem("memory_unknown", f"there is no memory {memory!r}", hint=hint)
    return shelves
