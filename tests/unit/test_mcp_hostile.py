"""Servers that hang, lie or flood stop no run, and leave no process behind."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from config.errors import Problem
from tests.loopback import Answer, Asked, serving
from tests.mcp_servers import NEWS, ROOT, entry
from tools.mcp import connections
from tools.mcp.connections import McpConnection, choose_tools
from tools.mcp.server_config import McpServer
from tools.mcp.tool_results import read_result

SECONDS = 20.0
"""No server may hold a caller for longer than that here."""


@pytest.fixture
async def made() -> AsyncIterator[list[McpConnection]]:
    """The connections of a test, closed behind it."""
    every: list[McpConnection] = []
    yield every
    for one in every:
        await one.close()


def connect(made: list[McpConnection], kind: str, **more: Any) -> McpConnection:
    made.append(McpConnection(McpServer(**entry(kind, **more), name="odd")))
    return made[-1]


async def code_of(work: Any) -> str:
    """Return the code of the problem that some work ends with; "" for none."""
    try:
        async with asyncio.timeout(SECONDS):
            await work
    except Problem as problem:
        return problem.code
    return ""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("hang", "mcp_timeout"),
        ("garbage", "mcp_invalid"),
        ("wrong", "mcp_invalid"),
        ("deep", "mcp_invalid"),
        ("flood", "mcp_too_large"),
        ("news", "mcp_too_large"),
        ("asks", "mcp_too_large"),
        ("quits", "mcp_unavailable"),
        ("chatty", ""),
        ("good", ""),
    ],
)
async def test_a_call_of_a_bad_server_ends_soon_with_what_it_did(
    made: list[McpConnection], kind: str, code: str
):
    connection = connect(made, kind, timeout=2.0)
    await connection.list_tools()
    started = time.monotonic()

    assert await code_of(connection.call("lookup", {"bee": "mason"})) == code
    assert time.monotonic() - started < 15


async def test_a_number_that_no_text_can_have_is_no_answer(made: list[McpConnection]):
    connection = connect(made, "giant")

    with pytest.raises(Problem) as problem:
        read_result(await connection.call("lookup", {}))
    assert problem.value.code == "mcp_invalid"


@pytest.mark.parametrize(("kind", "code"), [("silent", "mcp_timeout"), ("noise", "mcp_too_large")])
async def test_a_server_that_does_not_greet_is_given_up(
    made: list[McpConnection], monkeypatch: pytest.MonkeyPatch, kind: str, code: str
):
    monkeypatch.setattr(connections, "CONNECT_SECONDS", 2.0)

    assert await code_of(connect(made, kind).list_tools()) == code


async def test_a_server_that_does_not_start_is_left_alone_for_a_while(made: list[McpConnection]):
    made.append(McpConnection(McpServer(command="/no/such/program", name="odd")))

    assert await code_of(made[0].list_tools()) == "mcp_unavailable"
    with pytest.raises(Problem, match="left alone"):
        await made[0].list_tools()


async def test_a_server_with_too_many_tools_offers_those_that_are_named(
    made: list[McpConnection],
):
    connection = connect(made, "many")
    listed = await connection.list_tools()

    with pytest.raises(Problem) as problem:
        choose_tools(connection.server, listed)
    assert problem.value.code == "mcp_too_large"
    named = McpServer(command="any", name="odd", tools=["tool_7"])
    assert [*choose_tools(named, listed)] == ["tool_7"]


async def test_a_list_without_an_end_is_read_in_part(made: list[McpConnection]):
    assert [*await connect(made, "endless").list_tools()] == ["lookup"]


async def test_a_description_of_ten_megabytes_is_too_much(made: list[McpConnection]):
    assert await code_of(connect(made, "large").list_tools()) == "mcp_too_large"


async def test_a_connection_that_broke_is_opened_again(made: list[McpConnection]):
    connection = connect(made, "quits")
    assert await code_of(connection.call("lookup", {})) == "mcp_unavailable"

    assert [*await connection.list_tools()] == ["lookup"]


async def test_what_a_program_has_started_ends_with_it(made: list[McpConnection]):
    connection = connect(made, "orphans")
    result = await connection.call("lookup", {})
    child = int(read_result(result).removeprefix("started "))
    assert _is_alive(child)

    await connection.close()

    assert not await _lives_on(child)


CLIENT = """
import asyncio
from tests.mcp_servers import entry
from tools.mcp.connections import McpConnection
from tools.mcp.server_config import McpServer
from tools.mcp.tool_results import read_result

async def stay():
    connection = McpConnection(McpServer(**entry("orphans"), name="odd"))
    print(read_result(await connection.call("lookup", {})), flush=True)
    await asyncio.sleep(600)

asyncio.run(stay())
"""


async def test_a_server_that_ignores_its_input_ends_with_a_client_that_is_killed():
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert client.stdout
        child = int((await client.stdout.readline()).removeprefix(b"started "))
        server = os.getpgid(child)
        assert _is_alive(server)
    finally:
        client.kill()
        await client.wait()

    assert not await _lives_on(server)
    assert not await _lives_on(child)


async def test_a_caller_that_is_cancelled_leaves_the_connection_usable(made: list[McpConnection]):
    connection = connect(made, "hang", timeout=30.0)
    await connection.list_tools()
    waiting = asyncio.create_task(connection.call("lookup", {}))
    await asyncio.sleep(0.1)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    await connection.close()

    assert waiting.cancelled()


def _is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


async def _lives_on(process: int) -> bool:
    for _ in range(50):
        if not _is_alive(process):
            return False
        await asyncio.sleep(0.05)
    os.kill(process, 9)
    return True


GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}


def http_answer(body: bytes, kind: str = "application/json", *more: str) -> bytes:
    """Return an answer of a server over HTTP."""
    lines = ["HTTP/1.1 200 OK", f"content-type: {kind}", f"content-length: {len(body)}", *more]
    return "\r\n".join([*lines, "connection: close", "", ""]).encode() + body


async def endless_news() -> AsyncIterator[bytes]:
    """Yield events without an end, none of which is an answer."""
    yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    while True:
        said = json.dumps(NEWS)
        yield f"event: message\ndata: {said}\n\n".encode()
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (lambda _: http_answer(b"x" * 9_000_000), "mcp_too_large"),
        (lambda _: http_answer(b"no JSON"), "mcp_invalid"),
        (lambda _: http_answer(b"{}", "text/html"), "mcp_invalid"),
        (
            lambda _: http_answer(
                gzip.compress(b"{}"), "application/json", "content-encoding: gzip"
            ),
            "mcp_invalid",
        ),
        (lambda _: endless_news(), "mcp_too_large"),
        (lambda _: b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", "mcp_unavailable"),
        (
            lambda _: (
                b"HTTP/1.1 307 Go\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n"
            ),
            "mcp_unavailable",
        ),
    ],
)
async def test_a_bad_answer_over_http_ends_a_call_soon(
    made: list[McpConnection], answer: Callable[[Asked], Answer], code: str
):
    def serve(asked: Asked) -> Answer:
        request = json.loads(asked.body) if asked.body else {}
        if request.get("method") == "initialize":
            greeting = {"jsonrpc": "2.0", "id": request["id"], "result": GREETING}
            return http_answer(json.dumps(greeting).encode())
        if "id" not in request:
            return b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
        return answer(asked)

    async with serving(serve) as server:
        made.append(McpConnection(McpServer(url=server.url, name="odd", timeout=10.0)))
        started = time.monotonic()

        assert await code_of(made[0].call("lookup", {"bee": "mason"})) == code
        assert time.monotonic() - started < 8
        await made[0].close()
