"""The page store: everything that was read, once, with where it is from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, select

from memory.pages.documents import Read as Read
from memory.pages.documents import forget_document as forget_document
from memory.pages.documents import keep_files as keep_files
from memory.pages.documents import note_document as note_document
from memory.pages.finding import Page as Page
from memory.pages.finding import location as location
from memory.pages.finding import search_each
from memory.pages.keeping import store, supersede
from memory.pages.rows import NewPage as NewPage
from memory.pages.rows import Origin, Provenance, rows, storable
from storage.engine import read_rows
from storage.events import Event, log
from storage.journal import perform
from storage.tables import pages

BATCH = 250
"""How many pages are written in one transaction, and read by one statement, at most."""


LOGGED = ("report",)
"""The kinds of pages of which calls are told, so that their coming is an event.

That of files, web pages and chats is none: tens of thousands of them are read in at once, and each
page says itself when it came, from where, and by which run.
"""


async def keep(
    owner: str,
    kind: str,
    origin: str,
    new: Sequence[NewPage],
    *,
    group: str = "",
    part: bool = False,
    provenance: Provenance | Literal[""] = "",
    run: str = "",
    expires: float | None = None,
) -> list[str]:
    """Keep the pages of one origin and return their ids.

    A page that says what it said before is kept once. One that has changed takes the place of the
    old one, which is not found any more but can be read by its id, since it may have been cited.

    Args:
        owner: Who they belong to.
        kind: `file`, `web`, `report` or `chat`.
        origin: The content hash of a file, the address of a web page, the id of a run.
        new: The pages, in their order.
        group: A namespace beside that of the kind, such as a conversation.
        part: Whether the origin has other pages too, as a dialogue has that goes on.
        provenance: Who is behind them; by default what the kind tells.
        run: The run that read them.
        expires: When they are to be forgotten, in seconds since 1970; never when it is `None`.
    """
    source = Origin(owner, kind, storable(origin), storable(group), provenance, run, expires)
    return await keep_each(source, _batches(new), part=part)


async def keep_each(
    source: Origin, new: AsyncIterable[Sequence[NewPage]], *, part: bool = False
) -> list[str]:
    """Keep the pages of one origin as they come, each batch in a transaction, and return their ids.

    Args:
        source: Where they are from, and who they belong to.
        new: The pages, in their order; the next ones may be made while some are written.
        part: As for `keep`.
    """
    ids: list[str] = []
    said: dict[str, int] = {}
    made: list[dict[str, Any]] = []
    async for batch in new:
        if made:
            await perform(partial(_keep, source=source, made=made, said={}))
        made = await asyncio.to_thread(rows, source, batch, len(ids))
        ids += [row["id"] for row in made]
        said |= {row["id"]: row["position"] for row in made}
    if made:
        await perform(partial(_keep, source=source, made=made, said={} if part else said))
    return ids


async def _batches(new: Sequence[NewPage]) -> AsyncIterator[Sequence[NewPage]]:
    for first in range(0, len(new), BATCH):
        yield new[first : first + BATCH]


def _keep(
    connection: Connection,
    source: Origin,
    made: Sequence[Mapping[str, Any]],
    said: Mapping[str, int],
) -> None:
    new = store(connection, source, made)
    supersede(connection, source.owner, source.id, said)
    if new and source.kind in LOGGED:
        ids = [str(row["id"]) for row in made]
        after = {"kind": source.kind, "origin": source.name, "pages": ids}
        said_by = source.provenance or "model"
        event = Event(source.owner, "pages.keep", ids[0], None, after, said_by, run=source.run)
        log(connection, event)


async def kept(owner: str, kind: str, origin: str) -> list[str]:
    """Return the ids of the pages an origin has, in their order."""
    wanted = select(pages.c.id).where(
        pages.c.owner == owner,
        pages.c.origin_id == Origin(owner, kind, storable(origin)).id,
        pages.c.indexed >= 0,
    )
    return list((await read_rows(wanted.order_by(pages.c.position))).scalars())


async def find(
    owner: str, query: str, limit: int, roots: Sequence[str] | None = None
) -> list[Page]:
    """Return the pages that fit a query best, best first.

    Args:
        owner: Whose pages.
        query: What they are about.
        limit: How many at most.
        roots: Only files below these folders; everything the owner has when it is `None`.
    """
    return (await find_each(owner, [query], limit, roots))[0]


async def find_each(
    owner: str, queries: Sequence[str], limit: int, roots: Sequence[str] | None = None
) -> list[list[Page]]:
    """Do the same for several queries, in one look at the store."""
    if roots == []:
        return [[] for _ in queries]
    kinds = None if roots is None else ["file"]
    each = await search_each(owner, queries, limit, kinds, roots)
    return [[one.page for one in found] for found in each]


async def texts(owner: str, ids: Sequence[str], but: Sequence[str] = ()) -> dict[str, str]:
    """Return the full texts of an owner's pages by their ids, also of those not found any more.

    Args:
        owner: Whose.
        ids: Which.
        but: The kinds of pages that are left out.
    """
    found: dict[str, str] = {}
    # A statement may not name more than some ten thousand of them.
    for first in range(0, len(ids), BATCH):
        some = pages.c.id.in_(ids[first : first + BATCH])
        wanted = select(pages.c.id, pages.c.text).where(
            pages.c.owner == owner, some, pages.c.kind.not_in(list(but))
        )
        found |= {row.id: row.text for row in await read_rows(wanted)}
    return found
