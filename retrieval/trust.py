"""Find out what vectors are worth in a store, by asking it about its own pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from retrieval.bm25 import bm25, count, weigh
from retrieval.pool import Row, Store, Vector, Vectors
from retrieval.text import sentences
from retrieval.words import terms, words

PROBES = 48
"""So many sentences are asked."""
FEWEST = 8
"""From fewer nothing can be told."""
UNKNOWN = 0.5
"""How far vectors are trusted of which nothing is known."""
DEPTH = 100
"""A page that is not among so many is not found."""
LONGEST = 300
"""So many characters of a sentence are asked."""
NONE, FULL = 0.8, 1.1
"""Vectors that find so much of what words find are not trusted at all, or wholly.

Measured: MiniLM finds 0.9 to 3 times as much as words in English and 0.3 times in Chinese, which it
does not know; hashing, which adds nothing to words, finds 0.6 to 0.9 times as much.
"""


class Probe(NamedTuple):
    """A sentence, and the page it was taken out of."""

    sentence: str
    rest: Row


def embedded(row: Row) -> str:
    """Return what is embedded of a page: who says what, or the title and the text."""
    if row.speaker:
        return f"{row.speaker}: {row.text}"
    return f"{row.title}. {row.text}" if row.title else row.text


def trust(
    store: Store,
    vectors: Vectors,
    embed: Callable[[Sequence[str]], Sequence[Vector]],
) -> float:
    """Return what the vectors of a store's pages are worth beside its words, in 0..1.

    A sentence is taken out of a page and asked as a question (the inverse cloze task of Lee, Chang
    and Toutanova, ACL 2019): does its page, without the sentence, come before the other pages?
    Words and vectors are asked the same, and their mean reciprocal ranks are compared. It costs
    two embeddings for a probe, so do it when the store has grown by a half, and keep the result.
    """
    probes = _probes(store.sample(4 * PROBES))
    if len(probes) < FEWEST:
        return UNKNOWN
    asked = embed([probe.sentence for probe in probes])
    rests = embed([embedded(probe.rest) for probe in probes])
    by_words = sum(_by_words(store, probe) for probe in probes)
    by_vectors = sum(
        _by_vectors(vectors, probe, question, rest)
        for probe, question, rest in zip(probes, asked, rests, strict=True)
    )
    found = by_vectors / max(by_words, 0.01 * len(probes))
    return min(1.0, max(0.0, (found - NONE) / (FULL - NONE)))


def _probes(rows: Sequence[Row]) -> list[Probe]:
    return [probe for row in rows if (probe := _probe(row))][:PROBES]


def _probe(row: Row) -> Probe | None:
    """Return the sentence in the middle of a page, and the page without it."""
    spans = sentences(row.text)
    if len(spans) < 2:
        return None
    start, end, sentence = spans[len(spans) // 2]
    text = f"{row.text[:start]}{row.text[end:]}".strip()
    if len(terms(sentence[:LONGEST])) < 3 or not text:
        return None
    return Probe(sentence[:LONGEST], row._replace(text=text, words=" ".join(words(text))))


def _by_words(store: Store, probe: Probe) -> float:
    """Return the reciprocal rank of the rest of the page by BM25, 0 when it shares no word."""
    wanted = terms(probe.sentence)
    asked = weigh(wanted, store.counts(wanted), store.stats())

    def score(row: Row) -> float:
        counted = count(asked, row)
        return bm25(asked, counted.times, counted.length)

    own = score(probe.rest)
    others = store.rows(store.matching(list(asked.idf), DEPTH)) if own else []
    better = [row for row in others if row.number != probe.rest.number and score(row) >= own]
    return _reciprocal(len(better)) if own else 0.0


def _by_vectors(vectors: Vectors, probe: Probe, question: Vector, rest: Vector) -> float:
    """Return the reciprocal rank of the rest of the page by cosine."""
    own = float(np.asarray(question) @ np.asarray(rest))
    near = vectors.nearest(question, DEPTH)
    return _reciprocal(sum(near[n] >= own for n in near if n != probe.rest.number))


def _reciprocal(before: int) -> float:
    return 1 / (before + 1) if before < DEPTH - 1 else 0.0
