"""Find the sentences that are left without what they refer to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from report.blocks import blocks
from report.marks import MARKER
from report.openers import points_back, without_transition
from report.statements import statements
from retrieval.regex import regex
from retrieval.words import words

_TELLING = regex(r"[^\W_]|(?<=\d)[.,:/](?=\d)|[<>≤≥=±−%+]|-(?=\d)")
_CODE = regex(r"\W*?(?:the\s+)?`([^`]+)`", re.IGNORECASE)


def left_hanging(body: str, gone: Sequence[str]) -> list[str]:
    """Return the statements of a text that point back to one of those that were removed from it.

    One that itself points back is no loss: what it refers to is still there. So it is where the
    sentence before it, that stays, begins with the same subject.
    """
    lost = set(map(letters, gone))
    hanging: list[str] = []
    for part in blocks(body):
        kept = ""
        for before, after in pairwise(statements(part.text)):
            if letters(before) not in lost:
                kept = before
            elif points_back(after) and not (points_back(before) or _same_subject(kept, before)):
                hanging.append(after)
    return hanging


def _same_subject(one: str, other: str) -> bool:
    """Tell whether two sentences begin with the same code, or the same word that says something."""
    first, second = _subject(one), _subject(other)
    return bool(first) and first == second


def _subject(said: str) -> str:
    bare = without_transition(MARKER.sub("", said))
    code = _CODE.match(bare)
    return code[1] if code else next(iter(words(bare)), "")


def letters(text: str) -> str:
    """Return the letters of a text and its numbers with their signs, without its citations."""
    return "".join(_TELLING.findall(MARKER.sub("", text)))
