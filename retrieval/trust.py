"""Find out what vectors are worth in a store, by asking it about its own pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval.bm25 import bm25, count, weigh
from retrieval.pool import Row, Store, Vector, Vectors
from retrieval.script import language
from retrieval.text import sentences
from retrieval.words import terms, words

SAMPLE = 240
"""From so many pages sentences are taken."""
PROBES = 48
"""So many sentences of a language are asked."""
FEWEST = 8
"""From fewer nothing can be told."""
DEPTH = 100
"""A page that is not among so many is not found."""
LONGEST = 300
"""So many characters of a sentence are asked."""
LITTLE = 0.1
"""Words that find less than this are counted as if they found so much."""
NONE, FULL = 0.5, 0.9
"""Vectors that find so much of what words find are not trusted at all, or wholly.

Measured: MiniLM finds 0.7 to 1.3 times as much as words in English, and 0.2 times in Chinese, which
it does not know.
"""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Makes texts a matrix with a row of length 1 for each."""


class Probe(NamedTuple):
    """Something to ask the store, and what it should find."""

    question: str
    row: Row
    """The page it is from, without it; or the turn that it is."""
    beside: frozenset[int] = frozenset()
    """The turns beside it, one of which is sought; when there are none, the page is."""


def embedded(title: str, speaker: str, text: str) -> str:
    """Return what is embedded of a page: who says what, or the title and the text."""
    if speaker:
        return f"{speaker}: {text}"
    return f"{title}. {text}" if title else text


def trust(
    store: Store,
    vectors: Vectors,
    embed: Embed,
) -> dict[str, float]:
    """Return what the vectors of a store's pages are worth beside its words, in 0..1, by language.

    A sentence is taken out of a page and asked as a question (the inverse cloze task of Lee, Chang
    and Toutanova, ACL 2019): does its page, without the sentence, come before the other pages? A
    turn of a dialogue is asked as it stands, and a turn beside it sought. Words and vectors are
    asked the same, and their mean reciprocal ranks are compared. It costs two embeddings for a
    probe, so do it when the store has grown by a half, and keep the result. A language of too few
    pages to tell is left out.
    """
    probes: dict[str, list[Probe]] = {}
    for row in store.sample(SAMPLE):
        if probe := _turn(store, row) if row.speaker else _sentence(row):
            probes.setdefault(language(probe.question), []).append(probe)
    return {
        name: _worth(store, vectors, embed, some[:PROBES])
        for name, some in probes.items()
        if len(some) >= FEWEST
    }


def _worth(
    store: Store,
    vectors: Vectors,
    embed: Embed,
    probes: Sequence[Probe],
) -> float:
    asked = embed([probe.question for probe in probes])
    rests = embed([embedded(row.title, row.speaker, row.text) for _, row, _ in probes])
    by_words = sum(_by_words(store, probe) for probe in probes)
    by_vectors = sum(
        _by_vectors(vectors, probe, question, rest)
        for probe, question, rest in zip(probes, asked, rests, strict=True)
    )
    by_chance = len(probes) * _chance(store.stats().pages)
    found = (by_vectors - by_chance) / max(by_words, LITTLE * len(probes))
    return min(1.0, max(0.0, (found - NONE) / (FULL - NONE)))


def _turn(store: Store, row: Row) -> Probe | None:
    beside = frozenset(other.number for other in store.beside([row.number]))
    return Probe(row.text[:LONGEST], row, beside) if beside and _says(row.text) else None


def _sentence(row: Row) -> Probe | None:
    """Return the sentence in the middle of a page, and the page without it."""
    spans = sentences(row.text)
    if len(spans) < 2:
        return None
    start, end, sentence = spans[len(spans) // 2]
    text = f"{row.text[:start]}{row.text[end:]}".strip()
    if not text or not _says(sentence):
        return None
    return Probe(sentence[:LONGEST], row._replace(text=text, words=" ".join(words(text))))


def _says(text: str) -> bool:
    return len(terms(text[:LONGEST])) >= 3


def _by_words(store: Store, probe: Probe) -> float:
    """Return the reciprocal rank by words of what is sought."""
    wanted = terms(probe.question)
    numbers = store.matching(wanted, DEPTH)
    if probe.beside:
        return _first(numbers, probe)
    asked = weigh(wanted, store.counts(wanted), store.stats())

    def score(row: Row) -> float:
        counted = count(asked, row)
        return bm25(asked, counted.times, counted.length)

    own = score(probe.row)
    if not own:
        return 0.0
    others = [row for row in store.rows(numbers) if row.number != probe.row.number]
    return _reciprocal(sum(score(row) >= own for row in others))


def _by_vectors(vectors: Vectors, probe: Probe, question: Vector, rest: Vector) -> float:
    """Return the reciprocal rank by cosine of what is sought."""
    near = vectors.nearest(question, DEPTH)
    if probe.beside:
        return _first(sorted(near, key=lambda number: -near[number]), probe)
    own = float(np.asarray(question) @ np.asarray(rest))
    return _reciprocal(sum(near[number] >= own for number in near if number != probe.row.number))


def _first(numbers: Sequence[int], probe: Probe) -> float:
    others = [number for number in numbers if number != probe.row.number]
    return next((_reciprocal(at) for at, one in enumerate(others) if one in probe.beside), 0.0)


def _chance(pages: int) -> float:
    """Return the mean reciprocal rank of a page in a list in any order."""
    return sum(map(_reciprocal, range(pages))) / max(pages, 1)


def _reciprocal(before: int) -> float:
    return 1 / (before + 1) if before < DEPTH - 1 else 0.0
