"""Find the pages whose titles a question names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from retrieval.names import mentioned, possible
from retrieval.pool import Row, Store
from retrieval.words import words


class Named(NamedTuple):
    """The pages a question names."""

    pages: dict[int, float]
    """By number, how surely each is meant, in 0..1."""
    words: frozenset[str]
    """The search words of the names: the pages named answer them, other pages need not."""


def named(question: str, store: Store, namesake: float) -> Named:
    """Return the pages whose titles a question names.

    Several pages may share a title, but for what stands in a closing parenthesis; those whose
    title is the longest that the question holds whole are meant, the others are namesakes, worth
    `namesake` of that. A page is the less surely meant the more pages share its title.
    """
    places = possible(question)
    titled = store.titled(list(places)) if places else {}
    asked = frozenset(words(question))
    pages: dict[int, float] = {}
    said: set[str] = set()
    for key in mentioned(places, titled):
        rows = store.rows(titled[key])
        meant = _meant(rows, asked)
        said.update(words(key))
        for row in rows:
            alike, part = (meant, 1.0) if row.number in meant else (rows, namesake)
            pages[row.number] = (part if meant else 1.0) / math.sqrt(len(alike))
    return Named(pages, frozenset(said))


def _meant(rows: Sequence[Row], asked: frozenset[str]) -> set[int]:
    titles = {row.number: frozenset(row.title_words.split()) for row in rows}
    whole = {number: len(title) for number, title in titles.items() if title <= asked}
    longest = max(whole.values(), default=0)
    return {number for number, size in whole.items() if size == longest}
