"""Serve a server of MCP: by the pipes of this process, or by HTTP on this machine."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import IO, Any, cast

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from app.access import AccessMiddleware, AccessRules
from app.cli.output import print_notice
from app.cli.start import SIGNALS
from config.resources import close_resources
from config.settings import settings
from text.background_threads import run_abandonable

PATH = "/mcp"
"""Where the server is reached by HTTP."""

LONGEST_LINE = 16 * 2**20
"""The most bytes of one message on standard input."""

PATIENCE = 3
"""The seconds that open connections have to end when the server is stopped."""


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signal."""
        yield


async def serve_http(server: Server[Any, Any], host: str, port: int) -> int:
    """Serve by streamable HTTP until a signal stops it; return the number of the signal."""
    config = uvicorn.Config(
        make_http_app(server),
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=PATIENCE,
    )
    http, stopped = _Server(config), list[int]()

    def stop(number: int) -> None:
        stopped.append(number)
        http.should_exit = True

    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, *SIGNALS):
        loop.add_signal_handler(one, stop, one)
    print_notice(f"MCP: http://{host}:{port}{PATH}; every request needs the token: dossier token")
    await http.serve()
    return stopped[0] if stopped else 0


def make_http_app(server: Server[Any, Any]) -> Starlette:
    """Return the application that serves by streamable HTTP; each request needs the token."""
    manager = StreamableHTTPSessionManager(server)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        async with manager.run():
            yield
        await close_resources()

    rules = AccessRules(
        hosts=frozenset(settings().server_hosts),
        origins=frozenset(settings().server_origins),
        open_to_pages=False,
    )
    return Starlette(
        routes=[Route(PATH, manager.asgi_app)],
        middleware=[Middleware(AccessMiddleware, rules)],
        lifespan=lifespan,
    )


async def serve_pipes(server: Server[Any, Any]) -> None:
    """Serve on standard input and output, which nothing else reads or writes from now on."""
    stdin, stdout = _take_streams()
    lines, output = _InputLines(stdin), _Output(stdout)
    try:
        async with stdio_server(cast("Any", lines), cast("Any", output)) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except ExceptionGroup as group:
        # The SDK still reads messages while the server is stopped, and finds its stream closed.
        if group.split((anyio.BrokenResourceError, anyio.ClosedResourceError))[1] is not None:
            raise
        raise asyncio.CancelledError from group
    finally:
        await close_resources()


def _take_streams() -> tuple[int, int]:
    """Return the two streams, and let whatever else is printed go to standard error."""
    stdin, stdout = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return stdin, stdout


class _InputLines:
    """The lines of a stream, read in a thread that nobody waits for when the server is stopped."""

    def __init__(self, stream: int) -> None:
        self.lines = asyncio.Queue[bytes]()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=[stream, loop], daemon=True).start()

    def _read(self, stream: int, loop: asyncio.AbstractEventLoop) -> None:
        file = os.fdopen(stream, "rb")
        line = b"-"
        with suppress(RuntimeError):  # The loop is closed when the server is stopped.
            while line:
                line = _read_line(file)
                loop.call_soon_threadsafe(self.lines.put_nowait, line)

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self.lines.get():
            yield line.decode("utf-8", "replace")


def _read_line(file: IO[bytes]) -> bytes:
    """Return the next line, or nothing at the end of a stream; one that broke has ended."""
    try:
        return file.readline(LONGEST_LINE)
    except OSError:
        return b""


class _Output:
    """A stream for what is sent; what nobody reads any more is dropped.

    A client that has stopped reading holds up what is sent to it, and not the end of the server.
    """

    def __init__(self, stream: int) -> None:
        self.stream = stream

    async def write(self, text: str) -> None:
        await run_abandonable(self._write, text.encode(), seconds=math.inf)

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            while data:
                data = data[os.write(self.stream, data) :]

    async def flush(self) -> None:
        """Do nothing: all is written at once."""
