"""Cut a text into passages of whole paragraphs, and put passages together again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from text.pattern_files import PatternFile
from text.regex import regex
from text.script import detect_language
from text.sentences import Span, is_heading, split_sentences
from text.text_blocks import announces_following, find_lists, refers_back, split_blocks

GAP = 200
"""Pieces of a page with at most this many characters between them are shown as one."""

LIST = 2_500
"""A list of which a part is shown is shown whole up to this many characters."""

ITEM = 250
"""The largest average length of the items of such a list, in characters."""

MORE = 500
"""How many characters a piece grows to begin or end with its paragraph."""

_PATTERNS = PatternFile("text", "passage_splitting.toml")
_MARK = regex(r"#{1,6}\s+$")
_SEEN = regex(r"\S")


# Each step of a run looks at the same pages several times.
@lru_cache(maxsize=128)
def split_passages(text: str, size: int = 700) -> Sequence[Span]:
    """Return consecutive windows of whole paragraphs, each of at most `size` characters.

    Chinese says the same in half the characters, so there the windows are half as long. What
    belongs together (`text.text_blocks`) is not parted where it fits: a heading stays with what
    follows it, and what announces something with that. A longer paragraph is cut at sentences,
    and only a sentence that is longer than the window itself is cut.
    """
    size = size // 2 if detect_language(text) == "zh" else size
    windows: list[tuple[int, int]] = []
    for start, end in _units(text, size):
        first = windows[-1][0] if windows else 0
        begins = is_heading(text[start:end].split("\n", 1)[0]) and start - first > size // 3
        if windows and end - first <= size and not begins:
            windows[-1] = (first, end)
        else:
            windows.append((start, end))
    return tuple(Span(start, end, text[start:end]) for start, end in windows)


def merge_passages(text: str, pieces: Iterable[Span]) -> list[Span]:
    """Return pieces of a text in its order, each extended to be whole, and near ones joined.

    A whole piece has the paragraphs and lists of which it is a part, what its end announces, and
    what its beginning refers to.
    """
    lists, parts = _lists(text), split_blocks(text)
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_whole(text, piece, parts, lists) for piece in pieces):
        if joined and start - joined[-1][1] <= GAP:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return [Span(start, end, text[start:end]) for start, end in joined]


def is_breadcrumb(passage: str) -> bool:
    """Tell whether a passage is only a trail of links or the date of its page."""
    lines = [line for line in passage.splitlines() if line.strip()]
    stamp, trail = _PATTERNS.stamp.match, _PATTERNS.trail.fullmatch
    return bool(lines) and all(stamp(line) or trail(line.strip()) for line in lines)


@lru_cache(maxsize=256)
def _lists(text: str) -> tuple[tuple[int, int], ...]:
    """Return where each list begins that is shown whole, with what announces it, and its end."""
    found = []
    for one in find_lists(text):
        line = text.rfind("\n", 0, one.lead.start) + 1
        mark = _MARK.match(text, line, one.lead.start)
        start = line if mark else one.lead.start
        code = any("{" in item.text and "\n" in item.text for item in one.items)
        if not code and one.end - start <= min(LIST, ITEM * (len(one.items) + 1)):
            found.append((start, one.end))
    return tuple(found)


def _whole(
    text: str, piece: Span, parts: Sequence[tuple[int, int]], lists: Iterable[tuple[int, int]]
) -> tuple[int, int]:
    """Return the ends of a piece with all that belongs to it."""
    start, end = _with(piece.start, piece.end, lists, LIST)
    start, end = _with(start, end, parts, MORE)
    for (before, _), (at, _) in pairwise(parts):
        if at == start and refers_back(text[start:end]) and start - before <= MORE:
            start = before
            break
    after = next((after for _, after in parts if after > end), end)
    if end < after <= end + LIST and announces_following(text[start:end]):
        end = after
    return start, end


def _with(start: int, end: int, parts: Iterable[tuple[int, int]], most: int) -> tuple[int, int]:
    """Return the ends of a piece together with the parts that it cuts, at most so much longer."""
    for first, last in parts:
        if first < start < last and start - first <= most:
            start = first
        if first < end < last and last - end <= most:
            end = last
    return start, end


def _units(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Yield what must not be parted: blocks, or the sentences of those that are too long."""
    for start, end in split_blocks(text):
        if end - start <= size:
            yield start, end
        else:
            found = (
                Span(start + one.start, start + one.end, one.text)
                for one in split_sentences(text[start:end])
            )
            yield from _of_sentences(text, found, size)


def _of_sentences(text: str, spans: Iterable[Span], size: int) -> Iterator[tuple[int, int]]:
    """Yield sentences, cut if too long, each with what announces it."""
    above: int | None = None
    done = 0
    for span in spans:
        start = span.start if above is None else above
        done = span.end
        leads = is_heading(span.text) or announces_following(span.text)
        if leads and span.end - start < size // 2:
            above = start
            continue
        if span.end - start > size and start < span.start:
            yield start, start + len(text[start : span.start].rstrip())
            start = span.start
        yield from _cut(text, start, span.end, size)
        above = None
    if above is not None:
        yield above, done


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > size:
        place = _gap(text, start, start + size)
        yield start, place
        found = _SEEN.search(text, place, end)
        start = found.start() if found else end
    if start < end:
        yield start, end


def _gap(text: str, start: int, end: int) -> int:
    """Return the last good place to cut before `end`: after a mark, or at a space, or anywhere."""
    least = start + (end - start) // 2
    marks = [text.rfind(mark, least, end) + 1 for mark in ("，", "、", "；", ", ", "; ", "\n")]
    return max(marks) or max(text.rfind(" ", least, end), 0) or end
