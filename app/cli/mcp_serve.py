"""dossier mcp serve: serve search, read, recall and ask to clients of MCP, by pipe or by HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from app.access import AccessMiddleware, AccessRules
from app.cli.choices import read_choices
from app.cli.dispatch import resolve_project
from app.cli.output import print_notice
from app.cli.serve import check_address
from app.mcp_runs import ServedRuns
from app.mcp_server import make_mcp_server
from app.server_token import load_server_token
from config.resources import close_resources
from config.settings import settings
from storage.permissions import check_writable

PATH = "/mcp"
"""Where the server is reached by HTTP."""

HOST = "127.0.0.1"
"""Only programs of this machine reach it."""

OF_PROGRAMS = {"learn": False}
"""What holds for every run unless the person says otherwise: its words are not theirs."""

LONGEST_LINE = 16 * 2**20
"""The most bytes of one message on standard input."""

PATIENCE = 3
"""The seconds that open connections have to end when the server is stopped."""


def serve_mcp(
    *,
    docs: list[Path] | None,
    http: bool,
    port: int,
    review: bool,
    project: str,
    trust: bool,
    choice: list[str] | None,
) -> None:
    """Serve the tools to clients of MCP until they leave.

    Raises:
        Problem: What is wrong with the project, the choices or the home; `address_unusable`.
    """
    check_writable()
    named = resolve_project(project, trust=trust)
    chosen = read_choices(choice or [], yes=False, review=review, quick=False, named={})
    folders = tuple(str(path.absolute()) for path in docs or [])
    server = make_mcp_server(ServedRuns(named, folders, {**OF_PROGRAMS, **chosen}))
    if http:
        check_address(HOST, port)
        load_server_token()
        print_notice(f"MCP: http://{HOST}:{port}{PATH}; the token is needed: dossier token")
        asyncio.run(_serve_http(server, port))
    else:
        asyncio.run(_serve_pipe(server))


def serve_if_piped() -> None:
    """Serve on standard input and output if a program is at the other end, else show the help."""
    if not sys.stdin.isatty():
        serve_mcp(docs=None, http=False, port=0, review=False, project="", trust=False, choice=None)
        return
    from app.cli.main import load_command  # noqa: PLC0415 - it loads this module itself

    load_command("mcp")(["--help"], "dossier mcp", standalone_mode=False)


async def _serve_http(server: Server[Any, Any], port: int) -> None:
    config = uvicorn.Config(
        make_http_app(server),
        host=HOST,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=PATIENCE,
    )
    await uvicorn.Server(config).serve()


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


async def _serve_pipe(server: Server[Any, Any]) -> None:
    """Serve on standard input and output, which nothing else reads or writes from now on."""
    stdin, stdout = _take_streams()
    lines, output = _InputLines(stdin), _Output(stdout)
    try:
        async with stdio_server(cast("Any", lines), cast("Any", output)) as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await close_resources()


def _take_streams() -> tuple[int, int]:
    """Return the two streams, and let whatever else is printed go to standard error."""
    stdin, stdout = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
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
        with suppress(OSError, RuntimeError):  # The loop is closed when the server is stopped.
            while line:
                line = file.readline(LONGEST_LINE)
                loop.call_soon_threadsafe(self.lines.put_nowait, line)

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self.lines.get():
            yield line.decode("utf-8", "replace")


class _Output:
    """A stream of which nothing is said when its reader has gone."""

    def __init__(self, stream: int) -> None:
        self.stream = stream

    async def write(self, text: str) -> None:
        await asyncio.to_thread(self._write, text.encode())

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            while data:
                data = data[os.write(self.stream, data) :]

    async def flush(self) -> None:
        """Do nothing: all is written at once."""
