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
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, Select, bindparam, delete, insert, select

from config.resources import RecentCache, Resource
from config.settings import settings
from memory.experience import credit_assignment
from memory.experience.utterances import (
    PLAN_EDIT,
    Utterance,
    infer_dependencies,
    list_utterances_in,
    mark_key_steps,
    store_utterances,
)
from memory.tables import experience_edges, experiences
from memory.text_vectors import embed_text, load_text_vectors, pack_vector, semantic_embedder
from models.hashing_vectors import FloatMatrix, hash_texts
from storage.engine import read_rows, run_read, run_write
from storage.events import Event, lock_owner, log_event
from storage.tables import events
from storage.upsert import upsert
from text.normalization import drop_unstorable
from text.words import search_words, shared_word_weight

CACHED_OWNERS = 16
"""How many owners' questions are cached."""

NOISE_COSINE = 0.25
"""The cosine of meanings that nine in ten pairs of unrelated questions stay below."""

MAX_COMPARED_QUESTIONS = 2_000
"""The most questions that are compared by their meaning."""

ScoredRun = tuple[str, float]
"""A run, and the cosine of its question."""


class QuestionMatrix(NamedTuple):
    """The questions of an owner's runs as columns of length 1."""

    revision: int
    size: int
    """How many runs there are; later matrices append to the columns."""
    runs: list[str]
    positions: dict[str, int]
    columns: FloatMatrix
    """Features by runs: a question has few features, so few rows are looked at."""

    def nearest(
        self, vector: FloatMatrix, limit: int, least: float, without: str = ""
    ) -> list[ScoredRun]:
        """Return the runs with at least a cosine, the nearest first."""
        if not self.size:
            return []
        cosines = np.zeros(self.size, np.float32)
        for feature in np.flatnonzero(vector):
            cosines += vector[feature] * self.columns[feature, : self.size]
        most = min(limit + 1, len(cosines))
        best = np.argpartition(-cosines, most - 1)[:most].tolist()
        found = [(self.runs[at], float(cosines[at])) for at in best if cosines[at] >= least]
        ranked = sorted(found, key=lambda one: (-one[1], one[0]))
        return [one for one in ranked if one[0] != without][:limit]


async def compare_meanings(owner: str, question: str, without: str = "") -> dict[str, float]:
    """Return how similar in meaning the questions of runs are, if an embedder knows meanings.

    The cosine of two unrelated questions is mostly below `NOISE_COSINE`; what is above it is scaled
    to 0..1, so that it is comparable with the cosine of words.

    Args:
        owner: Whose runs; the newest `MAX_COMPARED_QUESTIONS` are compared.
        question: What is asked.
        without: A run that is left out.
    """
    embedder = await semantic_embedder()
    vector = await embed_text(embedder, question) if embedder else None
    if embedder is None or vector is None:
        return {}
    others = _live(owner).where(experiences.c.run != without)
    mine = others.with_only_columns(experiences.c.run, experiences.c.question)
    newest = mine.order_by(experiences.c.created.desc()).limit(MAX_COMPARED_QUESTIONS)
    rows = (await read_rows(newest)).all()
    # Missing vectors are made in the order in which the questions were asked.
    vectors = await load_text_vectors(owner, embedder, [row.question for row in reversed(rows)])
    return {
        row.run: (cosine - NOISE_COSINE) / (1 - NOISE_COSINE)
        for row in rows
        if row.question in vectors
        and (cosine := float(vectors[row.question] @ vector)) > NOISE_COSINE
    }


def find_similar_runs(
    connection: Connection,
    owner: str,
    question: str,
    meanings: Mapping[str, float],
    limit: int,
    least: float,
    *,
    without: str = "",
    on_topic: bool = True,
) -> list[ScoredRun]:
    """Return the runs whose questions are similar by words or by meaning, the most similar first.

    Args:
        connection: To read by.
        owner: Whose runs.
        question: What is asked.
        meanings: How similar in meaning the questions of runs are (`compare_meanings`).
        limit: The most runs.
        least: The least similarity, in 0..1.
        without: A run that is left out.
        on_topic: Whether runs that are similar by words must share the topic too.
    """
    matrix = load_question_matrix(connection, owner)
    near = matrix.nearest(question_vector(question), limit, least, without)
    if on_topic:
        past = find_past_runs_in(connection, owner, [run for run, _ in near])
        asked = {one.run: one.question for one in past}
        near = [one for one in near if _topic_overlap(question, asked.get(one[0], "")) >= MIN_TOPIC]
    both = dict(near)
    for run, similarity in meanings.items():
        if similarity >= least:
            both[run] = max(similarity, both.get(run, 0.0))
    return sorted(both.items(), key=lambda one: (-one[1], one[0]))[:limit]


def _topic_overlap(question: str, other: str) -> float:
    """Return how much of their topics two questions share, in 0..1.

    The cosine of their words, weighted by what they say of a topic: "How do I configure …?" says
    nothing of one.
    """
    ours, theirs = set(search_words(question)), set(search_words(other))
    whole = sum(map(shared_word_weight, ours)) * sum(map(shared_word_weight, theirs))
    return sum(map(shared_word_weight, ours & theirs)) / math.sqrt(whole) if whole else 0.0


_matrix_lock = threading.Lock()
_matrices = Resource(lambda: RecentCache[tuple[str, str], QuestionMatrix](CACHED_OWNERS))


def question_vector(question: str) -> FloatMatrix:
    """Return the vector of a question, of length 1; zeros if it has no words.

    It hashes words and parts of words (`models/hashing_vectors.py`), so it is the same on every
    machine and for any language.
    """
    vector: FloatMatrix = hash_texts([question])[0]
    return vector


def load_question_matrix(connection: Connection, owner: str) -> QuestionMatrix:
    """Return the matrix of an owner; only added and changed runs are read."""
    key = (settings().database, owner)
    with _matrix_lock:
        empty = QuestionMatrix(0, 0, [], {}, np.zeros((0, 0), np.float32))
        known = _matrices.get().get(key, empty)
        new = select(experiences.c.run, experiences.c.vector, experiences.c.revision).where(
            experiences.c.owner == owner, experiences.c.revision > known.revision
        )
        rows = connection.execute(new.order_by(experiences.c.revision)).all()
        if rows:
            columns = {row.run: np.frombuffer(row.vector, np.float16) for row in rows}
            known = _grown(known, columns, rows[-1].revision)
        _matrices.get()[key] = known
        return known


def _grown(
    known: QuestionMatrix, vectors: Mapping[str, NDArray[np.float16]], revision: int
) -> QuestionMatrix:
    """Add runs; the capacity doubles when it is full, so that adding takes constant time."""
    for run in vectors:
        if run not in known.positions:
            known.positions[run] = len(known.runs)
            known.runs.append(run)
    size, columns = len(known.runs), known.columns
    if size > columns.shape[1]:
        features = len(next(iter(vectors.values())))
        columns = np.zeros((features, max(64, 2 * size)), np.float32)
        columns[: len(known.columns), : known.columns.shape[1]] = known.columns
    for run, vector in vectors.items():
        columns[:, known.positions[run]] = vector
    return QuestionMatrix(revision, size, known.runs, known.positions, columns)


MAX_NEIGHBORS = 10
"""The most similar runs to which an edge is drawn."""

MIN_EDGE_COSINE = 0.3
"""The least cosine of two similar questions."""

MIN_TOPIC = 0.4
"""The least overlap of the topics of two questions that are similar by words."""


class PastRun(NamedTuple):
    """How a run ended."""

    run: str
    question: str
    status: str
    outcome: float
    signs: credit_assignment.OutcomeSignals
    reason: str
    created: float
    revision: int


class RunEnding(NamedTuple):
    """How a run ends."""

    question: str
    signs: credit_assignment.OutcomeSignals
    reason: str = ""
    """Why it did not end well."""
    utterances: Sequence[Utterance] = ()
    """Its utterances, if they were not stored during the run."""
    meanings: Mapping[str, float] = MappingProxyType({})
    """How similar in meaning the questions of other runs are."""


async def record_run_end(owner: str, run: str, ending: RunEnding) -> PastRun:
    """Store how a run ended, in one transaction: node, edges, key steps and credit.

    A second call, as after a crash or when a run goes on, replaces the ending.
    """
    meanings = await compare_meanings(owner, ending.question, without=run)
    ending = ending._replace(meanings=meanings)
    return await run_write(lambda connection: record_run_end_in(connection, owner, run, ending))


def record_run_end_in(connection: Connection, owner: str, run: str, ending: RunEnding) -> PastRun:
    """Do the same in a transaction of the caller's."""
    lock_owner(connection, owner)
    store_utterances(connection, owner, run, ending.utterances)
    steps = [one for one in list_utterances_in(connection, owner, run) if one.kind != PLAN_EDIT]
    mark_key_steps(connection, infer_dependencies(steps))
    limits = (MAX_NEIGHBORS, MIN_EDGE_COSINE)
    similar = find_similar_runs(
        connection, owner, ending.question, ending.meanings, *limits, without=run
    )
    _link_similar(connection, owner, run, similar)
    return _put(connection, owner, run, _with_person(connection, owner, run, ending))


async def rate_past_run(owner: str, run: str, good: bool, why: str = "") -> PastRun | None:
    """Store a person's verdict on a run; return the run, or `None` if it is unknown."""

    def work(connection: Connection) -> PastRun | None:
        """Set the person's sign; a bad rating without a reason keeps the known reason."""
        lock_owner(connection, owner)
        known = find_past_run_in(connection, owner, run)
        if known is None:
            return None
        signs = known.signs._replace(person=float(good))
        reason = why if why or good else known.reason
        return _put(connection, owner, run, RunEnding(known.question, signs, reason))

    return await run_write(work)


async def find_past_run(owner: str, run: str) -> PastRun | None:
    """Return how a run of an owner ended, or `None`."""
    return await run_read(lambda connection: find_past_run_in(connection, owner, run))


def find_past_run_in(connection: Connection, owner: str, run: str) -> PastRun | None:
    """Return the same, in a transaction of the caller's."""
    row = connection.execute(_live(owner).filter_by(run=run)).first()
    return None if row is None else past_run_from_row(row)


def find_past_runs_in(connection: Connection, owner: str, named: Sequence[str]) -> list[PastRun]:
    """Return how some runs ended, in their order; those that are unknown are left out."""
    wanted = _live(owner).where(experiences.c.run.in_(named))
    found = {row.run: past_run_from_row(row) for row in connection.execute(wanted)}
    return [found[run] for run in named if run in found]


def find_linked_runs(
    connection: Connection, owner: str, here: Mapping[str, float]
) -> dict[str, float]:
    """Return the runs one edge away from some runs, with the best product of weight and edge.

    Of the incoming edges of a run, of which there may be many, the heaviest are followed.

    Args:
        connection: To read by.
        owner: Whose runs.
        here: The runs to start from, each with its weight.
    """
    reached: dict[str, float] = {}
    for run, start_weight in here.items():
        values = {"its_owner": owner, "here": run}
        for edges in (_OUTGOING_EDGES, _HEAVIEST_EDGES):
            for other, weight in connection.execute(edges, values):
                if other not in here:
                    reached[other] = max(start_weight * weight, reached.get(other, 0.0))
    return reached


def _live(owner: str) -> Select[Any]:
    return select(experiences).filter_by(owner=owner, live=1)


_OUTGOING_EDGES = select(experience_edges.c.other, experience_edges.c.weight).filter_by(
    owner=bindparam("its_owner"), run=bindparam("here")
)
_INCOMING_EDGES = select(experience_edges.c.run, experience_edges.c.weight).filter_by(
    owner=bindparam("its_owner"), other=bindparam("here")
)
_HEAVIEST_EDGES = _INCOMING_EDGES.order_by(experience_edges.c.weight.desc()).limit(MAX_NEIGHBORS)


def _with_person(connection: Connection, owner: str, run: str, ending: RunEnding) -> RunEnding:
    """Return an ending with the person's latest verdict on the run, if any."""
    if ending.signs.person is not None:
        return ending
    its = select(events.c.name, events.c.after).filter_by(owner=owner, item=run)
    verdicts = its.where(events.c.name.startswith("feedback.")).order_by(events.c.id.desc())
    newest = connection.execute(verdicts.limit(1)).first()
    if newest is None:
        return ending
    why = str(json.loads(newest.after or "{}").get("text", ""))
    good = float(newest.name == "feedback.up")
    return ending._replace(signs=ending.signs._replace(person=good), reason=why or ending.reason)


def _put(connection: Connection, owner: str, run: str, ending: RunEnding) -> PastRun:
    before = find_past_run_in(connection, owner, run)
    value = credit_assignment.score_outcome(ending.signs)
    question, reason = drop_unstorable(ending.question), drop_unstorable(ending.reason)
    created = before.created if before else time.time()
    status = credit_assignment.classify_outcome(value)
    now = PastRun(run, question, status, value, ending.signs, reason, created, 0)
    data = _event_data(before) if before else None, _event_data(now)
    event = Event(owner, "experience.end", run, *data, "tool", reason, run)
    now = now._replace(revision=log_event(connection, event))
    row = {**now._asdict(), "signs": json.dumps(now.signs._asdict()), "live": 1}
    row["vector"] = pack_vector(question_vector(question))
    connection.execute(upsert(experiences, {"owner": owner, "run": run}, row))
    won = now.status == "resolved"
    if before is not None and won != (before.status == "resolved"):
        credit_assignment.flip_sign(connection, owner, run, won)
    credit_assignment.record_outcome(connection, owner, run, won, now.revision)
    return now


def _event_data(one: PastRun) -> dict[str, Any]:
    return {"status": one.status, "outcome": one.outcome, "signs": one.signs._asdict()}


def _link_similar(connection: Connection, owner: str, run: str, near: Sequence[ScoredRun]) -> None:
    mine = {"owner": owner, "run": run, "kind": "similar"}
    connection.execute(delete(experience_edges).filter_by(**mine))
    if near:
        rows = [{**mine, "other": other, "weight": cosine} for other, cosine in near]
        connection.execute(insert(experience_edges), rows)


def past_run_from_row(row: Row[Any]) -> PastRun:
    """Return the run of a row."""
    fields = {name: getattr(row, name) for name in PastRun._fields}
    return PastRun(**{**fields, "signs": credit_assignment.OutcomeSignals(**json.loads(row.signs))})
