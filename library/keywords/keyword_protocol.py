"""The interface of a keyword index, and what its implementations share."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

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


class KeywordIndex(Protocol):
    """A keyword index that stores a word once for each namespace of its page.

    So each namespace has its own list of pages for a word, and a lookup costs the same however many
    other namespaces contain the word.
    """

    def create_index(self, connection: Connection) -> None:
        """Create the index if it is missing."""
        ...

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in the index."""
        ...

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must equal those that were added."""
        ...

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages contain each word; omit words that no page contains."""
        ...

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` indexed words that begin with `start`."""
        ...

    def find_best(
        self,
        connection: Connection,
        namespaces: Sequence[int],
        counts: Mapping[str, int],
        pages: int,
        limit: int,
    ) -> list[int]:
        """Return the numbers of the pages that match some words best, best first.

        Args:
            connection: To the database of the index.
            namespaces: Only pages of these.
            counts: The words, each with the number of pages that contain it.
            pages: The number of pages in the namespaces.
            limit: The most numbers returned.
        """
        ...

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that contain a name as a phrase, by name and number.

        The value tells whether the title contains the name. A name in no page, or in more than
        `limit` pages, is omitted.
        """
        ...


def split_by_rarity(counts: Mapping[str, int], most: int) -> tuple[list[str], list[str]]:
    """Split words into the rarest, whose counts sum to at most `most`, and the rest, rarest first.

    The first list has at least one word.
    """
    words = sorted(counts, key=lambda word: counts[word])
    totals = itertools.accumulate(counts[word] for word in words)
    size = max(sum(total <= most for total in totals), 1)
    return words[:size], words[size:]


def count_matches(
    connection: Connection, statement: TextClause, matches: Mapping[str, str]
) -> dict[str, int]:
    """Count pages by word, given the match expression of each word; omit words without pages."""
    rows = connection.execute(statement, {"matches": json.dumps(matches)})
    return {row.word: row.pages for row in rows if row.pages}
