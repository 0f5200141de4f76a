"""Measure the page store at scale: adding pages, searching them by keyword, memory and disk.

`python -m evals.pages --pages 10000 100000`: so many pages of 200 made-up words are kept, without
embeddings, and 200 questions of six of their words are asked. Beside it stands the naive way: the
same pages in rank-bm25, built once and asked the same. DOSSIER_DATABASE_URL chooses the database;
SQLite in a folder of its own when it is not set.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from config.settings import settings
from evals.synthetic import new_pages, question
from memory.finding import searching
from memory.pages import NewPage, keep
from retrieval.index import Index
from retrieval.words import terms, words
from storage.engine import close

OWNER = "eval/"

POOL = 200
"""How many pages a search reads for the scorer."""

GOAL = 25.0
"""The most milliseconds for a keyword search over 100,000 pages, at the 95th percentile."""


def main() -> None:
    """Measure stores of several sizes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--no-naive", action="store_true", help="leave rank-bm25 out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for count in options.pages:
        row = _in_home(count, options.questions)
        rows.append(row if options.no_naive else row | naive(count, min(options.questions, 20)))
    if options.json:
        print(json.dumps(rows))
        return
    for name in rows[-1]:
        print(f"{name:28}" + "".join(f"{row[name]:>12}" for row in rows))
    print(f"goal: keyword_p95_ms ≤ {GOAL} at 100,000 pages")


def _in_home(count: int, questions: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        settings.cache_clear()
        row = asyncio.run(measure(count, questions))
        disk = sum(file.stat().st_size for file in Path(home).rglob("*") if file.is_file())
        return row | {"disk_mb": round(disk / 1e6)}


async def measure(count: int, questions: int) -> dict[str, Any]:
    """Keep so many pages, ask, and return the figures."""
    asked: list[str] = []
    seconds: list[float] = []
    batch: list[NewPage] = []
    for number, page in enumerate(new_pages(count), start=1):
        batch.append(page)
        if number % max(count // questions, 1) == 0:
            asked.append(question(page["text"], number))
        if len(batch) == 250 or number == count:
            started = time.perf_counter()
            await keep(OWNER, "file", f"origin-{number}", batch)
            seconds.append((time.perf_counter() - started) / len(batch))
            batch = []
    alone = [await _add(f"alone-{number}") for number in range(50)]
    first = await _ask(asked[0])
    searched = [await _ask(one) for one in asked]
    await close()
    part = max(len(seconds) // 10, 1)
    return {
        "pages": count,
        "pages_per_s": round(count / (sum(seconds) * 250)),
        "first_tenth_ms_per_page": _ms(np.mean(seconds[:part])),
        "last_tenth_ms_per_page": _ms(np.mean(seconds[-part:])),
        "one_page_alone_p50_ms": _ms(np.percentile(alone, 50)),
        "one_page_alone_p95_ms": _ms(np.percentile(alone, 95)),
        "first_search_ms": _ms(first),
        "keyword_p50_ms": _ms(np.percentile(searched, 50)),
        "keyword_p95_ms": _ms(np.percentile(searched, 95)),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def _add(origin: str) -> float:
    (page,) = new_pages(1, seed=hash(origin) % 1_000_000)
    started = time.perf_counter()
    await keep(OWNER, "file", origin, [page])
    return time.perf_counter() - started


async def _ask(asked: str) -> float:
    started = time.perf_counter()
    await searching(OWNER, lambda index: _search(index, terms(asked)), ["file"])
    return time.perf_counter() - started


def _search(index: Index, wanted: Sequence[str]) -> None:
    """Do what a keyword search asks of the store."""
    index.stats()
    index.counts(wanted)
    index.rows(index.matching(wanted, POOL))


def naive(count: int, questions: int) -> dict[str, Any]:
    """Put the pages into rank-bm25, ask, and return the figures."""
    started = time.perf_counter()
    pages = list(new_pages(count))
    index = BM25Okapi([words(f"{page['title']} {page['text']}") for page in pages])
    built = time.perf_counter() - started
    seconds = []
    for number in range(questions):
        started = time.perf_counter()
        index.get_scores(terms(question(pages[number]["text"], number)))
        seconds.append(time.perf_counter() - started)
    return {
        "naive_build_s": round(built, 1),
        "naive_p50_ms": _ms(np.percentile(seconds, 50)),
        "naive_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _ms(seconds: Any) -> float:
    return round(float(seconds) * 1000, 1)


if __name__ == "__main__":
    main()
