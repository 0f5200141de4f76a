"""Split a statement into the parts for which its sources are cited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from report.markdown.markers import MARKER, QUOTE
from text.regex import regex
from text.words import search_words

_GROUP = regex(rf"{MARKER.pattern}(?:[\s,;，、；]*{MARKER.pattern})*")
_MIN_WORDS = 2  # a part with fewer is read together with what stands before it


class CitedPart(NamedTuple):
    """A part of a sentence or of a row of a table, and the sources cited for it."""

    text: str
    sources: tuple[str, ...]
    """Their ids; empty if none is cited in the statement."""


def list_cited_parts(statement: str) -> list[CitedPart]:
    """Return the parts of a statement, each up to the markers that end it.

    A cell of a row is a part of its own. What follows the last marker of a sentence belongs to
    its last part.
    """
    row = statement.lstrip().startswith("|")
    cells = statement.split("|") if row else [statement]
    parts = [part for cell in cells for part in _split_at_markers(cell)]
    return parts or [CitedPart(statement, ())]


def start_of_part(text: str, mark: int) -> int:
    """Return where the part of a sentence begins that the marker at `mark` ends."""
    ends = [group.end() for group in _GROUP.finditer(text, 0, mark)]
    return next((end for end in reversed(ends) if _has_words(text[end:mark])), 0)


def _split_at_markers(text: str) -> Iterator[CitedPart]:
    groups = list(_GROUP.finditer(text))
    for at, group in enumerate(groups):
        last = at + 1 == len(groups)
        part = text[start_of_part(text, group.start()) : len(text) if last else group.start()]
        names = (name for name in MARKER.findall(group[0]) if name != "?")
        yield CitedPart(part, tuple(dict.fromkeys(names)))


def _has_words(text: str) -> bool:
    return len(set(search_words(QUOTE.sub(r"\2", text)))) >= _MIN_WORDS
