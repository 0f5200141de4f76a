"""The facts of a person, as people see them."""

from __future__ import annotations

from memory.facts import store
from memory.facts.fact import Fact
from memory.kept.shelf import Item


class FactShelf:
    """What is known of a person, and what was."""

    name = "facts"

    async def listed(self, owner: str, limit: int, *, every: bool = False) -> list[Item]:
        """Return the facts, the newest first."""
        found = await store.listed(owner, all=every)
        return [_item(fact) for fact in reversed(found)][:limit]

    async def named(self, owner: str, id: str) -> list[Item]:
        """Return the facts whose id begins so; of one that was forgotten that it was."""
        whole = await store.found(owner, id)
        if whole is not None:
            return [_item(whole)]
        every = await store.listed(owner, all=True)
        return [_item(fact) for fact in every if fact.id.startswith(id)]

    async def search(self, owner: str, query: str, limit: int) -> list[Item]:
        """Return the facts that are known now and fit."""
        return [_item(fact) for fact in await store.search(owner, query, limit)]

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Let a fact say something else; it is the person's own word from then on."""
        return _item(await store.edit(owner, id, text, why="edited by the person"))


def _item(fact: Fact) -> Item:
    told = fact._asdict()
    more = {name: told[name] for name in told if name not in ("id", "content", "category")}
    state = _state(fact)
    return Item(
        "facts",
        fact.id,
        fact.content,
        kind=fact.category,
        state=state,
        at=fact.created,
        provenance=fact.provenance,
        run=fact.run,
        more=more,
    )


def _state(fact: Fact) -> str:
    if not fact.content:
        return "forgotten"
    if fact.superseded_by:
        return "replaced"
    return "" if fact.live else "removed"
