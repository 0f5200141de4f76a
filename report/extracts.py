"""Show what a citation rests on: the words of its page, with what stands around them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from report.marks import MARKER, QUOTE
from retrieval.text import Span, find, sentences
from retrieval.words import words

AROUND = 280
"""How many characters are shown on each side of what is cited, at most."""

LONGEST = 900
"""How many characters of a page are shown as what is cited, at most."""

_SPACE = re.compile(r"\s+")


class Use(NamedTuple):
    """One place of a report at which a document is cited."""

    number: int
    """The number of the document."""
    sources: tuple[str, ...]
    """The ids of the pages of it that are cited there."""
    said: str
    """The words that are quoted, or the statement that is made."""
    quoted: bool


class Extract(NamedTuple):
    """A part of a page: what is cited, and what stands before and after it."""

    before: str
    cited: str
    after: str


def extract(text: str, said: str, *, quoted: bool) -> Extract | None:
    """Return the part of a page that says something, or None where no word of it is there.

    Args:
        text: The page.
        said: What is quoted of it, or said with it as the source.
        quoted: Whether those are its very words; else the two neighbouring sentences are shown
            that share the most words with it.
    """
    place = find(said, text) if quoted else None
    place = place or _nearest(text, MARKER.sub("", QUOTE.sub(r"\2", said)))
    if place is None:
        return None
    end = min(place.end, place.start + LONGEST)
    before, after = text[max(0, place.start - AROUND) : place.start], text[end : end + AROUND]
    return Extract(
        _from_word(before) if place.start > AROUND else _line(before),
        _line(text[place.start : end]),
        _to_word(after) if end + AROUND < len(text) else _line(after),
    )


def _nearest(text: str, said: str) -> Span | None:
    """Return the sentence, or two neighbouring ones, with the most words of a statement."""
    wanted = set(words(said))
    spans = sentences(text)
    shared = [wanted.intersection(words(span.text)) for span in spans]
    best = max(range(len(spans)), key=lambda at: len(_pair(shared, at)), default=None)
    if best is None or not shared[best]:
        return None
    last = best + (len(_pair(shared, best)) > len(shared[best]))
    start, end = spans[best].start, spans[last].end
    return Span(start, end, text[start:end])


def _pair(shared: Sequence[set[str]], at: int) -> set[str]:
    """Return the words that a sentence shares, with those of the next one if it has any itself."""
    return shared[at].union(*shared[at + 1 : at + 2]) if shared[at] else set()


def _line(text: str) -> str:
    return _SPACE.sub(" ", text)


def _from_word(text: str) -> str:
    cut = _line(text)
    head, space, rest = cut.partition(" ")
    return f"… {rest if space and len(head) < len(cut) // 2 else cut}"


def _to_word(text: str) -> str:
    cut = _line(text)
    rest, space, tail = cut.rpartition(" ")
    return f"{rest if space and len(tail) < len(cut) // 2 else cut} …"
