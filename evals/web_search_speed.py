"""Measure how quickly many queries are searched and read: wall time against the longest chain.

Twelve queries of one run are searched at once; each finds five pages of its own of about a thousand
words, which are fetched, read and stored. Every answer of the web takes 100 ms. A query waits for
one search, then for its pages, which come side by side: what one query with one page takes alone is
the longest chain of dependent work.

Two ratios are printed. The first is that of the wall times, with all that the processors have to
do in both: on a few cores sixty pages need longer than one, whatever waits for what. The second
leaves the processors out: the same is measured with answers that take three seconds, and only what
a longer answer adds is counted, which is what is waited for one after the other.
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
    own: float
    """The processor seconds of this process."""
    workers: float
    """Those of the processes that read pages."""
    web: float
    """Those of the web on loopback, which runs on the same processors."""


class LeastTimes(NamedTuple):
    """The times of one query with one page, and of all queries with all pages: each the least."""

    alone: SearchTimes
    together: SearchTimes


async def measure_queries(repeat: int, web: int) -> LeastTimes:
    """Search some queries alone and together, a few times, and return the least times.

    Args:
        repeat: How often.
        web: The process of the web.
    """
    # What is imported here is part of what a warm process has behind it.
    from graph.context import Context  # noqa: PLC0415
    from runs.call_site import CallSite  # noqa: PLC0415
    from runs.lifecycle import create_run  # noqa: PLC0415
    from tools.web import web_search  # noqa: PLC0415

    ended = _note_downloads()

    async def search(turn: int, queries: Sequence[str], hits: int) -> SearchTimes:
        """Search some queries in a run of their own, with so many pages for each."""
        web_search.HITS = hits
        context = Context(search=["searxng"], share=["queries"])
        run = await create_run("local/", "t", turn, "How do bees live?", context)
        here = CallSite("local/", "t", run, "s1", "0")
        on_web = web_search.WebSearch(here, context, ["searxng"])
        started, before = time.perf_counter(), _processor_seconds(web)
        found = await asyncio.gather(*(on_web.find_pages(query) for query in queries))
        wall, after = time.perf_counter() - started, _processor_seconds(web)
        if not all(found) or on_web.problems:
            print(f"{found.count([])} queries found nothing; {on_web.problems[:2]}")
        spent = (end - begin for begin, end in zip(before, after, strict=True))
        return SearchTimes(wall, max(ended) - started, *spent)

    for turn in range(1, min(repeat, 3) + 1):
        await search(turn, [f"warm {turn} {number}" for number in range(QUERIES)], PAGES)
    alone, together = [], []
    for number in range(repeat):
        turn = 10 * (number + 1)
        alone.append(await search(turn, [f"one bee {number}"], 1))
        queries = [f"bees of hive {number} {query}" for query in range(QUERIES)]
        together.append(await search(turn + 1, queries, PAGES))
    return LeastTimes(
        *(SearchTimes(*map(min, zip(*runs, strict=True))) for runs in (alone, together))
    )


def _note_downloads() -> list[float]:
    """Return a list that is told when each page is there."""
    from tools.web.download import Body, Download  # noqa: PLC0415

    ended: list[float] = []
    fetch = Download.fetch

    async def noting(self: Download, url: str) -> Body:
        body = await fetch(self, url)
        ended.append(time.perf_counter())
        return body

    Download.fetch = noting  # type: ignore[method-assign]
    return ended


def _processor_seconds(web: int) -> tuple[float, float, float]:
    """Return the processor seconds of this process and, on Linux, of its workers and of the web."""
    from tools.worker_pool import idle_workers  # noqa: PLC0415

    workers = [worker._process.pid for worker in idle_workers.get()]
    return time.process_time(), sum(map(_seconds_of, workers)), _seconds_of(web)


def _seconds_of(process: int) -> float:
    """Return the processor seconds of a process; 0 where no system tells."""
    file = Path(f"/proc/{process}/stat")
    if not file.exists():
        return 0.0
    fields = file.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_with(seconds: float, repeat: int) -> LeastTimes:
    """Return the figures with a web whose answers take so many seconds."""
    with (
        tempfile.TemporaryDirectory() as home,
        World(1, model_seconds=0.0, web_seconds=seconds) as world,
    ):
        os.environ |= {
            "DOSSIER_HOME": home,
            "DOSSIER_ALLOW_PRIVATE_FETCH": "true",
            "DOSSIER_FETCH_HOURS": "0",
            "SEARXNG_URL": world.url,
        }
        replace_resources().close()
        process = world.process.pid if world.process else None
        return asyncio.run(measure_queries(repeat, process or 0))


def main() -> None:
    """Print the figures and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.1, help="what an answer takes")
    parser.add_argument("--slow", type=float, default=3.0, help="what a slow answer takes")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    alone, together = measure_with(options.seconds, options.repeat)
    slow = measure_with(options.slow, min(options.repeat, 2))
    cores = os.cpu_count() or 1
    print(f"one query, one page: {alone.wall:.2f} s, of which {2 * options.seconds:.2f} s network")
    print(f"{QUERIES} queries, {PAGES} pages each, all downloaded: {together.downloaded:.2f} s")
    print(f"all read and stored: {together.wall:.2f} s")
    parts = f"{together.own:.2f} s here, {together.workers:.2f} s of workers"
    busy = (together.own + together.workers + together.web) / cores
    print(f"processors: {parts}, {together.web:.2f} s of the web; {busy:.2f} s on {cores} cores")
    print(f"with the processors: {together.wall / alone.wall:.2f} times the chain (goal: {GOAL})")
    longer = options.slow - options.seconds
    chain = (slow.alone.wall - alone.wall) / longer
    waits = (slow.together.wall - together.wall) / longer
    print(f"waits for answers: {waits:.2f} one after the other, {chain:.2f} in the chain")
    print(f"without the processors: {waits / chain:.2f} times the chain (goal: {GOAL})")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
