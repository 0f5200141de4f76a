"""Find the quotations of a statement, and how each may be read."""

from __future__ import annotations

import html
from typing import NamedTuple

from report.marks import MARKER, QUOTE, SPOKEN, blank, cites, long_enough
from retrieval.regex import regex

_EMPHASIS = regex(r"\*+|(?<!\w)_+|_+(?!\w)|`")
_OPENING = "\"'“”„«»「」『』‘’＂ \n\t…."
_CLOSING = _OPENING + ",;:!?。，；：！？、"


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
