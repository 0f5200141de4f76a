"""Measure retrieval on a corpus, in a store of its own, as `dossier search` does it."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from config.errors import Problem
from config.settings import settings
from evals.baselines import Rank, bm25
from evals.judged import Entry, Question
from evals.metrics import FIRST, fused, mean, scores
from memory.pages.finding import search, searching
from memory.pages.meaning import meaning
from memory.pages.store import NewPage, keep
from memory.pages.worker import keep_up
from retrieval.index import Index
from runs.place import owned
from storage.engine import close

USER = "eval"

OWNER = owned(USER, "")

BATCH = 250
"""How many pages are written at once."""

OURS = "dossier"

METHODS = ("bm25", "vector", "rrf", OURS)

LEXICAL = ("bm25", OURS)
"""The methods that need no vectors."""

Answer = TypeVar("Answer")

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
    corpus: Sequence[Entry], questions: Sequence[Question], told: Told, *, vectors: bool
) -> Measured:
    """Keep a corpus in the store that is set, ask every question, and score what is found.

    Args:
        corpus: The pages.
        questions: What is asked; each within its group.
        told: Is told of the progress.
        vectors: Whether the store has an embedder, so that vectors are made and compared too.

    Raises:
        Problem: What keeps pages from being embedded.
    """
    begun = time.perf_counter()
    try:
        known = await kept(corpus, told)
        indexed = time.perf_counter()
        if vectors:
            await embedded(len(corpus), told)
        prepared = time.perf_counter()
        plain = await asyncio.to_thread(_plain, corpus)
        rows = await _asked(questions, known, plain, told, vectors=vectors)
    finally:
        await close()
    return Measured(rows, len(corpus), indexed - begun, prepared - indexed)


async def embedded(count: int, told: Told) -> None:
    """Make the vectors of all pages in the store."""
    made = 0

    def more(pages: int) -> None:
        """Tell that more pages have their vectors."""
        nonlocal made
        made += pages
        told("Making vectors", made, count)

    done = await keep_up(more)
    if done.problem:
        raise done.problem


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


def _plain(corpus: Sequence[Entry]) -> dict[str, Rank]:
    """Prepare plain BM25 for every group of pages."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for one in corpus:
        groups[one.group].append(one)
    return {group: bm25(entries) for group, entries in groups.items()}


async def _asked(
    questions: Sequence[Question],
    known: Mapping[str, str],
    plain: Mapping[str, Rank],
    told: Told,
    *,
    vectors: bool,
) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in METHODS if vectors or name in LEXICAL}
    for number, one in enumerate(questions, start=1):
        groups = [one.group] if one.group else None
        ours, seconds = await _timed(search(OWNER, one.text, FIRST, groups=groups))
        lists = {OURS: ([hit.page.id for hit in ours], seconds)}
        if vectors:
            near = partial(_nearest, question=one.text)
            lists["vector"] = await _timed(searching(OWNER, near, groups=groups))
        ranked = {
            name: ([known[page] for page in ids], took) for name, (ids, took) in lists.items()
        }
        begun = time.perf_counter()
        ranked["bm25"] = plain[one.group](one.text), time.perf_counter() - begun
        if vectors:
            both = [ranked["bm25"], ranked["vector"]]
            ranked["rrf"] = fused([ids for ids, _ in both]), sum(took for _, took in both)
        for method, done in rows.items():
            ids, took = ranked[method]
            done.append(scores(ids, one.gold, one.groups) | {"ms": 1000 * took})
        told("Asking questions", number, len(questions))
    return rows


async def _timed(work: Awaitable[Answer]) -> tuple[Answer, float]:
    begun = time.perf_counter()
    answer = await work
    return answer, time.perf_counter() - begun


def _nearest(index: Index, question: str) -> list[str]:
    """Return the ids of the pages with the vectors nearest to a question's."""
    meant = meaning(index, question)
    if meant.problem or meant.vector is None:
        raise meant.problem or Problem("embedder_missing", "the store has no vectors")
    near = meant.vectors.nearest(meant.vector.tolist(), FIRST)
    rows = {row.number: row.id for row in index.rows(list(near))}
    return [rows[number] for number in near if number in rows]


def _rounded(row: Row) -> Row:
    return {name: round(value, 2 if name == "ms" else 4) for name, value in row.items()}
