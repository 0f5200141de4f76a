"""A source as statements are compared with it, and what of it is near a statement."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from heapq import nlargest
from itertools import chain
from typing import Any, TypeVar

from report.markdown.markers import MARKER, QUOTE, blank_quotations
from text.dates import write_out_datetimes
from text.script import detect_single_language, simplify_chinese
from text.sentences import list_sentences
from text.words import search_words

MAX_COMPARED_QUOTATIONS = 20
"""How many quotations of its paragraph a statement is compared with; its sources always are."""

MAX_PLACES = 4
"""How many places of a source are compared."""

_MIN_CLOSENESS = 0.6  # as a share of what the closest sentence has
_MIN_COPY_CHARS = 12

_Derived = TypeVar("_Derived")


@dataclass(frozen=True, eq=False)
class SourceText:
    """A source, its sentences, and in which of them each of its words is."""

    text: str
    sentences: list[str]
    positions: dict[str, tuple[int, ...]]
    language: str
    """The language of its words; a text in two languages has none."""
    derived: dict[Callable[[SourceText], Any], Any] = field(default_factory=dict, repr=False)
    """Results of the functions in `DERIVATIONS`."""

    def count_words(self, words: Iterable[str]) -> Counter[int]:
        """Count for each sentence how many of some words it has."""
        return Counter(at for word in words for at in self.positions.get(word, ()))


DERIVATIONS: list[Callable[[SourceText], Any]] = []
"""What the checks derive from a source: the functions marked `per_source`."""


def per_source(derive: Callable[[SourceText], _Derived]) -> Callable[[SourceText], _Derived]:
    """Compute something of a source only once, and store it with the source."""

    @wraps(derive)
    def cached(source: SourceText) -> _Derived:
        """Return what was derived; it is kept with the source, and goes with it."""
        if derive not in source.derived:
            source.derived[derive] = derive(source)
        result: _Derived = source.derived[derive]
        return result

    DERIVATIONS.append(cached)
    return cached


def index_source(text: str) -> SourceText:
    """Return a source as it is compared; Chinese is converted to simplified characters."""
    text = simplify_chinese(write_out_datetimes(text))
    sentences = [sentence.text for sentence in list_sentences(text)]
    positions: dict[str, dict[int, None]] = {}
    for at, sentence in enumerate(sentences):
        for word in search_words(sentence):
            positions.setdefault(word, {})[at] = None
    indexed = {word: tuple(places) for word, places in positions.items()}
    return SourceText(text, sentences, indexed, detect_single_language(text))


def select_quotations(statement: str, quoted: list[SourceText]) -> list[SourceText]:
    """Return the quotations that share most words with a statement, if there are too many."""
    words = set(search_words(statement))
    if len(quoted) <= MAX_COMPARED_QUOTATIONS or not words:
        return quoted
    return nlargest(
        MAX_COMPARED_QUOTATIONS, quoted, key=lambda source: len(words & source.positions.keys())
    )


def list_closest_sentences(statement: str, source: SourceText) -> list[str]:
    """Return the sentences of a source that share most with a statement; rare words weigh more."""
    scores: dict[int, float] = {}
    for word in filter(source.positions.__contains__, dict.fromkeys(search_words(statement))):
        for at in source.positions[word]:
            scores[at] = scores.get(at, 0.0) + 1 / len(source.positions[word])
    least = _MIN_CLOSENESS * max(scores.values(), default=0.0)
    return [source.sentences[at] for at, score in scores.items() if score >= least]


def list_nearest_sentences(statement: str, source: SourceText) -> list[str]:
    """Return the sentences that share most words with a statement, and their neighbours."""
    shared = source.count_words(dict.fromkeys(search_words(statement)))
    near = {one for at, _ in shared.most_common(MAX_PLACES) for one in (at - 1, at, at + 1)}
    return [source.sentences[at] for at in sorted(near) if 0 <= at < len(source.sentences)]


def list_near_sentences(
    statement: str, sources: Sequence[SourceText], *, alike: bool = True
) -> list[str]:
    """Return what of some sources is near a statement; all if they are in another language."""
    near = (list_nearest_sentences(statement, one) if alike else one.sentences for one in sources)
    return [*chain.from_iterable(near)]


def is_copied(statement: str, text: str) -> bool:
    """Tell whether a text has a statement word for word."""
    bare = statement.strip(" \n-*>|.。!?！？")
    return len(bare) >= _MIN_COPY_CHARS and bare in text


@lru_cache(maxsize=1024)
def unmark_quotations(statement: str) -> str:
    """Return a statement with the words of its quotations, and without their marks."""
    return QUOTE.sub(lambda quote: html.unescape(quote[2]), statement)


def normalize_statement(statement: str) -> str:
    """Return the own words of a statement: without marks and quotations, in simplified Chinese."""
    bare = MARKER.sub("", blank_quotations(statement)).replace("\0", "")
    return simplify_chinese(re.sub(r"\*\*|__|`", "", bare))
