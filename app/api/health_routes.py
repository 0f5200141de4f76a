"""Whether the server is alive, and whether its dependencies answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from fastapi import Response
from pydantic import BaseModel, Field
from sqlalchemy import literal, select

from app.api.open_route import OpenRoute
from app.api.router import make_router
from config.errors import Problem
from library.chroma import check_chroma_server
from storage.engine import read_rows
from storage.file_store import file_store
from storage.permissions import check_room

open_router = make_router("Health", "/api", route_class=OpenRoute)

CHECK_SECONDS = 3.0
"""How long each dependency may take to answer."""

UNAVAILABLE, TIMEOUT, FINE = 503, "timeout", "ok"

_log = logging.getLogger(__name__)


class Health(BaseModel):
    """The answer of a process that is alive."""

    status: str = Field(examples=["alive"])


class Readiness(BaseModel):
    """Whether the dependencies of the server answer."""

    ready: bool
    checks: dict[str, str] = Field(
        description="`ok`, or the code of what is wrong with each.",
        examples=[{"database": "ok", "storage": "ok", "vectors": "chroma_unavailable"}],
    )


@open_router.get("/health", summary="Is the server alive?")
async def get_health() -> Health:
    """Answer without asking any dependency."""
    return Health(status="alive")


@open_router.get(
    "/ready",
    summary="Can the server work?",
    responses={UNAVAILABLE: {"model": Readiness, "description": "Something does not answer."}},
)
async def get_readiness(response: Response) -> Readiness:
    """Check the database, the file store and the vector store; answer 503 if one fails."""
    checks: dict[str, Callable[[], Awaitable[object]]] = {
        "database": partial(read_rows, select(literal(1))),
        "storage": partial(asyncio.to_thread, _check_storage),
        "vectors": partial(asyncio.to_thread, check_chroma_server, CHECK_SECONDS),
    }
    told = await asyncio.gather(*(_check(name, one) for name, one in checks.items()))
    ready = all(one == FINE for one in told)
    response.status_code = 200 if ready else UNAVAILABLE
    response.headers["Cache-Control"] = "no-store"
    return Readiness(ready=ready, checks=dict(zip(checks, told, strict=True)))


def _check_storage() -> None:
    """Make sure that the home has room and the file store answers.

    Raises:
        Problem: What is wrong with either.
    """
    check_room()
    file_store().exists("ready")


async def _check(name: str, work: Callable[[], Awaitable[object]]) -> str:
    """Return `ok` or an error code; the message goes to the log of the server only."""
    try:
        await asyncio.wait_for(work(), CHECK_SECONDS)
    except TimeoutError:
        _log.warning("%s does not answer", name)
        return TIMEOUT
    except Problem as problem:
        _log.warning("%s: %s", name, problem)
        return problem.code
    return FINE
