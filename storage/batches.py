"""Split values into batches: databases limit how many of them a statement may name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Value = TypeVar("Value")

VALUES_PER_STATEMENT = 500
"""How many values a statement names; the limit is some ten thousand."""


def split_batches(values: Sequence[Value], size: int = 0) -> Iterator[Sequence[Value]]:
    """Yield values in batches of `size`, or by as many as a statement names."""
    size = size or VALUES_PER_STATEMENT
    for first in range(0, len(values), size):
        yield values[first : first + size]
