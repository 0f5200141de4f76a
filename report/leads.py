"""Find the sentences that are left without what they refer to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from report.blocks import blocks
from report.marks import MARKER
from report.openers import points_back
from report.statements import statements


def left_hanging(body: str, gone: Sequence[str]) -> list[str]:
    """Return the statements of a text that point back to one of those that were removed from it.

    One that itself points back is no loss: what it refers to is still there.
    """
    lost = set(map(letters, gone))
    pairs = (pair for part in blocks(body) for pair in pairwise(statements(part.text)))
    return [
        after
        for before, after in pairs
        if letters(before) in lost and points_back(after) and not points_back(before)
    ]


def letters(text: str) -> str:
    """Return the letters and digits of a text, without its citations."""
    return "".join(filter(str.isalnum, MARKER.sub("", text)))
