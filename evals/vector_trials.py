"""Try what several processes do to the same vectors: `python -m evals.vector_trials --kills 100`.

Freshness: this process stays open; another writes a page, which must be the nearest at the next
search here, whether it waits for its vector, has it, or is in a collection. Kills: processes that
keep pages, make vectors and build collections are killed at random moments; afterwards every page
must have one vector and be found, and no collection be left that is of no use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import select, update

from config.settings import settings
from evals.vector_work import OWNER, Writer
from memory.pages.finding import searching
from memory.pages.meaning import meaning
from memory.pages.worker import keep_up
from retrieval import vector
from retrieval.index import Index
from storage.engine import close, read_rows, write
from storage.tables import outbox, pages, vector_sets, vectors

EXACT = 20
"""More vectors than these lie in a collection here."""


def said(number: int) -> str:
    """Return the text of a page; all of them are much alike."""
    return f"Animal number {number} likes plant number {7 * number}."


async def nearest(question: str) -> str:
    """Return the text of the nearest page."""

    def work(index: Index) -> str:
        found = meaning(index, question)
        if found.vector is None:
            return ""
        near = found.vectors.nearest(found.vector.tolist(), 1)
        return next((row.text for row in index.rows(list(near))), "")

    return await searching(OWNER, work)


async def freshness(home: Path, trials: int) -> dict[str, object]:
    """Write in another process and search in this one."""
    found = 0
    milliseconds = []
    with Writer(home, EXACT) as writer:
        for number in range(trials):
            writer.do(keep=[said(number)])
            if number % 3:
                writer.do(work=True)
            start = time.perf_counter()
            found += await nearest(said(number)) == said(number)
            milliseconds.append((time.perf_counter() - start) * 1000)
    return {"trials": trials, "found": found, "slowest_ms": round(max(milliseconds))}


async def kills(home: Path, count: int) -> dict[str, object]:
    """Kill processes that are at work, and see what is left."""
    chance = random.Random(1)
    for kill in range(count):
        with Writer(home, EXACT) as writer:
            texts = [said(number) for number in range(20 * kill, 20 * kill + 20)]
            writer.do(keep=texts)
            await write(lambda connection: connection.execute(update(outbox).values(due=0)))
            writer.tell(work=True)
            await asyncio.sleep(chance.uniform(0, 2))
    left = len((await read_rows(select(outbox.c.id))).all())
    await write(lambda connection: connection.execute(update(outbox).values(due=0)))
    await keep_up()
    kept = Counter((await read_rows(select(pages.c.number))).scalars())
    there = Counter((await read_rows(select(vectors.c.page))).scalars())
    used = set((await read_rows(select(vector_sets.c.collection))).scalars())
    folders = {folder.name for folder in settings().vectors.glob("*")}
    lost = [n for n in range(0, 20 * count, 7) if await nearest(said(n)) != said(n)]
    return {
        "kills": count,
        "jobs_left_over": left,
        "pages": len(kept),
        "one_vector_each": kept == there,
        "only_the_collection_in_use": folders == used,
        "not_found": len(lost),
    }


async def run(options: argparse.Namespace) -> None:
    """Print what came of the trials, a JSON object for each kind."""
    for work, count in ((freshness, options.trials), (kills, options.kills)):
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"DOSSIER_HOME": folder, "DOSSIER_EMBEDDINGS": "hashing"}
            settings.cache_clear()
            print(json.dumps(await work(Path(folder), count)), flush=True)
            await close()


def main() -> None:
    """Run the trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=50)
    parser.add_argument("--kills", type=int, default=20)
    vector.EXACT = EXACT
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
