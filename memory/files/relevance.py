"""Put the lines of a memory file in the order in which a call should be told them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from retrieval.keyword import rank
from retrieval.regex import regex
from retrieval.tokens import estimate

BEGINNING = 150
"""How many tokens of the beginning every call is told: it says what the file is about."""

_FENCE = regex(r"[ ]{0,3}(?:`{3,}|~{3,})")
_ITEM = regex(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = regex(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")


class Rule(NamedTuple):
    """Lines that belong together, such as an item of a list, and the heading above them."""

    lines: range
    heading: int | None


@lru_cache(maxsize=64)
def by_relevance(text: str, about: str) -> tuple[int, ...]:
    """Return the numbers of the lines of a text, those that matter most for something first.

    The beginning always comes first, then the rules that are about it, each with its heading, then
    all others in their order.
    """
    lines = text.split("\n")
    rules = list(_rules(lines))
    ranked = rank(about, ["\n".join(_told(lines, rule)) for rule in rules])
    order = dict.fromkeys(range(_beginning(lines)))
    for at, _ in ranked:
        heading = rules[at].heading
        order |= dict.fromkeys([*([] if heading is None else [heading]), *rules[at].lines])
    return tuple(order | dict.fromkeys(range(len(lines))))


def _beginning(lines: list[str]) -> int:
    """Return how many lines the beginning has; the first one at least."""
    room = BEGINNING
    for at, line in enumerate(lines):
        room -= estimate(line) + 1
        if room < 0:
            return max(at, 1)
    return len(lines)


def _told(lines: list[str], rule: Rule) -> list[str]:
    heading = [] if rule.heading is None else [lines[rule.heading]]
    return [*heading, *(lines[at] for at in rule.lines)]


def _rules(lines: list[str]) -> Iterator[Rule]:
    """Yield the paragraphs, items of lists and blocks of code of a text."""
    heading, start, fenced = None, 0, False
    for at, line in enumerate(lines):
        fence = bool(_FENCE.match(line))
        begins = not fenced and (not line.strip() or _ITEM.match(line) or _HEADING.match(line))
        if begins:
            yield from _rule(start, at, heading)
            start = at
        if begins and _HEADING.match(line):
            heading = start = at
            start += 1
        elif begins and not line.strip():
            start += 1
        fenced = fenced != fence
    yield from _rule(start, len(lines), heading)


def _rule(start: int, end: int, heading: int | None) -> Iterator[Rule]:
    if start < end:
        yield Rule(range(start, end), heading)
