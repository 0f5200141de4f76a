"""Cut a page into passages that begin and end with a sentence, and join those that are near."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from retrieval.listing import listings
from retrieval.script import language
from retrieval.text import Span, heading, sentences

GAP = 400
"""Pieces of a page with no more than so many characters between them are shown as one."""

LIST = 2_500
"""A list of which a part is shown is shown whole, if it has no more than so many characters."""

_ANNOUNCES = re.compile(r"[:：]\W*$")
_STAMP = re.compile(
    r"\W*(?:(?:this|the) page )?(?:was )?last (?:modified|updated|changed|edited)\b"
    r"[^.]{0,60}\.?\W*$|\W*(?:本页)?(?:面)?最后(?:更新|修改|编辑)[^。]{0,40}。?$",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r"[\w. ]{1,60}(?:\s+[»›]\s+[\w. -]{1,60}){1,8}|[\w. ]{1,60}(?:\s+>\s+[\w. -]{1,60}){2,8}"
)
_MARK = re.compile(r"#{1,6}\s+$")


def passages(text: str, size: int = 700) -> list[Span]:
    """Return consecutive windows of whole sentences, each of at most `size` characters.

    Chinese says the same in half the characters, so there the windows are half as long. A heading
    stays with what follows it, and so does a sentence that ends with a colon. Only a sentence that
    is longer than the window itself is cut.
    """
    size = size // 2 if language(text) == "zh" else size
    windows: list[tuple[int, int]] = []
    for start, end in _units(text, sentences(text), size):
        first = windows[-1][0] if windows else 0
        begins = heading(text[start:end].split("\n", 1)[0]) and start - first > size // 3
        if windows and end - first <= size and not begins:
            windows[-1] = (first, end)
        else:
            windows.append((start, end))
    return [Span(start, end, text[start:end]) for start, end in windows]


def together(text: str, pieces: Iterable[Span]) -> list[Span]:
    """Return pieces of a text in its order: lists whole, and what stands close together as one."""
    lists = [span for span in _lists(text) if span[1] - span[0] <= LIST]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_with_lists(piece, lists) for piece in pieces):
        if joined and start - joined[-1][1] <= GAP:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return [Span(start, end, text[start:end]) for start, end in joined]


def scrap(passage: str) -> bool:
    """Tell whether a passage only says where or when its page stands: a trail of links, a date."""
    lines = [line for line in passage.splitlines() if line.strip()]
    return bool(lines) and all(
        _STAMP.match(line) or _TRAIL.fullmatch(line.strip()) for line in lines
    )


def _lists(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each list begins, with what announces it, and where it ends."""
    for found in listings(text):
        line = text.rfind("\n", 0, found.lead.start) + 1
        mark = _MARK.match(text, line, found.lead.start)
        yield line if mark else found.lead.start, found.end


def _with_lists(piece: Span, lists: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the ends of a piece together with the lists of which it has a part."""
    parts = [one for one in lists if one[0] < piece.end and piece.start < one[1]]
    starts, ends = zip((piece.start, piece.end), *parts, strict=True)
    return min(starts), max(ends)


def _units(text: str, spans: Iterable[Span], size: int) -> Iterator[tuple[int, int]]:
    """Yield what must not be parted, cut if too long: a sentence with what announces it."""
    above: int | None = None
    for span in spans:
        start = span.start if above is None else above
        announces = heading(span.text) or _ANNOUNCES.search(span.text)
        if announces and span.end - start < size // 2:
            above = start
            continue
        if span.end - start > size and start < span.start:
            yield start, len(text[: span.start].rstrip())
            start = span.start
        yield from _cut(text, start, span.end, size)
        above = None
    if above is not None:
        yield above, len(text.rstrip())


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > size:
        place = _gap(text, start, start + size)
        yield start, place
        start = place + len(text[place:end]) - len(text[place:end].lstrip())
    if start < end:
        yield start, end


def _gap(text: str, start: int, end: int) -> int:
    """Return the last good place to cut before `end`: after a mark, or at a space, or anywhere."""
    least = start + (end - start) // 2
    marks = [text.rfind(mark, least, end) + 1 for mark in ("，", "、", "；", ", ", "; ", "\n")]
    return max(marks) or max(text.rfind(" ", least, end), 0) or end
