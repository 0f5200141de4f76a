"""The seam between the scorer and the database: what a page is to the scorer, and whom it asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

Vector = Sequence[float]


class Row(NamedTuple):
    """What the scorer knows of a page."""

    number: int
    """Row number in the database; never given to another page."""
    id: str
    title: str
    text: str
    words: str
    """The search words of the text as they were cut at writing, joined by spaces."""
    title_words: str
    """The search words of the title, likewise."""
    session: str
    """The dialogue or document the page is a part of; empty when it stands alone."""
    turn: int
    """Its place in that session."""
    speaker: str
    said: str
    """ISO date or date and time; empty when unknown."""


class Stats(NamedTuple):
    """What a namespace knows of itself."""

    pages: int
    words: float
    """Search words of a text, on average."""
    title_words: float
    """Search words of a title, on average."""


class Store(Protocol):
    """One namespace of pages, as the scorer sees it."""

    def stats(self) -> Stats:
        """Return what the namespace knows of itself."""

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return how many pages hold each word, in the text or the title."""

    def sample(self, limit: int) -> list[Row]:
        """Return up to `limit` pages from all over the namespace, each time much the same ones."""

    def matching(self, terms: Sequence[str], limit: int) -> list[int]:
        """Return the numbers of the pages that fit the words best, by the index's own rank."""

    def rows(self, numbers: Sequence[int]) -> list[Row]:
        """Return pages by their numbers, in any order; unknown numbers are left out."""

    def beside(self, numbers: Sequence[int], reach: int = 1) -> list[Row]:
        """Return the pages up to `reach` turns before and after these, in the same session."""

    def holding(self, names: Sequence[str], limit: int) -> Mapping[str, Mapping[int, bool]]:
        """Return the pages that hold the words of a name next to each other, by name.

        A name is search words joined by spaces. Each page's number comes with whether the title
        holds the name. A name found in more than `limit` pages is left out.
        """

    def titled(self, keys: Sequence[str]) -> Mapping[str, Sequence[int]]:
        """Return the numbers of the pages whose title has one of these keys, by key."""


class Vectors(Protocol):
    """The vector index of the same namespace."""

    def nearest(self, vector: Vector, limit: int) -> Mapping[int, float]:
        """Return the cosines of the nearest pages, by page number."""

    def likeness(self, vector: Vector, numbers: Sequence[int]) -> Mapping[int, float]:
        """Return the cosines of given pages, by page number; none for one without a vector."""
