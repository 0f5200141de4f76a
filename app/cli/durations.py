"""Lengths of time as they are typed: a number and a unit."""

from __future__ import annotations

import re

from config.errors import ErrorCode, Problem

_UNITS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
"""The seconds of the units in which a time is said."""


def parse_duration(written: str, option: str) -> float:
    """Return the seconds of a length of time, such as `90d`.

    Args:
        written: A number and h, d, w or y.
        option: The option that it was given to.

    Raises:
        Problem: `usage`.
    """
    found = re.fullmatch(r"(\d{1,6})([hdwy])", written.strip().lower())
    if not found:
        what, hint = f"{written!r} is not a length of time", "a number and h, d, w or y: 90d"
        raise Problem(ErrorCode.USAGE, what, where=option, hint=hint)
    return int(found[1]) * float(_UNITS[found[2]])
