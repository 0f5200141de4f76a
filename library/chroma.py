"""Collections of vectors in Chroma, on this machine or on a server: build, query and drop them."""

from __future__ import annotations

import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit
from uuid import uuid4

from config.errors import ErrorCode, Problem
from config.resources import Resource
from config.settings import settings
from library.vector_rows import FloatArray, VectorBatch
from storage.connect import is_database_shared

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.fastapi import FastAPI


Answer = TypeVar("Answer")


def _close_servers(clients: dict[str, Client]) -> None:
    for client in clients.values():
        client.close()
        # Chroma's clients for servers, of which each has a second one, leave connections open.
        for api in (client, client._admin_client):
            cast("FastAPI", cast("Client", api)._server)._session.close()
    clients.clear()


_servers = Resource(dict[str, "Client"], _close_servers)
"""The clients of servers by address."""


def has_collections() -> bool:
    """Tell whether this process sees the collections that the database names.

    Where machines share a database, the folder of one of them is no use to the others.
    """
    return bool(settings().chroma_url) or not is_database_shared()


def connect_chroma(name: str) -> Client:
    """Return a client of the folder of a collection, or the one of this process for the server."""
    # Importing Chroma takes more than a second, and small sets of vectors need none.
    import chromadb  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415

    # Chroma would believe a `.env` of the current folder.
    silent = Settings(_env_file=None, anonymized_telemetry=False)
    address = settings().chroma_url
    if not address:
        return cast("Client", chromadb.PersistentClient(_collection_folder(name), settings=silent))
    servers = _servers.get()
    if address not in servers:
        url = urlsplit(address)
        ssl = url.scheme == "https"
        host, port = url.hostname or "", url.port or (443 if ssl else 8000)
        servers[address] = cast("Client", chromadb.HttpClient(host, port, ssl, settings=silent))
    return servers[address]


def check_chroma_server(seconds: float) -> None:
    """Make sure that the server for vectors answers; without one there is nothing to ask.

    Raises:
        Problem: `chroma_unavailable`.
    """
    if settings().chroma_url:
        _call_chroma("", lambda: connect_chroma("").heartbeat(), seconds)


def _close_client(client: Client) -> None:
    """Close a client of a folder; that of a server stays open."""
    if client not in _servers.get().values():
        client.close()


def _collection_folder(name: str) -> Path:
    """Return where a collection lies on this machine."""
    return settings().vectors / name


def _collection_place(name: str) -> str:
    """Return the server, or the folder of a collection."""
    return settings().chroma_url or str(_collection_folder(name))


def _call_chroma(name: str, work: Callable[[], Answer], seconds: float | None = None) -> Answer:
    """Return what a piece of work returns, or tell in one way whatever fails in Chroma.

    A server that takes longer than `seconds`, or than one may take to answer, is given up.
    """
    import httpx  # noqa: PLC0415

    faults = (_errors(name), OSError, ValueError, RuntimeError, httpx.HTTPError)
    try:
        limit = settings().connect_seconds if seconds is None else seconds
        return _within(limit, work) if settings().chroma_url else work()
    except Exception as error:
        # Chroma's client raises a bare `Exception` for what it does not know of a server's answer.
        if not isinstance(error, faults) and type(error) is not Exception:
            raise
        raise _chroma_unavailable(name, str(error) or type(error).__name__) from error


def _errors(name: str) -> type[Exception]:
    """Return the class of Chroma's errors; its import reads the `.env` of the current folder."""
    try:
        from chromadb.errors import ChromaError  # noqa: PLC0415
    except ValueError as error:
        what = "it reads the .env of the current folder itself, and cannot use what that says"
        raise _chroma_unavailable(name, what, "start Dossier in another folder") from error
    return ChromaError


def _within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """Return what work in another thread returns; Chroma's client for servers waits for ever.

    Raises:
        TimeoutError: If it takes longer; the thread is left to itself.
    """
    answer: Future[Answer] = Future()

    def run() -> None:
        """Hand over the result of the work, or whatever it raised."""
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001 (it is raised again where the answer is awaited)
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer.result(seconds)


def _chroma_unavailable(
    name: str, what: str, do: str = "is the server of DOSSIER_CHROMA_URL up?"
) -> Problem:
    """Return the problem of a Chroma that fails."""
    hint = f"searches go on without it; {do}"
    what = f"Chroma fails: {what[:200]}"
    return Problem(ErrorCode.CHROMA_UNAVAILABLE, what, where=_collection_place(name), hint=hint)


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


class BuiltCollection(NamedTuple):
    """How many vectors a collection has, and the pages whose vectors cannot be found in it."""

    held: int
    lost: list[int]


class _OpenCollection(NamedTuple):
    """A collection, and the client it is read through."""

    client: Client
    collection: Collection


def _close_collections(collections: OrderedDict[str, _OpenCollection], most: int = 0) -> None:
    """Close all collections but the `most` that were used last."""
    while len(collections) > most:
        _close_client(collections.popitem(last=False)[1].client)


_collections = Resource(OrderedDict[str, _OpenCollection], _close_collections)
"""The collections that are open, by name."""

_opening = threading.Lock()

_failed = Resource(dict[str, float])
"""Until when collections that failed are not asked again."""


def new_collection_name() -> str:
    """Return a name that no collection has."""
    return f"dossier-{uuid4().hex}"


def plan_collection_parts(count: int) -> list[int]:
    """Return into how many parts of which size a collection of `count` vectors is written."""
    number = max(1, -(-count // AT_ONCE))
    size, more = divmod(count, number)
    return [size + 1] * more + [size] * (number - more)


def build_collection(
    name: str, count: int, parts: Callable[[], Iterator[VectorBatch]]
) -> BuiltCollection:
    """Write a collection.

    The graph behind it (HNSW, Malkov and Yashunin 2020) cuts off some vectors that are much like
    many others, so each is looked for.

    Args:
        name: What it will be called.
        count: How many vectors there are.
        parts: Gives them all, in parts as `plan_collection_parts` says; called twice.

    Raises:
        Problem: `chroma_unavailable`.
    """
    smallest = min(plan_collection_parts(count))
    return _call_chroma(name, lambda: _build(name, smallest, parts), BUILDING)


def _build(name: str, smallest: int, parts: Callable[[], Iterator[VectorBatch]]) -> BuiltCollection:
    # What is not in the graph's file yet is put into the graph anew, and otherwise, whenever the
    # collection is opened; the file is written after so many vectors, so after every part.
    graph: CreateHNSWConfiguration = {"space": "cosine", "sync_threshold": max(smallest, 2)}
    lost: list[int] = []
    client = connect_chroma(name)
    try:
        collection = client.create_collection(
            name, embedding_function=None, configuration={"hnsw": graph}
        )
        for part in parts():
            collection.add(ids=[str(page) for page in part.pages], embeddings=part.matrix)
        for part in parts():
            found = collection.query(part.matrix, n_results=NEIGHBOURS, include=[])["ids"]
            pairs = zip(part.pages.tolist(), found, strict=True)
            lost += [page for page, near in pairs if str(page) not in near]
        return BuiltCollection(collection.count(), lost)
    finally:
        _close_client(client)


def query_collection(name: str, vector: FloatArray, limit: int) -> dict[int, float]:
    """Return the cosines of the nearest pages of a collection, by page number.

    Raises:
        Problem: `chroma_unavailable`; for a while after it failed, without asking again.
    """
    if time.monotonic() < _failed.get().get(name, 0):
        raise _chroma_unavailable(name, "it failed a moment ago")
    try:
        return _call_chroma(name, lambda: _nearest(name, vector, limit))
    except Problem:
        _failed.get()[name] = time.monotonic() + AGAIN
        raise


def _nearest(name: str, vector: FloatArray, limit: int) -> dict[int, float]:
    wanted = max(limit, BROAD)
    found = _opened(name).collection.query(vector, n_results=wanted, include=["distances"])
    pairs = zip(found["ids"][0], (found["distances"] or [[]])[0], strict=True)
    return {int(page): 1 - away for page, away in list(pairs)[:limit]}


def drop_collection(name: str) -> None:
    """Remove a collection, as far as it is there and can be reached; none if the name is empty."""
    opened = _collections.get().pop(name, None)
    if opened is not None:
        _close_client(opened.client)
    if name and settings().chroma_url:
        with suppress(Problem):
            _call_chroma(name, lambda: connect_chroma(name).delete_collection(name))
    elif name:
        shutil.rmtree(_collection_folder(name), ignore_errors=True)


def _opened(name: str) -> _OpenCollection:
    with _opening:
        collections = _collections.get()
        if name not in collections:
            # Chroma would make an empty folder.
            if not settings().chroma_url and not _collection_folder(name).is_dir():
                raise FileNotFoundError(name)
            client = connect_chroma(name)
            collection = client.get_collection(name, embedding_function=None)
            collections[name] = _OpenCollection(client, collection)
        collections.move_to_end(name)
        _close_collections(collections, OPEN)
        return collections[name]
