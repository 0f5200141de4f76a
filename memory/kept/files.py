"""The memory files of a person and a project, as people see them."""

from __future__ import annotations

from config.errors import Problem
from memory.base import Query
from memory.files.section import divided
from memory.files.sources import on_disk
from memory.files.text import decoded
from memory.kept.shelf import Item, not_editable
from retrieval.words import words

LEARNED = "#learned"


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
        """Return the files that have one of the words."""
        asked = set(words(query))
        return [item for item in await _items(owner) if asked & set(words(item.text))][:limit]

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Refuse: the file is the person's own."""
        del owner, text
        raise not_editable(id, "it is your own file", "open it in an editor; calls see it at once")


async def _items(owner: str) -> list[Item]:
    found = []
    for source in await on_disk(Query(owner, "", "")):
        held = await source.files.read(source.path)
        if held is not None:
            found.append(_item(source.path, decoded(held, source.path)))
    return found


def _item(path: str, text: str) -> Item:
    try:
        learned = divided(text, path).inside
    except Problem:
        learned = ""
    return Item("instructions", path, text, title=path, more={"learned": learned})
