"""Cut texts into what is compared when something is to be found nowhere any more."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.words import words

SHARED_WORDS, SHARED_CHARACTERS = 5, 12
"""A text shares words with another if it has so many in a row, or so many Chinese characters."""

GIST = 3
"""So many search words in a row say again what a sentence says, whatever stands between them."""

SEPARATOR = "\x1f"
"""What stands around each word of a run; no text that is kept has it."""

_TOKEN = regex(f"[{CJK}]|[^\\W{CJK}]+")
_HAN = regex(f"[{CJK}]")
# Ids of sources, numbers in a finished report, marks of quotations, and escapes of HTML.
_MARKS = regex(r"\[S?\d+\]|</?q\b[^>]*>|&(?:[a-z]{2,6}|#x?[0-9a-f]{1,5});", re.IGNORECASE)


class Token(NamedTuple):
    """A word, or one Chinese character, and where it stands in its text."""

    word: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return the words of a text as they are compared: whatever their case, width or marks."""
    bare = _MARKS.sub(lambda mark: " " * len(mark[0]), text)
    return [Token(_plain(one[0]), one.start(), one.end()) for one in _TOKEN.finditer(bare)]


def han(word: str) -> bool:
    """Say whether a word is a single Chinese character, or one of kana or hangul."""
    return bool(_HAN.match(word))


def joined(some: Sequence[str]) -> str:
    """Return words as one run that can be found in other runs, at whole words only."""
    return SEPARATOR + SEPARATOR.join(some) + SEPARATOR


def run(text: str) -> str:
    """Return the words of a text as one run; empty where it has none."""
    some = [token.word for token in tokens(text)]
    return joined(some) if some else ""


def shared(some: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """Yield every run of words that is long enough to be shared, and where it stands."""
    for first, last in _stretches(some):
        size = SHARED_CHARACTERS if han(some[first].word) else SHARED_WORDS
        for at in range(first, last - size + 1):
            part = some[at : at + size]
            yield joined([token.word for token in part]), part[0].start, part[-1].end


def gists(text: str) -> set[str]:
    """Return the runs of search words of a text; the whole of it where it has only few."""
    cut = words(text)
    last = max(1, len(cut) - GIST + 1)
    return {joined(cut[at : at + GIST]) for at in range(last)} if len(cut) > 1 else set()


def _stretches(some: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield where words of one script stand side by side."""
    first = 0
    for at, token in enumerate(some):
        if han(token.word) != han(some[first].word):
            yield first, at
            first = at
    yield first, len(some)


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()
