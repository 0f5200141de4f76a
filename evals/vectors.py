"""Measure the search by vectors: `python -m evals.vectors --pages 10000 100000`.

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

from config.settings import settings
from memory.pages.finding import searching
from memory.pages.store import NewPage, keep
from models.embeddings import embedder
from retrieval import vector
from retrieval.covering import cover
from retrieval.index import Index
from retrieval.vector import Nearest, shelves
from storage.engine import close, read_rows, write
from storage.tables import namespaces, outbox, pages
from storage.vectors import Floats, put, set_of, sets_of_owner

OWNER, KIND, NAME = "me/", "web", "synthetic"
WIDTH, GROUPS, QUERIES, NEAREST = 384, 200, 100, 100


def made(count: int, seed: int) -> Floats:
    """Return vectors around two hundred centres, which are the same for every seed."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((GROUPS, WIDTH))
    several = 0.6 * centres[random.integers(0, GROUPS, count)]
    several += random.standard_normal((count, WIDTH))
    lengths = np.linalg.norm(several, axis=1, keepdims=True)
    return np.asarray(several / lengths, np.float32)


async def fill(count: int) -> float:
    """Keep pages and their vectors; return the seconds that the vectors took."""
    for first in range(0, count, 1000):
        new = [NewPage(title="", place="", text=f"page {at}") for at in range(first, first + 1000)]
        await keep(OWNER, KIND, str(first), new)
    await write(lambda connection: connection.execute(delete(outbox)))
    numbers = list((await read_rows(select(pages.c.number).order_by(pages.c.number))).scalars())
    home = (await read_rows(select(namespaces.c.number))).scalar_one()
    vectors = made(count, 1)
    start = time.perf_counter()
    for first in range(0, count, 64):
        some = dict(zip(numbers[first : first + 64], vectors[first : first + 64], strict=True))
        await write(partial(_put, namespace=home, some=some))
    return time.perf_counter() - start


def _put(connection: Connection, namespace: int, some: dict[int, Floats]) -> None:
    put(connection, set_of(connection, namespace, NAME), some)


async def search() -> dict[str, Any]:
    """Search a hundred times in this process, which has not searched before."""
    queries = made(QUERIES, 2)

    def one(index: Index, query: Floats) -> list[int]:
        places = {place.namespace: place for place in shelves(index)}
        sets = [(places[s.namespace], s) for s in sets_of_owner(index.connection, OWNER)]
        return list(Nearest(index, sets).nearest(query.tolist(), NEAREST))

    seconds, found = [], []
    for query in [queries[0], *queries]:
        start = time.perf_counter()
        found.append(await searching(OWNER, partial(one, query=query)))
        seconds.append(time.perf_counter() - start)
    later = np.array(seconds[1:]) * 1000
    return {
        "first_s": round(seconds[0], 2),
        "p50_ms": round(float(np.percentile(later, 50)), 1),
        "p95_ms": round(float(np.percentile(later, 95)), 1),
        "memory_mb": memory(),
        "found": found[1:],
    }


def memory() -> int:
    """Return the most megabytes this process had; `ru_maxrss` would count its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def apart(home: Path) -> dict[str, Any]:
    """Search in a process of its own."""
    env = {**os.environ, "DOSSIER_HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "evals.vectors", "--search"]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)  # noqa: S603
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def disk(folder: Path) -> int:
    """Return the megabytes below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) // 2**20


async def measure(count: int, home: Path) -> dict[str, Any]:
    """Return the figures of one size, searched exactly and through Chroma."""
    os.environ["DOSSIER_HOME"] = str(home)
    settings.cache_clear()
    seconds = await fill(count)
    exact = apart(home)
    nearest = exact.pop("found")
    start = time.perf_counter()
    await cover()
    built = time.perf_counter() - start
    chroma = apart(home)
    pairs = list(zip(chroma.pop("found"), nearest, strict=True))
    chroma["share"] = round(float(np.mean([len({*a} & {*b}) / len(b) for a, b in pairs])), 3)
    chroma |= {"build_s": round(built, 1), "disk_mb": disk(home / "vectors")}
    await close()
    exact["disk_mb"] = disk(home) - chroma["disk_mb"]
    return {"vectors": count, "add_ms": round(seconds / count * 1000, 3), "exact": exact} | {
        "chroma": chroma
    }


def embed(file: Path, count: int) -> dict[str, Any]:
    """Return how fast the usual embedder is on the texts of a file."""
    maker = embedder()
    if maker is None:
        return {"embedder": "none"}
    rows = [json.loads(line) for line in islice(file.open(encoding="utf-8"), count)]
    texts = [f"{row['title']}. {row['text']}" for row in rows]
    maker.query("warm")
    start, spent = time.perf_counter(), time.process_time()
    maker.pages(texts)
    seconds, spent = time.perf_counter() - start, time.process_time() - spent
    start = time.perf_counter()
    for text in texts[:20]:
        maker.query(text[:60])
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
        print(json.dumps(asyncio.run(search())))
        return
    if options.texts:
        print(json.dumps(embed(options.texts, options.count)), flush=True)
    # A collection is built of any size here.
    vector.EXACT = 0
    for count in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(asyncio.run(measure(count, Path(folder)))), flush=True)


if __name__ == "__main__":
    main()
