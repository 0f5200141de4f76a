"""Call a tool of a server once, keep what it says as pages, and show these to the model."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from langchain.tools import ToolRuntime

from calls.call_context import CallContext
from calls.ledger import ActionRecord, LedgerCall, find_recorded, record_call
from config.errors import ErrorCode, Problem
from library.recall import read_pages
from library.store import stage_pages
from prompts.data_blocks import escape_tags, join_prompt_blocks
from prompts.loader import render_prompt
from prompts.prompt_injection import cut_injections
from runs.trace import seconds_since, trace
from text.secret_masking import mask_secrets_within
from text.tokens import estimate_tokens
from tools.document_reading import open_pages
from tools.evidence import Evidence
from tools.mcp.connections import McpConnection, choose_tools, get_connection
from tools.mcp.server_config import McpServer
from tools.mcp.tool_definitions import (
    ServerPins,
    check_approved,
    check_unchanged,
    note_seen,
    read_pins,
)
from tools.mcp.tool_failures import ToolUnanswered
from tools.mcp.tool_results import (
    build_result_pages,
    origin_of,
    origin_prefix,
    page_origin,
    read_result,
)
from tools.research_tools import show_evidence
from tools.web.query_redaction import redact_outgoing_query

Runtime = ToolRuntime[CallContext]


class McpCall(NamedTuple):
    """A call of a tool of a server."""

    server: McpServer
    tool: str
    """Its name as the server knows it."""
    name: str
    """Its name as the model knows it."""
    arguments: Mapping[str, Any]
    repeatable: bool
    """Whether making it twice changes nothing more than making it once."""


async def answer_call(call: McpCall, runtime: Runtime) -> tuple[str, bool]:
    """Return the answer to a call for the model, and whether it failed.

    What the tool says is stored as pages, and shown as passages of sources. A failure is told to
    the model, and noted for the report.
    """
    around = runtime.context
    call = call._replace(arguments=mask_secrets_within({**call.arguments}))
    started = time.monotonic()
    try:
        ids, status = await _call_once(call, runtime)
    except Problem as problem:
        await _trace(call, around, problem.code, started, why=problem.what)
        if problem.code != ErrorCode.QUERY_WITHHELD:
            noted = ToolUnanswered(problem, f"{call.server.name}: {call.tool}")
            around.tool_results.append(Evidence([], {}, [noted]))
        return _refuse(problem, around.language), True
    await _trace(call, around, status, started)
    return await _show(ids, runtime), False


async def _show(ids: list[str], runtime: Runtime) -> str:
    """Return the passages of a result, and how much more of it can be read."""
    around = runtime.context
    found = await read_pages(around.site.owner, ids)
    if not found:
        return render_prompt("tool_said_nothing", language=around.language)
    evidence = await open_pages(around.site, around.choices, found)
    shown = await show_evidence(evidence, runtime)
    rest = sum(estimate_tokens(page.text) for page in found[len(evidence.passages) :])
    more = render_prompt("goes_on", language=around.language, tokens=f"{rest:,}") if rest else ""
    return join_prompt_blocks(shown, more)


async def _call_once(call: McpCall, runtime: Runtime) -> tuple[list[str], str]:
    """Return the ids of the pages of a result, and whether it was recorded before.

    Raises:
        Problem: Why there is none.
    """
    around = runtime.context
    asked = [call.server.key, call.tool, dict(call.arguments), _count_before(call, runtime)]
    entry = LedgerCall(around.site, "tool", around.role, asked)
    known = await find_recorded(entry)
    if known is None:
        return await _make(call, around, entry), "ok"
    if error := known.get("error"):
        raise Problem(ErrorCode.MCP_FAILED, error)
    return list(known["pages"]), "recorded"


def _count_before(call: McpCall, runtime: Runtime) -> int:
    """Return how often the conversation has made the same call before.

    Calls are compared as the model wrote them: names of arguments may differ for the server.
    """
    written: list[Any] = []
    for message in runtime.state["messages"]:
        for one in getattr(message, "tool_calls", []):
            if one["name"] != call.name:
                continue
            if message is runtime.state["messages"][-1] and one["id"] == runtime.tool_call_id:
                return written.count(one["args"])
            written.append(one["args"])
    return written.count(call.arguments)


async def _make(call: McpCall, around: CallContext, entry: LedgerCall) -> list[str]:
    """Make a call, and record its result with its pages; return their ids.

    Raises:
        Problem: Why there is none.
    """
    here, server = around.site, call.server
    if not server.is_local:
        await _check_private(call, around)
    connection = get_connection(here.thread, server)
    check_unchanged(server, await verify_server(connection), call.tool)
    if not call.repeatable:
        await _record_intent(entry)
    started = time.time()
    result = await connection.call(call.tool, dict(call.arguments))
    text = read_result(result)
    said = ActionRecord(f"{call.name} {_brief(call.arguments)}", step=here.step)
    if result.isError:
        error = f"{call.name} says: {text[:1_000]}"
        await record_call(entry, {"error": error}, started, said=said)
        raise Problem(ErrorCode.MCP_FAILED, error)
    if not text:
        await record_call(entry, {"pages": []}, started, said=said)
        return []
    origin = page_origin(
        here.owner, here.run, origin_of(server.name, call.tool, call.arguments), server.name
    )
    pages = await build_result_pages(server.name, call.tool, call.arguments, text)
    ids, store = stage_pages(origin, pages)
    await record_call(entry, {"pages": ids}, started, said=said, write=store)
    return ids


async def verify_server(connection: McpConnection) -> ServerPins:
    """Return how what a server says of its tools stands to what is approved.

    It is asked once for each connection.

    Raises:
        Problem: `mcp_unapproved`, or what keeps it from answering.
    """
    server = connection.server
    check_approved(server, await read_pins(server))
    if connection.pins is None:
        listed = choose_tools(server, await connection.list_tools())
        connection.pins = await note_seen(server, listed)
    return connection.pins


async def _record_intent(entry: LedgerCall) -> None:
    """Record that a call is sent that may not be sent twice.

    Raises:
        Problem: `mcp_failed` if it was sent before, and nobody knows with which result.
    """
    sent = LedgerCall(entry.site, entry.kind, entry.role, [*entry.request, "sent"])
    if await find_recorded(sent) is not None:
        what = "this call was sent before the run was stopped, and is not sent twice"
        raise Problem(ErrorCode.MCP_FAILED, what)
    await record_call(sent, True, time.time())


async def _check_private(call: McpCall, around: CallContext) -> None:
    """Make sure that no argument has words that may not leave.

    What the same server has said in this thread may be said to it again.

    Raises:
        Problem: `query_withheld`.
    """
    said = " ".join(_texts(call.arguments))
    if not said.strip():
        return
    left = await redact_outgoing_query(
        around.site, around.choices, said, recipient=origin_prefix(call.server.name)
    )
    if left.dropped:
        what = f"the arguments of {call.name} have words of your files or memory, or a secret"
        hint = (
            "use words of the question; the person can permit them with "
            '--set share=files, or by "local": true for a server on this machine'
        )
        raise Problem(ErrorCode.QUERY_WITHHELD, what, hint=hint)


def _texts(value: Any) -> Iterable[str]:
    """Yield every text and number in the arguments of a call."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from (str(name), *_texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _brief(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)[:200]


def _refuse(problem: Problem, language: str) -> str:
    hint = f" ({problem.hint})" if problem.hint else ""
    why = cut_injections(f"{problem.what}{hint}")
    return escape_tags(render_prompt("tool_refused", language=language, why=why))


async def _trace(
    call: McpCall, around: CallContext, status: str, started: float, **more: Any
) -> None:
    about = {"server": call.server.name, "tool": call.tool, "arguments": dict(call.arguments)}
    more["seconds"] = seconds_since(started)
    await trace(around.site, "tool", call.name, status, **about, **more)
