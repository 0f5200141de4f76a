"""Keep large sets of vectors in Chroma: in folders of this machine, or on a server.

A client of Chroma that is open does not see what another process adds to a collection, and a
process that adds to what another has added to drops the other's vectors from the index. So a
collection is written once, by one process, and only read after that; a new one takes its place.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from config.errors import Problem
from config.settings import settings
from retrieval.chroma_client import close, folder, reach, told, unavailable
from storage.vectors import Floats, Part

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateCollectionConfiguration

OPEN = 8
"""How many collections a process keeps open."""

BROAD = 400
"""A search asks for no fewer neighbours, since it looks around only as far as it is asked for."""

AT_ONCE = 5_000
"""How many vectors Chroma is given at once; it takes no more than 5,461."""

NEIGHBOURS = 10
"""Among so many of its nearest a vector must be found itself."""

BUILDING = 3_600.0
"""How many seconds a server may take to be given a whole collection."""

AGAIN = 60.0
"""Seconds before a Chroma that failed is asked again."""


class Built(NamedTuple):
    """How many vectors a collection has, and the pages whose vectors cannot be found in it."""

    held: int
    lost: list[int]


class Opened(NamedTuple):
    """A collection, and the client it is read through."""

    client: Client
    collection: Collection


_open: OrderedDict[str, Opened] = OrderedDict()
_opening = threading.Lock()
_failed: dict[str, float] = {}


def new_name() -> str:
    """Return a name that no collection has."""
    return f"dossier-{uuid4().hex}"


def sizes(count: int) -> list[int]:
    """Return into how many parts of which size a collection of `count` vectors is written."""
    number = max(1, -(-count // AT_ONCE))
    size, more = divmod(count, number)
    return [size + 1] * more + [size] * (number - more)


def build(name: str, count: int, parts: Callable[[], Iterator[Part]]) -> Built:
    """Write a collection.

    The graph behind it (HNSW, Malkov and Yashunin 2020) cuts off some vectors that are much like
    many others, so each is looked for.

    Args:
        name: What it will be called.
        count: How many vectors there are.
        parts: Gives them all, in parts as `sizes` says; called twice.

    Raises:
        Problem: `chroma_unavailable`.
    """
    return told(name, lambda: _build(name, min(sizes(count)), parts), BUILDING)


def _build(name: str, smallest: int, parts: Callable[[], Iterator[Part]]) -> Built:
    # What is not in the graph's file yet is put into the graph anew, and otherwise, whenever the
    # collection is opened; the file is written after so many vectors, so after every part.
    shape: CreateCollectionConfiguration = {
        "hnsw": {"space": "cosine", "sync_threshold": max(smallest, 2)}
    }
    lost: list[int] = []
    client = reach(name)
    try:
        collection = client.create_collection(name, embedding_function=None, configuration=shape)
        for part in parts():
            collection.add(ids=[str(page) for page in part.pages], embeddings=part.matrix)
        for part in parts():
            found = collection.query(part.matrix, n_results=NEIGHBOURS, include=[])["ids"]
            pairs = zip(part.pages.tolist(), found, strict=True)
            lost += [page for page, near in pairs if str(page) not in near]
        return Built(collection.count(), lost)
    finally:
        close(client)


def nearest(name: str, vector: Floats, limit: int) -> dict[int, float]:
    """Return the cosines of the nearest pages of a collection, by page number.

    Raises:
        Problem: `chroma_unavailable`; for a while after it failed, without asking again.
    """
    if time.monotonic() < _failed.get(name, 0):
        raise unavailable(name, "it failed a moment ago")
    try:
        return told(name, lambda: _nearest(name, vector, limit), settings().connect_seconds)
    except Problem:
        _failed[name] = time.monotonic() + AGAIN
        raise


def _nearest(name: str, vector: Floats, limit: int) -> dict[int, float]:
    wanted = max(limit, BROAD)
    found = _opened(name).collection.query(vector, n_results=wanted, include=["distances"])
    pairs = zip(found["ids"][0], (found["distances"] or [[]])[0], strict=True)
    return {int(page): 1 - away for page, away in list(pairs)[:limit]}


def drop(name: str) -> None:
    """Remove a collection, as far as it is there and can be reached; none if the name is empty."""
    opened = _open.pop(name, None)
    if opened is not None:
        close(opened.client)
    if name and settings().chroma_url:
        with suppress(Problem):
            told(name, lambda: reach(name).delete_collection(name), settings().connect_seconds)
    elif name:
        shutil.rmtree(folder(name), ignore_errors=True)


def _opened(name: str) -> Opened:
    with _opening:
        if name not in _open:
            # Chroma would make an empty folder.
            if not settings().chroma_url and not folder(name).is_dir():
                raise FileNotFoundError(name)
            client = reach(name)
            collection = client.get_collection(name, embedding_function=None)
            _open[name] = Opened(client, collection)
        _open.move_to_end(name)
        while len(_open) > OPEN:
            close(_open.popitem(last=False)[1].client)
        return _open[name]
