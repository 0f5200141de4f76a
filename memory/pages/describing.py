"""Make the abstracts of pages when they are first looked at.

Of the thousands of pages of a folder few abstracts are ever read, and making one takes longer than
all else that is done with a page. What a page says is there, so nothing is lost until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol, Self, TypeVar

from sqlalchemy import Connection, bindparam, select, update

from models.extractive.abstract import abstract_of
from storage.journal import perform
from storage.tables import pages

AT_ONCE = 50
"""How many abstracts are made in one transaction."""


class Described(NamedTuple):
    """What is looked at of a page at least."""

    id: str
    abstract: str


class _Row(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def abstract(self) -> str: ...

    def _replace(self, *, abstract: str) -> Self: ...


Row = TypeVar("Row", bound=_Row)


async def described(owner: str, found: Sequence[Row]) -> list[Row]:
    """Return rows with `id` and `abstract`, those without an abstract with one that is kept now.

    Args:
        owner: Whose pages.
        found: The rows, in their order.
    """
    bare = [row.id for row in found if not row.abstract]
    made: dict[str, str] = {}
    for at in range(0, len(bare), AT_ONCE):
        # The text is read where the abstract is written, so that nothing forgotten comes back.
        await perform(partial(_describe, owner=owner, ids=bare[at : at + AT_ONCE], made=made))
    return [row._replace(abstract=made[row.id]) if row.id in made else row for row in found]


def _describe(
    connection: Connection, *, owner: str, ids: Sequence[str], made: dict[str, str]
) -> None:
    wanted = select(pages.c.number, pages.c.id, pages.c.text).where(
        pages.c.owner == owner, pages.c.id.in_(ids), pages.c.abstract == ""
    )
    rows = connection.execute(wanted.with_for_update()).all()
    written = update(pages).where(pages.c.number == bindparam("one"))
    values = [{"one": row.number, "made": abstract_of(row.text)} for row in rows]
    if values:
        connection.execute(written.values(abstract=bindparam("made")), values)
    made |= {row.id: value["made"] for row, value in zip(rows, values, strict=True)}
