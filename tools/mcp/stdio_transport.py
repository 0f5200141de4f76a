"""Speak to a server over its standard streams, with bounds on what it may send.

The client of the MCP SDK reads lines of any length, and leaves to a server what its children do.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from pydantic import ValidationError

from config.errors import ErrorCode, Problem
from config.resources import Resource
from tools.mcp.server_config import McpServer, build_environment, expand_variables

MAX_BYTES = 8_000_000
"""The most bytes that a server may send between two requests, and in one message."""

MAX_MESSAGES = 2_000
"""The most messages that it may send between two requests."""

MAX_GARBAGE = 200
"""The most lines that are no messages; some programs greet on their standard output."""

CLOSE_SECONDS = 1.0
"""How long a program may take to end when its input ends; then its whole group is killed."""

READ_BYTES = 65_536
"""How many bytes are read at once."""

TICK = 0.02
"""How often it is looked whether a program has ended, in seconds."""

TOLD = 2_000
"""How many bytes are kept of what a program wrote last on its standard error."""

WATCHER = """
import os, signal, sys
for group in [*sys.stdin]:
    os.killpg(int(group), signal.SIGKILL)
"""
"""Kills the groups whose numbers it is told, once whoever tells it is gone, by whatever signal."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


def _kill_all(groups: set[int]) -> None:
    for group in groups:
        kill_group(group)


_groups: Resource[set[int]] = Resource(set, _kill_all)
"""The process groups of the servers that this process has started."""


def kill_group(group: int) -> None:
    """Kill every process of a group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class ServerStreams(NamedTuple):
    """What a session reads and writes."""

    incoming: Incoming
    outgoing: Outgoing


@dataclass
class Allowance:
    """How much a server may send until it is asked again, and why it is not heard any more."""

    bytes: int = MAX_BYTES
    messages: int = MAX_MESSAGES
    fault: Problem | None = None
    told: bytearray = field(default_factory=bytearray)
    """The end of what it wrote on its standard error."""
    broken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is not heard any more."""

    def renew(self) -> None:
        """Let the server answer one more request."""
        self.bytes, self.messages = MAX_BYTES, MAX_MESSAGES

    def spend(self, size: int) -> None:
        """Count what a server has sent.

        Raises:
            Problem: `mcp_too_large`.
        """
        self.bytes -= size
        if self.bytes < 0:
            raise self.fail(ErrorCode.MCP_TOO_LARGE, f"it sent more than {MAX_BYTES:,} bytes")

    def count_message(self) -> None:
        """Count a message.

        Raises:
            Problem: `mcp_too_large`.
        """
        self.messages -= 1
        if self.messages < 0:
            raise self.fail(ErrorCode.MCP_TOO_LARGE, f"it sent more than {MAX_MESSAGES:,} messages")

    def fail(self, code: ErrorCode, what: str) -> Problem:
        """Hear the server no more; return the first problem that it had."""
        self.fault = self.fault or Problem(code, what, hint=code.hint)
        self.broken.set()
        return self.fault


@asynccontextmanager
async def open_program(server: McpServer, allowance: Allowance) -> AsyncIterator[ServerStreams]:
    """Start the program of a server in a process group of its own, and kill the group behind it.

    Args:
        server: The server.
        allowance: How much it may send.

    Raises:
        Problem: `mcp_unavailable` if it cannot be started, or `mcp_env_denied`.
    """
    async with _watching() as watch:
        process, transport = await _start(server)
        watch(process.pid)
        async with _speaking(process, transport, allowance) as streams:
            yield streams


@asynccontextmanager
async def _watching() -> AsyncIterator[Callable[[int], None]]:
    """Yield a function that has a process group killed when this process ends before it.

    A small process of its own waits for that: it is told the group through a pipe, which the kernel
    closes with this process. A signal at the death of a parent (`PR_SET_PDEATHSIG`) would reach the
    program alone and not what it has started, would be sent when a thread ends, and is of Linux.
    """
    command = [sys.executable, "-I", "-S", "-B", "-c", WATCHER]
    watcher = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env={}, start_new_session=True
    )

    def watch(group: int) -> None:
        if watcher.stdin:
            watcher.stdin.write(f"{group}\n".encode())

    try:
        yield watch
    finally:
        # The group is gone, and its number may soon be another's.
        with suppress(ProcessLookupError):
            watcher.kill()
        if watcher.stdin:
            watcher.stdin.close()
        await watcher.wait()


@asynccontextmanager
async def _speaking(
    process: Process, transport: asyncio.SubprocessTransport, allowance: Allowance
) -> AsyncIterator[ServerStreams]:
    """Yield the streams of a program; end it, with all that it has started, on leaving."""
    _groups.get().add(process.pid)
    to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(_read(process, to_session, allowance)),
        asyncio.create_task(_write(process, from_session)),
        asyncio.create_task(_listen(process, allowance)),
    ]
    try:
        yield ServerStreams(incoming, outgoing)
    finally:
        await _end(process, transport, patient=not allowance.broken.is_set())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (to_session, incoming, outgoing, from_session):
            stream.close()


async def _start(server: McpServer) -> tuple[Process, asyncio.SubprocessTransport]:
    """Start a program.

    Raises:
        Problem: `mcp_unavailable` or `mcp_env_denied`.
    """
    words = [expand_variables(server, one) for one in (server.command, *server.args)]
    environment = build_environment(server)
    loop = asyncio.get_running_loop()
    try:
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=READ_BYTES, loop=loop),
            *words,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            cwd=server.working_folder,
            start_new_session=True,
        )
        return Process(transport, protocol, loop), transport
    except (OSError, ValueError) as error:
        what = f"{server.command} cannot be started: {getattr(error, 'strerror', None) or error}"
        where = f"MCP server {server.name}"
        hint = "check its command in mcp.json, and that it is installed"
        raise Problem(ErrorCode.MCP_UNAVAILABLE, what, where=where, hint=hint) from error


async def _end(process: Process, transport: asyncio.SubprocessTransport, *, patient: bool) -> None:
    """End a program: it may stop by itself when its input ends; what is left of it is killed."""
    try:
        if process.stdin:
            process.stdin.close()
        await _wait_for_end(process, CLOSE_SECONDS if patient else 0.0)
    finally:
        # Children that it has started are in its group, even if it has ended itself.
        kill_group(process.pid)
        _groups.get().discard(process.pid)
        transport.close()
    await _wait_for_end(process, CLOSE_SECONDS)


async def _wait_for_end(process: Process, seconds: float) -> None:
    """Wait until a program has ended; `Process.wait` waits for its pipes, too, for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110
                await asyncio.sleep(TICK)


async def _read(
    process: Process,
    to_session: MemoryObjectSendStream[SessionMessage | Exception],
    allowance: Allowance,
) -> None:
    """Hand the messages of a program to its session, until it ends or sends too much."""
    with to_session:
        try:
            async for line in _lines(process, allowance):
                if (message := _parse(line, allowance)) is not None:
                    await to_session.send(SessionMessage(message))
        except (Problem, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return
        finally:
            allowance.fail(ErrorCode.MCP_UNAVAILABLE, "its program has ended")


async def _lines(process: Process, allowance: Allowance) -> AsyncIterator[bytes]:
    """Yield the lines that a program writes.

    Raises:
        Problem: `mcp_too_large`.
    """
    buffer = bytearray()
    while process.stdout and (data := await process.stdout.read(READ_BYTES)):
        allowance.spend(len(data))
        buffer += data
        *whole, rest = buffer.split(b"\n") if b"\n" in data else [buffer]
        buffer = rest
        for line in whole:
            yield bytes(line)


def _parse(line: bytes, allowance: Allowance) -> JSONRPCMessage | None:
    """Return a message for the session; `None` for what it need not know.

    Raises:
        Problem: `mcp_invalid` for a broken message, `mcp_too_large` for too many.
    """
    if not line.strip():
        return None
    allowance.count_message()
    try:
        message = JSONRPCMessage.model_validate_json(line)
    except (ValidationError, ValueError, RecursionError) as error:
        if (
            line.lstrip().startswith((b"{", b"["))
            or allowance.messages < MAX_MESSAGES - MAX_GARBAGE
        ):
            what = "it sent what is no message of MCP"
            raise allowance.fail(ErrorCode.MCP_INVALID, what) from error
        return None
    # Nothing that is told unasked is used, and each such message would cost a task.
    return None if isinstance(message.root, JSONRPCNotification) else _unasked(message)


def _unasked(message: JSONRPCMessage) -> JSONRPCMessage | None:
    """Return a message; of what a server asks its client, only a ping is answered."""
    request = message.root
    asks = isinstance(request, JSONRPCRequest) and request.method != "ping"
    return None if asks else message


async def _write(process: Process, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
    """Send the messages of a session to its program."""
    with suppress(ConnectionError, anyio.ClosedResourceError):
        async for one in from_session:
            text = one.message.model_dump_json(by_alias=True, exclude_none=True)
            if process.stdin:
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def _listen(process: Process, allowance: Allowance) -> None:
    """Keep the end of what a program writes on its standard error."""
    while process.stderr and (data := await process.stderr.read(READ_BYTES)):
        allowance.told += data
        del allowance.told[:-TOLD]
