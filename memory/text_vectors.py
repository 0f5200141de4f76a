"""Vectors of short texts, such as facts and questions: each is made once and stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256

import numpy as np
from sqlalchemy import select

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

MAX_NEW_VECTORS = 64
"""The most texts that get a vector at a time; the others get theirs later."""

CACHED_OWNERS = 16
"""How many owners' vectors are cached."""

ENGLISH_PREFIX = "minilm"
"""The prefix of the names of embedders that know only English."""

CACHED_PASSAGES = 4_096
"""How many vectors of passages are cached; they are not stored."""

_passages = Resource(lambda: RecentCache[tuple[str, str], FloatMatrix](CACHED_PASSAGES))
"""The vectors of passages by embedder and text."""

_stored = Resource(lambda: RecentCache[tuple[str, str, str], dict[str, FloatMatrix]](CACHED_OWNERS))
"""The stored vectors by database, owner and embedder."""


async def semantic_embedder() -> Embedder | None:
    """Return the configured embedder if it knows meanings, and not only words."""
    # Loading an embedder takes a thread, which one of words alone is not worth.
    if embedder_name() in LEXICAL_EMBEDDERS:
        return None
    with suppress(Problem):
        found = await asyncio.to_thread(load_embedder)
        return found if found is not None and found.is_semantic else None
    return None


def supports_language(made_by: Embedder, text: str) -> bool:
    """Tell whether an embedder knows the language of a text."""
    return not made_by.name.startswith(ENGLISH_PREFIX) or detect_language(text) == "en"


async def embed_text(made_by: Embedder, text: str) -> FloatMatrix | None:
    """Return the vector of a question; `None` if the embedder cannot make one now."""
    with suppress(Problem):
        if supports_language(made_by, text):
            return await asyncio.to_thread(embed_question, made_by, text)
    return None


async def passage_similarity(
    asked_for: Sequence[str], passages: Sequence[str]
) -> FloatMatrix | None:
    """Return the cosines of passages and questions: a row for each passage.

    Questions in a language that the embedder does not know are left out; `None` if none is left, or
    the embedder cannot be used now. The steps of a run compare the same passages again and again,
    so their vectors are cached.
    """
    made_by = await semantic_embedder()
    if made_by is None or not passages:
        return None
    rows = [await embed_text(made_by, text) for text in dict.fromkeys(asked_for) if text.strip()]
    found = [row for row in rows if row is not None]
    with suppress(Problem):
        of = await asyncio.to_thread(_remembered, made_by, passages) if found else None
        return None if of is None else of @ np.stack(found).T
    return None


def _remembered(made_by: Embedder, passages: Sequence[str]) -> FloatMatrix | None:
    """Return the vectors of passages, from the cache or made now; `None` if a cap prevents some."""
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
    """Return the vectors of an owner's texts, by text, as far as there are any.

    The last `MAX_NEW_VECTORS` missing ones are made now, so that a call never waits for many.
    """
    known = await _known(owner, made_by.name)
    fitting = [text for text in dict.fromkeys(texts) if supports_language(made_by, text)]
    new = [text for text in fitting if _key(text) not in known][-MAX_NEW_VECTORS:]
    if new:
        known |= await _made(owner, made_by, new)
    return {text: known[key] for text in fitting if (key := _key(text)) in known}


async def _made(owner: str, made_by: Embedder, texts: Sequence[str]) -> dict[str, FloatMatrix]:
    """Make vectors and store them; none if the embedder cannot be used now."""
    try:
        made = await asyncio.to_thread(embed_as_allowed, made_by, texts)
    except Problem:
        return {}
    found = {_key(text): row for text, row in zip(texts, made, strict=False)}
    place = {"owner": owner, "embedder": made_by.name}
    rows = [{**place, "key": key, "vector": pack_vector(row)} for key, row in found.items()]

    new = dialect_insert(meanings).on_conflict_do_nothing()
    await run_write(lambda connection: connection.execute(new, rows))
    return found


async def _known(owner: str, name: str) -> dict[str, FloatMatrix]:
    place = (settings().database, owner, name)
    stored = _stored.get()
    if place not in stored:
        mine = select(meanings.c.key, meanings.c.vector).filter_by(owner=owner, embedder=name)
        rows = await run_read(lambda connection: connection.execute(mine).all())
        vectors = {row.key: np.frombuffer(row.vector, np.float16) for row in rows}
        stored[place] = {key: row.astype(np.float32) for key, row in vectors.items()}
    return stored[place]


def _key(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def pack_vector(vector: FloatMatrix) -> bytes:
    """Return a vector as it is stored."""
    return vector.astype(np.float16).tobytes()
