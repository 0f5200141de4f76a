"""Dossier in a process of its own, as an editor or another agent starts it."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import termios
import time
import urllib.error
import urllib.request
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from evals.openai_server import Server as ModelServer
from tests.fake_model import FakeModel, Script
from tests.integration.command import DOSSIER, LONG, WHO, Forks, Place
from tests.integration.serving import free_port

GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int, name: str, **arguments: str) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@contextmanager
def started(place: Place, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command with pipes for its three streams; it ends with the block."""
    with subprocess.Popen(
        [DOSSIER, *words],
        cwd=place.folder,
        env=place.environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[str], *messages: dict[str, Any] | str) -> None:
    assert process.stdin
    for one in messages:
        process.stdin.write(f"{one if isinstance(one, str) else json.dumps(one)}\n")
    process.stdin.flush()


def answers(process: subprocess.Popen[str], *numbers: int) -> list[dict[str, Any]]:
    """Return the answers to requests; each line until the last of them is a message, too."""
    assert process.stdout
    found: dict[int, dict[str, Any]] = {}
    while not found.keys() >= {*numbers}:
        message: dict[str, Any] = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        found[message.get("id", 0)] = message
    return [found[number] for number in numbers]


@pytest.fixture(scope="module")
def read_place(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Place:
    """A place whose files about bees have been read in."""
    place = Place(tmp_path_factory.mktemp("served"))
    assert forks.run(place, "ingest", "bees").status == 0
    return place


async def test_a_client_that_starts_the_command_asks_and_reads(read_place: Place, forks: Forks):
    command = StdioServerParameters(
        command=DOSSIER,
        args=["mcp", "serve", "--docs", "bees", "--set", "max_rounds=0"],
        env=read_place.environment(),
        cwd=read_place.folder,
    )

    async with stdio_client(command) as streams, ClientSession(*streams) as client:
        greeting = await client.initialize()
        found = await client.call_tool("search", {"query": "waggle dance"})
        asked = await client.call_tool("ask", {"question": WHO})

    assert greeting.serverInfo.name == "dossier"
    assert "never an instruction" in (greeting.instructions or "")
    assert "von Frisch" in str(found.structuredContent)
    assert (asked.structuredContent or {})["status"] == "succeeded"
    run = (asked.structuredContent or {})["run"]
    assert forks.run(read_place, "runs", "--json").told[0]["run"] == run


def test_nothing_but_messages_is_written_whatever_is_sent(read_place: Place):
    with started(read_place, "mcp") as process:
        send(process, GREETING, READY, "no message", "[]", '{"jsonrpc": "2.0"}', "\x00\xff" * 9)
        send(process, request(2, "search", query="waggle dance"), request(3, "erase"))
        found, unknown = answers(process, 2, 3)
        out, _ = process.communicate(timeout=20)

    assert not found["result"]["isError"]
    assert unknown["result"]["structuredContent"]["code"] == "usage"
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert process.returncode == 0


def test_a_question_whose_client_has_gone_is_a_paused_run(
    read_place: Place, silent_model: ModelServer, forks: Forks
):
    keys = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": silent_model.url}
    asked = request(2, "ask", question="How long is a waggle run?")
    with started(read_place, "mcp", "serve", "--docs", "bees", **keys) as process:
        send(process, GREETING, READY, asked)
        wait_for(forks, read_place, "running")

        process.communicate(timeout=20)

    assert wait_for(forks, read_place, "paused")["question"] == "How long is a waggle run?"


@pytest.mark.parametrize("words", [["mcp", "serve"], ["mcp", "serve", "--http"]])
def test_a_signal_ends_the_server_though_its_client_stays(read_place: Place, words: list[str]):
    if "--http" in words:
        words = [*words, "--port", str(free_port())]
    with started(read_place, *words) as process:
        if "--http" in words:
            assert process.stderr
            assert "MCP: http://127.0.0.1" in process.stderr.readline()
        else:
            send(process, GREETING)
            answers(process, 1)

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=15) in (143, -signal.SIGTERM)
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")


def test_a_signal_ends_the_server_though_its_client_reads_nothing(read_place: Place):
    with started(read_place, "mcp", "serve") as process:
        send(process, GREETING, READY)
        answers(process, 1)
        many = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(2, 60)]
        send(process, *many)
        assert process.stdout
        assert wait_until_full(process.stdout.fileno())

        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=15) in (143, -signal.SIGTERM)
        assert "error" not in (process.stderr.read() if process.stderr else "")


def wait_until_full(pipe: int) -> bool:
    """Wait until a pipe holds all that it can."""
    until = time.monotonic() + 15
    held = array("i", [0])
    while time.monotonic() < until:
        fcntl.ioctl(pipe, termios.FIONREAD, held)
        if held[0] >= 60_000:
            return True
        time.sleep(0.02)
    return False


def test_a_terminal_is_shown_how_it_is_done(read_place: Place, forks: Forks):
    with forks.terminal(read_place, "mcp") as terminal:
        terminal.wait_for("mcp serve")
        assert terminal.end() == 0


def test_what_is_wrong_with_the_command_is_told_before_it_serves(read_place: Place, forks: Forks):
    done = forks.run(read_place, "mcp", "serve", "--set", "max_cost=nothing")

    assert done.status == 2
    assert not done.out


def wait_for(forks: Forks, place: Place, status: str) -> dict[str, Any]:
    """Return the newest run once it stands so."""
    for _ in range(400):
        runs = forks.run(place, "runs", "--json").told
        if runs and runs[0]["status"] == status:
            return runs[0]
    raise AssertionError(runs)


class HttpServer(NamedTuple):
    """A server by HTTP, and the token that it wants."""

    url: str
    token: str


@pytest.fixture(scope="module")
def http_server(read_place: Place, forks: Forks) -> Iterator[HttpServer]:
    port = free_port()
    words = ["mcp", "serve", "--http", "--port", str(port), "--docs", "bees"]
    url = f"http://127.0.0.1:{port}/mcp"
    with started(read_place, *words) as process:
        assert process.stderr
        assert url in process.stderr.readline()
        wait_until_open(url, process)
        yield HttpServer(url, forks.run(read_place, "token").out.strip())


def wait_until_open(url: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        assert process.poll() is None
        with suppress(urllib.error.URLError):
            posted(url)
            return
        time.sleep(0.05)
    raise AssertionError(url)


def posted(url: str, **headers: str) -> int:
    """Return the status with which a greeting is answered."""
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = json.dumps(GREETING).encode()
    sent = urllib.request.Request(url, data, {**usual, **named})
    try:
        with urllib.request.urlopen(sent, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_only_who_has_the_token_and_is_no_foreign_page_is_served(http_server: HttpServer):
    url, token = http_server

    assert posted(url) == 401
    assert posted(url, x_api_key="wrong") == 401
    assert posted(url, x_api_key=token, Host="evil.example") == 403
    assert posted(url, x_api_key=token, Origin="https://evil.example") == 403
    assert posted(url, Origin="https://smith.langchain.com") == 403
    assert posted(url, Authorization=f"Bearer {token}") == 200


async def test_an_agent_of_langchain_searches_and_reads_by_http(
    http_server: HttpServer, script: Script
):
    connection: Any = {
        "transport": "streamable_http",
        "url": http_server.url,
        "headers": {"Authorization": f"Bearer {http_server.token}"},
    }
    tools = await MultiServerMCPClient({"dossier": connection}).get_tools()

    said = await use(script, tools)

    assert "von Frisch described the waggle dance" in said[0]
    assert "# The dance" in said[1]


async def test_an_agent_of_langchain_starts_the_command_itself(read_place: Place, script: Script):
    connection: Any = {
        "transport": "stdio",
        "command": DOSSIER,
        "args": ["mcp"],
        "env": read_place.environment(),
        "cwd": str(read_place.folder),
    }
    client = MultiServerMCPClient({"dossier": connection})
    async with client.session("dossier") as session:
        from langchain_mcp_adapters.tools import load_mcp_tools  # noqa: PLC0415

        said = await use(script, await load_mcp_tools(session))

    assert "von Frisch described the waggle dance" in said[0]


async def use(script: Script, tools: list[Any]) -> list[str]:
    """Let an agent search and read what it found; return what the tools answered."""

    def read(messages: list[Any]) -> AIMessage:
        if messages[-1].type == "human":
            return calls("search", query="who described the waggle dance")
        if messages[-1].name == "search":
            page = str(messages[-1].text).partition('<page id="')[2].partition('"')[0]
            return calls("read", document=page)
        return AIMessage("It was Karl von Frisch.")

    script.on("reporter", read)
    script.on("researcher", read)
    agent = create_agent(FakeModel(script=script), tools)
    result = await agent.ainvoke({"messages": [("user", WHO)]})
    assert result["messages"][-1].text == "It was Karl von Frisch."
    return [str(one.text) for one in result["messages"] if one.type == "tool"]


def calls(name: str, **args: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": name}])
