"""Measure the facts store: how fast and how well facts are ranked, and what survives.

`python -m evals.facts`: everything. With `--sizes 100,10000`, `--agreement`, `--relevance`,
`--writers` or `--kills` only those. Each ranking is one call of the memory as a model call makes
it, on a context of 74 different words in English and Chinese; beside it stands the naive way, which
fits scikit-learn's TfidfVectorizer with the same words on all facts for each call. The database is
SQLite in a folder of its own, or what DOSSIER_DATABASE_URL names.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sqlalchemy import Connection, insert, update

from config.settings import settings
from evals.facts_made import Made, context, facts, source
from evals.facts_relevance import relevance
from evals.facts_trials import kills, writers
from memory.base import Query
from memory.facts.fact import key
from memory.facts.ranking import Facts
from memory.facts.store import NewFact
from retrieval.common import topical
from retrieval.words import words
from storage.engine import close, write
from storage.events import Event, log, revision
from storage.tables import facts as table

BUDGET = 3_000
TOP = 15

NAIVE = {100: 40, 1_000: 20, 10_000: 5, 100_000: 2}
"""How often the naive way is timed at each size; it is slow."""

LATE = 0.04
"""The part of the facts that come one after the other, where not all are there at once."""


def main() -> None:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="")
    parser.add_argument("--queries", type=int, default=300)
    for name in ("agreement", "relevance", "writers", "kills"):
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        settings.cache_clear()
        asyncio.run(_measure(options))


async def _measure(options: argparse.Namespace) -> None:
    chosen = [options.sizes, options.agreement, options.relevance, options.writers, options.kills]
    every = not any(chosen)
    sizes = options.sizes or ("100,1000,10000,100000" if every else "")
    if sizes:
        await _speeds([int(size) for size in sizes.split(",")], options.queries)
    if every or options.agreement:
        await _agreement()
    if every or options.relevance:
        await relevance()
    if every or options.writers:
        await writers()
    if every or options.kills:
        await kills()
    await close()


async def _speeds(sizes: Sequence[int], queries: int) -> None:
    print(f"ranking facts, ms a call; text from {source()}\n")
    print("| facts | p50 | p95 | p95 of CPU | naive p50 | times faster | first | after a change |")
    print("|---|---|---|---|---|---|---|---|")
    for size in sizes:
        made = facts(size)
        owner = f"speed/{size}"
        await keep(owner, made)
        # No context is asked twice, so each is cut into words in its call.
        contexts = [context(made, seed) for seed in range(queries)]
        ((first, _), *_) = await _timed(owner, [context(made, -seed) for seed in range(1, 20)])
        taken = await _timed(owner, contexts)
        naive = [_naive_time(made, text) for text in contexts[: NAIVE.get(size, 3)]]
        changed = await _after_changes(owner, contexts[:20])
        (p50, _), (p95, cpu) = np.percentile(taken, [50, 95], axis=0)
        slow = float(np.median(naive))
        print(
            f"| {size:,} | {p50:.2f} | {p95:.2f} | {cpu:.2f} | {slow:.1f} | {slow / p50:.0f} "
            f"| {first:.0f} | {np.median(changed):.1f} |",
            flush=True,
        )


async def _timed(owner: str, contexts: Sequence[str]) -> list[tuple[float, float]]:
    """Return the milliseconds of each call, and those of the processor."""
    memory, taken = Facts(), []
    now = await revision(owner)
    for text in contexts:
        query = Query(owner, "researcher", text, (), now)
        started, worked = time.perf_counter(), time.process_time()
        notes = await memory.recall(query, BUDGET)
        worked = time.process_time() - worked
        taken.append(((time.perf_counter() - started) * 1e3, worked * 1e3))
        assert notes  # noqa: S101
    return taken


async def _after_changes(owner: str, contexts: Sequence[str]) -> list[float]:
    """Return the milliseconds of each call that first has to read a fact another one wrote."""
    taken = []
    for number, text in enumerate(contexts):
        await keep(owner, [Made(f"Changed {number}: {text[:60]}", "context", 0.9)])
        taken += [each for each, _ in await _timed(owner, [text])]
    return taken


def naive(made: Sequence[Made], text: str) -> NDArray[np.int64]:
    """Return the places of all facts, best first, by fitting and comparing everything anew."""
    vectorizer = TfidfVectorizer(analyzer=words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([one.content for one in made])
    return _sorted(vectors @ _asked(vectorizer, [text]).T, made)


def _asked(vectorizer: TfidfVectorizer, texts: Sequence[str]) -> Any:
    """Return what is asked as vectors, in which each word counts as it does for the facts."""
    weights = np.array([topical(word) for word in vectorizer.get_feature_names_out()])
    counted = vectorizer.transform(texts).multiply(weights > 0)
    return normalize(counted.tocsr()).multiply(weights).tocsr()


def _naive_time(made: Sequence[Made], text: str) -> float:
    started = time.perf_counter()
    naive(made, text)
    return (time.perf_counter() - started) * 1e3


def _sorted(cosines: Any, made: Sequence[Made]) -> NDArray[np.int64]:
    confidence = np.array([one.confidence for one in made])
    scores = 0.6 * cosines.toarray().ravel() + 0.4 * confidence
    order: NDArray[np.int64] = np.lexsort((-np.arange(len(made)), -scores))
    return order


async def _agreement(size: int = 10_000, queries: int = 1_000) -> None:
    made = facts(size)
    vectorizer = TfidfVectorizer(analyzer=words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([one.content for one in made])
    contexts = [context(made, seed) for seed in range(queries)]
    asked = _asked(vectorizer, contexts)
    wanted = [
        {made[at].content for at in _sorted(vectors @ asked[n].T, made)[:TOP]}
        for n in range(queries)
    ]
    print(f"\nthe same {TOP} of {size:,} facts come first as by the naive way")
    for name, way in (("there all at once", keep), ("come and gone one by one", _piecemeal)):
        owner = f"agreement/{name}"
        await way(owner, made)
        now, same = await revision(owner), 0
        for text, those in zip(contexts, wanted, strict=True):
            notes = await Facts().recall(Query(owner, "researcher", text, (), now), BUDGET)
            notes.sort(key=lambda note: -note.score["score"])
            same += {note.text for note in notes[:TOP]} == those
        print(f"- {name}: {same} of {queries:,} queries", flush=True)


async def _piecemeal(owner: str, made: Sequence[Made]) -> None:
    """Keep facts, the last ones and some that go again one after the other, each with a call."""
    first = len(made) - int(len(made) * LATE)
    others = facts(len(made) - first, seed=2)
    await keep(owner, [*made[:first], *others])
    for last, other in zip(made[first:], others, strict=True):
        await _timed(owner, ["anything"])
        await keep(owner, [last])
        await _drop(owner, other)


async def _drop(owner: str, one: Made) -> None:
    def dropped(connection: Connection) -> None:
        number = log(connection, Event(owner, "fact.import"))
        its = update(table).where(table.c.owner == owner, table.c.content == one.content)
        connection.execute(its.values(live=0, revision=number))

    await write(dropped)


async def keep(owner: str, made: Sequence[Made]) -> None:
    """Write facts in one transaction with one event, without looking whether they are known."""

    def kept(connection: Connection) -> None:
        if not made:
            return
        number = log(connection, Event(owner, "fact.import"))
        new = NewFact("")._asdict() | {"valid_from": 0.0, "valid_to": None, "superseded_by": ""}
        usual = new | {"owner": owner, "created": 0.0, "live": 1, "revision": number}
        rows = [
            usual | one._asdict() | {"id": uuid4().hex, "key": key(f"{one.content} {at} {number}")}
            for at, one in enumerate(made)
        ]
        connection.execute(insert(table), rows)

    await write(kept)


if __name__ == "__main__":
    main()
