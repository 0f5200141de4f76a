"""Measure searches of the page store beside plain methods: recall, nDCG and reciprocal rank."""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from config.errors import ErrorCode, Problem
from config.resources import replace_resources
from evals.datasets import CorpusEntry, JudgedQuestion
from library.page_index import PageIndex
from library.page_retrieval import run_search, search_pages
from library.page_rows import NewPage
from library.query_vectors import prepare_query_vectors
from library.store import store_pages
from library.vector_upkeep import update_vectors
from runs.call_site import join_owner
from storage.engine import close_database
from text.words import search_words

FIRST = 100
"""How far down a ranking is looked at."""

CUTS = (1, 2, 5, 10)


def score_ranking(
    ranked: Sequence[str], gold: Collection[str], groups: Sequence[Collection[str]] = ()
) -> dict[str, float]:
    """Score one ranking; every score is between 0 and 1.

    Args:
        ranked: The ids that were found, best first, none twice.
        gold: The ids that should be; at least one.
        groups: Ids that say the same fact, one group for each fact that is asked for.

    Returns:
        `R@k`: the share of gold in the first k. `all@k`: whether all of it is there. `MRR`: 1 by
        the rank of the first. `nDCG@10`: with gains of 0 and 1. With groups, `group@k` is the share
        of them that have an id in the first k, and `all_groups@k` whether all have.
    """
    wanted = set(gold)
    tops = {cut: set(ranked[:cut]) for cut in CUTS}
    told = {f"R@{cut}": len(wanted & tops[cut]) / len(wanted) for cut in CUTS}
    told |= {f"all@{cut}": float(wanted <= tops[cut]) for cut in (5, 10)}
    told["MRR"] = next((1 / at for at, one in enumerate(ranked[:FIRST], 1) if one in wanted), 0.0)
    hits = [int(one in wanted) for one in ranked[:10]]
    told["nDCG@10"] = _discounted_gain(hits) / _discounted_gain([1] * len(wanted))
    for cut in (5, 10) if groups else ():
        covered = [not tops[cut].isdisjoint(group) for group in groups]
        told[f"group@{cut}"] = sum(covered) / len(groups)
        told[f"all_groups@{cut}"] = float(all(covered))
    return told


def mean(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each score over the rows that have it."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in columns.items()}


def fuse_ranks(rankings: Sequence[Sequence[str]], k: int = 60) -> list[str]:
    """Join rankings by plain reciprocal rank fusion (Cormack et al., SIGIR 2009)."""
    worth: dict[str, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking[:FIRST], start=1):
            worth[one] = worth.get(one, 0.0) + 1 / (k + rank)
    return sorted(worth, key=lambda one: -worth[one])


def _discounted_gain(hits: Sequence[int]) -> float:
    """Return the gain of the first ten places: 1 by the logarithm of the rank for each hit."""
    return math.fsum(hit / math.log2(place) for place, hit in enumerate(hits[:10], start=2))


Rank = Callable[[str], list[str]]
"""Returns the ids of the pages that fit a question, best first."""


def _rank_by_bm25(entries: Sequence[CorpusEntry], k1: float = 1.2, b: float = 0.75) -> Rank:
    """Rank pages by Okapi BM25 with Lucene's weights, title and text as one (stemmed words)."""
    cut = CountVectorizer(analyzer=search_words)
    counts = cut.fit_transform([f"{one.title}\n{one.text}" for one in entries]).tocsc()
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    held = np.diff(counts.indptr)
    idf = np.log(1 + (len(entries) - held + 0.5) / (held + 0.5))
    damped = k1 * (1 - b + b * lengths / max(lengths.mean(), 1))
    weights = counts.astype(np.float64)
    weights.data = weights.data * (k1 + 1) / (weights.data + damped[weights.indices])
    weights.data *= np.repeat(idf, held)

    def rank(question: str) -> list[str]:
        """Add up what the words of a question are worth in each page."""
        asked = [cut.vocabulary_[one] for one in search_words(question) if one in cut.vocabulary_]
        worth = np.asarray(weights[:, asked].sum(axis=1)).ravel()
        best = np.argsort(-worth, kind="stable")[:FIRST]
        return [entries[at].id for at in best if worth[at] > 0]

    return rank


USER = "eval"

OWNER = join_owner(USER, "")

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


class _Measured(NamedTuple):
    """What came out: for each method the scores of every question, in their order."""

    rows: dict[str, list[Row]]
    pages: int
    index_seconds: float
    embed_seconds: float


@contextmanager
def open_own_store(
    embeddings: str = "", folder: Path | None = None, **variables: str
) -> Iterator[None]:
    """Let everything be kept in a place of its own; the person's is not read.

    Args:
        embeddings: What makes vectors there; what the installation says when it is empty.
        folder: Where it stays; a temporary folder, which ends with this, where none is named.
        variables: What else the environment says meanwhile.
    """
    temporary = tempfile.TemporaryDirectory(prefix="dossier-eval-")
    with nullcontext(str(folder)) if folder else temporary as home:
        # An empty name is one that `.env` does not fill in any more.
        here = {"DOSSIER_HOME": home, "DOSSIER_DATABASE_URL": "", "DOSSIER_CHROMA_URL": ""}
        here |= {"DOSSIER_USER": USER, **variables}
        here |= {"DOSSIER_EMBEDDINGS": embeddings} if embeddings else {}
        before = {name: os.environ.get(name) for name in here}
        os.environ.update(here)
        replace_resources().close()
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
            replace_resources().close()


async def measure_retrieval(
    corpus: Sequence[CorpusEntry], questions: Sequence[JudgedQuestion], told: Told, *, vectors: bool
) -> _Measured:
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
        known = await store_corpus(corpus, told)
        indexed = time.perf_counter()
        if vectors:
            await _embedded(len(corpus), told)
        prepared = time.perf_counter()
        plain = await asyncio.to_thread(_plain, corpus)
        rows = await _asked(questions, known, plain, told, vectors=vectors)
    finally:
        await close_database()
    return _Measured(rows, len(corpus), indexed - begun, prepared - indexed)


async def _embedded(count: int, told: Told) -> None:
    """Make the vectors of all pages in the store."""
    made = 0

    def more(pages: int) -> None:
        """Tell that more pages have their vectors."""
        nonlocal made
        made += pages
        told("Making vectors", made, count)

    done = await update_vectors(more)
    if done.problem:
        raise done.problem


async def store_corpus(corpus: Sequence[CorpusEntry], told: Told) -> dict[str, str]:
    """Keep a corpus as pages; return its ids by those of the pages."""
    turns: dict[tuple[str, str], int] = defaultdict(int)
    shelves: dict[tuple[str, str], list[NewPage]] = defaultdict(list)
    for one in corpus:
        session = f"{one.group}/{one.session}" if one.session else ""
        kind = "chat" if one.session else "web"
        page = NewPage(title=one.title, place=one.id, text=one.text, session=session)
        page |= {"position": turns[kind, session], "speaker": one.speaker, "said": one.said}
        turns[kind, session] += 1
        shelves[kind, one.group].append(page)
    known: dict[str, str] = {}
    for (kind, group), new in shelves.items():
        for first in range(0, len(new), BATCH):
            batch = new[first : first + BATCH]
            made = await store_pages(OWNER, kind, f"corpus/{group}", batch, group=group, part=True)
            known |= zip(made, (page["place"] for page in batch), strict=True)
            told("Keeping pages", len(known), len(corpus))
    return known


def summarize_retrieval(measured: _Measured, questions: Sequence[JudgedQuestion]) -> dict[str, Any]:
    """Return the figures as they are printed with `--json`; shares are between 0 and 1."""
    kinds: dict[str, list[int]] = defaultdict(list)
    for at, question in enumerate(questions):
        if question.category:
            kinds[question.category].append(at)
    return {
        "methods": _mean_scores(measured, range(len(questions))),
        "categories": {
            kind: {"questions": len(some), "methods": _mean_scores(measured, some)}
            for kind, some in sorted(kinds.items())
        },
        "pages": measured.pages,
        "queries": len(questions),
        "index_seconds": round(measured.index_seconds, 3),
        "embed_seconds": round(measured.embed_seconds, 3),
    }


def _plain(corpus: Sequence[CorpusEntry]) -> dict[str, Rank]:
    """Prepare plain BM25 for every group of pages."""
    groups: dict[str, list[CorpusEntry]] = defaultdict(list)
    for one in corpus:
        groups[one.group].append(one)
    return {group: _rank_by_bm25(entries) for group, entries in groups.items()}


async def _asked(
    questions: Sequence[JudgedQuestion],
    known: Mapping[str, str],
    plain: Mapping[str, Rank],
    told: Told,
    *,
    vectors: bool,
) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {name: [] for name in METHODS if vectors or name in LEXICAL}
    for number, one in enumerate(questions, start=1):
        groups = [one.group] if one.group else None
        ours, seconds = await _timed(search_pages(OWNER, one.text, FIRST, groups=groups))
        lists = {OURS: ([hit.page.id for hit in ours], seconds)}
        if vectors:
            near = partial(_nearest, question=one.text)
            lists["vector"] = await _timed(run_search(OWNER, near, groups=groups))
        ranked = {
            name: ([known[page] for page in ids], took) for name, (ids, took) in lists.items()
        }
        begun = time.perf_counter()
        ranked["bm25"] = plain[one.group](one.text), time.perf_counter() - begun
        if vectors:
            both = [ranked["bm25"], ranked["vector"]]
            ranked["rrf"] = fuse_ranks([ids for ids, _ in both]), sum(took for _, took in both)
        for method, done in rows.items():
            ids, took = ranked[method]
            done.append(score_ranking(ids, one.gold, one.groups) | {"ms": 1000 * took})
        told("Asking questions", number, len(questions))
    return rows


async def _timed(work: Awaitable[Answer]) -> tuple[Answer, float]:
    begun = time.perf_counter()
    answer = await work
    return answer, time.perf_counter() - begun


def _nearest(index: PageIndex, question: str) -> list[str]:
    """Return the ids of the pages with the vectors nearest to a question's."""
    meant = prepare_query_vectors(index, question)
    if meant.problem or meant.vector is None:
        raise meant.problem or Problem(ErrorCode.EMBEDDER_MISSING, "the store has no vectors")
    near = meant.vectors.nearest(meant.vector.tolist(), FIRST)
    rows = {row.number: row.id for row in index.rows(list(near))}
    return [rows[number] for number in near if number in rows]


def _mean_scores(measured: _Measured, some: Sequence[int]) -> dict[str, Row]:
    """Return by method the mean scores of some questions."""
    means = {method: mean(rows[at] for at in some) for method, rows in measured.rows.items()}
    return {
        method: {name: round(value, 2 if name == "ms" else 4) for name, value in row.items()}
        for method, row in means.items()
    }
