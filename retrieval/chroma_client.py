"""Reach Chroma: a folder of this machine for each collection, or a server for all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import urlsplit

from config.errors import Problem
from config.settings import settings

if TYPE_CHECKING:
    from chromadb.api.client import Client

Answer = TypeVar("Answer")

_servers: dict[str, Client] = {}


def reach(name: str) -> Client:
    """Return a client of the folder of a collection, or the one of this process for the server."""
    # Importing Chroma takes more than a second, and small sets of vectors need none.
    import chromadb  # noqa: PLC0415
    from chromadb.config import Settings  # noqa: PLC0415

    # Chroma would believe a `.env` of the current folder.
    silent = Settings(_env_file=None, anonymized_telemetry=False)
    address = settings().chroma_url
    if not address:
        return cast("Client", chromadb.PersistentClient(folder(name), settings=silent))
    if address not in _servers:
        url = urlsplit(address)
        port = url.port or (443 if url.scheme == "https" else 8000)
        client = chromadb.HttpClient(
            url.hostname or "", port, ssl=url.scheme == "https", settings=silent
        )
        _servers[address] = cast("Client", client)
    return _servers[address]


def close(client: Client) -> None:
    """Close a client of a folder; that of a server stays open."""
    if client not in _servers.values():
        client.close()


def folder(name: str) -> Path:
    """Return where a collection lies on this machine."""
    return settings().vectors / name


def where(name: str) -> str:
    """Return the server, or the folder of a collection."""
    return settings().chroma_url or str(folder(name))


def told(name: str, work: Callable[[], Answer], seconds: float) -> Answer:
    """Return what a piece of work returns, or tell in one way whatever fails in Chroma.

    A server that takes longer than `seconds` is given up.
    """
    import httpx  # noqa: PLC0415

    faults = (_errors(name), OSError, ValueError, RuntimeError, httpx.HTTPError)
    try:
        return _within(seconds, work) if settings().chroma_url else work()
    except Exception as error:
        # Chroma's client raises a bare `Exception` for what it does not know of a server's answer.
        if not isinstance(error, faults) and type(error) is not Exception:
            raise
        raise unavailable(name, str(error) or type(error).__name__) from error


def _errors(name: str) -> type[Exception]:
    """Return the class of Chroma's errors; its import reads the `.env` of the current folder."""
    try:
        from chromadb.errors import ChromaError  # noqa: PLC0415
    except ValueError as error:
        what = "it reads the .env of the current folder itself, and cannot use what that says"
        raise unavailable(name, what, "start Dossier in another folder") from error
    return ChromaError


def _within(seconds: float, work: Callable[[], Answer]) -> Answer:
    """Return what work in another thread returns; Chroma's client for servers waits for ever.

    Raises:
        TimeoutError: If it takes longer; the thread is left to itself.
    """
    answer: Future[Answer] = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as error:  # noqa: BLE001 (it is raised again where the answer is awaited)
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer.result(seconds)


def unavailable(
    name: str, what: str, do: str = "is the server of DOSSIER_CHROMA_URL up?"
) -> Problem:
    """Return the problem of a Chroma that fails."""
    hint = f"searches go on without it; {do}"
    what = f"Chroma fails: {what[:200]}"
    return Problem("chroma_unavailable", what, where=where(name), hint=hint)
