"""The view that people have of pages: what was read, said and reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, or_, select

from library.abstracts import PageAbstract, fill_abstracts
from library.page_retrieval import search_pages
from library.page_rows import RETIRED
from library.tables import pages
from memory.protocol import CatalogItem, not_editable_problem
from storage.engine import read_rows

COLUMNS = [
    pages.c[name]
    for name in (
        *("id", "kind", "origin", "place", "session", "title", "abstract", "speaker", "said"),
        *("provenance", "run", "created", "expires", "superseded_by", "indexed"),
    )
]


class PageView:
    """Pages of the one page store, of these kinds only, or of all others."""

    def __init__(self, name: str, kinds: tuple[str, ...], *, all_but: bool = False) -> None:
        """Say which kinds of pages stand here.

        Args:
            name: What they are called together.
            kinds: The kinds.
            all_but: Whether it is all other kinds that stand here.
        """
        self.name, self.kinds, self.all_but = name, kinds, all_but

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return the newest pages, each with its abstract."""
        wanted = select(*COLUMNS).where(pages.c.owner == owner, self._here())
        if not every:
            wanted = wanted.where(pages.c.indexed > RETIRED)
        rows = await read_rows(wanted.order_by(pages.c.number.desc()).limit(limit))
        return await self._described(owner, rows.all())

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return the pages whose id begins so, and those that a run of this name has written."""
        begins = or_(func.substr(pages.c.id, 1, len(id)) == id, self._of_run(id))
        wanted = select(*COLUMNS, pages.c.text).where(pages.c.owner == owner, begins, self._here())
        rows = await read_rows(wanted.order_by(pages.c.number))
        return [self._item(dict(row._mapping), row.text) for row in rows]

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return the pages that fit, each with its abstract."""
        found = [one.page.id for one in await search_pages(owner, query, limit)]
        wanted = select(*COLUMNS).where(pages.c.owner == owner, pages.c.id.in_(found), self._here())
        rows = {row.id: row for row in await read_rows(wanted)}
        return await self._described(owner, [rows[id] for id in found if id in rows])

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Refuse: what was read stays as it was read."""
        del owner, text
        raise not_editable_problem(
            id, "what was read is not edited", "dossier memory forget takes it out"
        )

    async def _described(self, owner: str, rows: Sequence[Any]) -> list[CatalogItem]:
        briefs = await fill_abstracts(owner, [PageAbstract(row.id, row.abstract) for row in rows])
        return [
            self._item(dict(row._mapping), brief.abstract)
            for row, brief in zip(rows, briefs, strict=True)
        ]

    def _here(self) -> Any:
        return pages.c.kind.not_in(self.kinds) if self.all_but else pages.c.kind.in_(self.kinds)

    def _of_run(self, id: str) -> Any:
        return (pages.c.kind == "report") & (pages.c.origin == id)

    def _item(self, row: Mapping[str, Any], text: str) -> CatalogItem:
        left = {"title", "kind", "created", "abstract", "indexed", "id", "text"}
        return CatalogItem(
            self.name,
            row["id"],
            text,
            title=row["title"],
            kind=row["kind"],
            state=_state(row),
            at=row["created"],
            provenance=row["provenance"],
            run=row["run"],
            more={name: row[name] for name in row if name not in left},
        )


def _state(row: Mapping[str, Any]) -> str:
    if row["indexed"] > RETIRED:
        return ""
    return "replaced" if row["superseded_by"] else "found no more"
