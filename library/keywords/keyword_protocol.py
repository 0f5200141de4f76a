"""The interface of a keyword index, and what its implementations share."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, TextClause

TITLE_WEIGHT = 3.0
"""The weight of a title word in the index's own rank; a word of the text has 1."""


class KeywordEntry(NamedTuple):
    """A page's number, its namespaces, and the search words of its title and text.

    The words are joined by spaces.
    """

    number: int
    namespaces: Sequence[int]
    title: str
    body: str


class RankedWords(NamedTuple):
    """The words of a search, each with the number of pages that contain it."""

    counts: Mapping[str, int]
    pages: int
    """The number of pages that are searched."""
    rare: Sequence[str]
    """The rarest words; a page must contain one of them."""
    common: Sequence[str]
    """The other words; rarest first."""


class KeywordIndex(ABC):
    """A keyword index that stores a word once for each namespace of its page.

    So each namespace has its own list of pages for a word, and a lookup costs the same however many
    other namespaces contain the word. The statements are those of a dialect.
    """

    most: int
    """The most pages compared for one search."""
    make: Sequence[str]
    put: TextClause
    take: TextClause
    count: TextClause
    complete: TextClause
    find: TextClause
    find_newest: TextClause

    def create_index(self, connection: Connection) -> None:
        """Create the index if it is missing."""
        for statement in self.make:
            connection.exec_driver_sql(statement)

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in the index."""
        if entries:
            connection.execute(self.put, [self.row(entry) for entry in entries])

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must equal those that were added."""
        if entries:
            connection.execute(self.take, [self.row(entry) for entry in entries])

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages contain each word; omit words that no page contains."""
        matches = {word: self.match_any(namespaces, [word]) for word in words}
        rows = connection.execute(self.count, {"matches": json.dumps(matches)})
        return {row.word: row.pages for row in rows if row.pages}

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` indexed words of each namespace that begin with `start`."""
        found: dict[str, None] = {}
        for number in namespaces:
            values = {"namespace": f"{number}:", "limit": limit, **self.prefix(number, start)}
            found |= dict.fromkeys(connection.execute(self.complete, values).scalars())
        return list(found)

    def find_best(
        self,
        connection: Connection,
        namespaces: Sequence[int],
        counts: Mapping[str, int],
        pages: int,
        limit: int,
    ) -> list[int]:
        """Return the numbers of the pages that match some words best, best first.

        A page must contain one of the rarest words, which together occur in at most `most` pages.
        If the rarest word alone occurs in more pages, only the newest of these are compared.

        Args:
            connection: To the database of the index.
            namespaces: Only pages of these.
            counts: The words, each with the number of pages that contain it.
            pages: The number of pages in the namespaces.
            limit: The most numbers returned.
        """
        if not counts:
            return []
        rare, common = split_by_rarity(counts, self.most)
        least = 0
        if counts[rare[0]] > self.most:
            newest = {"match": self.match_any(namespaces, rare), "limit": self.most}
            least = connection.execute(self.find_newest, newest).scalar() or 0
        values = self.rank(namespaces, RankedWords(counts, pages, rare, common), limit)
        found = connection.execute(self.find, {**values, "least": least, "limit": limit})
        return list(found.scalars())

    @abstractmethod
    def row(self, entry: KeywordEntry) -> dict[str, object]:
        """Return the values of `put`."""

    @abstractmethod
    def prefix(self, number: int, start: str) -> dict[str, object]:
        """Return the values of `complete` for a namespace."""

    @abstractmethod
    def rank(self, namespaces: Sequence[int], words: RankedWords, limit: int) -> dict[str, object]:
        """Return the values of `find`."""

    @abstractmethod
    def match_any(self, namespaces: Sequence[int], phrases: Sequence[str]) -> str:
        """Return the expression that matches any of some words or phrases."""

    @abstractmethod
    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number.

        The value tells whether the title contains the name. A name in no page, or in more than
        `limit` pages, is omitted.
        """


def split_by_rarity(counts: Mapping[str, int], most: int) -> tuple[list[str], list[str]]:
    """Split words into the rarest, whose counts sum to at most `most`, and the rest, rarest first.

    The first list has at least one word.
    """
    words = sorted(counts, key=lambda word: counts[word])
    totals = itertools.accumulate(counts[word] for word in words)
    size = max(sum(total <= most for total in totals), 1)
    return words[:size], words[size:]
