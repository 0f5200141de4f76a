"""The application that the server mounts: the API, and middleware that cleans requests.

The server stores every request as it arrives, long before a graph sees it, so secrets and files
are taken out first.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import TypedDict

from app.access import AccessMiddleware, log_access_rules
from app.api.application import make_api
from app.auth.caller_limits import check_caller_webhook
from app.auth.ownerless_threads import assign_ownerless_threads
from app.cli.folder_settings import describe_ignored_settings
from app.cli.output import print_notice
from app.development_threads import delete_in_turn
from app.problems import MIN_REFUSAL_STATUS, answer_problem
from app.route_path import get_route_path
from app.server import load_graph
from app.server_kind import limit_shutdown
from app.upkeep import keep_up
from app.web.console_gate import CONSOLE
from config import environment
from config.errors import ErrorCode, Problem, first_validation_error
from config.model_table import load_model_table
from config.search_table import load_search_table
from config.settings import settings
from storage.file_store import file_store
from storage.permissions import owner_only_mode
from text.secret_masking import mask_secrets_within
from tools.message_uploads import replace_file_bytes

WRITING_METHODS = frozenset(["POST", "PUT", "PATCH", "DELETE"])
"""The methods of requests whose bodies the server may store."""

MAX_REQUEST_BYTES = 60_000_000
"""The largest request: one with a file of 30 MB in a message. It is held in memory as a whole."""

_PATHS: dict[str, None] = {"files": None, "project": None}
_CHOICES = {"context": _PATHS, "config": {"configurable": _PATHS}}
PARAMS = "params"
"""The key under which a command of the event stream has what a request has at its top level."""

UNMASKED: dict[str, Any] = {**_CHOICES, PARAMS: _CHOICES}
"""Where a request has choices of a run that name folders, which must not be masked."""

OWN_PREFIXES = ("/api/", f"{CONSOLE}/")
"""The path prefixes of the API and of the console."""

SERVER_STATE_DIR = Path(".langgraph_api")
"""Where the development server stores requests, below the folder it was started in."""

INNER = "__pregel_"
"""The prefix of the names by which LangGraph hands objects of its own to a graph."""

PERSON_ROLES = frozenset(["user", "human"])
"""The roles or types of messages that a person wrote."""


class _RunConfigForm(TypedDict, total=False):
    """The configuration of a run that a client may send; other keys are passed on."""

    tags: list[str] | None
    metadata: dict[str, Any] | None
    callbacks: None
    run_name: str | None
    max_concurrency: Annotated[int, Field(ge=1, le=1_000)] | None
    recursion_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None
    configurable: dict[str, Any] | None


class _RequestForm(TypedDict, total=False):
    """The parts of a request that the server itself does not check."""

    checkpoint_id: str | None
    after_seconds: Annotated[float, Field(ge=0, le=10_000_000)] | None
    config: _RunConfigForm | None


_FORM = TypeAdapter(_RequestForm)

_OF_THREAD = re.compile(r"/threads/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:/|$)")


class MaskingMiddleware:
    """An ASGI middleware that takes secrets and files out of requests and websocket messages.

    A file goes to the folder of its thread, where a run would put it; a request that names no
    thread keeps its files. If the request is refused, its files are removed again.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on without secrets; refuse one that the server could not handle."""
        if scope["type"] == "websocket":
            await self.app(scope, _mask_messages(receive, send, _find_thread(scope)), send)
            return
        if scope["type"] != "http" or scope["method"] not in WRITING_METHODS or _is_for_api(scope):
            await self.app(scope, receive, send)
            return
        new: list[str] = []
        try:
            body, ended = await _read_body(receive)
            safe = await asyncio.to_thread(mask_request, body, _find_thread(scope), new)
        except Problem as problem:
            await (await answer_problem(Request(scope), problem))(scope, receive, send)
            return
        scope = {**scope, "headers": list(scope["headers"])}
        if safe is not body:
            MutableHeaders(scope=scope)["content-length"] = str(len(safe))
        await self.app(scope, _replay_body(safe, ended, receive), _clean_up_on_refusal(send, new))


def _is_for_api(scope: Scope) -> bool:
    """Say whether a request is for the API or the console, which do not store requests."""
    return get_route_path(scope).startswith(OWN_PREFIXES)


def _find_thread(scope: Scope) -> str:
    """Return the id of the thread in the path of a request; empty for none."""
    found = _OF_THREAD.search(scope["path"])
    return str(UUID(found[1])) if found else ""


def _clean_up_on_refusal(send: Send, new: Sequence[str]) -> Send:
    """Return a `send` that removes the new files of a request if it is refused."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= MIN_REFUSAL_STATUS:
            for name in new:
                await asyncio.to_thread(file_store().remove, name)
        await send(message)

    return answer


def mask_request(body: bytes, thread: str = "", new: list[str] | None = None) -> bytes:
    """Return a request with its secrets masked; the same object if nothing changes.

    Args:
        body: The body of the request, JSON or not.
        thread: The thread whose folder gets the files of messages; empty leaves files in place.
        new: A list to which the names of newly stored files are added.

    Raises:
        Problem: `request_refused` if it is malformed or nested too deeply.
    """
    data = None
    try:
        with suppress(ValueError):
            data = json.loads(body)
        _check_form(data)
        safe = _mask(_store_files(data, thread, new) if thread else data)
        return body if safe is data else json.dumps(safe).encode()
    except RecursionError as error:
        what = "the request is nested too deeply"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, where="body") from error


def _check_form(data: Any) -> None:
    """Make sure that a request has the form that the server takes for granted.

    The server would store malformed values, such as callbacks, with the thread, and then fail
    whenever the thread is read.

    Raises:
        Problem: `request_refused`, or `choice_refused` for a webhook.
    """
    every = [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, dict)]
    for one in [*every, *(one[PARAMS] for one in every if isinstance(one.get(PARAMS), dict))]:
        try:
            _FORM.validate_python(one, strict=True)
        except ValidationError as error:
            where, what = first_validation_error(error)
            raise Problem(ErrorCode.REQUEST_REFUSED, what, where=where) from error
        choices = (one.get("context"), (one.get("config") or {}).get("configurable"))
        for name in (name for chosen in choices if isinstance(chosen, dict) for name in chosen):
            if name.startswith(INNER):
                what = "this is a name of LangGraph's own"
                raise Problem(ErrorCode.REQUEST_REFUSED, what, where=name[:80])
        if (webhook := one.get("webhook")) and settings().has_users:
            # The server itself would look up the name first, and tell what it has found.
            check_caller_webhook(str(webhook))


def _store_files(data: Any, thread: str, new: list[str] | None) -> Any:
    """Return a request in which a reference stands in the place of each file of a message."""
    if isinstance(data, list):
        return _keep_unless_changed([_store_files(one, thread, new) for one in data], data)
    if not isinstance(data, dict):
        return data
    stored = {name: _store_files(one, thread, new) for name, one in data.items()}
    content = stored.get("content")
    by_person = not PERSON_ROLES.isdisjoint(map(str, map(data.get, ("role", "type"))))
    if isinstance(content, list) and by_person:
        stored["content"] = replace_file_bytes(thread, content, new)
    return _keep_unless_changed(stored, data)


def _mask(data: Any, kept: dict[str, Any] | None = UNMASKED) -> Any:
    """Return one or several requests with secrets masked, except at the places to keep."""
    if kept is None:
        return data
    if isinstance(data, dict):
        masked = {
            name: _mask(one, kept[name]) if name in kept else mask_secrets_within(one)
            for name, one in data.items()
        }
        return _keep_unless_changed(masked, data)
    if isinstance(data, list) and kept is UNMASKED:
        return _keep_unless_changed([_mask(one) for one in data], data)
    return mask_secrets_within(data)


def _keep_unless_changed(made: Any, data: Any) -> Any:
    """Return the copy of a list or dict; the original if all values are the same objects."""
    pairs = zip(made, data, strict=True)
    if isinstance(data, dict):
        pairs = zip(made.values(), data.values(), strict=True)
    return data if all(one is old for one, old in pairs) else made


async def _read_body(receive: Receive) -> tuple[bytes, Message]:
    """Return the whole body of a request, and the message that ended it.

    Raises:
        Problem: `request_too_large`.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_REQUEST_BYTES:
            what = f"the request has more than {MAX_REQUEST_BYTES:,} bytes"
            raise Problem(ErrorCode.REQUEST_TOO_LARGE, what, where="body")
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts), message


def _replay_body(body: bytes, ended: Message, receive: Receive) -> Receive:
    """Return a `receive` that yields the whole body at once, and later messages after it."""
    whole = {**ended, "body": body} if ended["type"] == "http.request" else ended
    waiting = [whole]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _mask_messages(receive: Receive, send: Send, thread: str) -> Receive:
    """Return a `receive` for messages without secrets; a refused message is answered here."""

    async def next_message() -> Message:
        while True:
            message = await receive()
            text = message.get("text")
            if message["type"] != "websocket.receive" or not text:
                return message
            try:
                safe = await asyncio.to_thread(mask_request, text.encode(), thread)
                return {**message, "text": safe.decode()}
            except Problem as problem:
                # The form of errors in the event stream.
                event = {"type": "error", "id": None, "error": "invalid_argument"}
                refusal = json.dumps({**event, "message": problem.what, **problem.as_dict()})
                await send({"type": "websocket.send", "text": refusal})

    return next_message


@asynccontextmanager
async def server_lifespan(app: Starlette) -> AsyncIterator[None]:
    """Start and stop what the server needs, however it was started; log who may use it.

    Files of the server become private. Runs are sent to LangSmith only if every tracing variable
    that is set says so. A `.env` in the current folder is reported as ignored.
    """
    del app
    limit_shutdown()
    os.umask(0o077)
    environment.normalize_tracing()
    if left := await asyncio.to_thread(environment.read_folder_env):
        print_notice(describe_ignored_settings(left))
    await asyncio.to_thread(_close_to_others, SERVER_STATE_DIR)
    await asyncio.to_thread(log_access_rules)
    # Loaded here, because the development server forbids reading files in the event loop.
    await asyncio.to_thread(load_search_table)
    await asyncio.to_thread(load_model_table)
    delete_in_turn()
    await assign_ownerless_threads()
    await asyncio.to_thread(load_graph)
    upkeep = asyncio.create_task(keep_up())
    try:
        yield
    finally:
        upkeep.cancel()
        with suppress(asyncio.CancelledError):
            await upkeep


def _close_to_others(folder: Path) -> None:
    """Make a folder and its files private; skip what is missing or not ours to change."""
    for path in (folder, *folder.glob("*")):
        with suppress(OSError):
            path.chmod(owner_only_mode(path.stat().st_mode))


app = make_api([Middleware(AccessMiddleware), Middleware(MaskingMiddleware)], server_lifespan)
"""The application that `langgraph.json` names."""
