"""Measure the search by vectors: `python -m benchmarks.vector_speed --pages 10000 100000`.

The vectors are synthetic: 384 numbers, in groups that are much like each other. Each size gets a
home of its own, and is measured in a new process once as it is searched exactly and once through
Chroma: seconds to the first answer, milliseconds of later ones, memory, and how many of the 100
nearest are found. With `--texts FILE` (JSON lines with a title and a text) it embeds those too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, select

from config.resources import replace_resources
from library import vector_search
from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.page_rows import NewPage
from library.store import store_pages
from library.tables import namespaces, pages
from library.vector_rows import FloatArray, ensure_vector_set, insert_vectors, list_vector_sets
from library.vector_search import NearestPages, list_vector_namespaces
from library.vector_upkeep import build_due_collection
from models.embeddings import load_embedder
from storage.engine import close_database, read_rows, run_write
from storage.tables import outbox

OWNER, KIND, NAME = "me/", "web", "synthetic"
WIDTH, GROUPS, QUERIES, NEAREST = 384, 200, 100, 100


def make_vectors(count: int, seed: int) -> FloatArray:
    """Return vectors around two hundred centres, which are the same for every seed."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((GROUPS, WIDTH))
    several = 0.6 * centres[random.integers(0, GROUPS, count)]
    several += random.standard_normal((count, WIDTH))
    lengths = np.linalg.norm(several, axis=1, keepdims=True)
    return np.asarray(several / lengths, np.float32)


async def _fill(count: int) -> float:
    """Keep pages and their vectors; return the seconds that the vectors took."""
    for first in range(0, count, 1000):
        new = [NewPage(title="", place="", text=f"page {at}") for at in range(first, first + 1000)]
        await store_pages(OWNER, KIND, str(first), new)
    await run_write(lambda connection: connection.execute(delete(outbox)))
    numbers = list((await read_rows(select(pages.c.number).order_by(pages.c.number))).scalars())
    home = (await read_rows(select(namespaces.c.number))).scalar_one()
    vectors = make_vectors(count, 1)
    start = time.perf_counter()
    for first in range(0, count, 64):
        some = dict(zip(numbers[first : first + 64], vectors[first : first + 64], strict=True))
        await run_write(partial(_put, namespace=home, some=some))
    return time.perf_counter() - start


def _put(connection: Connection, namespace: int, some: dict[int, FloatArray]) -> None:
    insert_vectors(connection, ensure_vector_set(connection, namespace, NAME), some)


async def search_vectors() -> dict[str, Any]:
    """Search a hundred times in this process, which has not searched before."""
    queries = make_vectors(QUERIES, 2)

    def one(index: PageIndex, query: FloatArray) -> list[int]:
        places = {place.namespace: place for place in list_vector_namespaces(index)}
        sets = [(places[s.namespace], s) for s in list_vector_sets(index.connection, OWNER)]
        return list(NearestPages(index, sets).nearest(query.tolist(), NEAREST))

    seconds, found = [], []
    for query in [queries[0], *queries]:
        start = time.perf_counter()
        found.append(await run_search(OWNER, partial(one, query=query)))
        seconds.append(time.perf_counter() - start)
    later = np.array(seconds[1:]) * 1000
    return {
        "first_s": round(seconds[0], 2),
        "p50_ms": round(float(np.percentile(later, 50)), 1),
        "p95_ms": round(float(np.percentile(later, 95)), 1),
        "memory_mb": measure_memory(),
        "found": found[1:],
    }


def measure_memory() -> int:
    """Return the most megabytes this process had; `ru_maxrss` would count its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def _apart(home: Path) -> dict[str, Any]:
    """Search in a process of its own."""
    env = {**os.environ, "DOSSIER_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "benchmarks.vector_speed", "--search"]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)  # noqa: S603
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _disk(folder: Path) -> int:
    """Return the megabytes below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // 2**20


async def _measure(count: int, home: Path) -> dict[str, Any]:
    """Return the figures of one size, searched exactly and through Chroma."""
    os.environ["DOSSIER_HOME"] = str(home)
    replace_resources().close()
    seconds = await _fill(count)
    exact = _apart(home)
    nearest = exact.pop("found")
    start = time.perf_counter()
    await build_due_collection()
    built = time.perf_counter() - start
    chroma = _apart(home)
    pairs = list(zip(chroma.pop("found"), nearest, strict=True))
    chroma["share"] = round(float(np.mean([len({*a} & {*b}) / len(b) for a, b in pairs])), 3)
    chroma |= {"build_s": round(built, 1), "disk_mb": _disk(home / "vectors")}
    await close_database()
    exact["disk_mb"] = _disk(home) - chroma["disk_mb"]
    return {"vectors": count, "add_ms": round(seconds / count * 1000, 3), "exact": exact} | {
        "chroma": chroma
    }


def _embed(file: Path, count: int) -> dict[str, Any]:
    """Return how fast the usual embedder is on the texts of a file."""
    maker = load_embedder()
    if maker is None:
        return {"embedder": "none"}
    rows = [json.loads(line) for line in islice(file.open(encoding="utf-8"), count)]
    texts = [f"{row['title']}. {row['text']}" for row in rows]
    maker.embed_query("warm")
    start, spent = time.perf_counter(), time.process_time()
    maker.embed_pages(texts)
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
    start = time.perf_counter()
    for text in texts[:20]:
        maker.embed_query(text[:60])
    return {
        "embedder": maker.name,
        "texts_per_s": round(len(texts) / seconds, 1),
        "texts_per_cpu_s": round(len(texts) / spent, 1),
        "query_ms": round((time.perf_counter() - start) * 50, 1),
    }


def main() -> None:
    """Print the figures, a JSON object for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="*", default=[10_000])
    parser.add_argument("--texts", type=Path, help="embed the first texts of this file")
    parser.add_argument("--count", type=int, default=500, help="how many texts")
    parser.add_argument("--search", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.search:
        print(json.dumps(asyncio.run(search_vectors())))
        return
    if options.texts:
        print(json.dumps(_embed(options.texts, options.count)), flush=True)
    # A collection is built of any size here.
    vector_search.EXACT = 0
    for count in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asyncio.run(_measure(count, Path(folder)))), flush=True)


if __name__ == "__main__":
    main()
