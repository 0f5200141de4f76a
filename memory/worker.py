"""Do all the work on vectors that is due."""

from __future__ import annotations

from collections.abc import Callable

from memory.embedding import Done, embed_due
from memory.judging import judge
from memory.reembedding import reembed
from models.embeddings import Spend
from retrieval.covering import cover


async def keep_up(
    progress: Callable[[int], None] = lambda _: None, spend: Spend | None = None
) -> Done:
    """Make, remove, judge and index vectors until nothing is due, in any number of processes.

    Args:
        progress: Is told how many pages were dealt with, now and then.
        spend: Is told what a provider was asked (`models.embeddings.Spend`).

    Returns:
        How many pages there were, and what kept it from others; they are due again later.

    Raises:
        Problem: If the embedder that is set cannot be had, or Chroma fails.
    """
    pages, problem = 0, None
    for work in (embed_due, reembed):
        go_on = True
        while go_on:
            done = await work(spend=spend)
            pages += done.pages
            problem = problem or done.problem
            progress(done.pages)
            go_on = done.pages > 0
    while await judge(spend):
        pass
    while await cover():
        pass
    return Done(pages, problem)
