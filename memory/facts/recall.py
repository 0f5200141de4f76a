"""Tell a model call the facts that fit what is talked about, and show people all of them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import numpy as np

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from config.settings import settings
from memory.facts import cache, queries, store
from memory.facts.cache import FactEntry, FactSnapshot, load_fact_snapshot
from memory.facts.fact import Fact
from memory.protocol import CatalogItem, Note, Query
from memory.text_vectors import embed_text, load_text_vectors, semantic_embedder, supports_language
from models.embeddings import Embedder
from models.hashing_vectors import FloatMatrix
from text.regex import regex
from text.tfidf import RowNumbers, SimilarityArray, best_rows
from text.words import shared_word_weight

NOISE = 0.1
"""The cosine that two texts often have which have nothing to do with each other."""

OWNERS = 16
"""The vectors of the facts of so many owners are held in memory."""


class _FactVectors(NamedTuple):
    """The vectors of facts, in the order of the entries; zeros where there is none yet."""

    entries: Sequence[FactEntry]
    embedder: str
    whole: bool
    """Whether every fact that can have one has its vector."""
    matrix: FloatMatrix


_vectors = Resource(lambda: RecentCache[tuple[str, str], _FactVectors](OWNERS))


async def fact_embedding_similarity(
    owner: str, held: FactSnapshot, context: str
) -> FloatMatrix | None:
    """Return how far each fact means what is talked about, in 0..1; `None` where nobody knows.

    Args:
        owner: Whose facts.
        held: The facts.
        context: What is talked about.
    """
    made_by = await semantic_embedder()
    if made_by is None or not held.entries or not context.strip():
        return None
    asked = await embed_text(made_by, context)
    if asked is None:
        return None
    size = len(held.columns.live)
    place = (settings().database, owner)
    rows = _vectors.get().get(place)
    if not _current(rows, held, made_by.name):
        rows = await _read_vectors(owner, made_by, held, len(asked))
    _vectors.get()[place] = rows
    far: FloatMatrix = np.clip((rows.matrix[:size] @ asked - NOISE) / (1 - NOISE), 0, 1)
    return far


async def _read_vectors(
    owner: str, made_by: Embedder, held: FactSnapshot, width: int
) -> _FactVectors:
    told = zip(held.entries, held.columns.live.tolist(), strict=False)
    texts = [one.content if live else "" for one, live in told]
    known = await load_text_vectors(owner, made_by, [text for text in texts if text])
    nothing = np.zeros(width, np.float32)
    matrix = np.stack([known.get(text, nothing) for text in texts])
    fitting = {text for text in texts if text and supports_language(made_by, text)}
    return _FactVectors(held.entries, made_by.name, len(known) == len(fitting), matrix)


def _current(rows: _FactVectors | None, held: FactSnapshot, name: str) -> TypeGuard[_FactVectors]:
    """Tell whether vectors are those of the facts that are held now."""
    return (
        rows is not None
        and rows.whole
        and rows.embedder == name
        and rows.entries is held.entries
        and len(rows.matrix) >= len(held.columns.live)
    )


MOST = 200
"""How many facts are told at the most."""

CORRECTIONS = 0.1
"""The part of the budget that corrections have for themselves."""

FRAME, BYTES = 5, 5
"""How many tokens stand around a fact; how many bytes of a text make a token, or more do."""

LEAST = 0.05
"""How like what is talked about a fact is at least, where that is not about the person."""

_PERSONAL = regex(
    r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|I['’]|我|咱|俺|本人|自己的", re.IGNORECASE
)


class FactWeights(NamedTuple):
    """How much similarity and confidence count in the score of a fact."""

    similarity: float
    confidence: float


class FactMemory:
    """The facts of an owner, by how much they are like what is talked about, and how sure.

    A score is 0.6 * similarity + 0.4 * confidence: similarity is the cosine of TF-IDF vectors of
    the fact and of the last turns with what the call is about, in which common words count little
    and those of requests nothing, joined with that of meanings where an embedder knows them. Where
    they share no word with any fact, it is the confidence alone. Corrections have a part of the
    budget for themselves. To a question in which nobody speaks of themselves, only preferences,
    corrections and facts that are a little like it are told.
    """

    name = "facts"
    share = 0.4

    def __init__(self, similarity: float | None = None, confidence: float | None = None) -> None:
        """Say what counts how much; the settings say it where it is left out.

        Raises:
            Problem: `config_value` unless both are from 0 to 1, and one is not 0.
        """
        self._given = similarity, confidence
        if None not in self._given:
            self._weights()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the facts that hold now, as many as there may be room for, best first."""
        held = await load_fact_snapshot(query.owner, query.revision)
        like = fact_similarity(
            held, query.context, await fact_embedding_similarity(query.owner, held, query.context)
        )
        whole = f"{query.question}\n{query.context}"
        if query.question and not _PERSONAL.search(whole):
            held = _relevant(held, like, fact_similarity(held, whole))
        return rank_facts(held, like, budget, self._weights(), time.time())

    def _weights(self) -> FactWeights:
        similarity, confidence = self._given
        usual = settings()
        return _checked(
            FactWeights(
                usual.fact_similarity if similarity is None else similarity,
                usual.fact_confidence if confidence is None else confidence,
            )
        )


def _checked(weights: FactWeights) -> FactWeights:
    """Return weights that make a score.

    Raises:
        Problem: `config_value` unless both are from 0 to 1, and one is not 0.
    """
    for name, value in weights._asdict().items():
        if not (math.isfinite(value) and 0 <= value <= 1):
            what = f"the weight of {name} is {value}"
            raise Problem(
                ErrorCode.CONFIG_VALUE, what, where="facts", hint="use a number from 0 to 1"
            )
    if not any(weights):
        what = "the weights of similarity and confidence are both 0"
        raise Problem(ErrorCode.CONFIG_VALUE, what, where="facts", hint="make one of them more")
    return weights


def fact_similarity(
    held: FactSnapshot, context: str, meaning: SimilarityArray | None = None
) -> SimilarityArray | None:
    """Return how like each fact is to what is talked about, in 0..1; `None` where nothing tells.

    Words and meaning say it independently of each other: 1 - (1 - words) * (1 - meaning).

    Args:
        held: The facts.
        context: What is talked about.
        meaning: How far each fact means that, where an embedder knows.
    """
    cosines = held.tfidf.similarity(context, shared_word_weight)
    if meaning is None or cosines is None:
        return meaning if cosines is None else cosines
    return 1 - (1 - cosines) * (1 - meaning)


def _relevant(held: FactSnapshot, *alike: SimilarityArray | None) -> FactSnapshot:
    """Return the facts without those that cannot matter to what is talked about.

    Args:
        held: The facts.
        alike: How like each of them is to what is talked about, by one measure or several; `None`
            where nothing tells.
    """
    columns = held.columns
    matters = columns.always
    for like in alike:
        matters = matters if like is None else matters | (like >= LEAST)
    return held._replace(columns=columns._replace(live=columns.live & matters))


def rank_facts(
    held: FactSnapshot,
    cosines: SimilarityArray | None,
    budget: int,
    weights: FactWeights,
    now: float,
) -> list[Note]:
    """Return the facts that are told: corrections that have a place of their own, then the best.

    Args:
        held: The facts.
        cosines: How like each of them is to what is talked about; `None` where nothing tells.
        budget: How many tokens there are; no more is returned than they might hold.
        weights: What counts how much.
        now: The time at which a fact must hold.
    """
    columns = held.columns
    scores = columns.confidence
    if cosines is None:
        cosines = np.zeros(len(scores), dtype=np.float32)
    else:
        scores = weights.similarity * cosines + weights.confidence * scores
    holds = columns.live & columns.trusted & (columns.begins <= now) & (now < columns.ends)
    scores = np.where(holds, scores, -np.inf)
    chosen = best_rows(scores, max(1, min(MOST, budget // (FRAME + 1))))
    sizes = FRAME + columns.size[chosen] // BYTES
    chosen = chosen[np.cumsum(sizes) <= budget]
    must = _corrections(held, scores, int(budget * CORRECTIONS)).tolist()
    places = list(dict.fromkeys([*must, *chosen.tolist()]))
    parts = np.stack([cosines[places], columns.confidence[places], scores[places]], axis=1)
    told = zip(places, np.round(parts.astype(np.float64), 6).tolist(), strict=True)
    return [
        _note(held.entries[at], *of, must=order < len(must)) for order, (at, of) in enumerate(told)
    ]


def _corrections(held: FactSnapshot, scores: SimilarityArray, room: int) -> RowNumbers:
    """Return the places of the best corrections that a number of tokens has room for."""
    tokens = held.columns.tokens
    chosen = best_rows(np.where(tokens > 0, scores, -np.inf), max(1, room // FRAME))
    return chosen[np.cumsum(tokens[chosen]) <= room]


def _note(
    entry: FactEntry, similarity: float, confidence: float, score: float, *, must: bool
) -> Note:
    parts = {"similarity": similarity, "confidence": confidence, "score": score}
    return Note(entry.category, entry.content, entry.id, entry.revision, parts, must)


class FactView:
    """What is known of a person, and what was."""

    name = "facts"

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return the facts, the newest first."""
        found = await queries.list_facts(owner, include_ended=every)
        return [_item(fact) for fact in reversed(found)][:limit]

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return the facts whose id begins so; of one that was forgotten that it was."""
        whole = await queries.find_fact(owner, id)
        if whole is not None:
            return [_item(whole)]
        every = await queries.list_facts(owner, include_ended=True)
        return [_item(fact) for fact in every if fact.id.startswith(id)]

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return the facts that are known now and fit."""
        return [_item(fact) for fact in await cache.search_facts(owner, query, limit)]

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Let a fact say something else; it is the person's own word from then on."""
        return _item(await store.edit_fact(owner, id, text, why="edited by the person"))


def _item(fact: Fact) -> CatalogItem:
    told = fact._asdict()
    more = {name: told[name] for name in told if name not in ("id", "content", "category")}
    state = _state(fact)
    return CatalogItem(
        "facts",
        fact.id,
        fact.content,
        kind=fact.category,
        state=state,
        at=fact.created,
        provenance=fact.provenance,
        run=fact.run,
        more=more,
    )


def _state(fact: Fact) -> str:
    if not fact.content:
        return "forgotten"
    if fact.superseded_by:
        return "replaced"
    return "" if fact.live else "removed"
