"""Write the abstracts of pages when they are first needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from sqlalchemy import Connection, bindparam, select, update

from library.page_rows import RETIRED
from library.tables import pages
from storage.batches import split_batches
from storage.engine import run_read, write_in_group
from storage.permissions import skip_if_read_only

AT_ONCE = 50
"""The most abstracts written in one transaction."""

BESIDE = 2
"""The number of pages before and after a page from which its abstract must distinguish it."""


class PageAbstract(NamedTuple):
    """The id and the abstract of a page."""

    id: str
    abstract: str


_SHOWN = (pages.c.number, pages.c.origin_id, pages.c.position, pages.c.text)


class _Row(Protocol):
    """A named tuple of a page that can take another abstract."""

    @property
    def id(self) -> str: ...

    @property
    def abstract(self) -> str: ...

    def _replace(self, *, abstract: str) -> Self: ...


_AbstractRow = TypeVar("_AbstractRow", bound=_Row)


async def fill_abstracts(owner: str, found: Sequence[_AbstractRow]) -> list[_AbstractRow]:
    """Return rows with `id` and `abstract`; write and store the abstracts that are empty.

    In a read-only store, new abstracts are not stored.

    Args:
        owner: The owner of the pages.
        found: The rows, in their order.
    """
    bare = [row.id for row in found if not row.abstract]
    made: dict[str, str] = {}
    for ids in split_batches(bare, AT_ONCE):
        # Reading and writing in one transaction keeps a forgotten text from coming back.
        describe = partial(_describe, owner=owner, ids=ids, made=made)
        with skip_if_read_only():
            await write_in_group(describe)
            continue
        await run_read(partial(describe, keep=False))
    return [row._replace(abstract=made[row.id]) if row.id in made else row for row in found]


def _describe(
    connection: Connection, owner: str, ids: Sequence[str], made: dict[str, str], keep: bool = True
) -> None:
    bare = (pages.c.owner == owner, pages.c.id.in_(ids), pages.c.abstract == "")
    wanted = select(*_SHOWN, pages.c.id).where(*bare)
    rows = connection.execute(wanted.with_for_update()).all()
    # Few commands write abstracts, and this import takes longer than the other commands run.
    from text.summaries import extract_abstract  # noqa: PLC0415

    written = update(pages).where(pages.c.number == bindparam("one"))
    neighbours = _read_neighbours(connection, owner, rows)
    values = [
        {"one": row.number, "made": extract_abstract(row.text, neighbours[row.number])}
        for row in rows
    ]
    if values and keep:
        connection.execute(written.values(abstract=bindparam("made")), values)
    made |= {row.id: value["made"] for row, value in zip(rows, values, strict=True)}


def _read_neighbours(
    connection: Connection, owner: str, rows: Sequence[Any]
) -> dict[int, list[str]]:
    """Return the texts before and after some pages in their documents, by page number."""
    near = {row.position + by for row in rows for by in range(-BESIDE, BESIDE + 1)}
    wanted = select(*_SHOWN).where(
        pages.c.owner == owner,
        pages.c.origin_id.in_({row.origin_id for row in rows}),
        pages.c.position.in_(near),
        pages.c.indexed > RETIRED,
    )
    others = {(other.origin_id, other.position): other for other in connection.execute(wanted)}
    return {
        row.number: [
            others[row.origin_id, at].text
            for at in range(row.position - BESIDE, row.position + BESIDE + 1)
            if at != row.position and (row.origin_id, at) in others
        ]
        for row in rows
    }
