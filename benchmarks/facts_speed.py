"""Measure speed, relevance and durability of facts."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import resources
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sqlalchemy import Connection, insert, update

from benchmarks.facts_data import MadeFact, make_context, make_facts, make_source
from benchmarks.facts_trials import run_kills, run_writers
from config.resources import replace_resources
from evals.retrieval_eval import discounted_gain, mean
from memory.facts.cache import FactSnapshot, load_fact_snapshot
from memory.facts.fact import NewFact, fact_key
from memory.facts.memory import FactMemory
from memory.facts.ranking import (
    FactWeights,
    fact_embedding_similarity,
    fact_similarity,
    rank_facts,
)
from memory.facts.store import add_fact
from memory.protocol import Query
from memory.tables import facts as table
from memory.text_vectors import semantic_embedder
from storage.engine import close_database, run_write
from storage.events import Event, log_event, read_revision
from text.script import detect_language
from text.tfidf import SimilarityArray
from text.words import search_words, shared_word_weight

RELEVANCE_BUDGET = 100_000
"""So much that every fact of a person is returned; the order is what counts here."""

Way = Callable[[str, FactSnapshot, str], Awaitable[SimilarityArray | None]]
"""Says how like the facts of an owner are to what is talked about."""


async def _nothing(owner: str, held: FactSnapshot, context: str) -> None:
    del owner, held, context


async def _alike(owner: str, held: FactSnapshot, context: str) -> SimilarityArray | None:
    del owner
    return held.tfidf.similarity(context)


async def _words(owner: str, held: FactSnapshot, context: str) -> SimilarityArray | None:
    del owner
    return fact_similarity(held, context)


async def _meaning(owner: str, held: FactSnapshot, context: str) -> SimilarityArray | None:
    return fact_similarity(held, context, await fact_embedding_similarity(owner, held, context))


WAYS: Mapping[str, Way] = {
    "confidence only": _nothing,
    "every word alike": _alike,
    "words": _words,
    "words and meaning": _meaning,
}
"""What is compared; the last way is told only where an embedder is set that knows meanings."""


async def measure_relevance() -> None:
    """Print precision and gain of each way, by language."""
    ids = await _kept()
    ways = WAYS if await semantic_embedder() else {name: WAYS[name] for name in [*WAYS][:-1]}
    print("\nrelevance\n\n| language | way | precision@5 | nDCG@10 |\n|---|---|---|---|")
    told: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for one in _read("facts_queries"):
        for way, like in ways.items():
            ranked = [ids[note] for note in await _ranked(one, like)]
            score = _scores(ranked, one["gold"])
            told[detect_language(one["text"]), way].append(score)
            told["both", way].append(score)
    for (which, way), rows in sorted(told.items()):
        score = mean(rows)
        name = f"{which} ({len(rows)})"
        print(f"| {name} | {way} | {score['precision@5']:.3f} | {score['nDCG@10']:.3f} |")


def _scores(ranked: Sequence[str], gold: Mapping[str, int]) -> dict[str, float]:
    """Score a ranking by graded labels.

    `precision@5` is the share of the first five that are relevant at all; where fewer than five
    are, it cannot be 1. `nDCG@10` has the gains 2^grade - 1 (Burges et al. 2005).
    """
    best = sorted(gold.values(), reverse=True)
    gained = discounted_gain([gold.get(one, 0) for one in ranked])
    relevant = sum(one in gold for one in ranked[:5])
    return {"precision@5": relevant / 5, "nDCG@10": gained / discounted_gain(best)}


async def _kept() -> dict[str, str]:
    """Add all facts; return their labels by the ids they got."""
    ids = {}
    for one in _read("facts"):
        new = NewFact(one["content"], one["category"], one["confidence"])
        ids[(await add_fact(f"{one['owner']}/", new)).id] = one["id"]
    return ids


async def _ranked(one: Mapping[str, Any], like: Way) -> list[str]:
    owner = f"{one['owner']}/"
    context = Query(owner, "writer", one["text"], tuple(one["turns"])).context
    held = await load_fact_snapshot(owner, await read_revision(owner))
    likely = await like(owner, held, context)
    notes = rank_facts(held, likely, RELEVANCE_BUDGET, FactWeights(0.6, 0.4), time.time())
    return [note.id for note in sorted(notes, key=lambda note: -note.score["score"])]


def _read(name: str) -> list[dict[str, Any]]:
    text = resources.files("evals").joinpath(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


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
        replace_resources().close()
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
        await measure_relevance()
    if every or options.writers:
        await run_writers()
    if every or options.kills:
        await run_kills()
    await close_database()


async def _speeds(sizes: Sequence[int], queries: int) -> None:
    print(f"ranking facts, ms a call; text from {make_source()}\n")
    print("| facts | p50 | p95 | p95 of CPU | naive p50 | times faster | first | after a change |")
    print("|---|---|---|---|---|---|---|---|")
    for size in sizes:
        made = make_facts(size)
        owner = f"speed/{size}"
        await keep_facts(owner, made)
        # No context is asked twice, so each is cut into words in its call.
        contexts = [make_context(made, seed) for seed in range(queries)]
        ((first, _), *_) = await _timed(owner, [make_context(made, -seed) for seed in range(1, 20)])
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
    memory, taken = FactMemory(), []
    now = await read_revision(owner)
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
        await keep_facts(owner, [MadeFact(f"Changed {number}: {text[:60]}", "context", 0.9)])
        taken += [each for each, _ in await _timed(owner, [text])]
    return taken


def _naive(made: Sequence[MadeFact], text: str) -> NDArray[np.int64]:
    """Return the places of all facts, best first, by fitting and comparing everything anew."""
    vectorizer = TfidfVectorizer(analyzer=search_words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([one.content for one in made])
    return _sorted(vectors @ _asked(vectorizer, [text]).T, made)


def _asked(vectorizer: TfidfVectorizer, texts: Sequence[str]) -> Any:
    """Return what is asked as vectors, in which each word counts as it does for the facts."""
    weights = np.array([shared_word_weight(word) for word in vectorizer.get_feature_names_out()])
    counted = vectorizer.transform(texts).multiply(weights > 0)
    return normalize(counted.tocsr()).multiply(weights).tocsr()


def _naive_time(made: Sequence[MadeFact], text: str) -> float:
    started = time.perf_counter()
    _naive(made, text)
    return (time.perf_counter() - started) * 1e3


def _sorted(cosines: Any, made: Sequence[MadeFact]) -> NDArray[np.int64]:
    confidence = np.array([one.confidence for one in made])
    scores = 0.6 * cosines.toarray().ravel() + 0.4 * confidence
    order: NDArray[np.int64] = np.lexsort((-np.arange(len(made)), -scores))
    return order


async def _agreement(size: int = 10_000, queries: int = 1_000) -> None:
    made = make_facts(size)
    vectorizer = TfidfVectorizer(analyzer=search_words, sublinear_tf=True)
    vectors = vectorizer.fit_transform([one.content for one in made])
    contexts = [make_context(made, seed) for seed in range(queries)]
    asked = _asked(vectorizer, contexts)
    wanted = [
        {made[at].content for at in _sorted(vectors @ asked[n].T, made)[:TOP]}
        for n in range(queries)
    ]
    print(f"\nthe same {TOP} of {size:,} facts come first as by the naive way")
    for name, way in (("there all at once", keep_facts), ("come and gone one by one", _piecemeal)):
        owner = f"agreement/{name}"
        await way(owner, made)
        now, same = await read_revision(owner), 0
        for text, those in zip(contexts, wanted, strict=True):
            notes = await FactMemory().recall(Query(owner, "researcher", text, (), now), BUDGET)
            notes.sort(key=lambda note: -note.score["score"])
            same += {note.text for note in notes[:TOP]} == those
        print(f"- {name}: {same} of {queries:,} queries", flush=True)


async def _piecemeal(owner: str, made: Sequence[MadeFact]) -> None:
    """Keep facts, the last ones and some that go again one after the other, each with a call."""
    first = len(made) - int(len(made) * LATE)
    others = make_facts(len(made) - first, seed=2)
    await keep_facts(owner, [*made[:first], *others])
    for last, other in zip(made[first:], others, strict=True):
        await _timed(owner, ["anything"])
        await keep_facts(owner, [last])
        await _drop(owner, other)


async def _drop(owner: str, one: MadeFact) -> None:
    def dropped(connection: Connection) -> None:
        number = log_event(connection, Event(owner, "fact.import"))
        its = update(table).where(table.c.owner == owner, table.c.content == one.content)
        connection.execute(its.values(live=0, revision=number))

    await run_write(dropped)


async def keep_facts(owner: str, made: Sequence[MadeFact]) -> None:
    """Write facts in one transaction with one event, without looking whether they are known."""

    def kept(connection: Connection) -> None:
        if not made:
            return
        number = log_event(connection, Event(owner, "fact.import"))
        new = NewFact("")._asdict() | {"valid_from": 0.0, "valid_to": None, "superseded_by": ""}
        usual = new | {"owner": owner, "created": 0.0, "live": 1, "revision": number}
        rows = [
            usual
            | one._asdict()
            | {"id": uuid4().hex, "key": fact_key(f"{one.content} {at} {number}")}
            for at, one in enumerate(made)
        ]
        connection.execute(insert(table), rows)

    await run_write(kept)


if __name__ == "__main__":
    main()
