"""Keep the ids of checkpoints in the order in which they are saved, whatever the clock says."""

from __future__ import annotations

from langgraph.checkpoint.base import id as ids

from retrieval.regex import regex

_TIMED = regex(r"([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-[0-9a-f]{4}-[0-9a-f]{12}")
"""A UUID of version 6: its time is spread over the first three parts, the highest digits first."""

LAST = 2**60 - 2**40
"""The ticks of 100 ns after which an id has no digits left for another day of ids behind it."""


def ids_follow(newest: str) -> None:
    """Let every id that this process makes from here on come after one that was saved.

    LangGraph names checkpoints by the time and takes the highest id for the newest, also where the
    clock was set back since, in this process or between two. Ids of other kinds are passed over.

    Raises:
        ValueError: When the id is so high that hardly any other comes after it.
    """
    found = _TIMED.fullmatch(newest)
    if not found:
        return
    ticks = int("".join(found.groups()), 16)
    if ticks >= LAST:
        raise ValueError(newest)
    # The generator never goes back behind the last time it has given out.
    ids._last_v6_timestamp = max(ticks, ids._last_v6_timestamp or 0)  # type: ignore[assignment]
