"""Say how many there are of something."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 page` or `2,000 pages`.

    Args:
        count: How many there are.
        one: What one of them is called.
        many: What several are called, where that is more than an added `s`.
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
