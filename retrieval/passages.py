"""Cut a page into passages that begin and end with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from retrieval.script import language
from retrieval.text import Span, heading, sentences


def passages(text: str, size: int = 700) -> list[Span]:
    """Return consecutive windows of whole sentences, each of at most `size` characters.

    Chinese says the same in half the characters, so there the windows are half as long. A heading
    stays with what follows it. Only a sentence that is longer than the window itself is cut.
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


def _units(text: str, spans: Iterable[Span], size: int) -> Iterator[tuple[int, int]]:
    """Yield what must not be parted: a sentence with the headings above it, cut if too long."""
    above: int | None = None
    for span in spans:
        start = span.start if above is None else above
        if heading(span.text) and span.end - start < size // 2:
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
