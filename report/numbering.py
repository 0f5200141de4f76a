"""Turn the marks of a report into the numbers a reader sees."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from graph.records import Source
from report.blocks import blocks, joined
from report.escaping import disarmed, escaped
from report.marks import MARKER, QUOTE, tidy
from retrieval.text import normalise

NUMBER = "\ue000{}\ue001"
"""A number in the text, between characters that no text of a report has."""

QUOTED = "\ue002“{}”\ue003"
"""A proven quotation in the text."""

PRIVATE = re.compile("[\ue000-\ue003]")

_GROUP = rf"(?:{MARKER.pattern}\s*)*{MARKER.pattern}"
_MARK = re.compile(rf"{QUOTE.pattern}|(?P<group>[ \t]*{_GROUP})|(?P<code>`[^`\n]+`)", re.DOTALL)
_WORD = re.compile("[A-Za-z0-9]")
_FOLLOWING = re.compile(rf"[.,;:!?。，；：！？]?\s*({_GROUP})")


class Numbered(NamedTuple):
    """A text with numbers, and the sources they stand for, from number 1."""

    body: str
    used: list[Source]


def numbered(body: str, sources: Sequence[Source]) -> Numbered:
    """Return `body` as markdown with a number for each mark.

    Numbers go by first use, one for each page. A quotation that is followed by a marker of its
    own source is not marked twice. Marks of unknown sources are dropped.
    """
    used: dict[str, Source] = {}
    registry = {source["id"]: source for source in sources}

    def number(name: str) -> int:
        source = registry.get(name)
        if source is None:
            return 0
        used.setdefault(source["page"], source)
        return list(used).index(source["page"]) + 1

    parts = blocks(PRIVATE.sub("", normalise(body)))
    for at, part in enumerate(parts):
        if part.kind != "fence":
            parts[at] = part._replace(text=_with_numbers(tidy(part.text), number))
    return Numbered(joined(parts), list(used.values()))


def _with_numbers(text: str, number: Callable[[str], int]) -> str:
    parts: list[str] = []
    done = 0
    for mark in _MARK.finditer(text):
        parts += [disarmed(text[done : mark.start()]), _written(mark, number)]
        done = mark.end()
    return "".join([*parts, disarmed(text[done:])])


def _written(mark: re.Match[str], number: Callable[[str], int]) -> str:
    """Return what is written for a mark; it does not stick to a word or begin a link."""
    before = mark.string[max(0, mark.start() - 1) : mark.start()]
    after = mark.string[mark.end() : mark.end() + 1]
    if mark["code"]:
        return mark[0]
    if not mark["group"]:
        quoted = QUOTED.format(escaped(html.unescape(mark[2])))
        return quoted + _own(mark, number) + (" " if _WORD.match(after) else "")
    shown = _shown(map(number, MARKER.findall(mark["group"])))
    if not shown:
        return ""
    space = " " if mark["group"][0] in " \t" or _WORD.match(before) else ""
    definition = after == ":" and before in ("", "\n")
    return space + shown + (" " if after == "(" else "\\" if definition else "")


def _own(quote: re.Match[str], number: Callable[[str], int]) -> str:
    """Return the number of a quotation, or nothing where a marker right after it has it."""
    own = number(quote[1] or "")
    following = _FOLLOWING.match(quote.string, quote.end())
    marked = map(number, MARKER.findall(following[1])) if following else ()
    return "" if not own or own in marked else f" {NUMBER.format(own)}"


def _shown(numbers: Iterable[int]) -> str:
    return "".join(NUMBER.format(one) for one in dict.fromkeys(numbers) if one)
