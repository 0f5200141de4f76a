"""The page store.

It stores everything that was read, once, with its origin and its provenance.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, and_, or_, select

from library.documents import FILE_KIND
from library.indexing import insert_pages, supersede_pages, write_pages
from library.page_rows import (
    PROVENANCE_BY_TRUST,
    RETIRED,
    NewPage,
    PageOrigin,
    Provenance,
    build_page_rows,
    hash_text,
    strip_unstorable,
)
from library.tables import pages
from storage.batches import split_batches
from storage.engine import read_rows, write_in_group
from storage.events import Event, log_event

STORE_BATCH = 250
"""The most pages written in one transaction, and read by one statement."""

LOGGED_KINDS = ("report",)
"""The kinds of pages that calls are told of, so that storing one logs an event.

Files, web pages and chats log none: they come by the tens of thousands, and each row records its
time, origin and run.
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
    """Store the pages of one origin and return their ids.

    An unchanged page is stored once. A changed page supersedes the old one, which no search finds
    any more but which can be read by its id, since it may have been cited.

    Args:
        owner: The owner of the pages.
        kind: `file`, `web`, `report` or `chat`.
        origin: The content hash of a file, the address of a web page, the id of a run.
        new: The pages, in their order.
        group: A namespace beside that of the kind, such as a conversation.
        part: Whether the origin keeps its other pages, as a dialogue that goes on does.
        provenance: Who is behind the pages; by default that of the kind.
        run: The run that read the pages.
        expires: When to forget the pages, in seconds since 1970; `None` for never.
    """
    source = PageOrigin(
        owner, kind, strip_unstorable(origin), strip_unstorable(group), provenance, run, expires
    )
    return await store_page_batches(source, _batches(new), part=part)


def stage_pages(
    source: PageOrigin, new: Sequence[NewPage]
) -> tuple[list[str], Callable[[Connection], None]]:
    """Return the ids of at most `STORE_BATCH` pages, and a function that stores them.

    So they can be stored in the transaction of something that refers to them.
    """
    name, group = strip_unstorable(source.name), strip_unstorable(source.group)
    source = source._replace(name=name, group=group)
    rows = build_page_rows(source, new)
    positions = {row["id"]: row["position"] for row in rows}
    return list(positions), partial(_store_batch, source=source, rows=rows, current=positions)


async def store_page_batches(
    source: PageOrigin, new: AsyncIterable[Sequence[NewPage]], *, part: bool = False
) -> list[str]:
    """Store the pages of one origin, each batch in one transaction, and return their ids.

    Args:
        source: The origin and the owner of the pages.
        new: Batches of pages, in their order; a batch is written when the next has arrived.
        part: As for `store_pages`.
    """
    ids: list[str] = []
    positions: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    async for batch in new:
        if rows:
            await write_in_group(partial(_store_batch, source=source, rows=rows, current={}))
        rows = await asyncio.to_thread(build_page_rows, source, batch, len(ids))
        ids += [row["id"] for row in rows]
        positions |= {row["id"]: row["position"] for row in rows}
    if rows:
        current = {} if part else positions
        await write_in_group(partial(_store_batch, source=source, rows=rows, current=current))
    return ids


async def _batches(new: Sequence[NewPage]) -> AsyncIterator[Sequence[NewPage]]:
    for batch in split_batches(new, STORE_BATCH):
        yield batch


def _store_batch(
    connection: Connection,
    source: PageOrigin,
    rows: Sequence[Mapping[str, Any]],
    current: Mapping[str, int],
) -> None:
    new = write_pages(connection, source, rows)
    supersede_pages(connection, source.owner, source.id, current)
    if new and source.kind in LOGGED_KINDS:
        ids = [str(row["id"]) for row in rows]
        after = {"kind": source.kind, "origin": source.name, "pages": ids}
        author = source.provenance or "model"
        event = Event(source.owner, "pages.keep", ids[0], None, after, author, run=source.run)
        log_event(connection, event)


async def list_page_ids(owner: str, kind: str, origin: str) -> list[str]:
    """Return the ids of the pages of an origin, in their order."""
    present = select(pages.c.id).where(
        pages.c.owner == owner,
        pages.c.origin_id == PageOrigin(owner, kind, strip_unstorable(origin)).id,
        pages.c.indexed >= 0,
    )
    return list((await read_rows(present.order_by(pages.c.position))).scalars())


async def read_page_texts(
    owner: str, ids: Sequence[str], excluded_kinds: Sequence[str] = ()
) -> dict[str, str]:
    """Return the full texts of an owner's pages by id, including superseded pages.

    Args:
        owner: The owner of the pages.
        ids: The ids of the pages.
        excluded_kinds: The kinds of pages to omit.
    """
    texts: dict[str, str] = {}
    wanted = select(pages.c.id, pages.c.text).where(
        pages.c.owner == owner, pages.c.kind.not_in(list(excluded_kinds))
    )
    for batch in split_batches(ids):
        rows = await read_rows(wanted.where(pages.c.id.in_(batch)))
        texts |= {row.id: row.text for row in rows}
    return texts


async def find_altered_pages(owner: str, ids: Sequence[str]) -> set[str]:
    """Return the pages of an owner whose text no longer has the hash that was stored with it."""
    altered: set[str] = set()
    wanted = select(pages.c.id, pages.c.text, pages.c.sha256).where(pages.c.owner == owner)
    for batch in split_batches(ids):
        rows = await read_rows(wanted.where(pages.c.id.in_(batch)))
        altered |= {row.id for row in rows if row.sha256 and row.sha256 != hash_text(row.text)}
    return altered


class PageFate(NamedTuple):
    """What became of a page."""

    superseded_by: str
    """The page that says what its origin says now; "" if there is none."""
    is_found: bool
    """Whether searches find it."""
    created: float
    """When it was stored, in seconds since 1970."""


async def read_page_fates(owner: str, ids: Sequence[str]) -> dict[str, PageFate]:
    """Return what became of an owner's pages by id; a page that was forgotten is missing."""
    found: dict[str, PageFate] = {}
    names = ("id", "superseded_by", "indexed", "created")
    for batch in split_batches(ids):
        wanted = select(*(pages.c[name] for name in names)).where(pages.c.owner == owner)
        rows = await read_rows(wanted.where(pages.c.id.in_(batch)))
        found |= {
            row.id: PageFate(row.superseded_by, row.indexed >= 0, row.created) for row in rows
        }
    return found


async def read_page_origins(owner: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the kind and the origin of an owner's pages by id."""
    found: dict[str, tuple[str, str]] = {}
    for batch in split_batches(ids):
        wanted = select(pages.c.id, pages.c.kind, pages.c.origin)
        rows = await read_rows(wanted.where(pages.c.owner == owner, pages.c.id.in_(batch)))
        found |= {row.id: (row.kind, row.origin) for row in rows}
    return found


async def read_page_days(owner: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the day on which each of an owner's pages was stored, as an ISO date, by id."""
    found: dict[str, str] = {}
    for batch in split_batches(ids):
        wanted = select(pages.c.id, pages.c.created)
        rows = await read_rows(wanted.where(pages.c.owner == owner, pages.c.id.in_(batch)))
        found |= {
            row.id: datetime.fromtimestamp(row.created, UTC).date().isoformat() for row in rows
        }
    return found


async def read_page_links(owner: str, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return what an owner's pages link to, by id."""
    found: dict[str, list[str]] = {}
    for batch in split_batches(ids):
        wanted = select(pages.c.id, pages.c.links)
        rows = await read_rows(wanted.where(pages.c.owner == owner, pages.c.id.in_(batch)))
        found |= {row.id: json.loads(row.links) for row in rows}
    return found


COMPUTED: Provenance = "tool"
"""The provenance of a page that was computed from other pages."""


async def store_computed_page(owner: str, kind: str, origin: str, page: NewPage) -> str:
    """Store the result of a computation as a page, once, and return its id; searches skip it.

    Args:
        owner: The owner of the page.
        kind: The kind of the pages that it was computed from, as for `store_pages`.
        origin: The origin of these pages, so that forgetting it forgets the result too.
        page: The result.
    """
    source = PageOrigin(owner, kind, strip_unstorable(origin), provenance=COMPUTED)
    return (await store_unsearched_pages(owner, [(source, page)]))[0]


async def store_unsearched_pages(
    owner: str, new: Sequence[tuple[PageOrigin, NewPage]]
) -> list[str]:
    """Store pages that can be cited and that no search finds, each once, and return their ids."""

    def build_rows() -> list[dict[str, Any]]:
        """Return the rows of all pages."""
        mine = [(source._replace(owner=owner), page) for source, page in new]
        return [row for source, page in mine for row in build_page_rows(source, [page])]

    rows = await asyncio.to_thread(build_rows)
    unfound = [{**row, "indexed": RETIRED, "words": "", "title_words": ""} for row in rows]

    def insert(connection: Connection) -> None:
        insert_pages(connection, unfound)

    await write_in_group(insert)
    return [str(row["id"]) for row in rows]


async def find_computed_pages(owner: str, ids: Sequence[str]) -> list[str]:
    """Return the ids of pages computed from the origins of some pages, without these pages.

    A page that was computed from several origins links to all of them.
    """
    origins = {origin for _, origin in (await read_page_origins(owner, ids)).values()}
    computed: list[str] = []
    for origin in sorted(origins):
        of_origin = and_(pages.c.kind == FILE_KIND, pages.c.origin == origin)
        linked = pages.c.links.contains(json.dumps(origin), autoescape=True)
        wanted = select(pages.c.id).where(
            pages.c.owner == owner,
            pages.c.provenance == COMPUTED,
            or_(of_origin, linked),
            pages.c.id.not_in([*ids, *computed]),
        )
        computed += (await read_rows(wanted)).scalars()
    return computed


async def find_computed_result(owner: str, place: str, titles: Sequence[str]) -> str:
    """Return the id of the page that holds a computed result, the newest one; "" for none.

    Args:
        owner: The owner of the page.
        place: Its place.
        titles: What its title may be; any if there is none.
    """
    wanted = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.provenance == COMPUTED, pages.c.place == place
    )
    if titles:
        wanted = wanted.where(pages.c.title.in_(titles))
    newest = wanted.order_by(pages.c.number.desc()).limit(1)
    return str((await read_rows(newest)).scalars().first() or "")


async def least_trusted_provenance(owner: str, ids: Sequence[str]) -> Provenance:
    """Return the provenance of what a model made of some pages: that of the least trusted."""
    wanted = (
        select(pages.c.provenance).distinct().where(pages.c.owner == owner, pages.c.id.in_(ids))
    )
    found = set((await read_rows(wanted)).scalars()) | {"model"}
    return next(known for known in reversed(PROVENANCE_BY_TRUST) if known in found)
