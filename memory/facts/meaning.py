"""Tell how far facts mean what is talked about, where an embedder knows more than words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import numpy as np

from config.settings import settings
from memory.facts.held import Entry, Known
from memory.meanings import maker, understands, vector, vectors
from models.bert import Floats
from models.embeddings import Embedder

NOISE = 0.1
"""The cosine that two texts often have which have nothing to do with each other."""

OWNERS = 16
"""The vectors of the facts of so many owners are held in memory."""


class Rows(NamedTuple):
    """The vectors of facts, in the order of the entries; zeros where there is none yet."""

    entries: Sequence[Entry]
    embedder: str
    whole: bool
    """Whether every fact that can have one has its vector."""
    matrix: Floats


_held: OrderedDict[tuple[str, str], Rows] = OrderedDict()


async def meant(owner: str, held: Known, context: str) -> Floats | None:
    """Return how far each fact means what is talked about, in 0..1; `None` where nobody knows.

    Args:
        owner: Whose facts.
        held: The facts.
        context: What is talked about.
    """
    made_by = await maker()
    if made_by is None or not held.entries or not context.strip():
        return None
    asked = await vector(made_by, context)
    if asked is None:
        return None
    size = len(held.columns.live)
    place = (settings().database, owner)
    rows = _held.pop(place, None)
    if not _current(rows, held, made_by.name):
        rows = await _read(owner, made_by, held, len(asked))
    _held[place] = rows
    while len(_held) > OWNERS:
        _held.popitem(last=False)
    far: Floats = np.clip((rows.matrix[:size] @ asked - NOISE) / (1 - NOISE), 0, 1)
    return far


async def _read(owner: str, made_by: Embedder, held: Known, width: int) -> Rows:
    told = zip(held.entries, held.columns.live.tolist(), strict=False)
    texts = [one.content if live else "" for one, live in told]
    known = await vectors(owner, made_by, [text for text in texts if text])
    nothing = np.zeros(width, np.float32)
    matrix = np.stack([known.get(text, nothing) for text in texts])
    fitting = {text for text in texts if text and understands(made_by, text)}
    return Rows(held.entries, made_by.name, len(known) == len(fitting), matrix)


def _current(rows: Rows | None, held: Known, name: str) -> TypeGuard[Rows]:
    """Tell whether vectors are those of the facts that are held now."""
    return (
        rows is not None
        and rows.whole
        and rows.embedder == name
        and rows.entries is held.entries
        and len(rows.matrix) >= len(held.columns.live)
    )
