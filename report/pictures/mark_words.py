"""Place the words of values at the marks of a line, clear of the line and of each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from report.pictures.svg import WIDTH, measure_text, write_text

_SIZE = 12
_APART = 6
_ABOVE, _BELOW = -9.0, 17.0

Point = tuple[float, float]
"""A place from the left and from the top."""


class _Words(NamedTuple):
    text: str
    x: float
    y: float
    anchor: str

    @property
    def span(self) -> tuple[float, float]:
        """Where they begin and end from the left."""
        width = measure_text(self.text, _SIZE)
        start = self.x - {"start": 0.0, "middle": width / 2, "end": width}[self.anchor]
        return start, start + width


def write_at_marks(
    points: Sequence[Point], texts: Sequence[str], left: float, bottom: float
) -> list[str]:
    """Return for each mark its words as an element, or "" where they have no room.

    The last words are always written.

    Args:
        points: The marks, from left to right.
        texts: Their words.
        left: Where the plot begins.
        bottom: Where it ends.
    """
    placed = [_place(points, at, text, left, bottom) for at, text in enumerate(texts)]
    last, end = placed[-1].span[0] - _APART, -math.inf
    written = []
    for one in placed:
        start, stop = one.span
        if one is placed[-1] or (start > end + _APART and stop < last):
            end = stop
            written.append(write_text(one.x, one.y, one.text, anchor=one.anchor, font_size=_SIZE))
        else:
            written.append("")
    return written


def _place(points: Sequence[Point], at: int, text: str, left: float, bottom: float) -> _Words:
    """Return the words on the side of a mark where the line does not pass."""
    x, y = points[at]
    before = points[at - 1][1] - y if at else 0.0  # above 0 where the line comes from below
    after = points[at + 1][1] - y if at + 1 < len(points) else 0.0
    is_below = (before < 0 and after <= 0) or (before <= 0 and after < 0)
    is_slope = (before > 0 > after) or (before < 0 < after)
    if y + _BELOW > bottom - 2 and not is_slope:
        is_below = False
    anchor, shift = "middle", 0.0
    if is_slope:
        rises = before > 0
        is_below = rises and y + _BELOW < bottom - 2
        anchor = "start" if is_below or not rises else "end"
        shift = 4.0 if anchor == "start" else -4.0
    words = _Words(text, x + shift, y + (_BELOW if is_below else _ABOVE), anchor)
    start, stop = words.span
    inside = max(left + 2 - start, 0.0) - max(stop - WIDTH, 0.0)
    return words._replace(x=words.x + inside)
