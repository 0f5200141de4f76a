"""What a picture of a report is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

PictureKind = Literal["bars", "lines", "timeline"]

FindTarget = Callable[[int], str]
"""Returns the address that a citation leads to within its page, by its place among the uses; ""
where a picture stands alone."""


class Picture(NamedTuple):
    """A drawing of a table, a list or a text, which stays its accessible version."""

    kind: PictureKind
    end: int
    """The place of what it shows: behind this many blocks of the numbered body."""
    title: str
    svg: str
    """A whole element, well-formed, in the colour of the text around it."""
    caption: str
    """What it shows and what it leaves out, as plain text; the sources stand apart."""
    sources: tuple[int, ...]
    """The numbers of the documents that it rests on, in order."""


def link_nowhere(_: int) -> str:
    """Return no target: for pictures that stand outside of the page of their report."""
    return ""
