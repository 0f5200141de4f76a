"""Find words in a page whatever punctuation and spaces stand between them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import CJK, simplified

_LETTER = f"[^\\W_{CJK}]"
_MINUS = "(?<![\\w.,%)])(?<!\\d )[-\u2212](?=\\d)"
_WORD = regex(
    f"(?:{_MINUS})?\\d+(?:[.,]\\d+)+|{_MINUS}\\d+|{_LETTER}(?:{_LETTER}|[\u0300-\u036f])*|[{CJK}]|[%‰$€£¥°]"
    "|(?P<stop>[。！？]|[.!?](?=[\"'”’»）)\\]]*\\s))"
)
_THOUSANDS = regex(r"(?<=\d),(?=\d{3}(?!\d))")


class BareText(NamedTuple):
    """A text in small letters without spaces and signs, and where its words stand."""

    text: str
    starts: list[int]
    ends: list[int]
    """Where each word begins, and ends, in `text`."""
    origins: Sequence[tuple[int, int]]
    """Where each word stands in the text as it was."""

    def find(self, words: str, start: int = 0) -> Iterator[tuple[int, int]]:
        """Yield where some bare words stand as whole words, as places of the text as it was.

        Args:
            words: What is looked for, as `bare_words` returns it.
            start: Where the search begins in the text as it was.
        """
        first = bisect_left(self.origins, (start, start))
        at = self.text.find(words, *self.starts[first : first + 1]) if words else -1
        while at >= 0 and first < len(self.starts):
            end = at + len(words)
            one, last = bisect_left(self.starts, at), bisect_left(self.ends, end)
            if self.starts[one : one + 1] == [at] and self.ends[last : last + 1] == [end]:
                yield self.origins[one][0], self.origins[last][1]
            at = self.text.find(words, at + 1)


def bare_text(text: str) -> BareText:
    """Return a text as its words alone; numbers stay apart, and sentences end with a stop."""
    pieces, starts, ends, origins = list[str](), list[int](), list[int](), list[tuple[int, int]]()
    length = 0
    for found in _WORD.finditer(text):
        word = _bare(found)
        if word[:1].isdigit() and pieces and pieces[-1][-1:].isdigit():
            pieces.append(" ")
            length += 1
        pieces.append(word)
        origins.append(found.span())
        starts.append(length)
        length += len(word)
        ends.append(length)
    return BareText("".join(pieces), starts, ends, origins)


def bare_words(words: str) -> str:
    """Return words as they are looked for in a bare text, without a stop at the ends."""
    return bare_text(words).text.strip(".")


def alphabetic(words: str) -> set[str]:
    """Return those of some words that have letters only, as they stand in a bare text."""
    return {one for one in map(_bare, _WORD.finditer(words)) if one.isalpha()}


def _bare(found: re.Match[str]) -> str:
    if found["stop"]:
        return "."
    word = simplified(unicodedata.normalize("NFKC", found[0]).lower())
    return _THOUSANDS.sub("", word).replace("\u2212", "-")
