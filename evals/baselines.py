"""What others search with, over the same pages: plain BM25."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from evals.judged import Entry
from evals.metrics import FIRST
from models.bert import Floats
from retrieval.words import words

Rank = Callable[[str], list[str]]
"""Returns the ids of the pages that fit a question, best first."""


def bm25(entries: Sequence[Entry], k1: float = 1.2, b: float = 0.75) -> Rank:
    """Rank pages by Okapi BM25 with Lucene's weights, title and text as one (stemmed words)."""
    cut = CountVectorizer(analyzer=words)
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
        asked = [cut.vocabulary_[one] for one in words(question) if one in cut.vocabulary_]
        return _best(entries, np.asarray(weights[:, asked].sum(axis=1)).ravel())

    return rank


def _best(entries: Sequence[Entry], worth: Floats) -> list[str]:
    best = np.argsort(-worth, kind="stable")[:FIRST].tolist()
    return [entries[at].id for at in best if worth[at] > 0]
