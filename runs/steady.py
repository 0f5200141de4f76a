"""Tell the time in a way that the minutes between two moments of a process are true."""

from __future__ import annotations

import time
from functools import cache


def steady() -> float:
    """Return the seconds since 1970 by the clock as it stood first, whatever it is set to since.

    A clock that is set, or a computer that sleeps, in the middle of a run uses up none of its
    minutes.
    """
    return _start() + time.monotonic()


@cache
def _start() -> float:
    return time.time() - time.monotonic()
