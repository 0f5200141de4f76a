"""What a picture of a report is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

PictureKind = Literal["bars", "lines", "timeline"]

FindTarget = Callable[[int], str]
"""Returns the address that a citation leads to within its page, by its place among the uses."""

_BACKGROUND = '<rect width="100%" height="100%" fill="#fff"/>'


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

    def to_image(self) -> str:
        """Return the drawing on white, for where it stands in a page without its colours."""
        return self.svg.replace("</desc>", f"</desc>{_BACKGROUND}", 1)
