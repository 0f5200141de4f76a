"""Measure the page store at scale: adding pages, searching them by keyword, memory and disk.

`python -m benchmarks.page_search --pages 10000 100000`: so many pages of 200 made-up words are
kept, without embeddings, and 200 questions of six of their words are asked. With `--vectors` every
page then gets a made-up vector, and the same is asked by words and vectors. Beside it stands the
naive way: the same pages in rank-bm25, built once and asked the same. DOSSIER_DATABASE_URL chooses
the database; SQLite in a folder of its own when it is not set.
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
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi
from sqlalchemy import Connection, select

from benchmarks.synthetic import make_pages, make_question
from benchmarks.vector_speed import make_vectors
from config.resources import replace_resources
from library.page_index import PageIndex
from library.page_ranking import ScoredPage, drop_common_words, rank_pages
from library.page_retrieval import run_search
from library.store import STORE_BATCH, store_pages
from library.tables import namespaces, pages
from library.vector_rows import FloatArray, ensure_vector_set, insert_vectors, list_vector_sets
from library.vector_search import NearestPages, list_vector_namespaces
from library.vector_upkeep import build_due_collection
from storage.engine import close_database, read_rows, run_write
from text.words import query_terms, search_words

OWNER = "eval/"

GOAL = 25.0
"""The most milliseconds for a keyword search over 100,000 pages, at the 95th percentile."""

BOTH = 60.0
"""The same for a search by words and vectors."""


def main() -> None:
    """Measure stores of several sizes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--vectors", action="store_true", help="ask by words and vectors too")
    parser.add_argument("--no-naive", action="store_true", help="leave rank-bm25 out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for count in options.pages:
        row = _in_home(count, options.questions, vectors=options.vectors)
        rows.append(row if options.no_naive else row | _naive(count, min(options.questions, 20)))
    if options.json:
        print(json.dumps(rows))
        return
    for name in rows[-1]:
        print(f"{name:28}" + "".join(f"{row[name]:>12}" for row in rows))
    print(f"goal: keyword_p95_ms ≤ {GOAL}, hybrid_p95_ms ≤ {BOTH} at 100,000 pages")


def _in_home(count: int, questions: int, *, vectors: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        replace_resources().close()
        row = asyncio.run(_measure(count, questions, vectors=vectors))
        disk = sum(file.stat().st_size for file in Path(home).rglob("*") if file.is_file())
        return row | {"disk_mb": round(disk / 1e6)}


async def _measure(count: int, questions: int, *, vectors: bool) -> dict[str, Any]:
    """Keep so many pages, ask, and return the figures."""
    worked = time.process_time()
    asked, seconds = await _fill(count, questions)
    worked = time.process_time() - worked
    alone = [await _add(number) for number in range(50)]
    first, _ = await _ask(asked[0])
    searched = np.array([await _ask(one) for one in asked])
    both = await _with_vectors(asked) if vectors else {}
    await close_database()
    tenth = max(len(seconds) // 10, 1)
    return {
        "pages": count,
        "pages_per_s": round(count / (np.sum(seconds) * STORE_BATCH)),
        "pages_per_cpu_s": round(count / worked),
        "first_tenth_ms_per_page": _ms(np.mean(seconds[:tenth])),
        "last_tenth_ms_per_page": _ms(np.mean(seconds[-tenth:])),
        "one_page_alone_p50_ms": _ms(np.percentile(alone, 50)),
        "one_page_alone_p95_ms": _ms(np.percentile(alone, 95)),
        "first_search_ms": _ms(first),
        **_percentiles("keyword", searched),
        **both,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


async def _fill(count: int, questions: int) -> tuple[list[str], list[float]]:
    """Keep pages; return questions that they answer, and the seconds a page took in each batch."""
    asked: list[str] = []
    seconds: list[float] = []
    source = make_pages(count)
    each = -(-questions * STORE_BATCH // count)
    while batch := list(islice(source, STORE_BATCH)):
        asked += [make_question(page["text"], at) for at, page in enumerate(batch[:each])]
        started = time.perf_counter()
        await store_pages(OWNER, "file", f"origin-{len(seconds)}", batch)
        seconds.append((time.perf_counter() - started) / STORE_BATCH)
    return asked[:questions], seconds


async def _add(number: int) -> float:
    """Keep one page in a transaction of its own, and return the seconds."""
    (page,) = make_pages(1, seed=1_000 + number)
    started = time.perf_counter()
    await store_pages(OWNER, "file", f"alone-{number}", [page])
    return time.perf_counter() - started


def _percentiles(name: str, searched: NDArray[np.float64]) -> dict[str, float]:
    return {
        f"{name}_{kind}p{part}_ms": _ms(np.percentile(searched[:, column], part))
        for column, kind in enumerate(("", "cpu_"))
        for part in (50, 95)
    }


async def _with_vectors(asked: Sequence[str]) -> dict[str, float]:
    """Give every page a made-up vector, ask by words and vectors, and return the figures."""
    numbers = list((await read_rows(select(pages.c.number).order_by(pages.c.number))).scalars())
    home = (await read_rows(select(namespaces.c.number))).scalar_one()
    vectors = make_vectors(len(numbers), 1)
    for first in range(0, len(numbers), STORE_BATCH):
        last = first + STORE_BATCH
        some = dict(zip(numbers[first:last], vectors[first:last], strict=True))
        await run_write(partial(_put, home=home, some=some))
    while await build_due_collection():
        pass
    queries = make_vectors(len(asked), 2)
    opened, _ = await _ask(asked[0], queries[0])
    searched = [await _ask(*one) for one in zip(asked, queries, strict=True)]
    return {"first_hybrid_ms": _ms(opened)} | _percentiles("hybrid", np.array(searched))


def _put(connection: Connection, home: int, some: dict[int, FloatArray]) -> None:
    insert_vectors(connection, ensure_vector_set(connection, home, "made-up"), some)


def _found(index: PageIndex, asked: str, vector: FloatArray | None) -> list[ScoredPage]:
    if vector is None:
        return rank_pages(asked, index)
    shelf = list_vector_namespaces(index)[0]
    sets = [(shelf, one) for one in list_vector_sets(index.connection, OWNER)]
    drop_common_words(asked, index)
    return rank_pages(
        asked, index, vectors=NearestPages(index, sets), vector=vector.tolist(), trust=1.0
    )


async def _ask(asked: str, vector: FloatArray | None = None) -> tuple[float, float]:
    """Search, and return the seconds that passed and those the processor worked for it."""
    started, worked = time.perf_counter(), time.process_time()
    await run_search(OWNER, lambda index: _found(index, asked, vector), ["file"])
    return time.perf_counter() - started, time.process_time() - worked


def _naive(count: int, questions: int) -> dict[str, Any]:
    """Put the pages into rank-bm25, ask, and return the figures."""
    started = time.perf_counter()
    known = list(make_pages(count))
    index = BM25Okapi([search_words(f"{page['title']} {page['text']}") for page in known])
    built = time.perf_counter() - started
    seconds = []
    for number in range(questions):
        started = time.perf_counter()
        index.get_scores(query_terms(make_question(known[number]["text"], number)))
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
