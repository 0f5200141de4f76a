"""The page store.

Everything that was read, once, with where it is from and how far it can be trusted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from sqlalchemy import Connection, select

from library.documents import FILE_KIND
from library.indexing import insert_pages, supersede_pages, write_pages
from library.page_rows import (
    PROVENANCE_BY_TRUST,
    RETIRED,
    NewPage,
    PageOrigin,
    Provenance,
    build_page_rows,
    strip_unstorable,
)
from library.tables import pages
from storage.engine import read_rows, write_in_group
from storage.events import Event, log_event

STORE_BATCH = 250
"""How many pages are written in one transaction, and read by one statement, at most."""

LOGGED_KINDS = ("report",)
"""The kinds of pages of which calls are told, so that their coming is an event.

That of files, web pages and chats is none: tens of thousands of them are read in at once, and each
page says itself when it came, from where, and by which run.
"""


async def store_pages(
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
    source = PageOrigin(
        owner, kind, strip_unstorable(origin), strip_unstorable(group), provenance, run, expires
    )
    return await store_page_batches(source, _batches(new), part=part)


async def store_page_batches(
    source: PageOrigin, new: AsyncIterable[Sequence[NewPage]], *, part: bool = False
) -> list[str]:
    """Keep the pages of one origin as they come, each batch in a transaction, and return their ids.

    Args:
        source: Where they are from, and who they belong to.
        new: The pages, in their order; the next ones may be made while some are written.
        part: As for `store_pages`.
    """
    ids: list[str] = []
    said: dict[str, int] = {}
    made: list[dict[str, Any]] = []
    async for batch in new:
        if made:
            await write_in_group(partial(_store_batch, source=source, made=made, said={}))
        made = await asyncio.to_thread(build_page_rows, source, batch, len(ids))
        ids += [row["id"] for row in made]
        said |= {row["id"]: row["position"] for row in made}
    if made:
        await write_in_group(
            partial(_store_batch, source=source, made=made, said={} if part else said)
        )
    return ids


async def _batches(new: Sequence[NewPage]) -> AsyncIterator[Sequence[NewPage]]:
    for first in range(0, len(new), STORE_BATCH):
        yield new[first : first + STORE_BATCH]


def _store_batch(
    connection: Connection,
    source: PageOrigin,
    made: Sequence[Mapping[str, Any]],
    said: Mapping[str, int],
) -> None:
    new = write_pages(connection, source, made)
    supersede_pages(connection, source.owner, source.id, said)
    if new and source.kind in LOGGED_KINDS:
        ids = [str(row["id"]) for row in made]
        after = {"kind": source.kind, "origin": source.name, "pages": ids}
        said_by = source.provenance or "model"
        event = Event(source.owner, "pages.keep", ids[0], None, after, said_by, run=source.run)
        log_event(connection, event)


async def list_page_ids(owner: str, kind: str, origin: str) -> list[str]:
    """Return the ids of the pages an origin has, in their order."""
    wanted = select(pages.c.id).where(
        pages.c.owner == owner,
        pages.c.origin_id == PageOrigin(owner, kind, strip_unstorable(origin)).id,
        pages.c.indexed >= 0,
    )
    return list((await read_rows(wanted.order_by(pages.c.position))).scalars())


async def read_page_texts(
    owner: str, ids: Sequence[str], excluded_kinds: Sequence[str] = ()
) -> dict[str, str]:
    """Return the full texts of an owner's pages by their ids, also of those not found any more.

    Args:
        owner: Whose.
        ids: Which.
        excluded_kinds: The kinds of pages that are left out.
    """
    found: dict[str, str] = {}
    # A statement may not name more than some ten thousand of them.
    for first in range(0, len(ids), STORE_BATCH):
        some = pages.c.id.in_(ids[first : first + STORE_BATCH])
        wanted = select(pages.c.id, pages.c.text).where(
            pages.c.owner == owner, some, pages.c.kind.not_in(list(excluded_kinds))
        )
        found |= {row.id: row.text for row in await read_rows(wanted)}
    return found


COMPUTED: Provenance = "tool"
"""Who is behind such a page."""


async def store_computed_page(owner: str, kind: str, origin: str, page: NewPage) -> str:
    """Keep a page that says what was worked out, and return its id; the same again is kept once.

    Args:
        owner: Whose it is.
        kind: As for `library.store.store_pages`: that of what it was worked out from.
        origin: As there, so that what is forgotten of the origin is forgotten here too.
        page: What came out.
    """
    source = PageOrigin(owner, kind, strip_unstorable(origin), provenance=COMPUTED)
    made = await asyncio.to_thread(build_page_rows, source, [page])
    made = [{**row, "indexed": RETIRED, "words": "", "title_words": ""} for row in made]

    def keep(connection: Connection) -> None:
        insert_pages(connection, made)

    await write_in_group(partial(keep))
    return str(made[0]["id"])


async def find_computed_pages(owner: str, ids: Sequence[str]) -> list[str]:
    """Return the pages that were worked out from what some pages are from, without these."""
    origins = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(ids))
    mine = pages.c.owner == owner, pages.c.kind == FILE_KIND, pages.c.provenance == COMPUTED
    wanted = select(pages.c.id).where(*mine, pages.c.origin.in_(origins), pages.c.id.not_in(ids))
    return list((await read_rows(wanted)).scalars())


async def least_trusted_provenance(owner: str, ids: Sequence[str]) -> Provenance:
    """Return the provenance of what a model has made of some pages: that of the least trusted."""
    wanted = (
        select(pages.c.provenance).distinct().where(pages.c.owner == owner, pages.c.id.in_(ids))
    )
    found = set((await read_rows(wanted)).scalars()) | {"model"}
    return next(one for one in reversed(PROVENANCE_BY_TRUST) if one in found)
