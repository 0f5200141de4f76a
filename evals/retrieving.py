"""Measure retrieval on a corpus, in a store of its own, as `dossier search` does it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from config.settings import settings
from evals.baselines import Rank, bm25, embedded, nearest
from evals.judged import Entry, Question
from evals.metrics import FIRST, fused, mean, scores
from memory.finding import search
from memory.pages import NewPage, keep
from models.embeddings import Embedder
from runs.place import owned
from storage.engine import close

USER = "eval"

OWNER = owned(USER, "")

BATCH = 250
"""How many pages are written at once."""

OURS = "dossier"

Told = Callable[[str, int, int], None]
"""Is told what is done, how much of it, and of how much."""

Row = dict[str, float]
"""The scores of one question."""


class Measured(NamedTuple):
    """What came out: for each method the scores of every question, in their order."""

    rows: dict[str, list[Row]]
    pages: int
    index_seconds: float
    embed_seconds: float


@contextmanager
def own_store(embeddings: str = "") -> Iterator[None]:
    """Let everything be kept in a place of its own that ends with this; the person's is not read.

    Args:
        embeddings: What makes vectors there; what the installation says when it is empty.
    """
    with tempfile.TemporaryDirectory(prefix="dossier-eval-") as home:
        # An empty name is one that `.env` does not fill in any more.
        here = {"DOSSIER_HOME": home, "DOSSIER_DATABASE_URL": "", "DOSSIER_CHROMA_URL": ""}
        here |= {"DOSSIER_USER": USER}
        here |= {"DOSSIER_EMBEDDINGS": embeddings} if embeddings else {}
        before = {name: os.environ.get(name) for name in here}
        os.environ.update(here)
        settings.cache_clear()
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
            settings.cache_clear()


async def measure(
    corpus: Sequence[Entry], questions: Sequence[Question], embedder: Embedder | None, told: Told
) -> Measured:
    """Keep a corpus in the store that is set, ask every question, and score what is found.

    Args:
        corpus: The pages.
        questions: What is asked; each within its group.
        embedder: Makes the vectors that plain methods compare; they go by words alone without.
        told: Is told of the progress.
    """
    begun = time.perf_counter()
    try:
        known = await kept(corpus, told)
        indexed = time.perf_counter()
        plain = await asyncio.to_thread(_plain, corpus, embedder, told)
        prepared = time.perf_counter()
        rows = await _asked(questions, known, plain, told)
    finally:
        await close()
    seconds = prepared - indexed if embedder else 0.0
    return Measured(rows, len(corpus), indexed - begun, seconds)


async def kept(corpus: Sequence[Entry], told: Told) -> dict[str, str]:
    """Keep a corpus as pages; return its ids by those of the pages."""
    turns: dict[tuple[str, str], int] = defaultdict(int)
    shelves: dict[tuple[str, str], list[tuple[str, NewPage]]] = defaultdict(list)
    for one in corpus:
        session = f"{one.group}/{one.session}" if one.session else ""
        kind = "chat" if one.session else "web"
        page = NewPage(title=one.title, place=one.id, text=one.text, session=session)
        page |= {"position": turns[kind, session], "speaker": one.speaker, "said": one.said}
        turns[kind, session] += 1
        shelves[kind, one.group].append((one.id, page))
    known: dict[str, str] = {}
    for (kind, group), named in shelves.items():
        for first in range(0, len(named), BATCH):
            ids, some = zip(*named[first : first + BATCH], strict=True)
            origin = f"corpus/{group}"
            made = await keep(OWNER, kind, origin, some, group=group, part=True)
            known |= zip(made, ids, strict=True)
            told("Keeping pages", len(known), len(corpus))
    return known


def summary(measured: Measured, questions: Sequence[Question]) -> dict[str, Any]:
    """Return the figures as they are printed with `--json`; shares are between 0 and 1."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for at, question in enumerate(questions):
        if question.category:
            kinds[question.category].append(at)
    categories = {
        kind: {
            "questions": len(some),
            "methods": {
                method: _rounded(mean(rows[at] for at in some))
                for method, rows in measured.rows.items()
            },
        }
        for kind, some in sorted(kinds.items())
    }
    return {
        "methods": {method: _rounded(mean(rows)) for method, rows in measured.rows.items()},
        "categories": categories,
        "pages": measured.pages,
        "queries": len(questions),
        "index_seconds": round(measured.index_seconds, 3),
        "embed_seconds": round(measured.embed_seconds, 3),
    }


def _plain(
    corpus: Sequence[Entry], embedder: Embedder | None, told: Told
) -> dict[str, dict[str, Rank]]:
    """Prepare the plain methods, each for every group of pages."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(corpus):
        groups[one.group].append(at)
    some = {group: [corpus[at] for at in places] for group, places in groups.items()}
    plain = {"bm25": {group: bm25(entries) for group, entries in some.items()}}
    if embedder:
        count = len(corpus)
        vectors = embedded(corpus, embedder, lambda done: told("Making vectors", done, count))
        plain["vector"] = {
            group: nearest(entries, vectors[np.array(groups[group])], embedder)
            for group, entries in some.items()
        }
    return plain


async def _asked(
    questions: Sequence[Question],
    known: Mapping[str, str],
    plain: Mapping[str, Mapping[str, Rank]],
    told: Told,
) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = defaultdict(list)
    for number, one in enumerate(questions, start=1):
        ranked: dict[str, list[str]] = {}
        seconds: dict[str, float] = {}
        for method, groups in plain.items():
            begun = time.perf_counter()
            ranked[method] = groups[one.group](one.text)
            seconds[method] = time.perf_counter() - begun
        if len(ranked) > 1:
            ranked["rrf"] = fused(list(ranked.values()))
            seconds["rrf"] = sum(seconds.values())
        begun = time.perf_counter()
        found = await search(OWNER, one.text, FIRST, groups=[one.group] if one.group else None)
        seconds[OURS] = time.perf_counter() - begun
        ranked[OURS] = [known[hit.page.id] for hit in found]
        for method, ids in ranked.items():
            row = scores(ids, one.gold, one.groups)
            rows[method].append(row | {"ms": 1000 * seconds[method]})
        told("Asking questions", number, len(questions))
    return rows


def _rounded(row: Row) -> Row:
    return {name: round(value, 2 if name == "ms" else 4) for name, value in row.items()}
