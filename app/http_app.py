"""What the server mounts: exports of reports, and what takes secrets and files out of requests.

The server writes every request down as it came, long before a graph sees it.
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
from app.auth.ownerless_threads import assign_ownerless_threads
from app.cli.folder_settings import describe_ignored_settings
from app.cli.output import print_notice
from app.problems import MIN_REFUSAL_STATUS, answer_problem
from app.server import load_graph
from app.server_kind import limit_shutdown
from app.upkeep import keep_up
from app.web.console_gate import CONSOLE
from config import environment
from config.errors import ErrorCode, Problem, first_validation_error
from config.model_table import load_model_table
from config.search_table import load_search_table
from storage.file_store import file_store
from storage.permissions import owner_only_mode
from text.secret_masking import mask_secrets_within
from tools.message_uploads import replace_file_bytes

WRITING = frozenset(["POST", "PUT", "PATCH"])
"""The methods of requests that bring something to keep."""

_PATHS: dict[str, None] = {"files": None, "project": None}
_CHOICES = {"context": _PATHS, "config": {"configurable": _PATHS}}
PARAMS = "params"
"""The key under which a command of the event stream holds what a request holds itself."""

AS_IT_IS: dict[str, Any] = {**_CHOICES, PARAMS: _CHOICES}
"""Where a request holds the choices of a run that name folders, which have to stay as they are."""

OWN_PREFIXES = ("/api/", f"{CONSOLE}/")
"""What the paths of the API and of the console begin with."""

SERVER_STATE_DIR = Path(".langgraph_api")
"""Where the development server keeps what it was sent, below the folder it was started in."""

PERSON = frozenset(["user", "human"])
"""Who says a message of a person, by its role or type."""


class _RunConfigForm(TypedDict, total=False):
    """The configuration of a run that a client may send; what else it holds is passed on."""

    tags: list[str] | None
    metadata: dict[str, Any] | None
    callbacks: None
    run_name: str | None
    max_concurrency: Annotated[int, Field(ge=1, le=1_000)] | None
    recursion_limit: Annotated[int, Field(ge=1, le=1_000_000)] | None
    configurable: dict[str, Any] | None


class _RequestForm(TypedDict, total=False):
    """What the server does not check of a request."""

    checkpoint_id: str | None
    after_seconds: Annotated[float, Field(ge=0, le=10_000_000)] | None
    config: _RunConfigForm | None


_FORM = TypeAdapter(_RequestForm)

_OF_THREAD = re.compile(r"/threads/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:/|$)")


class MaskingMiddleware:
    """An ASGI middleware that takes secrets and files out of requests and of websockets' messages.

    A file goes to the folder of its thread, where a run would put it, so it stays in a request that
    names no thread; of a request that is refused no file is kept.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before an application."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on without secrets; refuse one that the server could not take."""
        if scope["type"] == "websocket":
            await self.app(scope, _mask_messages(receive, send, _thread(scope)), send)
            return
        if scope["type"] != "http" or scope["method"] not in WRITING or _is_of_api(scope):
            await self.app(scope, receive, send)
            return
        body, ended = await _body(receive)
        new: list[str] = []
        try:
            safe = await asyncio.to_thread(mask_request, body, _thread(scope), new)
        except Problem as problem:
            await (await answer_problem(Request(scope), problem))(scope, receive, send)
            return
        scope = {**scope, "headers": list(scope["headers"])}
        if safe is not body:
            MutableHeaders(scope=scope)["content-length"] = str(len(safe))
        await self.app(scope, _replay_body(safe, ended, receive), _clean_up_on_refusal(send, new))


def _is_of_api(scope: Scope) -> bool:
    """Say whether a request is for the API or the console, which store no request."""
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.startswith(OWN_PREFIXES)


def _thread(scope: Scope) -> str:
    """Return the thread that a request names in its path; nothing for none."""
    found = _OF_THREAD.search(scope["path"])
    return str(UUID(found[1])) if found else ""


def _clean_up_on_refusal(send: Send, new: Sequence[str]) -> Send:
    """Return a way to answer that removes the files of a request which is refused."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= MIN_REFUSAL_STATUS:
            for name in new:
                await asyncio.to_thread(file_store().remove, name)
        await send(message)

    return answer


def mask_request(body: bytes, thread: str = "", new: list[str] | None = None) -> bytes:
    """Return a request with its secrets masked; the very same bytes if it has none or is no JSON.

    Args:
        body: The request.
        thread: The thread in whose folder the files of its messages are kept, if that is known.
        new: Is told the names of stored files that were not there yet.

    Raises:
        Problem: `request_refused` if it has a wrong form, or is nested too deeply.
    """
    data = None
    try:
        with suppress(ValueError):
            data = json.loads(body)
        _check_form(data)
        safe = _masked(_store_files(data, thread, new) if thread else data)
        return body if safe is data else json.dumps(safe).encode()
    except RecursionError as error:
        what = "the request is nested too deeply"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, where="body") from error


def _check_form(data: Any) -> None:
    """Make sure that a request has the form which the server takes for granted.

    What it does not check, such as callbacks that are no functions, it stores with the thread,
    and fails over it whenever the thread is read.

    Raises:
        Problem: `request_refused`.
    """
    every = [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, dict)]
    for one in [*every, *(one[PARAMS] for one in every if isinstance(one.get(PARAMS), dict))]:
        try:
            _FORM.validate_python(one, strict=True)
        except ValidationError as error:
            where, what = first_validation_error(error)
            raise Problem(ErrorCode.REQUEST_REFUSED, what, where=where) from error


def _store_files(data: Any, thread: str, new: list[str] | None) -> Any:
    """Return what a request says with a reference in the place of each file of a message."""
    if isinstance(data, list):
        return _unless_same([_store_files(one, thread, new) for one in data], data)
    if not isinstance(data, dict):
        return data
    stored = {name: _store_files(one, thread, new) for name, one in data.items()}
    content = stored.get("content")
    by_person = not PERSON.isdisjoint(map(str, map(data.get, ("role", "type"))))
    if isinstance(content, list) and by_person:
        stored["content"] = replace_file_bytes(thread, content, new)
    return _unless_same(stored, data)


def _masked(data: Any, kept: dict[str, Any] | None = AS_IT_IS) -> Any:
    """Return what a request, or several, say without secrets, except at the places to be kept."""
    if kept is None:
        return data
    if isinstance(data, dict):
        masked = {
            name: _masked(one, kept[name]) if name in kept else mask_secrets_within(one)
            for name, one in data.items()
        }
        return _unless_same(masked, data)
    if isinstance(data, list) and kept is AS_IT_IS:
        return _unless_same([_masked(one) for one in data], data)
    return mask_secrets_within(data)


def _unless_same(made: Any, data: Any) -> Any:
    """Return what was made of a list or table; the very same one if each of its values is."""
    pairs = zip(made, data, strict=True)
    if isinstance(data, dict):
        pairs = zip(made.values(), data.values(), strict=True)
    return data if all(one is old for one, old in pairs) else made


async def _body(receive: Receive) -> tuple[bytes, Message]:
    """Return the whole body of a request, and the message that ended it."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts), message


def _replay_body(body: bytes, ended: Message, receive: Receive) -> Receive:
    """Return a way to receive a body in one piece, and after it what comes else."""
    whole = {**ended, "body": body} if ended["type"] == "http.request" else ended
    waiting = [whole]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message


def _mask_messages(receive: Receive, send: Send, thread: str) -> Receive:
    """Return a way to receive messages without secrets; one that is refused is answered here."""

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
                # The event stream words errors like this.
                event = {"type": "error", "id": None, "error": "invalid_argument"}
                refusal = json.dumps({**event, "message": problem.what, **problem.as_dict()})
                await send({"type": "websocket.send", "text": refusal})

    return next_message


@asynccontextmanager
async def server_lifespan(app: Starlette) -> AsyncIterator[None]:
    """Protect the files of the server, and log who may use it, however it was started.

    Runs are sent to LangSmith only if every tracing variable that is set says so. A `.env` in the
    current folder is reported as ignored.
    """
    del app
    limit_shutdown()
    os.umask(0o077)
    environment.normalize_tracing()
    if left := await asyncio.to_thread(environment.read_folder_env):
        print_notice(describe_ignored_settings(left))
    await asyncio.to_thread(_close_to_others, SERVER_STATE_DIR)
    await asyncio.to_thread(log_access_rules)
    # Read here, because the development server forbids to read files in the event loop.
    await asyncio.to_thread(load_search_table)
    await asyncio.to_thread(load_model_table)
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
    """Close a folder and its files to other people, as far as they are there and one's own."""
    for path in (folder, *folder.glob("*")):
        with suppress(OSError):
            path.chmod(owner_only_mode(path.stat().st_mode))


app = make_api([Middleware(AccessMiddleware), Middleware(MaskingMiddleware)], server_lifespan)
"""What the server mounts (`langgraph.json`): middleware, and the routes of the API."""
