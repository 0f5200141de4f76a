"""Keep the ids of checkpoints in the order in which they are saved, whatever the clock says."""

from __future__ import annotations

from langgraph.checkpoint.base import id as ids

from retrieval.regex import regex

_TIMED = regex(r"([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}")
"""A UUID of version 6; its time is in the first three parts, the highest digits first."""

LAST = 2**60 - 2**40
"""The largest time of an id, in ticks of 100 ns, that leaves room for another day of ids."""


def ids_follow(newest: str) -> None:
    """Make every id that this process generates from now on greater than a saved one.

    LangGraph derives ids from the time and takes the highest for the newest, even if the clock
    was set back since. Ids of other kinds are ignored.

    Raises:
        ValueError: When the id is so high that hardly any other can follow.
    """
    found = _TIMED.fullmatch(newest)
    if not found:
        return
    ticks = int("".join(found.groups()), 16)
    if ticks >= LAST:
        raise ValueError(newest)
    # The generator never returns a time before its last one.
    ids._last_v6_timestamp = max(ticks, ids._last_v6_timestamp or 0)  # type: ignore[assignment]
