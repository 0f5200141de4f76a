"""The memory of pages: what was read and said, as people list, search and undo it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from library.abstracts import PageAbstract, fill_abstracts
from library.page_retrieval import search_pages
from library.page_rows import RETIRED
from library.tables import documents, members, namespaces, pages
from library.undo import undo_page_event
from memory.protocol import Export, Memory, MemoryItem
from storage.engine import read_rows
from storage.events import LoggedEvent, Reverse

REPORT_PAGE_KIND = "report"
"""The kind of the pages that runs write: their reports, and what only a finding of theirs says."""

_NAMES = (
    *("id", "kind", "origin", "place", "session", "title", "abstract", "speaker", "said"),
    *("provenance", "run", "created", "expires", "superseded_by", "indexed"),
)
COLUMNS = [pages.c[name] for name in _NAMES]

ITEM_FIELDS = {"title", "kind", "created", "abstract", "indexed", "id", "text"}
"""The columns that an item has under names of its own."""


class PageMemory(Memory):
    """The pages of the library that are not reports; calls search them instead of being given any.

    The library stores and erases pages itself, so there is nothing to record or erase here.
    """

    name = "pages"
    event_names: tuple[str, ...] = ("pages",)
    not_editable = "what was read is not edited", "dossier memory forget takes it out"

    def is_mine(self) -> ColumnElement[bool]:
        """Return the condition on the pages of this memory."""
        return pages.c.kind != REPORT_PAGE_KIND

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the newest pages, each with its abstract."""
        wanted = select(*COLUMNS).where(pages.c.owner == owner, self.is_mine())
        if not every:
            wanted = wanted.where(pages.c.indexed > RETIRED)
        rows = await read_rows(wanted.order_by(pages.c.number.desc()).limit(limit))
        return await self._with_abstracts(owner, rows.all())

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the pages whose id begins so, and those that a run of this name has written."""
        begins = func.substr(pages.c.id, 1, len(id)) == id
        of_run = (pages.c.kind == REPORT_PAGE_KIND) & (pages.c.origin == id)
        mine = select(*COLUMNS, pages.c.text).where(pages.c.owner == owner, self.is_mine())
        rows = await read_rows(mine.where(begins | of_run).order_by(pages.c.number))
        return [self._item(row._asdict(), row.text) for row in rows]

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the pages that match, each with its abstract."""
        found = [one.page.id for one in await search_pages(owner, query, limit)]
        mine = (pages.c.owner == owner, pages.c.id.in_(found), self.is_mine())
        rows = {row.id: row for row in await read_rows(select(*COLUMNS).where(*mine))}
        return await self._with_abstracts(owner, [rows[id] for id in found if id in rows])

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Retire pages from searches, or restore them.

        Raises:
            Problem: `undo_conflict` when they were changed since, `undo_impossible` when they were
                forgotten.
        """
        return partial(undo_page_event, logged=logged)

    async def export(self, owner: str) -> Export:
        """Return what reads all pages, reports among them, and the files that they are from."""
        return partial(_export, owner=owner)

    async def _with_abstracts(self, owner: str, rows: Sequence[Row[Any]]) -> list[MemoryItem]:
        known = [PageAbstract(row.id, row.abstract) for row in rows]
        filled = await fill_abstracts(owner, known)
        pairs = zip(rows, filled, strict=True)
        return [self._item(row._asdict(), page.abstract) for row, page in pairs]

    def _item(self, row: Mapping[str, Any], text: str) -> MemoryItem:
        same = {name: row[name] for name in ("id", "title", "kind", "provenance", "run")}
        more = {name: row[name] for name in row if name not in ITEM_FIELDS}
        item = MemoryItem(self.name, text=text, state=_state(row), more=more, **same)
        return item._replace(at=row["created"])


PAGES = PageMemory()


def _state(row: Mapping[str, Any]) -> str:
    if row["indexed"] > RETIRED:
        return ""
    return "replaced" if row["superseded_by"] else "found no more"


def _export(connection: Connection, owner: str) -> dict[str, Any]:
    joined = members.join(namespaces, namespaces.c.number == members.c.namespace)
    grouped = select(members.c.page, namespaces.c.group).select_from(joined)
    grouped = grouped.where(namespaces.c.owner == owner, namespaces.c.group != "")
    groups: dict[int, list[str]] = defaultdict(list)
    for page, group in connection.execute(grouped.order_by(namespaces.c.number)):
        groups[page].append(group)
    stored = select(pages).filter_by(owner=owner).order_by(pages.c.number)
    files = select(documents).filter_by(owner=owner)
    lines = [
        {**row._mapping, "groups": groups[row.number], "links": json.loads(row.links)}
        | {"found": row.indexed > RETIRED}
        for row in connection.execute(stored)
    ]
    return {"pages": lines, "documents": [dict(row._mapping) for row in connection.execute(files)]}
