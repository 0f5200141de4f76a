"""Connections to servers: opened at first use, closed behind the run or when the process ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import Context as Variables
from typing import TYPE_CHECKING, Any, TypeVar, cast

from config.errors import ErrorCode, Problem
from config.key_masking import mask_keys
from config.resources import LoopResource
from text.normalization import cut_at_word, drop_unstorable
from tools.mcp.server_config import CONNECT_SECONDS, McpServer, list_secret_values
from tools.mcp.tool_definitions import FIELDS, MAX_TOOLS, Definition, ServerPins, is_usable

if TYPE_CHECKING:
    # Most runs have no servers, and the SDK takes half a second to load.
    from langchain_mcp_adapters.sessions import Connection
    from mcp import ClientSession
    from mcp.types import CallToolResult, Tool

    from tools.mcp.stdio_transport import Allowance

Result = TypeVar("Result")

MAX_LISTED = 1_000
"""After so many tools the rest of a list is not read."""

MAX_PAGES = 20
"""After so many pages the rest of a list is not read."""

MAX_FAILURES = 3
"""How often a server may fail one after the other until it is left alone for a while."""

REST_SECONDS = 120.0
"""How long a server that does not start, or fails again and again, is left alone."""

IDLE_SECONDS = 120.0
"""How long a connection that nobody uses stays open."""

END_SECONDS = 5.0
"""How long a connection may take to end; then it is cancelled."""

START_HINT = "start it once by itself: it may have to download something first"
"""What can be done about a server that does not greet."""

MAX_MESSAGE = 300
"""The most characters of a server's words in a problem."""


class McpConnection:
    """A connection to one server, which is opened when it is needed."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self.failures = 0
        self.resting_until = 0.0
        self.pins: ServerPins | None = None
        """How its tools stand, once they were compared with what is approved."""
        self._opening = asyncio.Lock()
        self._session: ClientSession | None = None
        self._allowance: Allowance | None = None
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._done = asyncio.Event()
        self._calls = 0

    @property
    def told(self) -> str:
        """Return the end of what its program wrote on its standard error, without keys."""
        told = bytes(self._allowance.told).decode(errors="replace") if self._allowance else ""
        return self._mask(told).strip()

    async def list_tools(self) -> dict[str, Definition]:
        """Return what the server says of its tools, by their names.

        Raises:
            Problem: `mcp_unavailable`, `mcp_timeout`, `mcp_too_large`, `mcp_invalid`,
                `mcp_failed` or `mcp_env_denied`.
        """
        return await self._ask(_list_tools, CONNECT_SECONDS)

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool.

        Raises:
            Problem: As `list_tools`.
        """

        async def call(session: ClientSession) -> CallToolResult:
            """Send the call; the SDK's own function compiles patterns of the server's schema."""
            from mcp import types  # noqa: PLC0415

            params = types.CallToolRequestParams(name=tool, arguments=arguments)
            request = types.CallToolRequest(params=params)
            return await session.send_request(types.ClientRequest(request), types.CallToolResult)

        return await self._ask(call, self.server.timeout)

    async def close(self) -> None:
        """End the connection, with every process that its program has started."""
        task, self._task = self._task, None
        started, self._session = self._session is not None, None
        if task is None:
            return
        self._done.set()
        if started:
            await asyncio.wait([task], timeout=END_SECONDS)
        task.cancel()
        await asyncio.wait([task], timeout=END_SECONDS)

    async def _ask(
        self, work: Callable[[ClientSession], Awaitable[Result]], seconds: float
    ) -> Result:
        """Open the connection if need be, and do something with it within some seconds."""
        if time.monotonic() < self.resting_until:
            what = f"the MCP server {self.server.name} failed a moment ago, and is left alone"
            raise Problem(ErrorCode.MCP_UNAVAILABLE, what)
        self._calls += 1
        try:
            session = await self._open()
            result = await self._watch(work(session), seconds)
        except Problem as problem:
            await self._count_failure(problem)
            raise
        finally:
            self._calls -= 1
            self._wanted.set()
        self.failures = 0
        return result

    async def _count_failure(self, problem: Problem) -> None:
        """Remember a failure; a connection that is broken or late again and again is closed."""
        if problem.code == ErrorCode.MCP_FAILED:
            return
        self.failures += 1
        if self._session is None or self.failures >= MAX_FAILURES:
            self.resting_until = time.monotonic() + REST_SECONDS
        if problem.code != ErrorCode.MCP_TIMEOUT or self.failures > 1:
            await self.close()

    async def _open(self) -> ClientSession:
        """Return the session; start it if there is none.

        Raises:
            Problem: `mcp_unavailable`, `mcp_timeout`, `mcp_too_large`, `mcp_invalid` or
                `mcp_env_denied`.
        """
        async with self._opening:
            if self._session and self._task and not self._task.done():
                return self._session
            await self.close()
            self.pins = None
            from tools.mcp.stdio_transport import Allowance  # noqa: PLC0415

            self._done, self._allowance = asyncio.Event(), Allowance()
            ready: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
            # What a run has bound to its task must not live on in the connection.
            work = self._keep(ready, self._allowance)
            self._task = asyncio.create_task(work, context=Variables())
            await self._first_of(ready, CONNECT_SECONDS)
            if ready.done():
                self._session = ready.result()
                return self._session
            problem = self._explain_end("start")
            ready.cancel()
            await self.close()
            raise problem

    async def _keep(self, ready: asyncio.Future[ClientSession], allowance: Allowance) -> None:
        """Hold the session open until it is not wanted any more."""
        async with self._connect(allowance) as session:
            await session.initialize()
            if not ready.done():
                ready.set_result(session)
            while not self._done.is_set():
                self._wanted.clear()
                waiting = [asyncio.create_task(one.wait()) for one in (self._done, self._wanted)]
                first = asyncio.FIRST_COMPLETED
                await asyncio.wait(waiting, timeout=IDLE_SECONDS, return_when=first)
                for one in waiting:
                    one.cancel()
                if not (self._calls or self._wanted.is_set()):
                    return

    @asynccontextmanager
    async def _connect(self, allowance: Allowance) -> AsyncIterator[ClientSession]:
        from langchain_mcp_adapters.sessions import create_session  # noqa: PLC0415
        from mcp import ClientSession  # noqa: PLC0415

        from tools.mcp.http_transport import describe_connection  # noqa: PLC0415
        from tools.mcp.stdio_transport import open_program  # noqa: PLC0415

        async def notice(message: object) -> None:
            """Hear the server no more if it sends what is no message."""
            if isinstance(message, Exception):
                allowance.fail(ErrorCode.MCP_INVALID, "it sent what is no message of MCP")

        async with AsyncExitStack() as stack:
            if self.server.is_stdio:
                streams = await stack.enter_async_context(open_program(self.server, allowance))
                session = ClientSession(*streams, message_handler=notice)
                yield await stack.enter_async_context(session)
            else:
                described = describe_connection(self.server, allowance)
                described["session_kwargs"] = {"message_handler": notice}
                connection = cast("Connection", described)
                yield await stack.enter_async_context(create_session(connection))

    async def _watch(self, work: Awaitable[Result], seconds: float) -> Result:
        """Return the result of a request, unless it is late or the connection breaks.

        Raises:
            Problem: `mcp_unavailable`, `mcp_timeout`, `mcp_too_large`, `mcp_invalid` or
                `mcp_failed`.
        """
        if self._allowance:
            self._allowance.renew()
        request = asyncio.ensure_future(work)
        try:
            await self._first_of(request, seconds)
            if not request.done():
                raise self._explain_end("answer")
            return self._result(request)
        finally:
            request.cancel()

    async def _first_of(self, wanted: asyncio.Future[Any], seconds: float) -> None:
        """Wait for something, the end of the connection, or until some seconds are over."""
        allowance = self._allowance
        broken = asyncio.create_task(allowance.broken.wait()) if allowance else None
        waiting = [one for one in (wanted, broken, self._task) if one is not None]
        try:
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if broken:
                broken.cancel()

    def _result(self, request: asyncio.Future[Result]) -> Result:
        """Return the result of a request that is done.

        Raises:
            Problem: `mcp_failed`, `mcp_invalid` or `mcp_unavailable`.
        """
        error = request.exception()
        if error is None:
            return request.result()
        raise self._explain(error, "answer") from error

    def _explain_end(self, wanted: str) -> Problem:
        """Return why a connection did not start, or gave no answer."""
        if self._allowance and self._allowance.fault:
            return self._problem(self._allowance.fault.error, self._allowance.fault.what)
        if self._task and self._task.done() and not self._task.cancelled():
            return self._explain(self._task.exception(), wanted)
        if wanted == "start":
            what = f"it did not greet as a server of MCP within {CONNECT_SECONDS:g} seconds"
            return self._problem(ErrorCode.MCP_TIMEOUT, what, START_HINT)
        what = f"it did not {wanted} in {self.server.timeout:g} seconds"
        return self._problem(ErrorCode.MCP_TIMEOUT, what)

    def _explain(self, error: BaseException | None, wanted: str) -> Problem:
        """Return the problem that an error of the SDK or of the network stands for."""
        import httpx  # noqa: PLC0415
        from mcp import McpError  # noqa: PLC0415
        from mcp.types import CONNECTION_CLOSED  # noqa: PLC0415
        from pydantic import ValidationError  # noqa: PLC0415

        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._allowance and self._allowance.fault:
            error = self._allowance.fault
        match error:
            case Problem():
                return self._problem(error.error, error.what, error.hint)
            case McpError() if error.error.code != CONNECTION_CLOSED and wanted == "answer":
                return self._problem(ErrorCode.MCP_FAILED, f"it says: {error.error.message}")
            case ValidationError() | ValueError() | RecursionError():
                what = "it sent what is no message of MCP"
                return self._problem(ErrorCode.MCP_INVALID, what)
            case httpx.HTTPStatusError():
                what = f"it answered with status {error.response.status_code}"
            case None:
                what = "its connection has ended"
            case _:
                what = f"it cannot be reached: {str(error) or type(error).__name__}"
        return self._problem(ErrorCode.MCP_UNAVAILABLE, what)

    def _problem(self, code: ErrorCode, what: str, hint: str = "") -> Problem:
        """Return a problem that names the server, without the keys in its entry."""
        if code is ErrorCode.MCP_UNAVAILABLE and not self.server.is_stdio:
            hint = hint or "check its url in mcp.json, and whether it can be reached from here"
        said = cut_at_word(" ".join(drop_unstorable(self._mask(what)).split()), MAX_MESSAGE)
        return Problem(code, said, where=f"MCP server {self.server.name}", hint=hint)

    def _mask(self, text: str) -> str:
        for value in list_secret_values(self.server):
            text = text.replace(value, "…")
        return mask_keys(text)


async def _list_tools(session: ClientSession) -> dict[str, Definition]:
    """Return the definitions of a server's tools; those that cannot be used are left out."""
    from mcp.types import PaginatedRequestParams  # noqa: PLC0415

    listed: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        listed += page.tools
        cursor = page.nextCursor
        if not cursor or len(listed) >= MAX_LISTED:
            break
    definitions: dict[str, Definition] = {}
    for tool in listed[:MAX_LISTED]:
        said = tool.model_dump(mode="json", include={*FIELDS}, exclude_none=True)
        definition = _storable(said)
        if is_usable(definition):
            definitions.setdefault(definition["name"], definition)
    return definitions


def _storable(value: Any) -> Any:
    """Return plain data without characters that a database or a model's server cannot take."""
    if isinstance(value, str):
        return drop_unstorable(value)
    if isinstance(value, dict):
        return {drop_unstorable(name): _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if isinstance(value, list) else value


def choose_tools(server: McpServer, listed: dict[str, Definition]) -> dict[str, Definition]:
    """Return those of a server's tools that its entry names; all if it names none.

    Raises:
        Problem: `mcp_too_large` if they are too many for a prompt.
    """
    chosen = {
        name: one for name, one in listed.items() if server.tools is None or name in server.tools
    }
    if len(chosen) > MAX_TOOLS:
        what = (
            f"the MCP server {server.name} has {len(chosen):,} tools, and {MAX_TOOLS} are offered"
        )
        hint = "name those that you want in the field tools of mcp.json"
        raise Problem(ErrorCode.MCP_TOO_LARGE, what, hint=hint)
    return chosen


async def _close_all(connections: dict[tuple[str, str], McpConnection]) -> None:
    await asyncio.gather(*(one.close() for one in connections.values()))


_connections: LoopResource[dict[tuple[str, str], McpConnection]] = LoopResource(dict, _close_all)
"""The connections of this event loop, by thread and server; no two runs share one."""


def get_connection(thread: str, server: McpServer) -> McpConnection:
    """Return the connection of a thread to a server, which may not be open yet."""
    name = (thread, f"{server.key} {server.digest}")
    return _connections.get().setdefault(name, McpConnection(server))


async def close_thread_connections(thread: str) -> None:
    """Close the connections that the runs of a thread have opened."""
    mine = [name for name in _connections.get() if name[0] == thread]
    await _close_all({name: _connections.get().pop(name) for name in mine})
