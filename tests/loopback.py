"""A web server on loopback that sends exactly the bytes a test wants, and ends with the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple


class Asked(NamedTuple):
    """A request as it came in; the names of headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answer = bytes | AsyncIterator[bytes]


@dataclass
class Loopback:
    """A server that is running, and what it was asked so far."""

    port: int = 0
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@asynccontextmanager
async def serving(answer: Callable[[Asked], Answer]) -> AsyncIterator[Loopback]:
    """Serve until the block ends; each connection gets one answer and is closed."""
    loopback = Loopback()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            loopback.asked.append(asked)
            await _write(writer, answer(asked))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side had enough
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    loopback.port = server.sockets[0].getsockname()[1]
    servers = [server]
    with suppress(OSError):  # a machine may have no IPv6
        servers.append(await asyncio.start_server(accept, "::1", loopback.port))
    try:
        yield loopback
    finally:
        for server in servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for server in servers:
            await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body)


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    if isinstance(answer, bytes):
        writer.write(answer)
        await writer.drain()
        return
    async for piece in answer:
        writer.write(piece)
        await writer.drain()


def reply(
    body: bytes | str,
    *headers: str,
    mime: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    length: int | None = None,
) -> bytes:
    """Return a whole answer; `length` may lie."""
    data = body.encode() if isinstance(body, str) else body
    named = [f"content-type: {mime}"] if mime else []
    size = f"content-length: {len(data) if length is None else length}"
    lines = [f"HTTP/1.1 {status}", *named, size, "connection: close", *headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


def moved(location: str, status: str = "302 Found") -> bytes:
    """Return a redirect."""
    return reply("", f"location: {location}", status=status)
