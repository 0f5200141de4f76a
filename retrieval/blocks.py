"""Find what belongs together in a text: what leads to a paragraph and the paragraph, and code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from retrieval.entries import entry
from retrieval.regex import regex
from retrieval.text import heading
from retrieval.wrapping import BULLET

CODE = 2_500
"""A block of code of at most so many characters is one block, blank lines and all."""

LEAD = 350
"""What leads to the paragraph below it has at most so many characters."""

_BLANK = regex(r"\n\s*\n|\Z")
_ANNOUNCES = regex(
    r"\b(?:as follows|the following|(?:shown|listed|given|described|explained) below"
    r"|here (?:is|are)|for example|such as this)\b[^.!?\n]{0,80}[.:]?\W*$"
    r"|(?:如下|以下|下面|下列|例如)[^。！？\n]{0,30}[。：]?\s*$",
    re.IGNORECASE,
)
_MARKS = regex(r"\W*")
_COLONS = frozenset(":：")
_BACK = regex(
    r"\W*(?:(?:this|that|these|those|it|its|they|their|them|such|he|she|his|her|both|neither)\b"
    r"|(?:however|therefore|thus|hence|otherwise|instead|similarly|likewise|also|but|then|so"
    r"|finally|second(?:ly)?|third(?:ly)?|conversely|consequently|moreover|furthermore"
    r"|nevertheless|nonetheless|by comparison|by contrast|as a result|in addition"
    r"|in (?:this|that|the (?:latter|former|second|first)|such|these|both|other|either)"
    r"|for (?:this|that|these)|the (?:latter|former|same|above|other|second))\b"
    r"|(?:这|該|该|此|它|他们|她|其|因此|所以|否则|但是?|然而|不过|另外|而且|并且|后者|前者|同样|上述|反之))",
    re.IGNORECASE,
)
_CODE = regex(
    r"^(?!\s*(?:[-*#]|\d+[.)])\s).*(?:[;{}()=\\]|\S {2,}\S.*[^.!?。！？])\s*$|^\s*(?://|/\*|\$ )"
)
TERM = regex(r"\s*-{1,2}[A-Za-z][^\n]{0,120}$")
"""An option that a definition follows, on a line of its own."""


@lru_cache(maxsize=256)
def blocks(text: str) -> tuple[tuple[int, int], ...]:
    """Return the blocks of a page (`find_blocks`), which is cut for every query of a run."""
    return tuple(find_blocks(text))


def find_blocks(text: str) -> list[tuple[int, int]]:
    """Return where each block of a text begins and ends: paragraphs with what belongs to them.

    A heading, the term of a definition and what announces something stay with the next paragraph,
    and code stays whole as far as its brackets tell.
    """
    found: list[tuple[int, int]] = []
    leads = code = False
    for start, end in _paragraphs(text):
        above = text[slice(*found[-1])] if found else ""
        here = text[start:end]
        joins = leads or _open(above) or (code and _is_code(here))
        if len(above) <= CODE and joins:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
        leads, code = _leads(here), _is_code(here)
    return found


def announces(text: str) -> bool:
    """Tell whether a text ends in announcing what follows it."""
    end = text[-200:]
    return _ends_in_colon(end) or bool(_ANNOUNCES.search(end))


def points_back(text: str) -> bool:
    """Tell whether a text begins with words that only what stands before them explains."""
    return bool(_BACK.match(text))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of what blank lines keep apart, without white space around."""
    start = 0
    for blank in _BLANK.finditer(text):
        piece = text[start : blank.start()]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            yield first, start + len(piece.rstrip())
        start = blank.end()


def _leads(paragraph: str) -> bool:
    """Tell whether a paragraph is nothing without the one below it."""
    if len(paragraph) > LEAD:
        return False
    if "\n" not in paragraph and (TERM.match(paragraph) or heading(paragraph)):
        return not BULLET.match(paragraph) or bool(TERM.match(paragraph))
    return _ends_in_colon(paragraph) and not entry(paragraph.split("\n")[-1])


def _ends_in_colon(text: str) -> bool:
    """Tell whether a colon stands behind the last word of a text."""
    end = _MARKS.match(text[::-1])
    return bool(end and not _COLONS.isdisjoint(end[0]))


def _is_code(paragraph: str) -> bool:
    """Tell whether every line of a paragraph looks like code and none like a sentence."""
    return all(_CODE.search(line) for line in paragraph.split("\n"))


def _open(block: str) -> bool:
    """Tell whether code ends in it with a bracket that is not closed."""
    return "\n" in block and block.count("{") > block.count("}")
