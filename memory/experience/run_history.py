"""Past runs: how each ended, and which of them asked something similar."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, Row, bindparam, delete, insert, select

from config.resources import RecentCache, Resource
from config.settings import settings
from memory.experience.credit_assignment import (
    OutcomeSignals,
    classify_outcome,
    flip_sign,
    record_outcome,
    score_outcome,
)
from memory.experience.tables import experience_edges, experiences
from memory.experience.utterances import (
    PLAN_EDIT,
    Utterance,
    infer_dependencies,
    list_utterances_in,
    mark_key_steps,
    store_utterances,
)
from memory.text_vectors import embed_text, load_text_vectors, semantic_embedder
from models.hashing_vectors import FloatMatrix, hash_texts
from storage.engine import read_rows, run_read, run_write
from storage.events import Event, lock_owner, log_event
from storage.tables import events
from storage.upsert import upsert
from text.storable import drop_unstorable
from text.words import search_words, shared_word_weight

OWNERS = 16
"""The questions of so many owners are held in memory."""

NOISE = 0.25
"""The cosine of meanings that nine in ten pairs of unrelated questions stay below."""

QUESTIONS = 2_000
"""The questions of so many runs are compared by their meaning."""

ScoredRun = tuple[str, float]
"""A run, and the cosine of its question."""


class QuestionMatrix(NamedTuple):
    """The questions of an owner's runs as columns of length 1."""

    revision: int
    size: int
    """How many runs there are; later matrices have others behind these."""
    runs: list[str]
    positions: dict[str, int]
    columns: FloatMatrix
    """Features by runs: a question has few features, so few rows are looked at."""

    def nearest(
        self, vector: FloatMatrix, limit: int, least: float, without: str = ""
    ) -> list[ScoredRun]:
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


async def compare_meanings(owner: str, question: str, without: str = "") -> dict[str, float]:
    """Return how far runs asked what a question means, where an embedder knows more than words.

    The cosines of two questions that have nothing to do with each other are mostly below `NOISE`:
    what is above it counts from 0 to 1, so that it stands beside the cosines of words.

    Args:
        owner: Whose runs; the newest `QUESTIONS` are compared.
        question: What is asked.
        without: A run that is left out.
    """
    made_by = await semantic_embedder()
    asked = await embed_text(made_by, question) if made_by else None
    if made_by is None or asked is None:
        return {}
    mine = select(experiences.c.run, experiences.c.question).where(
        experiences.c.owner == owner, experiences.c.live == 1, experiences.c.run != without
    )
    newest = mine.order_by(experiences.c.created.desc()).limit(QUESTIONS)
    rows = (await read_rows(newest)).all()
    # Those that have no vector yet get theirs in the order in which they were asked.
    known = await load_text_vectors(owner, made_by, [row.question for row in reversed(rows)])
    found = {row.run: float(known[row.question] @ asked) for row in rows if row.question in known}
    return {run: (alike - NOISE) / (1 - NOISE) for run, alike in found.items() if alike > NOISE}


def merge_scored_runs(
    near: Sequence[ScoredRun], meant: Mapping[str, float], limit: int, least: float
) -> list[ScoredRun]:
    """Return the runs that are near by their words or by their meaning, the nearest first."""
    both = dict(near)
    for run, alike in meant.items():
        if alike >= least:
            both[run] = max(alike, both.get(run, 0.0))
    return sorted(both.items(), key=lambda one: (-one[1], one[0]))[:limit]


def _topic_overlap(question: str, other: str) -> float:
    """Return how much of what two questions are about they share, in 0..1.

    The cosine of their words, each weighing what it says of a topic: "How do I configure …?" says
    nothing of one.
    """
    ours, theirs = set(search_words(question)), set(search_words(other))
    whole = sum(map(shared_word_weight, ours)) * sum(map(shared_word_weight, theirs))
    return sum(map(shared_word_weight, ours & theirs)) / math.sqrt(whole) if whole else 0.0


_matrix_lock = threading.Lock()
_matrices = Resource(lambda: RecentCache[tuple[str, str], QuestionMatrix](OWNERS))


def question_vector(question: str) -> FloatMatrix:
    """Return the vector of a question, of length 1; zeros if it has no words.

    It is made of its words and parts of words (`models/hashing_vectors.py`), so it is the same on
    every machine and in any language, and costs nothing.
    """
    vector: FloatMatrix = hash_texts([question])[0]
    return vector


def pack_vector(vector: FloatMatrix) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype(np.float16).tobytes()


def load_question_matrix(connection: Connection, owner: str) -> QuestionMatrix:
    """Return the matrix of an owner; only runs that were added or changed are read."""
    with _matrix_lock:
        return _refreshed(connection, owner)


def _refreshed(connection: Connection, owner: str) -> QuestionMatrix:
    key = (settings().database, owner)
    known = _matrices.get().get(key, QuestionMatrix(0, 0, [], {}, np.zeros((0, 0), np.float32)))
    new = select(experiences.c.run, experiences.c.vector, experiences.c.revision).where(
        experiences.c.owner == owner, experiences.c.revision > known.revision
    )
    rows = connection.execute(new.order_by(experiences.c.revision)).all()
    if rows:
        columns = {
            row.run: np.frombuffer(row.vector, np.float16).astype(np.float32) for row in rows
        }
        known = _grown(known, columns, rows[-1].revision)
    _matrices.get()[key] = known
    return known


def _grown(known: QuestionMatrix, rows: Mapping[str, FloatMatrix], revision: int) -> QuestionMatrix:
    """Add runs, doubling the room when it is full: one costs the same however many there are."""
    for run in rows:
        if run not in known.positions:
            known.positions[run] = len(known.runs)
            known.runs.append(run)
    size, columns = len(known.runs), known.columns
    if size > columns.shape[1]:
        columns = _allocate(columns, len(next(iter(rows.values()))), 2 * size)
    for run, row in rows.items():
        columns[:, known.positions[run]] = row
    return QuestionMatrix(revision, size, known.runs, known.positions, columns)


def _allocate(columns: FloatMatrix, features: int, runs: int) -> FloatMatrix:
    room = np.zeros((features, max(64, runs)), np.float32)
    room[: len(columns), : columns.shape[1]] = columns
    return room


NEIGHBOURS = 10
"""To so many similar runs an edge is drawn."""

ALIKE = 0.3
"""The least cosine of two similar questions; the vectors are of words (`similar.vector_of`)."""

TOPIC = 0.4
"""So much of what they are about two questions share at the least that are similar by words."""


class PastRun(NamedTuple):
    """How a run ended."""

    run: str
    question: str
    status: str
    outcome: float
    signs: OutcomeSignals
    reason: str
    created: float
    revision: int


class RunEnding(NamedTuple):
    """How a run ends."""

    question: str
    signs: OutcomeSignals
    reason: str = ""
    """Why it did not end well."""
    utterances: Sequence[Utterance] = ()
    """What was said and done, where it was not kept as the run went."""
    similar_runs: Mapping[str, float] = MappingProxyType({})
    """How far other runs asked what it means, where an embedder knows."""


async def record_run_end(
    owner: str,
    run: str,
    question: str,
    signs: OutcomeSignals,
    *,
    reason: str = "",
    utterances: Sequence[Utterance] | None = None,
) -> PastRun:
    """Write down how a run ended, in one transaction: node, edges, key steps and credit.

    Doing it again, as after a crash or when a run goes on, puts the new ending in place of the old.

    Args:
        owner: Whose run.
        run: Its id.
        question: What was asked.
        signs: What tells how it ended.
        reason: Why it did not end well.
        utterances: What was said and done, where it was not kept as the run went.
    """
    alike = await compare_meanings(owner, question, without=run)
    ending = RunEnding(question, signs, reason, utterances or (), alike)
    return await run_write(lambda connection: record_run_end_in(connection, owner, run, ending))


def record_run_end_in(connection: Connection, owner: str, run: str, ending: RunEnding) -> PastRun:
    """Do the same in a transaction of the caller's."""
    lock_owner(connection, owner)
    store_utterances(connection, owner, run, ending.utterances)
    steps = [one for one in list_utterances_in(connection, owner, run) if one.kind != PLAN_EDIT]
    mark_key_steps(connection, infer_dependencies(steps))
    vector = question_vector(ending.question)
    words = load_question_matrix(connection, owner).nearest(vector, NEIGHBOURS, ALIKE, without=run)
    words = filter_on_topic(connection, owner, ending.question, words)
    near = merge_scored_runs(words, ending.similar_runs, NEIGHBOURS, ALIKE)
    _link_similar(connection, owner, run, near)
    return _put(connection, owner, run, _with_person(connection, owner, run, ending))


async def rate_past_run(owner: str, run: str, good: bool, why: str = "") -> PastRun | None:
    """Let a person say how a run ended; return how it stands now, or `None` if there is no such."""

    def work(connection: Connection) -> PastRun | None:
        lock_owner(connection, owner)
        known = find_past_run_in(connection, owner, run)
        if known is None:
            return None
        signs = known.signs._replace(person=float(good))
        reason = why if why or good else known.reason
        return _put(connection, owner, run, RunEnding(known.question, signs, reason))

    return await run_write(work)


async def list_past_runs(owner: str, limit: int = 100) -> list[PastRun]:
    """Return how an owner's runs ended, the newest first."""
    wanted = select(experiences).where(*_mine(owner))
    newest = wanted.order_by(experiences.c.created.desc(), experiences.c.run).limit(limit)
    return await run_read(
        lambda connection: [past_run_from_row(row) for row in connection.execute(newest)]
    )


async def find_past_run(owner: str, run: str) -> PastRun | None:
    """Return how a run of an owner ended, or `None`."""
    return await run_read(lambda connection: find_past_run_in(connection, owner, run))


def find_past_run_in(connection: Connection, owner: str, run: str) -> PastRun | None:
    """Return the same, in a transaction of the caller's."""
    wanted = select(experiences).where(*_mine(owner), experiences.c.run == run)
    row = connection.execute(wanted).first()
    return None if row is None else past_run_from_row(row)


def find_past_runs_in(connection: Connection, owner: str, named: Sequence[str]) -> list[PastRun]:
    """Return how some runs ended, in any order; those that are unknown are left out."""
    wanted = select(experiences).where(*_mine(owner), experiences.c.run.in_(named))
    return [past_run_from_row(row) for row in connection.execute(wanted)]


def filter_on_topic(
    connection: Connection, owner: str, question: str, near: Sequence[ScoredRun]
) -> list[ScoredRun]:
    """Return those of some runs whose questions are about what a question is about."""
    asked = {
        one.run: one.question for one in find_past_runs_in(connection, owner, [r for r, _ in near])
    }
    return [one for one in near if _topic_overlap(question, asked.get(one[0], "")) >= TOPIC]


def find_linked_runs(
    connection: Connection, owner: str, here: Mapping[str, float]
) -> dict[str, float]:
    """Return the runs one edge away from some runs, with the best product of weight and edge.

    Of the edges that lead to a run, of which there may be many, the heaviest are followed.

    Args:
        connection: Of a transaction that reads.
        owner: Whose runs.
        here: Where to start, and the weight of each.
    """
    reached: dict[str, float] = {}
    for run, worth in here.items():
        values = {"its_owner": owner, "here": run}
        for edges in (_OUTGOING_EDGES, _INCOMING_EDGES):
            for there, weight in connection.execute(edges, values):
                if there not in here:
                    reached[there] = max(worth * weight, reached.get(there, 0.0))
    return reached


def _mine(owner: str) -> tuple[ColumnElement[bool], ...]:
    return experiences.c.owner == owner, experiences.c.live == 1


_OUTGOING_EDGES = select(experience_edges.c.other, experience_edges.c.weight).where(
    experience_edges.c.owner == bindparam("its_owner"),
    experience_edges.c.run == bindparam("here"),
)
_INCOMING_EDGES = (
    select(experience_edges.c.run, experience_edges.c.weight)
    .where(
        experience_edges.c.owner == bindparam("its_owner"),
        experience_edges.c.other == bindparam("here"),
    )
    .order_by(experience_edges.c.weight.desc())
    .limit(NEIGHBOURS)
)


def _with_person(connection: Connection, owner: str, run: str, ending: RunEnding) -> RunEnding:
    """Return an ending with what the person has said of the run, before it ended or at any time."""
    if ending.signs.person is not None:
        return ending
    said = select(events.c.name, events.c.after).where(
        events.c.owner == owner, events.c.item == run, events.c.name.startswith("feedback.")
    )
    newest = connection.execute(said.order_by(events.c.id.desc()).limit(1)).first()
    if newest is None:
        return ending
    why = str((json.loads(newest.after or "{}")).get("text", ""))
    good = float(newest.name == "feedback.up")
    return ending._replace(signs=ending.signs._replace(person=good), reason=why or ending.reason)


def _put(connection: Connection, owner: str, run: str, ending: RunEnding) -> PastRun:
    before = find_past_run_in(connection, owner, run)
    value = score_outcome(ending.signs)
    question, reason = drop_unstorable(ending.question), drop_unstorable(ending.reason)
    created = before.created if before else time.time()
    now = PastRun(run, question, classify_outcome(value), value, ending.signs, reason, created, 0)
    was, told = _event_data(before) if before else None, _event_data(now)
    revision = log_event(
        connection, Event(owner, "experience.end", run, was, told, "tool", reason, run)
    )
    now = now._replace(revision=revision)
    connection.execute(upsert(experiences, {"owner": owner, "run": run}, _row(now)))
    won = now.status == "resolved"
    if before is not None and won != (before.status == "resolved"):
        flip_sign(connection, owner, run, won)
    record_outcome(connection, owner, run, won, revision)
    return now


def _event_data(one: PastRun) -> dict[str, Any]:
    return {"status": one.status, "outcome": one.outcome, "signs": one.signs._asdict()}


def _row(one: PastRun) -> dict[str, Any]:
    row = {**one._asdict(), "signs": json.dumps(one.signs._asdict()), "live": 1}
    return {**row, "vector": pack_vector(question_vector(one.question))}


def _link_similar(connection: Connection, owner: str, run: str, near: Sequence[ScoredRun]) -> None:
    edges = experience_edges
    mine = (edges.c.owner == owner, edges.c.run == run, edges.c.kind == "similar")
    connection.execute(delete(edges).where(*mine))
    if near:
        row = {"owner": owner, "run": run, "kind": "similar"}
        rows = [{**row, "other": other, "weight": cosine} for other, cosine in near]
        connection.execute(insert(edges), rows)


def past_run_from_row(row: Row[Any]) -> PastRun:
    """Return an experience of its row."""
    told = {name: getattr(row, name) for name in PastRun._fields}
    return PastRun(**{**told, "signs": OutcomeSignals(**json.loads(row.signs))})
