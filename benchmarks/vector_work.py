"""Write vectors in several processes at once, and kill them."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

from sqlalchemy import select, update

from config.resources import replace_resources
from config.settings import settings
from library import vector_search
from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.page_rows import NewPage
from library.query_vectors import prepare_query_vectors
from library.store import store_pages
from library.tables import pages, vector_sets, vectors
from library.vector_upkeep import update_vectors
from storage.engine import close_database, read_rows, run_write
from storage.tables import outbox

OWNER, KIND = "me/", "web"


class VectorWriter:
    """Another process over the same pages, for as long as a `with` block lasts.

    Args:
        home: The data directory.
        exact: How many vectors are searched without a collection.
        embedder: What makes the vectors.
    """

    def __init__(self, home: Path, exact: int, embedder: str = "hashing") -> None:
        root = Path(__file__).parents[1]
        env = {**os.environ, "DOSSIER_HOME": str(home), "DOSSIER_EMBEDDINGS": embedder}
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "benchmarks.vector_work", "--exact", str(exact)],
            cwd=root,
            env=env | {"PYTHONPATH": str(root)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.kill()

    def tell(self, **order: Any) -> None:
        """Send an order without waiting for the answer."""
        assert self._process.stdin is not None  # noqa: S101
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def line(self) -> str:
        """Return the next line: an answer, or a full stop; empty when the process has ended."""
        assert self._process.stdout is not None  # noqa: S101
        return self._process.stdout.readline().strip()

    def answer(self) -> Any:
        """Wait for the answer to the oldest order that has none."""
        line = self.line()
        while line == ".":
            line = self.line()
        return json.loads(line)

    def do(self, **order: Any) -> Any:
        """Send an order and return its answer."""
        self.tell(**order)
        return self.answer()

    def kill(self) -> None:
        """End the process as the kernel does when memory is out."""
        self._process.kill()
        self._process.communicate()


async def _write(texts: list[str]) -> list[str]:
    """Keep each text as a page; return the ids."""
    new = [NewPage(title="", place="", text=text) for text in texts]
    return await store_pages(OWNER, KIND, texts[0], new)


async def _obey(order: dict[str, Any]) -> Any:
    """Do what an order says and return the answer."""
    if "keep" in order:
        return await _write(order["keep"])
    return (await update_vectors(lambda _: print(".", flush=True))).pages


async def main() -> None:
    """Obey until the input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exact", type=int, default=vector_search.EXACT)
    vector_search.EXACT = parser.parse_args().exact
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await _obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

EXACT = 20
"""More vectors than these lie in a collection here."""


def _said(number: int) -> str:
    """Return the text of a page; all of them are much alike."""
    return f"Animal number {number} likes plant number {7 * number}."


async def _nearest(question: str) -> str:
    """Return the text of the nearest page."""

    def work(index: PageIndex) -> str:
        found = prepare_query_vectors(index, question)
        if found.vector is None:
            return ""
        near = found.vectors.nearest(found.vector.tolist(), 1)
        return next((row.text for row in index.rows(list(near))), "")

    return await run_search(OWNER, work)


async def _freshness(home: Path, trials: int) -> dict[str, object]:
    """Write in another process and search in this one."""
    found = 0
    milliseconds = []
    with VectorWriter(home, EXACT) as writer:
        for number in range(trials):
            writer.do(keep=[_said(number)])
            if number % 3:
                writer.do(work=True)
            start = time.perf_counter()
            found += await _nearest(_said(number)) == _said(number)
            milliseconds.append((time.perf_counter() - start) * 1000)
    return {"trials": trials, "found": found, "slowest_ms": round(max(milliseconds))}


async def _kills(home: Path, count: int) -> dict[str, object]:
    """Kill processes that are at work, and see what is left."""
    chance = random.Random(1)
    for kill in range(count):
        with VectorWriter(home, EXACT) as writer:
            texts = [_said(number) for number in range(20 * kill, 20 * kill + 20)]
            writer.do(keep=texts)
            await run_write(lambda connection: connection.execute(update(outbox).values(due=0)))
            writer.tell(work=True)
            await asyncio.sleep(chance.uniform(0, 2))
    left = len((await read_rows(select(outbox.c.id))).all())
    await run_write(lambda connection: connection.execute(update(outbox).values(due=0)))
    await update_vectors()
    kept = Counter((await read_rows(select(pages.c.number))).scalars())
    there = Counter((await read_rows(select(vectors.c.page))).scalars())
    used = set((await read_rows(select(vector_sets.c.collection))).scalars())
    folders = {folder.name for folder in settings().vectors.glob("*")}
    lost = [n for n in range(0, 20 * count, 7) if await _nearest(_said(n)) != _said(n)]
    return {
        "kills": count,
        "jobs_left_over": left,
        "pages": len(kept),
        "one_vector_each": kept == there,
        "only_the_collection_in_use": folders == used,
        "not_found": len(lost),
    }


async def _run(options: argparse.Namespace) -> None:
    """Print what came of the trials, a JSON object for each kind."""
    for work, count in ((_freshness, options.trials), (_kills, options.kills)):
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"DOSSIER_HOME": folder, "DOSSIER_EMBEDDINGS": "hashing"}
            replace_resources().close()
            print(json.dumps(await work(Path(folder), count)), flush=True)
            await close_database()


def run_trials() -> None:
    """Run the trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--kills", type=int, default=20)
    vector_search.EXACT = EXACT
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    run_trials()
