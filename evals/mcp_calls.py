"""Measure calls of tools of an MCP server: the first, which starts the server, and later ones.

The server is `mcp-server-time`, over its standard streams. Each call is whole: ledger, pages with
their index, sources, trace. What is loaded for servers alone is loaded while a step searches, and
is measured apart; so is how long the server takes to greet whoever starts it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from calls.call_context import CallContext
from calls.run_budget import RunBudget
from config.resources import close_resources, replace_resources
from graph.context import Context
from models.extractive.model import ExtractiveChatModel
from runs.call_site import CallSite
from storage.engine import close_database
from tools.mcp.connections import close_thread_connections
from tools.mcp.mcp_tools import prepare_server_tools
from tools.mcp.server_config import load_servers
from tools.mcp.tool_calls import McpCall, Runtime, answer_call

PROGRAM = "mcp-server-time"
TIMES = 40
STARTS = 3


def main() -> None:
    """Print milliseconds of the first call and of later ones."""
    program = shutil.which(PROGRAM) or str(Path(sys.executable).with_name(PROGRAM))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DOSSIER_HOME"] = folder
        replace_resources().close()
        entry = {"command": program, "local": True, "allow": ["convert_time"]}
        named = json.dumps({"mcpServers": {"time": entry}})
        Path(folder, "mcp.json").write_text(named, "utf-8")
        alone = min(_greet(program) for _ in range(STARTS))
        print(f"start of the server alone, best of {STARTS}: {alone * 1000:,.0f} ms")
        asyncio.run(_measure())


def _greet(program: str) -> float:
    """Return the seconds until a server that was just started greets."""
    version = {"protocolVersion": "2025-06-18", "capabilities": {}}
    params = {**version, "clientInfo": {"name": "dossier", "version": "0"}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    started = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen([program], stdin=pipe, stdout=pipe) as server:  # noqa: S603
        out, answers = server.stdin, server.stdout
        if out and answers:
            out.write(json.dumps(request).encode() + b"\n")
            out.flush()
            answers.readline()
        seconds = time.perf_counter() - started
        server.kill()
    return seconds


async def _measure() -> None:
    chosen = Context(models={"default": "openai:any"})
    started = time.perf_counter()
    await prepare_server_tools("local/", chosen, "researcher")
    print(f"loading the client, in a thread: {(time.perf_counter() - started) * 1000:,.0f} ms")
    server = (await load_servers("local/"))["time"]
    context = Context()
    here = CallSite("local/", "t1", "t1-1", "s1", "0.0.0")
    budget, model = RunBudget(context), ExtractiveChatModel()
    around = CallContext(context, here, "researcher", budget, model, "")
    seconds = []
    for minute in range(TIMES + 1):
        given = {"source_timezone": "UTC", "time": f"12:{minute:02}", "target_timezone": "UTC"}
        call = McpCall(server, "convert_time", "time_convert_time", given, True)
        state: dict[str, Any] = {"messages": []}
        runtime = SimpleNamespace(context=around, state=state, tool_call_id=None)
        started = time.perf_counter()
        text, failed = await answer_call(call, cast("Runtime", runtime))
        seconds.append(time.perf_counter() - started)
        if failed:
            sys.exit(text)
    started = time.perf_counter()
    await close_thread_connections("t1")
    closing = time.perf_counter() - started
    await close_database()
    await close_resources()
    first, warm = seconds[0], sorted(seconds[1:])
    print(f"first call, with the start of the server: {first * 1000:,.0f} ms")
    print(
        f"later calls: median {statistics.median(warm) * 1000:.1f} ms, most {warm[-1] * 1000:.1f}"
    )
    print(f"end of the server: {closing * 1000:,.0f} ms")


if __name__ == "__main__":
    main()
