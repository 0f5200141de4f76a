"""The memory of facts: what is known of a person, and what was."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, select, update

from config.errors import ErrorCode, Problem
from config.resources import RecentCache, Resource
from config.settings import settings
from memory.facts import cache, queries, store
from memory.facts.cache import FactEntry, FactSnapshot, load_fact_snapshot
from memory.facts.fact import Fact, FactData, NewFact, fact_event_data, facts_in_event
from memory.protocol import Erase, ErasureRequest, Export, Memory, MemoryItem, Note, Query
from memory.tables import facts
from memory.text_vectors import embed_text, load_text_vectors, semantic_embedder, supports_language
from models.embeddings import Embedder
from models.hashing_vectors import FloatMatrix
from storage.events import LoggedEvent, Reversal, Reverse, empty_events, find_event, undoing
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

_PERSONAL = regex(
    r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b|I['’]|我|咱|俺|本人|自己的", re.IGNORECASE
)
"""Matches where somebody speaks of themselves."""


class FactMemory(Memory):
    """The facts of an owner, ranked by similarity to the conversation and by confidence.

    A score is 0.6 * similarity + 0.4 * confidence. The similarity is the cosine of the TF-IDF
    vectors of the fact and of the last turns with what the call is about, in which common words
    count little and those of requests nothing; an embedder's cosine is joined with it. Where the
    turns share no word with any fact, the score is the confidence alone. Corrections have a part
    of the budget for themselves. For a question that is not about the person, only preferences,
    corrections and facts with some similarity are returned.
    """

    name = "facts"
    share = 0.4
    event_names = ("fact",)

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the facts that hold now, as many as the budget may have room for, best first."""
        known = await load_fact_snapshot(query.owner, query.revision)
        meaning = await fact_embedding_similarity(query.owner, known, query.context)
        similarity = _similarity(known, query.context, meaning)
        whole = f"{query.question}\n{query.context}"
        if query.question and not _PERSONAL.search(whole):
            known = _keep_relevant(known, similarity, _similarity(known, whole))
        return _rank(known, similarity, budget, time.time())

    async def record(
        self,
        owner: str,
        new: NewFact,
        *,
        run: str = "",
        why: str = "",
        replaced: Sequence[str] = (),
        step: str = "",
    ) -> Fact:
        """Store a fact; the facts with the ids `replaced` become history.

        Raises:
            Problem: What `memory.facts.store.add_fact` raises.
        """
        return await store.add_fact(owner, new, replaced=replaced, why=why, run=run, step=step)

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[MemoryItem]:
        """Return the facts, the newest first."""
        found = await queries.list_facts(owner, include_ended=every)
        return [_item(fact) for fact in reversed(found)][:limit]

    async def find_by_id(self, owner: str, id: str) -> list[MemoryItem]:
        """Return the facts whose id begins so; by its whole id also one that was forgotten."""
        exact = await queries.find_fact(owner, id)
        if exact is not None:
            return [_item(exact)]
        known = await queries.list_facts(owner, include_ended=True)
        return [_item(fact) for fact in known if fact.id.startswith(id)]

    async def find_revision(
        self, owner: str, id: str, revision: int
    ) -> tuple[str | None, MemoryItem | None]:
        """Return what the event of a revision logged of a fact, and the fact as it is now."""
        _, item = await super().find_revision(owner, id, revision)
        logged = await find_event(owner, revision)
        then = facts_in_event(logged.event.item, logged.event.after) if logged else {}
        return (str(then[id]["content"]) if id in then else None), item

    async def search(self, owner: str, query: str, limit: int) -> list[MemoryItem]:
        """Return the current facts that match."""
        return [_item(fact) for fact in await cache.search_facts(owner, query, limit)]

    async def edit(self, owner: str, id: str, text: str) -> MemoryItem:
        """Replace the text of a fact; it is the person's own word from then on."""
        return _item(await store.edit_fact(owner, id, text, why="edited by the person"))

    async def undo(self, logged: LoggedEvent) -> Reverse:
        """Restore the facts of an event as they were before it.

        Raises:
            Problem: `undo_conflict` if they were changed or forgotten since, or another fact says
                the same by now.
        """
        return partial(_undo, logged=logged)

    async def export(self, owner: str) -> Export:
        """Return what reads every fact that was not forgotten."""
        wanted = select(facts).where(facts.c.owner == owner, facts.c.content != "")
        return lambda connection: {
            "facts": [{**row._mapping, "live": row.live == 1} for row in connection.execute(wanted)]
        }

    async def erase(self, request: ErasureRequest) -> Erase:
        """Empty the named facts and those that repeat them, and redact the quotes of others."""
        return partial(_erase, request=request)


FACTS = FactMemory()


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


def _similarity(
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


def _keep_relevant(known: FactSnapshot, *similarities: SimilarityArray | None) -> FactSnapshot:
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


def _rank(
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


def _item(fact: Fact) -> MemoryItem:
    more = fact._asdict()
    id, content, kind = (more.pop(name) for name in ("id", "content", "category"))
    item = MemoryItem("facts", id, content, kind=kind, state=_state(fact), more=more)
    return item._replace(at=fact.created, provenance=fact.provenance, run=fact.run)


def _state(fact: Fact) -> str:
    if not fact.content:
        return "forgotten"
    if fact.superseded_by:
        return "replaced"
    return "" if fact.live else "removed"


def _undo(connection: Connection, logged: LoggedEvent) -> Reversal:
    event = logged.event
    before, after = (facts_in_event(event.item, side) for side in (event.before, event.after))
    ids = list(before | after)
    if not ids:
        raise _conflict(logged, "it was forgotten")
    found = {fact.id: fact for fact in queries.select_facts(connection, event.owner, ids)}
    if any(_logged_state(found.get(id)) != after.get(id) for id in ids):
        raise _conflict(logged, "it was changed since")
    restored = [Fact(id=id, revision=0, **was) for id, was in before.items()]
    for fact in (one for one in restored if one.live):
        same = queries.select_same_fact(connection, event.owner, fact.content)
        if same and same.id not in ids:
            raise _conflict(logged, f"{same.id} says the same by now")
    added = [found[id] for id in ids if id not in before]
    ended = [one._replace(live=False, valid_to=time.time(), superseded_by="") for one in added]

    def write(number: int) -> None:
        for fact in [*ended, *restored]:
            store.put_fact(connection, event.owner, fact._replace(revision=number))

    return Reversal(undoing(logged, "fact.undo"), write)


def _logged_state(fact: Fact | None) -> FactData | None:
    if fact is None or not (fact.live or fact.superseded_by):
        return None
    return fact_event_data(fact)


def _conflict(logged: LoggedEvent, what: str) -> Problem:
    what, where = f"it cannot be taken back: {what}", f"event {logged.id}, fact {logged.event.item}"
    hint = "see `dossier memory log`, and edit it instead"
    return Problem(ErrorCode.UNDO_CONFLICT, what, where=where, hint=hint)


def find_repeating_facts(connection: Connection, request: ErasureRequest) -> list[str]:
    """Return the ids of the facts that repeat what is erased, beside those that are named."""
    mine = select(facts.c.id, facts.c.content).filter_by(owner=request.owner)
    others = mine.where(facts.c.content != "", facts.c.id.not_in(request.ids))
    return [id for id, text in connection.execute(others) if request.redact(text) != text]


def _erase(connection: Connection, request: ErasureRequest) -> None:
    ids = [*request.ids, *find_repeating_facts(connection, request)]
    quotes = select(facts.c.id, facts.c.quote).filter_by(owner=request.owner)
    for id, quote in connection.execute(quotes.where(facts.c.quote != "")).all():
        if (redacted := request.redact(quote)) != quote:
            its = update(facts).filter_by(owner=request.owner, id=id)
            connection.execute(its.values(quote=redacted))
    empty_events(connection, request.owner, ids)
    store.forget_facts(connection, request.owner, ids, why=request.why)
