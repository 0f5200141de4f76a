"""Find out what the vectors of the store are worth, when they have grown by a half."""

from __future__ import annotations

import asyncio
from functools import partial

from sqlalchemy import Connection

from models.embeddings import Embedder, embedder
from retrieval.index import Index
from retrieval.trust import trust
from retrieval.vector import Nearest, shelves
from runs.faults import client_errors
from storage.engine import read, write
from storage.vectors import VectorSet, judged, outgrown


async def judge() -> bool:
    """Measure what one set of vectors is worth that has grown; return whether there was one.

    Call it until there is none. Where the embedder fails, the set is judged another time.

    Raises:
        Problem: If the embedder that is set cannot be had.
    """
    current = await asyncio.to_thread(embedder)
    if current is None or not current.knows:
        return False
    grown = await read(partial(outgrown, embedder=current.name))
    if grown is None:
        return False
    try:
        worth = await read(partial(_measured, grown=grown, maker=current))
    except client_errors():
        return False
    await write(partial(judged, number=grown.number, trust=worth))
    return True


def _measured(connection: Connection, grown: VectorSet, maker: Embedder) -> dict[str, float]:
    index = Index(connection, [grown.namespace])
    return trust(index, Nearest(index, [(shelf, grown) for shelf in shelves(index)]), maker.pages)
