"""Put the lines of printed pages together again, so that sentences are whole."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from retrieval.common import weight
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.words import words

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
_PRINTED = str.maketrans({**_LIGATURES, "\xa0": " ", "\u2010": "-", "\u2011": "-"})
_BULLET = regex(r"[-•·▪◦*]\s|\(?\d{1,3}[.)]\s|\[\d+\]\s")
_ENDED = regex("[.!?。！？:：;；][\"'”’」』）)]*$")
_HYPHENATED = regex(r"(?<![^\W\d_])[^\W\d_]++(?:-[^\W\d_]++)+")
_WORD = regex(r"[^\W\d_]+")
_CUT = regex("[^\\W\\d_][-\u2010\u00ad]$")
_SOFT = "\u2010\u00ad"
_CJK_LAST = regex(f"[{CJK}，。、；：）」]")
_CJK_FIRST = regex(f"[{CJK}（「]")
_DIGITS = regex(r"\d+")
_EDGE = 2
_LONGEST_HEAD = 60
_AT_ONCE = 1_000


def printed(line: str) -> str:
    """Return a line of a page, with ligatures taken apart and spaces made even."""
    return " ".join(line.translate(_PRINTED).split())


def without_running_heads(pages: list[list[str]]) -> list[list[str]]:
    """Return the pages without page numbers and the lines that half of them share at an edge."""
    edges = [{_shape(line) for line in [*_top(page), *_top(page[::-1])]} for page in pages]
    counts = Counter(shape for edge in edges for shape in edge)
    often = max(2, len(pages) / 2)
    running = {shape for shape, count in counts.items() if count >= often} | {"#", "- # -"}
    kept = [_without(running, page) for page in map(_without_blank_ends, pages)]
    return kept if any(kept) else pages


def _without(running: set[str], page: list[str]) -> list[str]:
    inside = range(_EDGE, len(page) - _EDGE)
    return [line for at, line in enumerate(page) if at in inside or _shape(line) not in running]


class Spelling:
    """How a text spells its words, which tells what a hyphen at the end of a line is."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = [line.replace("\u2010", "-") for line in lines]

    @cached_property
    def compounds(self) -> set[str]:
        """The words that are written with a hyphen inside a line, in lower case."""
        lines = (line for line in self._lines if "-" in line)
        return {word.lower() for line in lines for word in _HYPHENATED.findall(line)}

    @cached_property
    def _words(self) -> set[str]:
        """The words that stand whole in a line, the parts of compounds among them."""
        found: set[str] = set()
        whole: list[str] = []
        is_cut = False
        for line in self._lines:
            ends_cut = line.rstrip().endswith("-")
            if is_cut or ends_cut:
                its = _WORD.findall(line.lower())
                found.update(its[is_cut : len(its) - ends_cut])
            else:
                whole.append(line)
            is_cut = ends_cut
        for at in range(0, len(whole), _AT_ONCE):
            found.update(_WORD.findall("\n".join(whole[at : at + _AT_ONCE]).lower()))
        return found

    def keeps(self, first: str, rest: str, hyphen: str) -> bool:
        """Tell whether a word that is cut into `first` and `rest` is written with a hyphen.

        A soft hyphen, and the one that roff sets, stands where a line ends and nowhere else.
        """
        first, rest = first.lower(), rest.lower()
        if f"{first}-{rest}" in self.compounds:
            return True
        if hyphen in _SOFT or self._knows(first + rest):
            return False
        return all(map(self._knows, (first, *rest.split("-"))))

    def _knows(self, word: str) -> bool:
        return word in self._words or any(weight(stem) < 1 for stem in words(word))


def paragraphs(lines: list[str], spelling: Spelling) -> list[str]:
    """Join lines that only ended because the page was not wider; cut words are put together."""
    width = _width(lines)
    found: list[str] = []
    previous = ""
    for line in lines:
        if line and previous and not _parted(previous, line, width):
            found[-1] = glued(found[-1], line, spelling)
        elif line:
            found.append(line)
        previous = line
    return found


def _parted(line: str, following: str, width: float) -> bool:
    """Tell whether a paragraph ends between two lines: the first is short, or a list goes on."""
    if _BULLET.match(following):
        return True
    short = len(line) < (0.85 if _ENDED.search(line) else 0.7) * width
    return short and not following[0].islower() and not line.endswith((",", "，", "、", "-"))


def is_cut(text: str, line: str) -> bool:
    """Tell whether a text ends inside a word that goes on in the line below it."""
    cut = _CUT.match(text[-2:])
    return bool(cut) and (line[0].islower() or (text[-1] in _SOFT and line[0].isalpha()))


def glued(text: str, line: str, spelling: Spelling) -> str:
    """Return a text with the line that goes on with it, and a word that was cut as it is spelt."""
    if is_cut(text, line):
        bare, hyphen = text[:-1], text[-1]
        first = re.split(r"[^\w-]", bare)[-1].lstrip("-")
        rest = re.split(r"[^\w-]", line)[0].rstrip("-")
        return f"{bare}{'-' if spelling.keeps(first, rest, hyphen) else ''}{line}"
    if _CJK_LAST.match(text[-1:]) and _CJK_FIRST.match(line):
        return text + line
    return f"{text} {line}"


def _width(lines: list[str]) -> float:
    """Return how many characters a full line has: nine in ten lines have no more."""
    lengths = sorted(len(line) for line in lines if line)
    return lengths[math.ceil(0.9 * (len(lengths) - 1))] if lengths else 0


def _top(page: list[str]) -> Iterator[str]:
    yield from [line for line in page if line][:_EDGE]


def _shape(line: str) -> str:
    """Return what a running head has in common on all pages; a long line is none."""
    return _DIGITS.sub("#", line) if len(line) <= _LONGEST_HEAD else line


def _without_blank_ends(page: list[str]) -> list[str]:
    filled = [at for at, line in enumerate(page) if line]
    return page[filled[0] : filled[-1] + 1] if filled else []
