"""Write a count with its noun in the singular or the plural."""

from __future__ import annotations


def pluralize(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun, such as `1 page` or `2,000 pages`.

    Args:
        count: How many there are.
        singular: What one of them is called.
        plural: What several are called, where that is more than an added `s`.
    """
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
