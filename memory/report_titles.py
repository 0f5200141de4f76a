"""The reports of a person by their titles, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import literal, or_, select, tuple_

from library.page_rows import short_hash
from library.tables import pages
from memory.page_memory import REPORT_PAGE_KIND
from runs.tables import runs
from storage.engine import read_rows


class ReportTitle(NamedTuple):
    """A report in a list."""

    run: str
    thread: str
    status: str
    title: str
    """The question, for a report that is not remembered as it found nothing out."""
    question: str
    created: float
    """When it was asked, in seconds since 1970."""


async def list_report_titles(
    owner: str, limit: int, *, before: tuple[float, str] | None = None, search: str = ""
) -> list[ReportTitle]:
    """Return the newest reports of an owner, the newest first.

    Args:
        owner: Whose.
        limit: How many at most.
        before: Only those behind this one in the list, by its time and run.
        search: Only those with this in the title or the question.
    """
    columns = [runs.c[name] for name in ("id", "thread", "status", "question", "created")]
    mine = select(*columns).where(runs.c.owner == owner, runs.c.folder != "")
    if before:
        mine = mine.where(tuple_(runs.c.created, runs.c.id) < tuple_(*map(literal, before)))
    if search:
        titled = select(pages.c.origin).where(
            pages.c.owner == owner,
            pages.c.kind == REPORT_PAGE_KIND,
            pages.c.place == "",
            pages.c.title.icontains(search, autoescape=True),
        )
        asked = runs.c.question.icontains(search, autoescape=True)
        mine = mine.where(or_(asked, runs.c.id.in_(titled)))
    newest = mine.order_by(runs.c.created.desc(), runs.c.id.desc()).limit(limit)
    rows = (await read_rows(newest)).all()
    titles = await _read_titles(owner, [row.id for row in rows])
    return [
        ReportTitle(
            run=row.id,
            thread=row.thread,
            status=row.status,
            title=titles.get(row.id, row.question),
            question=row.question,
            created=row.created,
        )
        for row in rows
    ]


async def _read_titles(owner: str, names: Sequence[str]) -> dict[str, str]:
    """Return the titles of the remembered reports of some runs, by run."""
    origins = [short_hash(REPORT_PAGE_KIND, name) for name in names]
    its = (pages.c.owner == owner, pages.c.origin_id.in_(origins), pages.c.place == "")
    rows = await read_rows(select(pages.c.origin, pages.c.title).where(*its))
    return {row.origin: row.title for row in rows}
