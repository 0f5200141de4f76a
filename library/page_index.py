"""The pages of some namespaces as the scorer sees them, read from the database."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    func,
    select,
)

from library.indexing import REFRESH_DUE, refresh_values
from library.keyword_index import keyword_index
from library.page_scoring import PageCounts, PageRow
from library.tables import PAGE_NUMBERS, members, namespaces, pages, vector_sets
from models.embeddings import LEXICAL_EMBEDDERS
from text.words import LONGEST_WORD

TERMS = 64
"""The most words of a question that pages are matched with, the rarest first."""

ALIKE_WORDS = 2_000
"""The most words with the same prefix that are compared with a misspelled word."""

ALIKE = 100
"""A title that more pages than this share is treated as naming none of them."""

KEYS: BindParameter[str] = bindparam("keys", expanding=True)
"""The keys of titles, bound when a statement is executed.

Building a statement with hundreds of literal values takes several milliseconds.
"""

SEARCHED_NAMESPACES: BindParameter[int] = bindparam("here", expanding=True)
"""The namespaces that are searched."""

NOW: BindParameter[float] = bindparam("now", callable_=lambda: time.time())
"""The time of execution; so a statement is built once, which takes longer than most searches."""

REPEATING = ("session",)
"""Kinds of pages that repeat other pages: a session repeats its turns."""

_COMPUTED = {
    "turn": pages.c.position,
    "cited": case((pages.c.kind == "report", pages.c.links), else_="[]").label("cited"),
}
ROW = [_COMPUTED[name] if name in _COMPUTED else pages.c[name] for name in PageRow._fields]


def findable_condition(table: Any) -> ColumnElement[bool]:
    """Return the condition that a page is in the index and has not expired."""
    return and_(table.c.indexed > 0, table.c.expires.is_(None) | (table.c.expires > NOW))


def searched_condition(table: Any) -> ColumnElement[bool]:
    """Return the condition that a page is findable and in `SEARCHED_NAMESPACES`."""
    searched = members.c.namespace.in_(SEARCHED_NAMESPACES)
    member = select(members.c.page).where(members.c.page == table.c.number, searched)
    return and_(findable_condition(table), member.exists())


STATS = select(
    *(func.coalesce(func.sum(namespaces.c[name]), 0) for name in ("pages", "words", "title_words"))
).where(namespaces.c.number.in_(SEARCHED_NAMESPACES))

_GIVEN = pages.c.number.in_(PAGE_NUMBERS)
ROWS = select(*ROW).where(_GIVEN, searched_condition(pages)).order_by(pages.c.number)

NEAR = pages.alias("near")
TOGETHER = and_(
    pages.c.owner == NEAR.c.owner,
    pages.c.session_id == NEAR.c.session_id,
    pages.c.position.between(NEAR.c.position - 1, NEAR.c.position + 1),
)
BESIDE = (
    select(*ROW)
    .distinct()
    .select_from(NEAR.join(pages, TOGETHER))
    .where(NEAR.c.number.in_(PAGE_NUMBERS), NEAR.c.session_id != "", searched_condition(NEAR))
    .where(~_GIVEN, searched_condition(pages))
    .order_by(pages.c.number)
)

TITLED = (
    select(members.c.key, pages.c.number)
    .distinct()
    .join(pages, pages.c.number == members.c.page)
    .where(
        members.c.namespace.in_(SEARCHED_NAMESPACES),
        members.c.key.in_(KEYS),
        findable_condition(pages),
    )
    .order_by(pages.c.number)
)


_OWNERS = select(namespaces.c.owner).where(namespaces.c.number.in_(SEARCHED_NAMESPACES))
HAS_MEANING_VECTORS = select(
    select(vector_sets.c.number)
    .join(namespaces, namespaces.c.number == vector_sets.c.namespace)
    .where(namespaces.c.owner.in_(_OWNERS), vector_sets.c.embedder.not_in(LEXICAL_EMBEDDERS))
    .exists()
)


class PageIndex:
    """A `library.page_scoring.PageCollection` over the database.

    It reads the database at each call; it caches the size, the counts of words, and whether there
    are vectors.
    """

    def __init__(self, connection: Connection, namespaces: Sequence[int]) -> None:
        self.connection = connection
        self.namespaces = list(namespaces)
        self.keywords = keyword_index(connection)
        self.counted: dict[str, int] = {}
        self.is_stale = False
        """Whether some pages of the owner were stale or had expired when it was opened."""
        self.size: PageCounts | None = None

    def stats(self) -> PageCounts:
        """Return the number of pages and their average lengths."""
        if self.size is None:
            self.size = _page_counts(*self.connection.execute(STATS, self.bound_values).one())
        return self.size

    @cached_property
    def has_meaning_vectors(self) -> bool:
        """Whether the owner of the pages has vectors that encode more than words."""
        return bool(self.connection.execute(HAS_MEANING_VECTORS, self.bound_values).scalar())

    @property
    def bound_values(self) -> dict[str, Any]:
        """The value of `SEARCHED_NAMESPACES`, for a statement with `searched_condition`."""
        return {SEARCHED_NAMESPACES.key: self.namespaces}

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many pages contain each word; omit words that no page contains."""
        distinct = dict.fromkeys(term for term in terms if len(term) <= LONGEST_WORD)
        new = [term for term in distinct if term not in self.counted]
        if new and self.namespaces:
            found = self.keywords.count_pages(self.connection, self.namespaces, new)
            self.counted |= dict.fromkeys(new, 0) | found
        return {term: self.counted[term] for term in terms if self.counted.get(term)}

    def sample(self, limit: int) -> list[PageRow]:
        """Return up to `limit` pages, evenly spread over the order in which they were stored."""
        step = max(self.stats().pages // max(limit, 1), 1)
        searched = members.c.namespace.in_(self.namespaces)
        place = func.row_number().over(order_by=members.c.page).label("place")
        numbered = select(members.c.page, place).distinct().where(searched).subquery()
        wanted = select(numbered.c.page).where(numbered.c.place % step == 0).limit(limit)
        return self.rows(list(self.connection.execute(wanted).scalars()))

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the numbers of the pages that match the words best, by the index's own rank."""
        counts = self.counts(terms)
        rarest = sorted(counts, key=lambda term: counts[term])[:TERMS]
        wanted = {term: counts[term] for term in rarest}
        count = self.stats().pages
        return self.keywords.find_best(self.connection, self.namespaces, wanted, count, limit)

    def beginning(self, start: str) -> list[str]:
        """Return up to `ALIKE_WORDS` words with a prefix, in any order."""
        return self.keywords.complete_prefix(self.connection, self.namespaces, start, ALIKE_WORDS)

    def rows(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return pages by number; those not findable here are omitted."""
        return self._rows(ROWS, numbers)

    def beside(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return the turns before and after these pages, in the same session."""
        return self._rows(BESIDE, numbers)

    def holding(self, names: Sequence[str], limit: int) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, and whether their titles do.

        A name in more than `limit` pages is omitted.
        """
        if not self.namespaces:
            return {}
        return self.keywords.match_names(self.connection, self.namespaces, names, limit)

    def titled(self, keys: Sequence[str]) -> dict[str, list[int]]:
        """Return the numbers of the pages whose title has one of these keys, by key."""
        titled: dict[str, list[int]] = defaultdict(list)
        named = [key for key in keys if key]
        if not named:
            return {}
        values = {**self.bound_values, KEYS.key: named}
        for row in self.connection.execute(TITLED, values):
            titled[row.key].append(row.number)
        return {key: numbers for key, numbers in titled.items() if len(numbers) <= ALIKE}

    def _rows(self, wanted: Select[Any], numbers: Sequence[int]) -> list[PageRow]:
        values = {**self.bound_values, PAGE_NUMBERS.key: list(numbers)}
        return [PageRow._make(row) for row in self.connection.execute(wanted, values)]


def _page_counts(count: int, words: int, title_words: int) -> PageCounts:
    return PageCounts(int(count), words / max(count, 1), title_words / max(count, 1))


_OF_OWNER = namespaces.alias("of_owner")
_HAS_MEANING = (
    select(vector_sets.c.number)
    .join(_OF_OWNER, _OF_OWNER.c.number == vector_sets.c.namespace)
    .where(
        _OF_OWNER.c.owner == bindparam("owner"), vector_sets.c.embedder.not_in(LEXICAL_EMBEDDERS)
    )
    .exists()
)

Names = Sequence[str] | None
"""Names of kinds or groups; `None` for no choice."""

OF_GROUPS, OF_KINDS = (
    select(
        namespaces.c.number,
        namespaces.c.pages,
        namespaces.c.words,
        namespaces.c.title_words,
        REFRESH_DUE.label("due"),
        _HAS_MEANING.label("meaning"),
    )
    .where(
        namespaces.c.owner == bindparam("owner"),
        namespaces.c.group.in_(bindparam("groups", expanding=True)),
        of_kind,
    )
    .order_by(namespaces.c.number)
    for of_kind in (
        namespaces.c.kind.not_in(REPEATING),
        namespaces.c.kind.in_(bindparam("kinds", expanding=True)),
    )
)


def select_namespaces(
    connection: Connection, owner: str, kinds: Names = None, groups: Names = None
) -> list[int]:
    """Return the numbers of an owner's namespaces of some groups and kinds.

    Without groups, they are those of whole kinds. Without kinds, all but `REPEATING` are returned.
    """
    return [row.number for row in _select(connection, owner, kinds, groups)]


def _select(connection: Connection, owner: str, kinds: Names, groups: Names) -> Sequence[Row[Any]]:
    values = refresh_values(owner) | {"groups": [""] if groups is None else groups, "kinds": kinds}
    return connection.execute(OF_GROUPS if kinds is None else OF_KINDS, values).all()


def open_index(
    connection: Connection, owner: str, kinds: Names = None, groups: Names = None
) -> PageIndex:
    """Return the index of an owner's pages of some kinds and groups (`select_namespaces`).

    One statement reads all that a search asks first.
    """
    rows = _select(connection, owner, kinds, groups)
    index = PageIndex(connection, [row.number for row in rows])
    sizes = ([row[column] for row in rows] for column in (1, 2, 3))
    index.size = _page_counts(*map(sum, sizes))
    index.is_stale = any(row.due for row in rows)
    index.has_meaning_vectors = any(row.meaning for row in rows)
    return index
