"""Vectors of short texts, such as facts and questions: each is made once and stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from sqlalchemy import Connection, select

from config.errors import Problem
from config.resources import RecentCache, Resource
from config.settings import settings
from library.query_vectors import embed_as_allowed, embed_question, embedding_lock
from memory.tables import meanings
from models.embeddings import LEXICAL_EMBEDDERS, Embedder, embedder_name, load_embedder
from models.hashing_vectors import FloatMatrix
from storage.engine import run_read, run_write
from storage.upsert import dialect_insert
from text.script import detect_language

MOST = 64
"""So many texts get a vector at a time; the others get theirs later."""

OWNERS = 16
"""The vectors of so many owners are held in memory."""

ENGLISH = "minilm"
"""How the names of embedders begin that know English only."""

REMEMBERED = 4_096
"""How many vectors of passages a process remembers; none is kept beyond it."""

_passages = Resource(lambda: RecentCache[tuple[str, str], FloatMatrix](REMEMBERED))
"""The vectors of passages by embedder and text."""

_stored = Resource(lambda: RecentCache[tuple[str, str, str], dict[str, FloatMatrix]](OWNERS))
"""The stored vectors by database, owner and embedder."""


async def semantic_embedder() -> Embedder | None:
    """Return the embedder that is set, if it knows more of a text than its words."""
    # What knows no more than words need not be made, which is the work of a thread.
    if embedder_name() in LEXICAL_EMBEDDERS:
        return None
    try:
        found = await asyncio.to_thread(load_embedder)
    except Problem:
        return None
    return found if found is not None and found.is_semantic else None


def supports_language(made_by: Embedder, text: str) -> bool:
    """Tell whether an embedder knows the language of a text."""
    return not made_by.name.startswith(ENGLISH) or detect_language(text) == "en"


async def embed_text(made_by: Embedder, text: str) -> FloatMatrix | None:
    """Return the vector of what is asked; `None` where the embedder cannot make one now."""
    if not supports_language(made_by, text):
        return None
    try:
        return await asyncio.to_thread(embed_question, made_by, text)
    except Problem:
        return None


async def passage_similarity(
    asked_for: Sequence[str], passages: Sequence[str]
) -> FloatMatrix | None:
    """Return how like passages are to what is asked for: a row for each, a cosine for each text.

    What is in a language that the embedder does not know is left out; `None` where nothing is left,
    or no embedder can be asked now. The steps of a run look at the same passages again and again,
    so their vectors are remembered.
    """
    made_by = await semantic_embedder()
    if made_by is None or not passages:
        return None
    rows = [await embed_text(made_by, text) for text in dict.fromkeys(asked_for) if text.strip()]
    found = [row for row in rows if row is not None]
    if not found:
        return None
    try:
        of = await asyncio.to_thread(_remembered, made_by, passages)
    except Problem:
        return None
    return None if of is None else of @ np.stack(found).T


def _remembered(made_by: Embedder, passages: Sequence[str]) -> FloatMatrix | None:
    """Return the vectors of passages, those that are not remembered made now.

    `None` where a cap prevents some of them.
    """
    with embedding_lock:
        remembered = _passages.get()
        known = {text: remembered.get((made_by.name, text)) for text in passages}
        new = [text for text, row in known.items() if row is None]
        if new:
            made = embed_as_allowed(made_by, new)
            known |= dict(zip(new, made, strict=False))
        for text, row in known.items():
            if row is not None:
                remembered[made_by.name, text] = row
    found = [row for text in passages if (row := known[text]) is not None]
    return np.stack(found) if len(found) == len(passages) else None


async def load_text_vectors(
    owner: str, made_by: Embedder, texts: Sequence[str]
) -> dict[str, FloatMatrix]:
    """Return the vectors of an owner's texts, by text; those that are not made yet are left out.

    Of these the last `MOST` are made now, so that a call never waits for many.
    """
    known = await _known(owner, made_by.name)
    fitting = [text for text in dict.fromkeys(texts) if supports_language(made_by, text)]
    new = [text for text in fitting if _key(text) not in known][-MOST:]
    if new:
        known |= await _made(owner, made_by, new)
    return {text: known[key] for text in fitting if (key := _key(text)) in known}


async def _made(owner: str, made_by: Embedder, texts: Sequence[str]) -> dict[str, FloatMatrix]:
    """Make vectors and keep them; none where the embedder cannot be asked now."""
    try:
        made = await asyncio.to_thread(embed_as_allowed, made_by, texts)
    except Problem:
        return {}
    found = {_key(text): row for text, row in zip(texts, made, strict=False)}
    rows = [
        {"owner": owner, "embedder": made_by.name, "key": key, "vector": _packed(row)}
        for key, row in found.items()
    ]

    def keep(connection: Connection) -> None:
        connection.execute(dialect_insert(meanings).on_conflict_do_nothing(), rows)

    await run_write(keep)
    return found


async def _known(owner: str, name: str) -> dict[str, FloatMatrix]:
    place = (settings().database, owner, name)
    stored = _stored.get()
    if place not in stored:
        mine = select(meanings.c.key, meanings.c.vector).where(
            meanings.c.owner == owner, meanings.c.embedder == name
        )
        rows = await run_read(lambda connection: connection.execute(mine).all())
        stored[place] = {row.key: _unpacked(row.vector) for row in rows}
    return stored[place]


def _key(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _packed(row: FloatMatrix) -> bytes:
    return row.astype(np.float16).tobytes()


def _unpacked(data: bytes) -> FloatMatrix:
    return np.frombuffer(data, np.float16).astype(np.float32)
