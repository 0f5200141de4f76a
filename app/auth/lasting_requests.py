"""End what goes on after its token was revoked: event streams, websockets, requests that wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.auth.login import get_login
from config.errors import ErrorCode, Problem

CHECK_SECONDS = 5.0
"""How often the token of a request is looked at again while the request lasts."""

EXPIRED_SECONDS = 3_600.0
"""How long a request may last after its token has expired: a run takes longer than many tokens."""

POLICY_VIOLATION = 1008
"""The close code of a websocket that is refused."""


async def serve_while_valid(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> Problem | None:
    """Serve a request as long as the token that it came with is valid.

    An answer that has begun is broken off, so that the client sees that it is incomplete.

    Returns:
        What to answer instead if the token is no longer valid and no answer has begun.
    """
    begun = False

    async def note(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    ended: list[Problem] = []
    try:
        async with asyncio.timeout(None) as limit:
            watching = asyncio.create_task(_watch(Headers(scope=scope), limit, ended))
            try:
                await app(scope, receive, note)
            finally:
                watching.cancel()
    except TimeoutError:
        if not ended:
            raise
        if scope["type"] == "websocket" and begun:
            with suppress(RuntimeError, OSError):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        if not begun:
            return ended[0]
    return None


async def _watch(headers: Mapping[str, str], limit: asyncio.Timeout, ended: list[Problem]) -> None:
    """End a request once its token is no longer valid."""
    expired = float("inf")
    while not ended:
        await asyncio.sleep(CHECK_SECONDS)
        try:
            await get_login().identify(headers)
        except Problem as problem:
            if problem.error is ErrorCode.TOKEN_EXPIRED:
                expired = min(expired, time.monotonic())
            late = time.monotonic() - expired >= EXPIRED_SECONDS
            if late or problem.error in (ErrorCode.TOKEN_WRONG, ErrorCode.TOKEN_MISSING):
                ended.append(problem)
                limit.reschedule(asyncio.get_running_loop().time())
