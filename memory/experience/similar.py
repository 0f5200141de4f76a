"""Which runs asked something similar: one matrix per owner, which grows with its runs."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select

from config.settings import settings
from memory.meanings import maker, vector, vectors
from models.bert import Floats
from models.hashing import hashed
from retrieval.common import topical
from retrieval.words import words
from storage.engine import read_rows
from storage.tables import experiences

OWNERS = 16
"""The questions of so many owners are held in memory."""

NOISE = 0.25
"""The cosine of meanings that nine in ten pairs of unrelated questions stay below."""

QUESTIONS = 2_000
"""The questions of so many runs are compared by their meaning."""

Known = tuple[str, float]
"""A run, and the cosine of its question."""


class Matrix(NamedTuple):
    """The questions of an owner's runs as columns of length 1."""

    revision: int
    size: int
    """How many runs there are; later matrices have others behind these."""
    runs: list[str]
    places: dict[str, int]
    columns: Floats
    """Features by runs: a question has few features, so few rows are looked at."""

    def nearest(self, vector: Floats, limit: int, least: float, without: str = "") -> list[Known]:
        """Return the runs whose cosine is at least so much, the nearest first."""
        if not self.size:
            return []
        near = np.zeros(self.size, np.float32)
        for feature in np.flatnonzero(vector):
            near += vector[feature] * self.columns[feature, : self.size]
        most = min(limit + 1, len(near))
        best = np.argpartition(-near, most - 1)[:most].tolist()
        found = [(self.runs[at], float(near[at])) for at in best if near[at] >= least]
        ranked = sorted(found, key=lambda one: (-one[1], one[0]))
        return [one for one in ranked if one[0] != without][:limit]


async def meant(owner: str, question: str, without: str = "") -> dict[str, float]:
    """Return how far runs asked what a question means, where an embedder knows more than words.

    The cosines of two questions that have nothing to do with each other are mostly below `NOISE`:
    what is above it counts from 0 to 1, so that it stands beside the cosines of words.

    Args:
        owner: Whose runs; the newest `QUESTIONS` are compared.
        question: What is asked.
        without: A run that is left out.
    """
    made_by = await maker()
    asked = await vector(made_by, question) if made_by else None
    if made_by is None or asked is None:
        return {}
    mine = select(experiences.c.run, experiences.c.question).where(
        experiences.c.owner == owner, experiences.c.live == 1, experiences.c.run != without
    )
    newest = mine.order_by(experiences.c.created.desc()).limit(QUESTIONS)
    rows = (await read_rows(newest)).all()
    # Those that have no vector yet get theirs in the order in which they were asked.
    known = await vectors(owner, made_by, [row.question for row in reversed(rows)])
    found = {row.run: float(known[row.question] @ asked) for row in rows if row.question in known}
    return {run: (alike - NOISE) / (1 - NOISE) for run, alike in found.items() if alike > NOISE}


def joined(
    near: Sequence[Known], meant: Mapping[str, float], limit: int, least: float
) -> list[Known]:
    """Return the runs that are near by their words or by their meaning, the nearest first."""
    both = dict(near)
    for run, alike in meant.items():
        if alike >= least:
            both[run] = max(alike, both.get(run, 0.0))
    return sorted(both.items(), key=lambda one: (-one[1], one[0]))[:limit]


def shared(question: str, other: str) -> float:
    """Return how much of what two questions are about they share, in 0..1.

    The cosine of their words, each weighing what it says of a topic: "How do I configure …?" says
    nothing of one.
    """
    ours, theirs = set(words(question)), set(words(other))
    whole = sum(map(topical, ours)) * sum(map(topical, theirs))
    return sum(map(topical, ours & theirs)) / math.sqrt(whole) if whole else 0.0


_turns = threading.Lock()
_matrices: OrderedDict[tuple[str, str], Matrix] = OrderedDict()


def vector_of(question: str) -> Floats:
    """Return the vector of a question, of length 1; zeros if it has no words.

    It is made of its words and parts of words (`models/hashing.py`), so it is the same on every
    machine and in any language, and costs nothing.
    """
    vector: Floats = hashed([question])[0]
    return vector


def packed(vector: Floats) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype(np.float16).tobytes()


def matrix_of(connection: Connection, owner: str) -> Matrix:
    """Return the matrix of an owner; only runs that were added or changed are read."""
    with _turns:
        return _refreshed(connection, owner)


def _refreshed(connection: Connection, owner: str) -> Matrix:
    key = (settings().database, owner)
    known = _matrices.pop(key, Matrix(0, 0, [], {}, np.zeros((0, 0), np.float32)))
    new = select(experiences.c.run, experiences.c.vector, experiences.c.revision).where(
        experiences.c.owner == owner, experiences.c.revision > known.revision
    )
    rows = connection.execute(new.order_by(experiences.c.revision)).all()
    if rows:
        columns = {
            row.run: np.frombuffer(row.vector, np.float16).astype(np.float32) for row in rows
        }
        known = _grown(known, columns, rows[-1].revision)
    _matrices[key] = known
    while len(_matrices) > OWNERS:
        _matrices.popitem(last=False)
    return known


def _grown(known: Matrix, rows: Mapping[str, Floats], revision: int) -> Matrix:
    """Add runs, doubling the room when it is full: one costs the same however many there are."""
    for run in rows:
        if run not in known.places:
            known.places[run] = len(known.runs)
            known.runs.append(run)
    size, columns = len(known.runs), known.columns
    if size > columns.shape[1]:
        columns = _room(columns, len(next(iter(rows.values()))), 2 * size)
    for run, row in rows.items():
        columns[:, known.places[run]] = row
    return Matrix(revision, size, known.runs, known.places, columns)


def _room(columns: Floats, features: int, runs: int) -> Floats:
    room = np.zeros((features, max(64, runs)), np.float32)
    room[: len(columns), : columns.shape[1]] = columns
    return room
