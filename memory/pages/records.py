"""Keep what was worked out: it can be cited and read by its id, and no search finds it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection, select

from memory.pages.documents import FILE
from memory.pages.keeping import insert
from memory.pages.rows import GONE, NewPage, Origin, Provenance, rows, storable
from storage.engine import read_rows
from storage.journal import perform
from storage.tables import pages

WORKED_OUT: Provenance = "tool"
"""Who is behind such a page."""


async def record(owner: str, kind: str, origin: str, page: NewPage) -> str:
    """Keep a page that says what was worked out, and return its id; the same again is kept once.

    Args:
        owner: Whose it is.
        kind: As for `memory.pages.store.keep`: that of what it was worked out from.
        origin: As there, so that what is forgotten of the origin is forgotten here too.
        page: What came out.
    """
    source = Origin(owner, kind, storable(origin), provenance=WORKED_OUT)
    made = await asyncio.to_thread(rows, source, [page])
    made = [{**row, "indexed": GONE, "words": "", "title_words": ""} for row in made]

    def keep(connection: Connection) -> None:
        insert(connection, made)

    await perform(partial(keep))
    return str(made[0]["id"])


async def recorded(owner: str, ids: Sequence[str]) -> list[str]:
    """Return the pages that were worked out from what some pages are from, without these."""
    origins = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(ids))
    mine = pages.c.owner == owner, pages.c.kind == FILE, pages.c.provenance == WORKED_OUT
    wanted = select(pages.c.id).where(*mine, pages.c.origin.in_(origins), pages.c.id.not_in(ids))
    return list((await read_rows(wanted)).scalars())
