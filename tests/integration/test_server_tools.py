"""Other agents use the server as a tool, by MCP and A2A, and need no person at the plan."""

from __future__ import annotations

import ast
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.integration.serving import ANSWERED, QUESTION, Server, asked, context

pytest.importorskip("langgraph_sdk", reason="the server extra is not installed")

pytestmark = pytest.mark.integration


@pytest.fixture
async def http(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Accept": "application/json, text/event-stream", "x-api-key": server.token}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=120) as client:
        yield client


async def rpc(http: httpx.AsyncClient, path: str, method: str, **params: Any) -> Any:
    """Call a method by JSON-RPC, and return its result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    told = (await http.post(path, json=body)).json()
    assert "error" not in told, told
    return told["result"]


async def test_a_tool_of_mcp_researches_without_a_person(http: httpx.AsyncClient):
    begun = await rpc(http, "/mcp", "initialize", protocolVersion="2025-06-18", capabilities={})
    tools = {one["name"]: one for one in (await rpc(http, "/mcp", "tools/list"))["tools"]}
    given = {"name": "research", "arguments": {"messages": QUESTION}, "context": context()}
    called = await rpc(http, "/mcp", "tools/call", **given)

    assert begun["capabilities"]["tools"] is not None
    assert set(tools) == {"dossier", "recall", "research"}
    assert tools["research"]["inputSchema"]["properties"]["messages"]["type"] == "string"
    assert not called.get("isError")
    text = called["content"][0]["text"]
    value = ast.literal_eval(text)
    assert set(value) == {"status", "answer", "report", "sources", "messages"}
    assert value["status"] in ANSWERED
    assert value["answer"]
    assert value["sources"]
    assert "## Sources" in value["report"]
    assert len(text) < 18_000


async def test_an_agent_of_a2a_completes_its_task(http: httpx.AsyncClient, client: Any):
    (assistant,) = await client.assistants.search(graph_id="research")
    task = await _sent(http, assistant["assistant_id"], QUESTION)

    assert "completed" in task["status"]["state"].lower()
    assert "## Sources" in json.dumps(task["artifacts"])


async def test_a_plan_is_approved_by_a2a_in_plain_words(http: httpx.AsyncClient, client: Any):
    (assistant,) = await client.assistants.search(graph_id="dossier")
    waiting = await _sent(http, assistant["assistant_id"], QUESTION)
    more = {"contextId": waiting["contextId"], "taskId": waiting["id"]}
    done = await _sent(http, assistant["assistant_id"], "Yes, go ahead.", **more)

    assert "input" in waiting["status"]["state"].lower()
    assert "completed" in done["status"]["state"].lower()
    assert "## Sources" in json.dumps(done["artifacts"])


async def test_the_assistant_without_a_review_streams_its_conversation_to_a_chat_page(client: Any):
    thread = (await client.threads.create())["thread_id"]

    state = await client.runs.wait(thread, "research", input=asked(), context=context())

    assert state["status"] in ANSWERED
    assert [one["type"] for one in state["messages"]] == ["ai"]


async def _sent(http: httpx.AsyncClient, assistant: str, words: str, **more: str) -> Any:
    parts = [{"kind": "text", "text": words}]
    message = {"role": "user", "parts": parts, "messageId": f"m-{len(words)}", **more}
    return await rpc(http, f"/a2a/{assistant}", "message/send", message=message)
