"""Offer the tools of MCP servers to a role, and answer its calls of them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from calls.call_context import CallContext
from calls.tool_requests import OWN_DESCRIPTION
from config.errors import ErrorCode, Problem
from config.resources import SharedTasks
from graph.context import Context
from models.chat_models import built_in
from prompts.loader import render_prompt
from runs.trace import trace
from text.normalization import cut_at_word
from text.regex import regex
from tools.evidence import Evidence
from tools.mcp.connections import choose_tools, get_connection
from tools.mcp.server_config import McpServer, choose_servers
from tools.mcp.tool_calls import McpCall, answer_call
from tools.mcp.tool_definitions import (
    Definition,
    ServerPins,
    check_approved,
    clean_description,
    clean_schema,
    note_seen,
    read_pins,
)
from tools.mcp.tool_failures import ToolUnanswered

if TYPE_CHECKING:
    from langchain_mcp_adapters.interceptors import MCPToolCallRequest

MAX_NAME = 64
"""The most characters that servers of models let the name of a tool have."""

OUTLINED_TOOLS, OUTLINED_DESCRIPTION = 20, 60
"""How many tools of a server a planner is told of, and how much of what each says of itself."""

SERVER, TOOL, ALLOWED = "mcp_server", "mcp_tool", "mcp_allowed"
"""The keys of what a tool's metadata says of its server."""

RESERVED = frozenset(["config", "run_manager", "runtime", "self"])
"""The names of parameters that LangChain takes for itself."""

_UNSAFE = regex(r"[^A-Za-z0-9_-]")

CLIENT = "langchain_mcp_adapters.tools"
"""What is loaded for servers alone, with the SDK."""

_importing = SharedTasks[str, ModuleType]()

_learning = SharedTasks[tuple[str, str], ServerPins]()
"""The servers whose tools are being listed for the first time."""


def needs_approval(tool: BaseTool) -> bool:
    """Tell whether a person has to approve a call of a tool before it is made.

    Tools of servers need it, unless their server says that they only read, or the person has named
    them in `allow`.
    """
    known = tool.metadata or {}
    return SERVER in known and not known.get(ALLOWED) and _changes_something(known)


def is_risky(server: McpServer, definition: Definition) -> bool:
    """Tell by its definition whether a call of a tool needs approval."""
    hints = definition.get("annotations") or {}
    return definition["name"] not in server.allow and _changes_something(hints)


def _changes_something(hints: Mapping[str, Any]) -> bool:
    return hints.get("readOnlyHint") is not True or hints.get("destructiveHint") is True


async def prepare_server_tools(owner: str, choices: Context, role: str) -> bool:
    """Tell whether a role may have tools of servers; load what they need while it does others.

    No server is started: a run may need none of them, and to reach one tells it of the run.
    """
    if built_in(role, choices):
        return False
    try:
        servers = await choose_servers(owner, choices.mcp, role)
    except Problem:
        return False
    if servers:
        await _import_client()
    return bool(servers)


async def outline_server_tools(owner: str, choices: Context) -> str:
    """Return which tools of servers the steps of a run may call, a line for each server.

    No server is started: of one that was never used, only the name is known.
    """
    servers: dict[str, McpServer] = {}
    for role in ("researcher", "coder"):
        if not built_in(role, choices):
            try:
                chosen = await choose_servers(owner, choices.mcp, role)
            except Problem:
                return ""
            servers |= {server.name: server for server in chosen}
    return "\n".join([await _outline_server(server) for server in servers.values()])


async def _outline_server(server: McpServer) -> str:
    try:
        pins = await read_pins(server)
        check_approved(server, pins)
    except Problem:
        return f"- {server.name}"
    names = [name for name in pins.tools if server.tools is None or name in server.tools]
    told = [
        f"{name} ({cut_at_word(described, OUTLINED_DESCRIPTION)})" if described else name
        for name in names[:OUTLINED_TOOLS]
        if pins.state(name) != "changed"
        for described in [clean_description(pins.tools[name])]
    ]
    return f"- {server.name}: {'; '.join(told)}" if told else f"- {server.name}"


async def _import_client() -> None:
    """Load the SDK, which takes half a second, without holding up the event loop."""
    await _importing.run(CLIENT, lambda: asyncio.to_thread(import_module, CLIENT))


async def load_mcp_tools(around: CallContext, taken: Sequence[str] = ()) -> list[BaseTool]:
    """Return the tools of servers that a call may use; a server that fails is left out, and noted.

    Args:
        around: The call.
        taken: The names of the other tools that it has.
    """
    if built_in(around.role, around.choices):
        return []
    try:
        servers = await choose_servers(around.site.owner, around.choices.mcp, around.role)
    except Problem as problem:
        await _note_failure(around, "mcp.json", problem)
        return []
    if servers:
        await _import_client()
    known = await asyncio.gather(*(_load_pins(around, server) for server in servers))
    names = set(taken)
    tools: list[BaseTool] = []
    for server, pins in zip(servers, known, strict=True):
        for definition in await _offered(around, server, pins):
            tools.append(make_tool(server, definition, around.language, names))
            names.add(tools[-1].name)
    return tools


async def _load_pins(around: CallContext, server: McpServer) -> ServerPins:
    """Return what is approved of a server; ask it if it was never used before."""
    try:
        pins = await read_pins(server)
        check_approved(server, pins)
        if pins.digest:
            return pins
        key = (around.site.thread, server.key)
        return await _learning.run(key, partial(learn_tools, around.site.thread, server))
    except Problem as problem:
        await _note_failure(around, server.name, problem)
        return ServerPins()


async def learn_tools(thread: str, server: McpServer) -> ServerPins:
    """Ask a server for its tools, and record what it says.

    Raises:
        Problem: What keeps it from answering, `mcp_too_large` if it has too many tools, or what
            keeps the pins from being written.
    """
    listed = await get_connection(thread, server).list_tools()
    return await note_seen(server, choose_tools(server, listed))


async def _offered(around: CallContext, server: McpServer, pins: ServerPins) -> list[Definition]:
    """Return the approved definitions of a server; what has changed since is noted."""
    offered = []
    for name, definition in pins.tools.items():
        if server.tools is not None and name not in server.tools:
            continue
        if pins.state(name) == "changed":
            what = f"the MCP server {server.name} has changed {name}"
            hint = server.approval_command
            problem = Problem(ErrorCode.MCP_TOOL_CHANGED, what, hint=hint)
            await _note_failure(around, f"{server.name}: {name}", problem)
        else:
            offered.append(definition)
    return offered


async def _note_failure(around: CallContext, name: str, problem: Problem) -> None:
    """Let the trace and the report say that tools were not offered."""
    around.tool_results.append(Evidence([], {}, [ToolUnanswered(problem, name)]))
    await trace(around.site, "tool", name, problem.code, why=problem.what)


class McpTool(StructuredTool):
    """A tool of a server, which a model may call with any names of arguments."""

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Call the tool without arguments that LangChain would take for its own."""
        if isinstance(input, dict) and isinstance(input.get("args"), dict):
            args = input["args"]
            kept = {name: args[name] for name in args if name not in RESERVED - {"runtime"}}
            input = {**input, "args": kept}
        return await super().ainvoke(input, config, **more)


def make_tool(
    server: McpServer, definition: Definition, language: str, taken: set[str]
) -> BaseTool:
    """Return a tool of a server as a model is offered it.

    Args:
        server: The server.
        definition: What it says of the tool, as it was approved.
        language: The language of the prompt.
        taken: The names of other tools.
    """
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool  # noqa: PLC0415
    from mcp.types import Tool  # noqa: PLC0415

    schema, renamed = _rename_reserved(clean_schema(definition["inputSchema"]))
    described = render_prompt(
        "tool_of_server",
        language=language,
        server=server.name,
        description=clean_description(definition),
    )
    shown = {**definition, "inputSchema": schema, "description": described}
    answering = _Interceptor(server, renamed)
    made = cast(
        "StructuredTool",
        convert_mcp_tool_to_langchain_tool(
            None,
            Tool.model_validate(shown),
            # The interceptor answers every call, so that this is never used.
            connection={"transport": "stdio", "command": "", "args": []},
            tool_interceptors=[answering],
            server_name=server.name,
        ),
    )
    name = definition["name"]
    allowed = {SERVER: server.name, TOOL: name, ALLOWED: name in server.allow}
    own = {OWN_DESCRIPTION: clean_description(definition)}
    answering.tool = McpTool(
        name=name_tool(server.name, name, taken),
        description=made.description,
        args_schema=made.args_schema,
        coroutine=made.coroutine,
        response_format=made.response_format,
        metadata={**(made.metadata or {}), **allowed, **own},
    )
    return answering.tool


def name_tool(server: str, tool: str, taken: set[str]) -> str:
    """Return the name under which a model is offered a tool: unique, and not too long."""
    name = _UNSAFE.sub("_", f"{server}_{tool}")
    if name == f"{server}_{tool}" and len(name) <= MAX_NAME and name not in taken:
        return name
    mark = hashlib.sha256(f"{server} {tool}".encode()).hexdigest()[:6]
    return f"{name[: MAX_NAME - len(mark) - 1]}_{mark}"


def _rename_reserved(schema: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a schema whose parameters LangChain passes on, and their real names."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not RESERVED & properties.keys():
        return {"properties": {}, **schema, "type": "object"}, {}
    renamed = {f"{name}_": name for name in properties if name in RESERVED}
    other = {real: name for name, real in renamed.items()}
    required = schema.get("required")
    listed = required if isinstance(required, list) else []
    changed = {
        **schema,
        "properties": {other.get(name, name): one for name, one in properties.items()},
        "required": [other.get(str(name), name) for name in listed],
    }
    return changed, renamed


class _Interceptor:
    """Answers the calls of a tool, in the place of the session that the adapter would open."""

    def __init__(self, server: McpServer, renamed: Mapping[str, str]) -> None:
        self.server, self.renamed = server, renamed
        self.tool: BaseTool | None = None

    async def __call__(
        self, request: MCPToolCallRequest, handler: Callable[[MCPToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        """Return the answer for the model."""
        del handler
        runtime = cast("ToolRuntime[CallContext]", request.runtime)
        arguments = {self.renamed.get(name, name): one for name, one in request.args.items()}
        tool = cast("BaseTool", self.tool)
        known = tool.metadata or {}
        call = McpCall(
            self.server,
            request.name,
            tool.name,
            arguments,
            repeatable=True in (known.get("readOnlyHint"), known.get("idempotentHint")),
        )
        text, failed = await answer_call(call, runtime)
        return ToolMessage(
            text,
            tool_call_id=runtime.tool_call_id or "",
            name=tool.name,
            status="error" if failed else "success",
        )
