"""Do all the work on vectors that is due."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from memory.pages.embedding import Done, embed_due
from memory.pages.judging import judge
from memory.pages.reembedding import reembed
from retrieval.covering import cover


async def keep_up(progress: Callable[[int], None] = lambda _: None) -> Done:
    """Make, remove, judge and index vectors until nothing is due, in any number of processes.

    Args:
        progress: Is told how many pages were dealt with, now and then.

    Returns:
        How many pages there were, and what kept it from others; they are due again later.

    Raises:
        Problem: If the embedder that is set cannot be had, or Chroma fails.
    """
    done = await make_due(progress)
    while await cover():
        pass
    return done


async def make_due(
    progress: Callable[[int], None] = lambda _: None,
    seconds: float = math.inf,
) -> Done:
    """Make, remove and judge vectors until nothing is due or the time is over, and index none.

    Args:
        progress: As for `keep_up`.
        seconds: How long it may take, as far as a batch can tell before it begins.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    pages, problem, end = 0, None, time.monotonic() + seconds
    for work in (embed_due, reembed):
        go_on = True
        while go_on and time.monotonic() < end:
            done = await work()
            pages += done.pages
            problem = problem or done.problem
            progress(done.pages)
            go_on = done.pages > 0
    while time.monotonic() < end and await judge():
        pass
    return Done(pages, problem)
