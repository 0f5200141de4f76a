"""Look at what is known of a person."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from memory.facts import rows
from memory.facts.fact import Fact
from memory.facts.held import known
from memory.facts.listing import listed as listed
from storage.engine import read, read_rows
from storage.events import revision
from storage.tables import facts


async def found(owner: str, id: str) -> Fact | None:
    """Return a fact by its id, known or history; its content is empty if it was forgotten."""
    return await read(lambda connection: rows.one(connection, owner, id))


async def of_message(owner: str, message: str) -> list[Fact]:
    """Return the facts that rest on a message, known or history."""
    wanted = select(facts).where(facts.c.owner == owner, facts.c.message == message)
    return [rows.fact_of(row) for row in await read_rows(wanted)]


async def near(owner: str, text: str, limit: int = 10) -> list[tuple[Fact, float]]:
    """Return the live facts most like a text, each with its similarity, in 0..1.

    Those that share no word with it are left out. The similarity is the cosine of TF-IDF vectors
    (`retrieval.tfidf.Shelf`).
    """
    held = await known(owner, await revision(owner))
    alike = held.alike(text, limit)
    found = await read(lambda c: rows.some(c, owner, [id for id, _ in alike]))
    likeness = dict(alike)
    return [(fact, likeness[fact.id]) for fact in found if fact.live]


async def matching(owner: str, fits: Callable[[str], object]) -> list[Fact]:
    """Return the live facts whose content fits; each of them is asked."""
    held = await known(owner, await revision(owner))
    entries = zip(held.entries, held.columns.live, strict=False)
    ids = [one.id for one, live in entries if live and fits(one.content)]
    found = await read(lambda connection: rows.some(connection, owner, ids))
    return [fact for fact in found if fact.live]


async def search(owner: str, query: str, limit: int = 10) -> list[Fact]:
    """Return the facts that hold what a person types: it as it is first, then its words."""
    held = await known(owner, await revision(owner))
    typed = query.casefold().strip()
    entries = zip(held.entries, held.columns.live, strict=False)
    literal = [
        one.id for one, live in entries if live and typed and typed in one.content.casefold()
    ]
    alike = [id for id, _ in held.alike(query, limit + len(literal))]
    exact = set(literal)
    ids = dict.fromkeys([*(id for id in alike if id in exact), *literal, *alike])
    return await read(lambda connection: rows.some(connection, owner, list(ids)[:limit]))
