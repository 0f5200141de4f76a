"""Measure how quickly many queries are searched and read: wall time against the longest chain.

Twelve queries of one run are searched at once; each finds five pages of its own of about a thousand
words, which are fetched, read and stored. Every answer of the web takes 100 ms. A query waits for
one search, then for its pages, which come side by side: what one query with one page takes alone is
the longest chain of dependent work. The time until the last page is downloaded tells how well the
waiting overlaps; the rest is work of the processors, whose seconds are printed too: on a few cores
they need longer than the chain, whatever waits for what.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from config.resources import replace_resources
from evals.world import World

QUERIES, PAGES = 12, 5

GOAL = 1.3
"""How many times the longest chain the wall time may be."""


class SearchTimes(NamedTuple):
    """What one search of some queries took, in seconds."""

    wall: float
    downloaded: float
    """Until the last page was there."""
    processors: float
    """Of this process and its workers."""


async def measure_queries(repeat: int) -> tuple[list[SearchTimes], list[SearchTimes]]:
    """Return the figures of one query with one page, and of all queries with all pages."""
    # What is imported here is part of what a warm process has behind it.
    from graph.context import Context  # noqa: PLC0415
    from runs.call_site import CallSite  # noqa: PLC0415
    from runs.lifecycle import create_run  # noqa: PLC0415
    from tools.web import web_search  # noqa: PLC0415

    ended: list[float] = []
    _note_downloads(ended)

    async def search(turn: int, queries: Sequence[str], hits: int) -> SearchTimes:
        """Search some queries in a run of their own, with so many pages for each."""
        web_search.HITS = hits
        context = Context(search=["searxng"], share=["queries"])
        run = await create_run("local/", "t", turn, "How do bees live?", context)
        here = CallSite("local/", "t", run, "s1", "0")
        on_web = web_search.WebSearch(here, context, ["searxng"])
        started, worked = time.perf_counter(), _processor_seconds()
        found = await asyncio.gather(*(on_web.find_pages(query) for query in queries))
        took = time.perf_counter() - started
        if not all(found) or on_web.problems:
            print(f"{found.count([])} queries found nothing; {on_web.problems[:2]}")
        return SearchTimes(took, max(ended) - started, _processor_seconds() - worked)

    for turn in range(1, 4):
        await search(turn, [f"warm {turn} {number}" for number in range(QUERIES)], PAGES)
    alone, together = [], []
    for number in range(repeat):
        turn = 10 * (number + 1)
        alone.append(await search(turn, [f"one bee {number}"], 1))
        queries = [f"bees of hive {number} {query}" for query in range(QUERIES)]
        together.append(await search(turn + 1, queries, PAGES))
    return alone, together


def _note_downloads(ended: list[float]) -> None:
    """Note when each page is there."""
    from tools.web.download import Body, Download  # noqa: PLC0415

    fetch = Download.fetch

    async def noting(self: Download, url: str) -> Body:
        body = await fetch(self, url)
        ended.append(time.perf_counter())
        return body

    Download.fetch = noting  # type: ignore[method-assign]


def _processor_seconds() -> float:
    """Return the processor seconds of this process and, on Linux, of its workers."""
    from tools.worker_pool import idle_workers  # noqa: PLC0415

    seconds = time.process_time()
    for worker in idle_workers.get():
        file = Path(f"/proc/{worker._process.pid}/stat")
        if file.exists():
            fields = file.read_text().split()
            seconds += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return seconds


def main() -> None:
    """Print the figures and the ratio."""
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
    chain = min(one.wall for one in alone)
    best = min(together)
    cores = os.cpu_count() or 1
    print(f"one query, one page: {chain:.2f} s; the network alone: {2 * options.seconds:.1f} s")
    print(f"{QUERIES} queries, {PAGES} pages each, all downloaded: {best.downloaded:.2f} s")
    print(f"all read and stored: {best.wall:.2f} s, {best.wall / chain:.2f} times the chain")
    print(f"goal: {GOAL} times; processors: {best.processors:.2f} s on {cores} cores")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
