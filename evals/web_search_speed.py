"""Measure how quickly many queries are searched and read: wall time against the longest chain.

Twelve queries of one run are searched at once; each finds five pages of its own, which are fetched,
read and stored. Every answer of the web takes 100 ms. A query waits for one search, then for its
pages, which come side by side: what one query with one page takes alone is the longest chain of
dependent work.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Sequence

from config.resources import replace_resources
from evals.world import World

QUERIES, PAGES = 12, 5

GOAL = 1.3
"""How many times the longest chain the wall time may be."""


async def measure_queries(repeat: int) -> tuple[list[float], list[float]]:
    """Return the wall times of one query with one page, and of all queries with all pages."""
    # What is imported here is part of what a warm process has behind it.
    from graph.context import Context  # noqa: PLC0415
    from runs.call_site import CallSite  # noqa: PLC0415
    from runs.lifecycle import create_run  # noqa: PLC0415
    from tools.web import web_search  # noqa: PLC0415

    async def search(turn: int, queries: Sequence[str], hits: int) -> float:
        """Return how many seconds a run needs for some queries with so many pages each."""
        web_search.HITS = hits
        context = Context(search=["searxng"], share=["queries"])
        run = await create_run("local/", "t", turn, "How do bees live?", context)
        on_web = web_search.WebSearch(CallSite("local/", "t", run, "s1", "0"), context, ["searxng"])
        started = time.perf_counter()
        found = await asyncio.gather(*(on_web.find_pages(query) for query in queries))
        took = time.perf_counter() - started
        missing = [query for query, pages in zip(queries, found, strict=True) if not pages]
        if missing or on_web.problems:
            print(f"not found: {missing}; {on_web.problems[:2]}")
        return took

    for turn in range(1, 4):
        await search(turn, [f"warm {turn} {number}" for number in range(QUERIES)], PAGES)
    alone, together = [], []
    for number in range(repeat):
        turn = 10 * (number + 1)
        alone.append(await search(turn, [f"one bee {number}"], 1))
        queries = [f"bees of hive {number} {query}" for query in range(QUERIES)]
        together.append(await search(turn + 1, queries, PAGES))
    return alone, together


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.1, help="what an answer takes")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as home,
        World(1, model_seconds=0.0, web_seconds=options.seconds) as world,
    ):
        os.environ |= {
            "DOSSIER_HOME": home,
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            "DOSSIER_FETCH_HOURS": "0",
            "SEARXNG_URL": world.url,
        }
        replace_resources().close()
        alone, together = asyncio.run(measure_queries(options.repeat))
    chain, wall = statistics.median(alone), statistics.median(together)
    load = os.getloadavg()[0]
    print(f"one query, one page: {chain:.3f} s (best {min(alone):.3f} s)")
    print(f"{QUERIES} queries × {PAGES} pages: {wall:.3f} s (best {min(together):.3f} s)")
    print(f"ratio {wall / chain:.2f}, of the best {min(together) / min(alone):.2f}; goal ≤ {GOAL}")
    print(f"the network alone: {2 * options.seconds:.1f} s; load of the machine {load:.1f}")


if __name__ == "__main__":
    main()
