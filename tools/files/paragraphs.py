"""Put the lines of printed pages together again, so that sentences are whole."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from retrieval.script import CJK

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"}
_PRINTED = str.maketrans({**_LIGATURES, "\xa0": " ", "\u2010": "-", "\u2011": "-"})
_BULLET = re.compile(r"[-•·▪◦*]\s|\(?\d{1,3}[.)]\s|\[\d+\]\s")
_ENDED = re.compile("[.!?。！？:：;；][\"'”’」』）)]*$")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_DIGITS = re.compile(r"\d+")
_EDGE = 2
_LONGEST_HEAD = 60


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


def hyphenated(pages: list[list[str]]) -> set[str]:
    """Return the words that are written with a hyphen inside a line, in lower case."""
    lines = (line for page in pages for line in page if "-" in line)
    return {word.lower() for line in lines for word in _HYPHENATED.findall(line)}


def paragraphs(lines: list[str], compounds: set[str]) -> list[str]:
    """Join lines that only ended because the page was not wider.

    A word cut by a hyphen is put together, unless it is one of the `compounds`.
    """
    width = _width(lines)
    found: list[str] = []
    previous = ""
    for line in lines:
        if line and previous and not _parted(previous, line, width):
            found[-1] = glued(found[-1], line, compounds)
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


def glued(text: str, line: str, compounds: set[str]) -> str:
    """Return a text with the line that goes on with it; `compounds` keep their hyphen."""
    if text.endswith("\u00ad"):
        return text[:-1] + line
    if re.search(r"[^\W\d_]-$", text) and line[0].islower():
        word = re.split(r"\s", text)[-1] + re.split(r"[^\w-]", line)[0]
        return (text if word.lower().strip("(\"'“") in compounds else text[:-1]) + line
    if re.search(f"[{CJK}，。、；：）」]$", text) and re.match(f"[{CJK}（「]", line):
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
