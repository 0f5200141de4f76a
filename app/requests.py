"""Take the secrets out of what clients send to a server, before the server keeps any of it.

The development server writes every request down as it came, long before a graph sees it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retrieval.secrets import masked_within

WRITING = frozenset(["POST", "PUT", "PATCH"])
"""The methods of requests that bring something to keep."""

PATHS = frozenset(["files", "project"])
"""The choices of a run that name folders, which have to stay as they are."""

TOO_DEEP = {"detail": "the request is nested too deeply"}


class Masking:
    """An ASGI middleware that masks the secrets in requests and in messages of websockets."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on without secrets; refuse one that is too deep to be looked through."""
        if scope["type"] == "websocket":
            await self.app(scope, _masked_words(receive), send)
            return
        if scope["type"] != "http" or scope["method"] not in WRITING:
            await self.app(scope, receive, send)
            return
        body, ended = await _body(receive)
        try:
            safe = await asyncio.to_thread(masked_json, body)
        except RecursionError:
            await JSONResponse(TOO_DEEP, 422)(scope, receive, send)
            return
        scope = {**scope, "headers": list(scope["headers"])}
        if safe is not body:
            MutableHeaders(scope=scope)["content-length"] = str(len(safe))
        await self.app(scope, _told(safe, ended, receive), send)


def masked_json(body: bytes) -> bytes:
    """Return a JSON text with its secrets masked; the very same bytes if it has none or is no JSON.

    Raises:
        RecursionError: It is nested too deeply to be looked through.
    """
    try:
        data = json.loads(body)
    except ValueError:
        return body
    safe = _masked(data)
    return body if safe is data else json.dumps(safe).encode()


def _masked(data: Any) -> Any:
    """Return what a request says without its secrets, the paths in it as they are."""
    if isinstance(data, dict):
        new = {k: one if k in PATHS else _masked(one) for k, one in data.items()}
        return data if all(new[name] is one for name, one in data.items()) else new
    if isinstance(data, list):
        made = [_masked(one) for one in data]
        return data if all(one is old for one, old in zip(made, data, strict=True)) else made
    return masked_within(data)


async def _body(receive: Receive) -> tuple[bytes, Message]:
    """Return the whole body of a request, and the message that ended it."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts), message


def _told(body: bytes, ended: Message, receive: Receive) -> Receive:
    """Return a way to receive a body in one piece, and after it what comes else."""
    whole = {**ended, "body": body} if ended["type"] == "http.request" else ended
    waiting = [whole]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _masked_words(receive: Receive) -> Receive:
    async def next_message() -> Message:
        message = await receive()
        text = message.get("text")
        if message["type"] != "websocket.receive" or not text:
            return message
        return {**message, "text": masked_json(text.encode()).decode()}

    return next_message


app = Starlette(middleware=[Middleware(Masking)])
"""What the server mounts (`langgraph.json`): no routes of its own."""
