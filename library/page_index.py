"""The pages of some namespaces as the scorer sees them, read from the database."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    func,
    or_,
    select,
)

from library.keywords import keyword_index
from library.page_scoring import PageCounts, PageRow
from library.tables import PAGE_NUMBERS, members, namespaces, pages
from text.words import LONGEST_WORD

TERMS = 64
"""How many words a page is matched with; of more, the rarest."""

ALIKE_WORDS = 2_000
"""So many words with the same beginning are compared with one that no page holds."""

ALIKE = 100
"""A title that more pages than this share leads to none of them."""

KEYS: BindParameter[str] = bindparam("keys", expanding=True)
"""The keys of titles that a statement is about.

Hundreds of values cost several milliseconds each time they become parts of a statement.
"""

SEARCHED_NAMESPACES: BindParameter[int] = bindparam("here", expanding=True)
"""The namespaces that are searched."""

NOW: BindParameter[float] = bindparam("now", callable_=lambda: time.time())
"""When a statement is executed; so it can be made once, which takes longer than most searches."""

REPEATING = ("session",)
"""Kinds of pages that say again what other pages say: a session is what its turns say."""

ROW = (
    pages.c.number,
    pages.c.id,
    pages.c.title,
    pages.c.text,
    pages.c.words,
    pages.c.title_words,
    pages.c.session,
    pages.c.position,
    pages.c.speaker,
    pages.c.said,
)


def findable_condition(table: Any) -> ColumnElement[bool]:
    """Return the condition that a page may be found: in the index, and not expired."""
    return and_(table.c.indexed > 0, or_(table.c.expires.is_(None), table.c.expires > NOW))


def searched_condition(table: Any) -> ColumnElement[bool]:
    """Return the condition that a page is in `SEARCHED_NAMESPACES` and may be found."""
    member = select(members.c.page).where(
        members.c.page == table.c.number, members.c.namespace.in_(SEARCHED_NAMESPACES)
    )
    return and_(findable_condition(table), member.exists())


STATS = select(
    *(func.coalesce(func.sum(namespaces.c[name]), 0) for name in ("pages", "words", "title_words"))
).where(namespaces.c.number.in_(SEARCHED_NAMESPACES))

ROWS = (
    select(*ROW)
    .where(pages.c.number.in_(PAGE_NUMBERS), searched_condition(pages))
    .order_by(pages.c.number)
)

NEAR = pages.alias("near")
REACH: BindParameter[int] = bindparam("reach")
TOGETHER = and_(
    pages.c.owner == NEAR.c.owner,
    pages.c.session_id == NEAR.c.session_id,
    pages.c.position.between(NEAR.c.position - REACH, NEAR.c.position + REACH),
)
BESIDE = (
    select(*ROW)
    .distinct()
    .select_from(NEAR.join(pages, TOGETHER))
    .where(NEAR.c.number.in_(PAGE_NUMBERS), NEAR.c.session_id != "", searched_condition(NEAR))
    .where(pages.c.number.not_in(PAGE_NUMBERS), searched_condition(pages))
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


class PageIndex:
    """A `library.page_scoring.PageCollection` over the database.

    Every search sees what was written before it.
    """

    def __init__(self, connection: Connection, namespaces: Sequence[int]) -> None:
        self.connection = connection
        self.namespaces = list(namespaces)
        self.keywords = keyword_index(connection)
        self.counted: dict[str, int] = {}
        self.told: PageCounts | None = None

    def stats(self) -> PageCounts:
        """Return how many pages there are and how long they are on average."""
        if self.told is None:
            self.told = self._stats()
        return self.told

    def _stats(self) -> PageCounts:
        row = self.connection.execute(STATS, self.bound_values).one()
        count, words, title_words = (int(one) for one in row)
        return PageCounts(count, words / max(count, 1), title_words / max(count, 1))

    @property
    def bound_values(self) -> dict[str, Any]:
        """The value of `SEARCHED_NAMESPACES`, for a statement with `searched_condition`."""
        return {SEARCHED_NAMESPACES.key: self.namespaces}

    def counts(self, terms: Sequence[str]) -> dict[str, int]:
        """Return how many pages hold each word; a word that none holds is left out."""
        every = dict.fromkeys(term for term in terms if len(term) <= LONGEST_WORD)
        new = [term for term in every if term not in self.counted]
        if new and self.namespaces:
            known = self.keywords.count_pages(self.connection, self.namespaces, new)
            self.counted |= dict.fromkeys(new, 0) | known
        return {term: self.counted[term] for term in terms if self.counted.get(term)}

    def sample(self, limit: int) -> list[PageRow]:
        """Return up to `limit` pages, evenly over the order in which they were kept."""
        step = max(self.stats().pages // max(limit, 1), 1)
        mine = members.c.namespace.in_(self.namespaces)
        place = func.row_number().over(order_by=members.c.page).label("place")
        every = select(members.c.page, place).distinct().where(mine).subquery()
        wanted = select(every.c.page).where(every.c.place % step == 0).limit(limit)
        return self.rows(list(self.connection.execute(wanted).scalars()))

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the numbers of the pages that fit the words best, by the index's own rank."""
        counts = self.counts(terms)
        rarest = sorted(counts, key=lambda term: counts[term])[:TERMS]
        wanted = {term: counts[term] for term in rarest}
        count = self.stats().pages
        return self.keywords.find_best(self.connection, self.namespaces, wanted, count, limit)

    def beginning(self, start: str) -> list[str]:
        """Return words that begin with some letters, in any order, as far as there are few."""
        return self.keywords.complete_prefix(self.connection, self.namespaces, start, ALIKE_WORDS)

    def rows(self, numbers: Sequence[int]) -> list[PageRow]:
        """Return pages by their numbers; what is not to be found here is left out."""
        return self._rows(ROWS, numbers)

    def beside(self, numbers: Sequence[int], reach: int = 1) -> list[PageRow]:
        """Return the pages up to `reach` places before and after these, in the same session."""
        return self._rows(BESIDE, numbers, **{REACH.key: reach})

    def holding(self, names: Sequence[str], limit: int) -> dict[str, dict[int, bool]]:
        """Return the pages that hold the words of a name side by side, and whether in the title.

        A name found in more than `limit` pages is left out.
        """
        if not self.namespaces:
            return {}
        return self.keywords.match_names(self.connection, self.namespaces, names, limit)

    def titled(self, keys: Sequence[str]) -> dict[str, list[int]]:
        """Return the numbers of the pages whose title has one of these keys, by key."""
        titled: dict[str, list[int]] = defaultdict(list)
        values = {**self.bound_values, KEYS.key: [key for key in keys if key]}
        for row in self.connection.execute(TITLED, values):
            titled[row.key].append(row.number)
        return {key: numbers for key, numbers in titled.items() if len(numbers) <= ALIKE}

    def _rows(self, wanted: Select[Any], numbers: Sequence[int], **more: int) -> list[PageRow]:
        values = {**self.bound_values, PAGE_NUMBERS.key: list(numbers), **more}
        return [PageRow._make(row) for row in self.connection.execute(wanted, values)]


OF_GROUPS, OF_KINDS = (
    select(namespaces.c.number)
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
    connection: Connection,
    owner: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[int]:
    """Return the numbers of an owner's namespaces: those of the groups, or else of the kinds.

    Kinds that say again what other pages say are left out unless they are asked for.
    """
    values = {"owner": owner, "groups": [""] if groups is None else groups, "kinds": kinds}
    wanted = OF_GROUPS if kinds is None else OF_KINDS
    return list(connection.execute(wanted, values).scalars())


def open_index(
    connection: Connection,
    owner: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> PageIndex:
    """Return the pages of an owner that are of these kinds, or of these groups, for a search."""
    return PageIndex(connection, select_namespaces(connection, owner, kinds, groups))
