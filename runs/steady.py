"""Tell the time by a clock that setting the system clock does not change."""

from __future__ import annotations

import time
from functools import cache


def steady() -> float:
    """Return the seconds since 1970, unaffected by later changes of the system clock.

    If the clock is set or the computer sleeps in the middle of a run, none of its minutes are
    used up.
    """
    return _start() + time.monotonic()


@cache
def _start() -> float:
    return time.time() - time.monotonic()
