"""Find how documents open: their first pages introduce what the others take for known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from sqlalchemy import func, select

from memory.pages.finding import Page
from memory.pages.recollection import named
from memory.pages.rows import GONE
from models.extractive.topic import named as names_in
from report.citations import SECTION
from retrieval.words import words
from storage.engine import read_rows
from storage.tables import pages

MOST = 4
"""How many documents are opened."""


async def openings(owner: str, found: Sequence[Page], asked: str) -> list[Page]:
    """Return the first pages of those documents with found pages that a question names.

    Args:
        owner: Whose pages.
        found: Pages that were found, the best first.
        asked: The question, and what is searched for.
    """
    names = subjects([page.title for page in found], asked)
    of = [page.id for page in found if not names.isdisjoint(_title(page.title))]
    if not of:
        return []
    its = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(of))
    live = (pages.c.owner == owner, pages.c.origin.in_(its), pages.c.indexed > GONE)
    firsts = select(func.min(pages.c.number)).where(*live).group_by(pages.c.origin)
    wanted = select(pages.c.id).where(pages.c.number.in_(firsts)).limit(MOST)
    return await named(owner, list((await read_rows(wanted)).scalars()))


def subjects(titles: Iterable[str], asked: str) -> set[str]:
    """Return the names in a question by which it tells some of the documents from the others."""
    different = {_title(title) for title in titles}
    if len(different) < 2:
        return set()
    telling = frozenset.union(*different) - frozenset.intersection(*different)
    return names_in(asked) & telling


@lru_cache(maxsize=1024)
def _title(title: str) -> frozenset[str]:
    """Return the words of a document's title, without those of the section."""
    return frozenset(words(title.partition(SECTION)[0]))
