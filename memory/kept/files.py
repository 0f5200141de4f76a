"""The memory files of a person and a project, as people see them."""

from __future__ import annotations

from config.errors import Problem
from memory.files.reading import Held, held
from memory.files.section import divided
from memory.kept.shelf import Item, not_editable
from retrieval.words import words

LEARNED = "#learned"

UNREADABLE = "unreadable"
"""The state of a file that no call can be told; its text says why."""


class FileShelf:
    """What memory files on this machine say."""

    name = "instructions"

    async def listed(self, owner: str, limit: int, *, every: bool = False) -> list[Item]:
        """Return the files that are there, in the order in which calls are told of them."""
        del every
        return (await _items(owner))[:limit]

    async def named(self, owner: str, id: str) -> list[Item]:
        """Return the file of this path; what stands behind `@` is the revision somebody saw."""
        path = id.rpartition("@")[0] or id
        return [item for item in await _items(owner) if item.id == path.removesuffix(LEARNED)]

    async def search(self, owner: str, query: str, limit: int) -> list[Item]:
        """Return the files that have one of the words, and those that may have it."""
        asked = set(words(query))
        items = await _items(owner)
        return [one for one in items if one.state or asked & set(words(one.text))][:limit]

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Refuse: the file is the person's own."""
        del owner, text
        raise not_editable(id, "it is your own file", "open it in an editor; calls see it at once")


async def _items(owner: str) -> list[Item]:
    return [_item(one) for one in await held(owner)]


def _item(one: Held) -> Item:
    path = one.source.path
    if one.problem is not None:
        why = " — ".join(filter(None, [one.problem.what, one.problem.hint]))
        return Item("instructions", path, why, state=UNREADABLE)
    return Item("instructions", path, one.text, title=path, more={"learned": _learned(one)})


def _learned(one: Held) -> str:
    try:
        return divided(one.text, one.source.path).inside
    except Problem:
        return ""
