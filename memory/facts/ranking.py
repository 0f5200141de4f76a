"""Tell a model call the facts that fit what is talked about, and those that are sure."""

from __future__ import annotations

import math
import re
import time
from typing import NamedTuple

import numpy as np

from config.errors import Problem
from config.settings import settings
from memory.base import Note, Query
from memory.facts.held import Entry, Known, known
from memory.facts.meaning import meant
from retrieval.common import topical
from retrieval.regex import regex
from retrieval.tfidf import Floats, Places, best

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


class Weights(NamedTuple):
    """How much similarity and confidence count in the score of a fact."""

    similarity: float
    confidence: float


class Facts:
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
        held = await known(query.owner, query.revision)
        like = likeness(held, query.context, await meant(query.owner, held, query.context))
        whole = f"{query.question}\n{query.context}"
        if query.question and not _PERSONAL.search(whole):
            held = relevant(held, like, likeness(held, whole))
        return rank(held, like, budget, self._weights(), time.time())

    def _weights(self) -> Weights:
        similarity, confidence = self._given
        usual = settings()
        return checked(
            Weights(
                usual.fact_similarity if similarity is None else similarity,
                usual.fact_confidence if confidence is None else confidence,
            )
        )


def checked(weights: Weights) -> Weights:
    """Return weights that make a score.

    Raises:
        Problem: `config_value` unless both are from 0 to 1, and one is not 0.
    """
    for name, value in weights._asdict().items():
        if not (math.isfinite(value) and 0 <= value <= 1):
            what = f"the weight of {name} is {value}"
            raise Problem("config_value", what, where="facts", hint="use a number from 0 to 1")
    if not any(weights):
        what = "the weights of similarity and confidence are both 0"
        raise Problem("config_value", what, where="facts", hint="make one of them more")
    return weights


def likeness(held: Known, context: str, meaning: Floats | None = None) -> Floats | None:
    """Return how like each fact is to what is talked about, in 0..1; `None` where nothing tells.

    Words and meaning say it independently of each other: 1 - (1 - words) * (1 - meaning).

    Args:
        held: The facts.
        context: What is talked about.
        meaning: How far each fact means that, where an embedder knows.
    """
    cosines = held.shelf.likeness(context, topical)
    if meaning is None or cosines is None:
        return meaning if cosines is None else cosines
    return 1 - (1 - cosines) * (1 - meaning)


def relevant(held: Known, *alike: Floats | None) -> Known:
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


def rank(
    held: Known, cosines: Floats | None, budget: int, weights: Weights, now: float
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
    chosen = best(scores, max(1, min(MOST, budget // (FRAME + 1))))
    sizes = FRAME + columns.size[chosen] // BYTES
    chosen = chosen[np.cumsum(sizes) <= budget]
    must = _corrections(held, scores, int(budget * CORRECTIONS)).tolist()
    places = list(dict.fromkeys([*must, *chosen.tolist()]))
    parts = np.stack([cosines[places], columns.confidence[places], scores[places]], axis=1)
    told = zip(places, np.round(parts.astype(np.float64), 6).tolist(), strict=True)
    return [
        _note(held.entries[at], *of, must=order < len(must)) for order, (at, of) in enumerate(told)
    ]


def _corrections(held: Known, scores: Floats, room: int) -> Places:
    """Return the places of the best corrections that a number of tokens has room for."""
    tokens = held.columns.tokens
    chosen = best(np.where(tokens > 0, scores, -np.inf), max(1, room // FRAME))
    return chosen[np.cumsum(tokens[chosen]) <= room]


def _note(entry: Entry, similarity: float, confidence: float, score: float, *, must: bool) -> Note:
    parts = {"similarity": similarity, "confidence": confidence, "score": score}
    return Note(entry.category, entry.content, entry.id, entry.revision, parts, must)
