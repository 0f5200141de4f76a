"""Show what citations rest on: the words of a page, with what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from report.placing import Part
from retrieval.regex import regex

AROUND = 160
"""How many characters are shown on each side of what is cited, at most."""

BEGINNING = 300
"""Of a page so many characters are shown where nothing tells which of them are meant."""

_STOP = regex(r"[.!?](?=\s)|[。！？]")
_SPACE = regex(r"\s+")
_HEADING = regex(r"^\s*#{1,6}\s+")
_BREAK = regex(r"[ \t]*\n\s*\n\s*|[ \t]*\n(?=[ \t]*(?:[-*+•]|\d{1,3}[.)])\s)|(?<=[:：]) *\n")
"""Where a text has a new paragraph, item or row."""


class Piece(NamedTuple):
    """Some words of a page, and which of the cited parts they are, from 1; 0 for none."""

    text: str
    cited: int = 0


def grouped(spans: Sequence[Part]) -> list[list[Part]]:
    """Return the parts of one page in order, those together whose surroundings meet."""
    groups: list[list[Part]] = []
    for span in sorted(set(spans)):
        if groups and span.start - groups[-1][-1].end <= 2 * AROUND:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def pieces(text: str, spans: Sequence[Part]) -> list[Piece]:
    """Return a passage: neighbouring parts of a page that are cited, and what is around them.

    A part that is not certain to be what is cited is shown without being told apart.
    """
    start, end = max(0, spans[0].start - AROUND), max(span.end for span in spans) + AROUND
    stop = _STOP.search(text, end - 1, end + AROUND)
    end = stop.end() if stop else end
    certain = [(number, span) for number, span in enumerate(spans, start=1) if span.sure]
    done = certain[0][1].start if certain else spans[0].start
    found = [Piece(_from_word(text[start:done], whole=start == 0))]
    for number, span in certain:
        found.append(Piece(_line(text[done : span.start])))
        found.append(Piece(_line(text[max(done, span.start) : span.end]), number))
        done = max(done, span.end)
    found.append(Piece(_to_word(text[done:end], whole=end >= len(text))))
    return [piece for piece in found if piece.text or piece.cited]


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
