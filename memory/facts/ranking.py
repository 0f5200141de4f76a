"""Rank facts by how similar they are to what a call is about, and how sure they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from config.resources import RecentCache, Resource
from config.settings import settings
from memory.facts.cache import FactEntry, FactSnapshot
from memory.protocol import Note
from memory.text_vectors import embed_text, load_text_vectors, semantic_embedder, supports_language
from models.embeddings import Embedder
from models.hashing_vectors import FloatMatrix
from text.regex import regex
from text.tfidf import RowNumbers, SimilarityArray, best_rows
from text.words import shared_word_weight

NOISE_COSINE = 0.1
"""The cosine that two unrelated texts often have."""

CACHED_OWNERS = 16
"""How many owners' fact vectors are cached."""

MAX_FACTS = 200
"""The most facts of one call."""

CORRECTION_SHARE = 0.1
"""The part of the budget that corrections have for themselves."""

FRAME_TOKENS, BYTES_PER_TOKEN = 5, 5
"""The tokens around a fact, and how many bytes of a text a token has at most."""

MIN_SIMILARITY = 0.05
"""The similarity below which a fact is left out of a question that is not about the person."""

PERSONAL_PATTERN = regex(
    r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|I['’]|我|咱|俺|本人|自己的", re.IGNORECASE
)
"""Matches where somebody speaks of themselves."""


class _FactVectors(NamedTuple):
    """The vectors of facts, in the order of the entries; zeros where there is none yet."""

    entries: Sequence[FactEntry]
    embedder: str
    complete: bool
    """Whether every fact that can have a vector has one."""
    matrix: FloatMatrix


_vectors = Resource(lambda: RecentCache[tuple[str, str], _FactVectors](CACHED_OWNERS))


async def fact_embedding_similarity(
    owner: str, known: FactSnapshot, context: str
) -> FloatMatrix | None:
    """Return the similarity in meaning of each fact to a text, in 0..1.

    Args:
        owner: Whose facts.
        known: The facts.
        context: What the call is about.

    Returns:
        One value for each entry; `None` where no embedder knows more than words.
    """
    embedder = await semantic_embedder()
    if embedder is None or not known.entries or not context.strip():
        return None
    vector = await embed_text(embedder, context)
    if vector is None:
        return None
    size = len(known.columns.live)
    key = (settings().database, owner)
    rows = _vectors.get().get(key)
    is_same = rows is not None and rows.complete and rows.embedder == embedder.name
    if rows is None or not (is_same and rows.entries is known.entries and len(rows.matrix) >= size):
        rows = await _read_vectors(owner, embedder, known, len(vector))
    _vectors.get()[key] = rows
    cosines = rows.matrix[:size] @ vector
    similarity: FloatMatrix = np.clip((cosines - NOISE_COSINE) / (1 - NOISE_COSINE), 0, 1)
    return similarity


async def _read_vectors(
    owner: str, embedder: Embedder, known: FactSnapshot, width: int
) -> _FactVectors:
    entries = zip(known.entries, known.columns.live.tolist(), strict=False)
    texts = [entry.content if live else "" for entry, live in entries]
    vectors = await load_text_vectors(owner, embedder, [text for text in texts if text])
    zeros = np.zeros(width, np.float32)
    matrix = np.stack([vectors.get(text, zeros) for text in texts])
    embeddable = {text for text in texts if text and supports_language(embedder, text)}
    return _FactVectors(known.entries, embedder.name, len(vectors) == len(embeddable), matrix)


def fact_similarity(
    known: FactSnapshot, context: str, meaning: SimilarityArray | None = None
) -> SimilarityArray | None:
    """Return how similar each fact is to a text, in 0..1; `None` where nothing tells.

    Words and meaning are independent evidence: 1 - (1 - words) * (1 - meaning).

    Args:
        known: The facts.
        context: What the call is about.
        meaning: The similarity in meaning of each fact, if known.
    """
    cosines = known.tfidf.similarity(context, shared_word_weight)
    if meaning is None or cosines is None:
        return meaning if cosines is None else cosines
    return 1 - (1 - cosines) * (1 - meaning)


def keep_relevant(known: FactSnapshot, *similarities: SimilarityArray | None) -> FactSnapshot:
    """Return the facts without those that cannot matter to what a call is about.

    Args:
        known: The facts.
        similarities: How similar each fact is, by one measure or several; `None` is ignored.
    """
    columns = known.columns
    relevant = columns.always
    for values in similarities:
        relevant = relevant if values is None else relevant | (values >= MIN_SIMILARITY)
    return known._replace(columns=columns._replace(live=columns.live & relevant))


def rank_facts(
    known: FactSnapshot, similarity: SimilarityArray | None, budget: int, now: float
) -> list[Note]:
    """Return the corrections that have a place of their own, then the best facts.

    Args:
        known: The facts.
        similarity: How similar each fact is to what the call is about; `None` where unknown.
        budget: The most tokens; no more facts are returned than these might hold.
        now: The time at which a fact must hold.
    """
    columns = known.columns
    scores = columns.confidence
    if similarity is None:
        similarity = np.zeros(len(scores), dtype=np.float32)
    else:
        weights = settings()
        scores = weights.fact_similarity * similarity + weights.fact_confidence * scores
    holds = columns.live & columns.trusted & (columns.begins <= now) & (now < columns.ends)
    scores = np.where(holds, scores, -np.inf)
    best = best_rows(scores, max(1, min(MAX_FACTS, budget // (FRAME_TOKENS + 1))))
    sizes = FRAME_TOKENS + columns.size[best] // BYTES_PER_TOKEN
    best = best[np.cumsum(sizes) <= budget]
    pinned = _corrections(known, scores, int(budget * CORRECTION_SHARE)).tolist()
    rows = list(dict.fromkeys([*pinned, *best.tolist()]))
    parts = np.stack([similarity[rows], columns.confidence[rows], scores[rows]], axis=1)
    scored = zip(rows, np.round(parts.astype(np.float64), 6).tolist(), strict=True)
    return [
        _note(known.entries[row], *part, pinned=order < len(pinned))
        for order, (row, part) in enumerate(scored)
    ]


def _corrections(known: FactSnapshot, scores: SimilarityArray, budget: int) -> RowNumbers:
    """Return the rows of the best corrections that fit into a number of tokens."""
    tokens = known.columns.tokens
    best = best_rows(np.where(tokens > 0, scores, -np.inf), max(1, budget // FRAME_TOKENS))
    return best[np.cumsum(tokens[best]) <= budget]


def _note(
    entry: FactEntry, similarity: float, confidence: float, score: float, *, pinned: bool
) -> Note:
    parts = {"similarity": similarity, "confidence": confidence, "score": score}
    return Note(entry.category, entry.content, entry.id, entry.revision, parts, pinned)
