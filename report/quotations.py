"""Find the quotations of a statement, and how each may be read."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from report.marks import MARKER, QUOTE, SPOKEN, blank, cites, long_enough
from retrieval.regex import regex
from retrieval.script import HAN

_EMPHASIS = regex(r"\*+|(?<!\w)_+|_+(?!\w)|`")
_OPENING = "\"'“”„«»「」『』‘’＂ \n\t…."
_CLOSING = _OPENING + ",;:!?。，；：！？、"
_LETTER = regex(r"\[(\w)\](?=[^\W\d_])")
"""A letter that was made a capital or a small one, as in `[T]he`."""

_LEFT_OUT = regex(
    r"\s*(?:\[\s*(?:\.{2,}|…+)\s*\]|\(\s*(?:\.{2,}|…+)\s*\)|…+|\.{3,}"
    r"|\[(?!S\d|\?\])[^\[\]\n]{1,40}\])\s*"
)
"""What stands for words that are left out of a quotation, or that its writer put into it."""

_INNER = regex("\\s*[\"“”„‟«»「」『』]\\s*|\\s*(?<!\\w)['‘]\\s*|\\s*['’](?!\\w)\\s*")

FEWEST = 2
"""So many words at least has each piece of a quotation."""

SHORTEST = 3
"""So many Chinese characters and digits at least, as a name has."""


class Quotation(NamedTuple):
    """Words that a statement says stand in a source: `statement[start:end]`."""

    start: int
    end: int
    source: str
    """The source it names itself, or nothing where the statement names it."""
    words: str
    marked: bool
    """Whether it is marked `<q>`, and not only set in quotation marks."""
    written: str = ""
    """The words as they are written, where a source may itself have `&lt;` in it."""


class Piece(NamedTuple):
    """A part of a quotation that stands in its source as it is, and what is before it here."""

    words: str
    joint: str
    """What the writer set before it: an ellipsis, words in brackets, or a quotation mark."""
    near: bool
    """Whether it must follow the piece before it without a word between them."""


def quotations(statement: str) -> list[Quotation]:
    """Return the quotations of a statement, in order.

    Words in quotation marks count where the statement cites something and they are long enough.
    """
    marked = [
        Quotation(*quote.span(), quote[1] or "", html.unescape(quote[2]), True, quote[2])
        for quote in QUOTE.finditer(statement)
    ]
    if not cites(statement):
        return marked
    spoken = [
        Quotation(*quote.span(), "", quote[quote.lastgroup or 0], False)
        for quote in SPOKEN.finditer(blank(statement))
    ]
    plain = [one for one in spoken if long_enough(one.words) and "\0" not in one.words]
    return sorted([*marked, *plain])


def readings(quotation: Quotation) -> list[str]:
    """Return the ways in which a quotation may be read, from the letter to the looser.

    Marks, emphasis and the punctuation at its ends may be the writer's. Where the words will be
    replaced by those of the source, so may a capital letter at the beginning.
    """
    exact = quotation.words.strip()
    spoken = MARKER.sub("", html.unescape(exact))
    plain = _EMPHASIS.sub("", spoken).strip()
    bare = plain.lstrip(_OPENING).rstrip(_CLOSING)
    ways = [exact, spoken.strip(), plain, bare]
    if quotation.marked:
        ways.append(quotation.written.strip())
        ways += [way[:1].swapcase() + way[1:] for way in (plain, bare)]
    return [way for way in dict.fromkeys(ways) if way]


def pieces(quotation: Quotation) -> list[Piece]:
    """Return the parts of a quotation that its writer cut, or nothing where it was not cut.

    It is cut where words are left out, or put in between brackets, and at quotation marks inside.
    """
    said = _LETTER.sub(r"\1", MARKER.sub("", html.unescape(quotation.words)))
    found: list[Piece] = []
    joint, at = "", 0
    for end in [*_LEFT_OUT.finditer(said), None]:
        whole = said[at : end.start() if end else len(said)]
        found += _inside(whole.strip(_CLOSING if not end else " "), joint)
        joint, at = (end[0], end.end()) if end else ("", at)
    cut = len(found) > 1 or said != quotation.words or bool(found and found[0].joint)
    runs = [at for at, one in enumerate(found) if not one.near]
    groups = [found[start:end] for start, end in pairwise([*runs, len(found)])]
    return found if cut and all(map(_is_long, groups)) else []


def _inside(whole: str, joint: str) -> list[Piece]:
    """Return the parts of what stands between two ellipses, cut at quotation marks."""
    parts = [one for one in _INNER.split(whole) if any(map(str.isalnum, one))]
    return [Piece(one.strip(), "" if at else joint, at > 0) for at, one in enumerate(parts)]


def _is_long(run: Sequence[Piece]) -> bool:
    said = " ".join(piece.words for piece in run)
    return len(said.split()) >= FEWEST or _is_named(said)


def _is_named(said: str) -> bool:
    signs = re.findall(f"[{HAN}\\d]", said)
    return len(signs) >= SHORTEST and any(not one.isdigit() for one in signs)
