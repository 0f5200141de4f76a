"""Measure whether the facts that a question needs come first, on labels made by hand.

`evals/facts.jsonl` has 216 facts of five people, three of whom write Chinese or both languages.
`evals/facts_queries.jsonl` has 72 questions with the last turns of their conversations, and grades:
2 for a fact without which an answer would be wrong or miss what is asked, 1 for one by which it
fits better. The labels were made before any ranking of these facts was looked at.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import resources
from typing import Any

from evals.metrics import mean
from memory.base import Query
from memory.facts.held import Known, known
from memory.facts.meaning import meant
from memory.facts.ranking import Weights, likeness, rank
from memory.facts.store import NewFact, add
from memory.meanings import maker
from retrieval.script import language
from retrieval.tfidf import Floats
from storage.events import revision

BUDGET = 100_000
"""So much that every fact of a person is returned; the order is what counts here."""

Way = Callable[[str, Known, str], Awaitable[Floats | None]]
"""Says how like the facts of an owner are to what is talked about."""


async def _nothing(owner: str, held: Known, context: str) -> None:
    del owner, held, context


async def _alike(owner: str, held: Known, context: str) -> Floats | None:
    del owner
    return held.shelf.likeness(context)


async def _words(owner: str, held: Known, context: str) -> Floats | None:
    del owner
    return likeness(held, context)


async def _meaning(owner: str, held: Known, context: str) -> Floats | None:
    return likeness(held, context, await meant(owner, held, context))


WAYS: Mapping[str, Way] = {
    "confidence only": _nothing,
    "every word alike": _alike,
    "words": _words,
    "words and meaning": _meaning,
}
"""What is compared; the last way is told only where an embedder is set that knows meanings."""


async def relevance() -> None:
    """Print precision and gain of each way, by language."""
    ids = await _kept()
    ways = WAYS if await maker() else {name: WAYS[name] for name in [*WAYS][:-1]}
    print("\nrelevance\n\n| language | way | precision@5 | nDCG@10 |\n|---|---|---|---|")
    told: dict[tuple[str, str], list[dict[str, float]]] = defaultdict(list)
    for one in _read("facts_queries"):
        for way, like in ways.items():
            ranked = [ids[note] for note in await _ranked(one, like)]
            score = scores(ranked, one["gold"])
            told[language(one["text"]), way].append(score)
            told["both", way].append(score)
    for (which, way), rows in sorted(told.items()):
        score = mean(rows)
        name = f"{which} ({len(rows)})"
        print(f"| {name} | {way} | {score['precision@5']:.3f} | {score['nDCG@10']:.3f} |")


def scores(ranked: Sequence[str], gold: Mapping[str, int]) -> dict[str, float]:
    """Score a ranking by graded labels.

    `precision@5` is the share of the first five that are relevant at all; where fewer than five
    are, it cannot be 1. `nDCG@10` has the gains 2^grade - 1 (Burges et al. 2005).
    """
    best = sorted(gold.values(), reverse=True)
    gained = _gain([gold.get(one, 0) for one in ranked[:10]])
    relevant = sum(one in gold for one in ranked[:5])
    return {"precision@5": relevant / 5, "nDCG@10": gained / _gain(best[:10])}


def _gain(grades: Sequence[int]) -> float:
    return math.fsum((2**grade - 1) / math.log2(at + 1) for at, grade in enumerate(grades, start=1))


async def _kept() -> dict[str, str]:
    """Add all facts; return their labels by the ids they got."""
    ids = {}
    for one in _read("facts"):
        new = NewFact(one["content"], one["category"], one["confidence"])
        ids[(await add(f"{one['owner']}/", new)).id] = one["id"]
    return ids


async def _ranked(one: Mapping[str, Any], like: Way) -> list[str]:
    owner = f"{one['owner']}/"
    context = Query(owner, "writer", one["text"], tuple(one["turns"])).context
    held = await known(owner, await revision(owner))
    likely = await like(owner, held, context)
    notes = rank(held, likely, BUDGET, Weights(0.6, 0.4), time.time())
    return [note.id for note in sorted(notes, key=lambda note: -note.score["score"])]


def _read(name: str) -> list[dict[str, Any]]:
    text = resources.files("evals").joinpath(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
