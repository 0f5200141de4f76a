"""Merge two changes of one text, line by line, so that nothing that either side added is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple


class MergedText(NamedTuple):
    """A text that two sides have changed."""

    text: str
    conflicts: int
    """In how many places both changed the same lines; what both wrote stands there."""


class _Hunk(NamedTuple):
    """The lines from `start` up to `end`, which one side has put others in the place of."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Return a text with what both sides made of another one.

    This is the three-way merge of diff3 (Khanna, Kunal and Pierce 2007) for notes rather than code:
    a line goes if either side took it out, and whatever either side wrote is there afterwards, ours
    first. So it never needs marks of a conflict in the text.

    Args:
        base: What both sides began with.
        ours: What one of them made of it.
        theirs: What the other one did.
    """
    lines = base.split("\n")
    mine, other = _hunks(lines, ours.split("\n")), _hunks(lines, theirs.split("\n"))
    gone = {at for hunk in [*mine, *other] for at in range(hunk.start, hunk.end)}
    merged: list[str] = []
    for at in range(len(lines) + 1):
        merged += _both(_written_at(mine, at), _written_at(other, at))
        if at < len(lines) and at not in gone:
            merged.append(lines[at])
    return MergedText("\n".join(merged), sum(_disagree(one, two) for one in mine for two in other))


def _hunks(base: Sequence[str], changed: Sequence[str]) -> list[_Hunk]:
    """Return how some lines differ from others, in their order."""
    return [
        _Hunk(start, end, tuple(changed[first:last]))
        for tag, start, end, first, last in _steps(base, changed)
        if tag != "equal"
    ]


def _both(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the lines of two sides, ours first; what both have in the same order stands once."""
    joined: list[str] = []
    for tag, start, end, first, last in _steps(ours, theirs):
        joined += ours[start:end]
        joined += theirs[first:last] if tag != "equal" else ()
    return joined


def _steps(one: Sequence[str], two: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the steps from some lines to others; what is alike at both ends is not compared."""
    head = _alike(one, two)
    tail = _alike(one[head:][::-1], two[head:][::-1])
    if head:
        yield "equal", 0, head, 0, head
    middle = one[head : len(one) - tail], two[head : len(two) - tail]
    for tag, start, end, first, last in SequenceMatcher(
        None, *middle, autojunk=False
    ).get_opcodes():
        yield tag, head + start, head + end, head + first, head + last
    if tail:
        yield "equal", len(one) - tail, len(one), len(two) - tail, len(two)


def _alike(one: Sequence[str], two: Sequence[str]) -> int:
    """Return with how many of the same lines both begin."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(two)))


def _written_at(side: Sequence[_Hunk], at: int) -> tuple[str, ...]:
    return next((hunk.lines for hunk in side if hunk.start == at), ())


def _disagree(one: _Hunk, two: _Hunk) -> bool:
    """Say whether two hunks write something else for the same lines, or into lines that went."""
    same = max(one.start, two.start) < min(one.end, two.end)
    within = one.start < two.start < one.end or two.start < one.start < two.end
    return (same or within) and one != two and bool(one.lines or two.lines)
