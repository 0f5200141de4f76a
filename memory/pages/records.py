"""Keep what was worked out: it can be cited and read by its id, and no search finds it."""

from __future__ import annotations

import asyncio
from functools import partial

from sqlalchemy import Connection

from memory.pages.keeping import insert
from memory.pages.rows import GONE, NewPage, Origin, rows, storable
from storage.journal import perform


async def record(owner: str, kind: str, origin: str, page: NewPage) -> str:
    """Keep a page that says what was worked out, and return its id; the same again is kept once.

    Args:
        owner: Whose it is.
        kind: As for `memory.pages.store.keep`: that of what it was worked out from.
        origin: As there, so that what is forgotten of the origin is forgotten here too.
        page: What came out.
    """
    source = Origin(owner, kind, storable(origin), provenance="tool")
    made = await asyncio.to_thread(rows, source, [page])
    made = [{**row, "indexed": GONE, "words": "", "title_words": ""} for row in made]

    def keep(connection: Connection) -> None:
        insert(connection, made)

    await perform(partial(keep))
    return str(made[0]["id"])
