"""What a keyword index does, and how it keeps common words from making a search slow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy import Connection

TITLE_WEIGHT = 3.0
"""How often a word of the title counts in the index's own rank."""


class KeywordEntry(NamedTuple):
    """What the index holds of a page: the words of its title and text, in each of its namespaces.

    `number` is the page's; the words are cut, and joined by spaces.
    """

    number: int
    namespaces: Sequence[int]
    title: str
    body: str


class KeywordIndex(Protocol):
    """A keyword index, in which a word stands once for each namespace its page is in.

    So each namespace has its own list of pages for a word, and looking it up costs the same however
    many other namespaces use the word.
    """

    def create_index(self, connection: Connection) -> None:
        """Make the index if it is missing."""
        ...

    def add_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Add pages that are not in it."""
        ...

    def remove_entries(self, connection: Connection, entries: Sequence[KeywordEntry]) -> None:
        """Remove pages; the entries must be those that were put."""
        ...

    def count_pages(
        self, connection: Connection, namespaces: Sequence[int], words: Sequence[str]
    ) -> dict[str, int]:
        """Return how many pages hold each word; a word that none holds is left out."""
        ...

    def complete_prefix(
        self, connection: Connection, namespaces: Sequence[int], start: str, limit: int
    ) -> list[str]:
        """Return up to `limit` words that begin with some letters and that pages hold."""
        ...

    def find_best(
        self,
        connection: Connection,
        namespaces: Sequence[int],
        counts: Mapping[str, int],
        pages: int,
        limit: int,
    ) -> list[int]:
        """Return the numbers of the pages that fit some words best, best first.

        Args:
            connection: Where to look.
            namespaces: Pages of any of these.
            counts: The words, and how many pages hold each.
            pages: How many pages there are.
            limit: How many numbers at most.
        """
        ...

    def match_names(
        self, connection: Connection, namespaces: Sequence[int], names: Sequence[str], limit: int
    ) -> dict[str, dict[int, bool]]:
        """Return the pages that hold the words of a name side by side, by name and number.

        Each comes with whether the title holds the name. A name that more than `limit` pages hold,
        or none, is left out.
        """
        ...


def split_by_rarity(counts: Mapping[str, int], most: int) -> tuple[list[str], list[str]]:
    """Part words into the rarest, which about `most` pages hold, and the others; rarest first."""
    words = sorted(counts, key=lambda word: counts[word])
    held = 0
    for at, word in enumerate(words):
        held += counts[word]
        if held > most:
            return words[: max(at, 1)], words[max(at, 1) :]
    return words, []
