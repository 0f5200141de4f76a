"""Search what was read, said and found out before, or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from memory.abstracts import TURNS
from memory.finding import Page, columns, location, search, searching
from memory.within import Scope
from retrieval.index import Index
from storage.engine import read_rows
from storage.tables import pages

EARLIER = ("web", "report", TURNS)
"""The kinds of pages that come from earlier runs and from what was said; not a person's files."""


async def empty(owner: str, part: Scope) -> bool:
    """Say whether an owner has no page in a part of the memory."""
    return (await searching(owner, Index.stats, part.kinds, part.groups)).pages == 0


async def recollected(owner: str, query: str, limit: int, part: Scope, run: str = "") -> list[Page]:
    """Return the pages that fit a query best, best first.

    Args:
        owner: Whose memory.
        query: What they are about.
        limit: How many at most.
        part: Where to look.
        run: A run whose own pages are left out, for what it has just read is no memory.
    """
    searched = await search(owner, query, limit, part.kinds, part.groups)
    found = [one.page for one in searched]
    own = select(pages.c.id).where(pages.c.id.in_([page.id for page in found]), pages.c.run == run)
    left_out = set((await read_rows(own)).scalars()) if run else set()
    return [page for page in found if page.id not in left_out]


async def named(owner: str, ids: Sequence[str]) -> list[Page]:
    """Return an owner's pages by their ids, in the order of the ids; a file by its path."""
    wanted = select(*columns()).where(pages.c.owner == owner, pages.c.id.in_(ids))
    rows = {row.id: row for row in await read_rows(wanted)}
    return [
        Page(row.id, row.kind, row.title, location(row.path, row.place), row.text, 0.0)
        for row in (rows[one] for one in ids if one in rows)
    ]


def without_turns_of(found: Sequence[Page]) -> list[Page]:
    """Return pages without the turns of a chat whose session is among them and says the same."""
    sessions = [page.text for page in found if page.kind == "session"]
    return [
        page
        for page in found
        if page.kind != TURNS or not any(page.text in session for session in sessions)
    ]
