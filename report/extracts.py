"""Show what citations rest on: the words of a page, with what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from report.marks import MARKER, QUOTE
from retrieval.regex import regex
from retrieval.text import Span, find, language, sentences
from retrieval.words import words

AROUND = 160
"""How many characters are shown on each side of what is cited, at most."""

LONGEST = 900
"""How many characters of a page are shown as what is cited, at most."""

ENOUGH = 1 / 3
"""A sentence is near a statement if it has more of its words than this."""

_STOP = regex(r"[.!?](?=\s)|[。！？]")
_SPACE = regex(r"\s+")
_HEADING = regex(r"^\s*#{1,6}\s+")
_BREAK = regex(r"[ \t]*\n\s*\n\s*|[ \t]*\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])\s)|(?<=[:：]) *\n")
"""Where a text has a new paragraph, item or row."""


class Use(NamedTuple):
    """One place of a report at which a document is cited."""

    number: int
    """The number of the document."""
    sources: tuple[str, ...]
    """The ids of the pages of it that are cited there."""
    said: str
    """The words that are quoted, or the statement that is made."""
    quoted: bool


class Piece(NamedTuple):
    """Some words of a page, and which of the cited parts they are, from 1; 0 for none."""

    text: str
    cited: int = 0


def located(text: str, use: Use) -> Span | None:
    """Return the part of a page that a use rests on, or None where none is near it.

    That is what is quoted, or else the sentence, or two neighbouring ones, with the most words of
    the statement. A statement in another language than the page has too few words in common.
    """
    place = find(use.said, text) if use.quoted else None
    place = place or _nearest(text, MARKER.sub("", QUOTE.sub(r"\2", use.said)))
    return place and Span(place.start, min(place.end, place.start + LONGEST), "")


def grouped(spans: Sequence[Span]) -> list[list[Span]]:
    """Return the parts of one page in order, those together whose surroundings meet."""
    groups: list[list[Span]] = []
    for span in sorted(set(spans)):
        if groups and span.start - groups[-1][-1].end <= 2 * AROUND:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def pieces(text: str, spans: Sequence[Span]) -> list[Piece]:
    """Return a passage: neighbouring parts of a page that are cited, and what is around them."""
    start, end = max(0, spans[0].start - AROUND), max(span.end for span in spans) + AROUND
    stop = _STOP.search(text, end - 1, end + AROUND)
    end = stop.end() if stop else end
    found = [Piece(_from_word(text[start : spans[0].start], whole=start == 0))]
    done = spans[0].start
    for number, span in enumerate(spans, start=1):
        found.append(Piece(_line(text[done : span.start])))
        found.append(Piece(_line(text[max(done, span.start) : span.end]), number))
        done = max(done, span.end)
    found.append(Piece(_to_word(text[done:end], whole=end >= len(text))))
    return [piece for piece in found if piece.text or piece.cited]


def _nearest(text: str, said: str) -> Span | None:
    """Return the sentence, or two neighbouring ones, with the most words of a statement."""
    if language(said) != language(text):
        return None
    wanted = set(words(said))
    spans, bags = _sentences(text)
    shared = [wanted & bag for bag in bags]
    # Of those with as many words the one that needs its neighbour least.
    weights = [(len(_pair(shared, at)), len(own)) for at, own in enumerate(shared)]
    best = max(range(len(spans)), key=weights.__getitem__, default=None)
    if best is None:
        return None
    both = _pair(shared, best)
    if len(both) <= ENOUGH * len(wanted):
        return None
    last = best + (len(both) > len(shared[best]))
    return Span(spans[best].start, spans[last].end, "")


# A page is looked through once for each statement that cites it.
@lru_cache(maxsize=128)
def _sentences(text: str) -> tuple[list[Span], list[frozenset[str]]]:
    """Return the sentences of a page, and the words of each."""
    spans = sentences(text)
    return spans, [frozenset(words(span.text)) for span in spans]


def _pair(shared: Sequence[set[str]], at: int) -> set[str]:
    """Return the words that a sentence shares, with those of the next one if it has any itself."""
    return shared[at].union(*shared[at + 1 : at + 2]) if shared[at] else set()


def _line(text: str) -> str:
    """Return a text whose wrapped lines are joined; headings lose their marks."""
    parts = (_SPACE.sub(" ", _HEADING.sub("", part)) for part in _BREAK.split(text))
    return "\n".join(parts)


def _from_word(text: str, *, whole: bool) -> str:
    cut = _line(text)
    head, space, rest = cut.partition(" ")
    if whole:
        return cut.lstrip()
    return f"… {rest if space and len(head) < len(cut) // 2 else cut}"


def _to_word(text: str, *, whole: bool) -> str:
    cut = _line(text)
    rest, space, tail = cut.rpartition(" ")
    if whole:
        return cut.rstrip()
    if _STOP.search(f"{cut[-1:]} "):
        return f"{cut} …"
    return f"{rest if space and len(tail) < len(cut) // 2 else cut} …"
