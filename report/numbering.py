"""Turn the marks of a report into the numbers a reader sees."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from graph.records import Source
from report.blocks import blocks, joined
from report.citations import document_key, place, whole
from report.escaping import disarmed, escaped
from report.marks import MARKER, QUOTE, tidy
from retrieval.text import normalise

NUMBER = "\ue000{}\ue001"
"""A number in the text, between characters that no text of a report has; places may follow it."""

QUOTED = "\ue002“{}”\ue003"
"""A proven quotation in the text."""

PRIVATE = re.compile("[\ue000-\ue003]")

_GROUP = rf"(?:{MARKER.pattern}\s*)*{MARKER.pattern}"
_MARK = re.compile(rf"{QUOTE.pattern}|(?P<group>[ \t]*{_GROUP})|(?P<code>`[^`\n]+`)", re.DOTALL)
_WORD = re.compile("[A-Za-z0-9]")
_FOLLOWING = re.compile(rf"[.,;:!?。，；：！？]?\s*({_GROUP})")


class Numbered(NamedTuple):
    """A text with numbers, and the documents they stand for, from number 1."""

    body: str
    used: list[Source]


class _Cited(NamedTuple):
    """The number of a document, and the place in it that is cited."""

    number: int
    place: str


def numbered(body: str, sources: Sequence[Source], language: str = "en") -> Numbered:
    """Return `body` as markdown with a number for each mark, and the place where there is one.

    Numbers go by first use, one for each document. A quotation that is followed by a marker of its
    own source is not marked twice. Marks of unknown sources are dropped.
    """
    used: dict[str, Source] = {}
    registry = {source["id"]: source for source in sources}

    def cited(name: str) -> _Cited | None:
        source = registry.get(name)
        if source is None:
            return None
        key = document_key(source)
        used.setdefault(key, whole(source))
        return _Cited(list(used).index(key) + 1, escaped(place(source, language)))

    parts = blocks(PRIVATE.sub("", normalise(body)))
    for at, part in enumerate(parts):
        if part.kind != "fence":
            parts[at] = part._replace(text=_with_numbers(tidy(part.text), cited))
    return Numbered(joined(parts), list(used.values()))


def _with_numbers(text: str, cited: Callable[[str], _Cited | None]) -> str:
    parts: list[str] = []
    done = 0
    for mark in _MARK.finditer(text):
        parts += [disarmed(text[done : mark.start()]), _written(mark, cited)]
        done = mark.end()
    return "".join([*parts, disarmed(text[done:])])


def _written(mark: re.Match[str], cited: Callable[[str], _Cited | None]) -> str:
    """Return what is written for a mark; it does not stick to a word or begin a link."""
    before = mark.string[max(0, mark.start() - 1) : mark.start()]
    after = mark.string[mark.end() : mark.end() + 1]
    if mark["code"]:
        return mark[0]
    if not mark["group"]:
        quoted = QUOTED.format(escaped(html.unescape(mark[2])))
        return quoted + _own(mark, cited) + (" " if _WORD.match(after) else "")
    shown = _shown(map(cited, MARKER.findall(mark["group"])))
    if not shown:
        return ""
    space = " " if mark["group"][0] in " \t" or _WORD.match(before) else ""
    definition = after == ":" and before in ("", "\n")
    return space + shown + (" " if after == "(" else "\\" if definition else "")


def _own(quote: re.Match[str], cited: Callable[[str], _Cited | None]) -> str:
    """Return the number of a quotation, or nothing where a marker right after it has it."""
    own = cited(quote[1] or "")
    following = _FOLLOWING.match(quote.string, quote.end())
    marked = map(cited, MARKER.findall(following[1])) if following else ()
    return "" if not own or own in marked else f" {_shown([own])}"


def _shown(cited: Iterable[_Cited | None]) -> str:
    """Return the numbers in brackets, each document once with all places that are cited of it."""
    places: dict[int, list[str]] = {}
    for one in filter(None, cited):
        places.setdefault(one.number, []).append(one.place)
    return "".join(
        NUMBER.format(f"{number}{''.join(f', {name}' for name in dict.fromkeys(names) if name)}")
        for number, names in places.items()
    )
