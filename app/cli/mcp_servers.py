"""dossier mcp list, test, approve: the MCP servers whose tools Dossier uses."""

from __future__ import annotations

import difflib
import json
import time
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import confirm, one_line
from app.cli.table import color_diff_line, make_table, truncate_cell
from config.errors import ErrorCode, Problem
from config.key_masking import mask_value
from config.settings import settings
from text.pluralization import pluralize
from tools.mcp.connections import choose_tools, close_thread_connections, get_connection
from tools.mcp.mcp_tools import is_risky
from tools.mcp.server_config import (
    FILE_NAME,
    McpServer,
    allow_project_servers,
    load_servers,
    unknown_server,
)
from tools.mcp.tool_definitions import (
    Definition,
    ServerPins,
    approve,
    check_approved,
    instructs_models,
    list_changed_files,
    note_seen,
    read_pins,
)

THREAD = "dossier mcp"
"""The name under which these commands hold their connections; no thread is called so."""

EXAMPLE = '{"mcpServers": {"time": {"command": "mcp-server-time"}}}'

WHAT_IS_ASKED = (
    "Calls that are not free ask you each time, unless allow in mcp.json names the tool."
)


async def list_servers(*, invocation: Invocation) -> None:
    """List the servers and what is known of their tools, without connecting to any.

    Raises:
        Problem: `config_syntax`, `mcp_config` or `mcp_env_denied`.
    """
    allow_project_servers()
    servers = await load_servers(invocation.owner)
    known = [(server, await read_pins(server)) for server in servers.values()]
    shown: list[RenderableType] = []
    for server, pins in known:
        shown.append(_headline(server, pins))
        if pins.names:
            shown.append(_tool_table(server, pins))
    asks = any(is_risky(server, one) for server, pins in known for one in pins.tools.values())
    shown += [WHAT_IS_ASKED] * asks
    invocation.print_result(
        [_as_dict(server, pins) for server, pins in known], *(shown or _explain_none())
    )


def _explain_none() -> list[RenderableType]:
    """Return what a person is told who has named no servers."""
    file = settings().home / FILE_NAME
    return [f"No MCP servers are named in {file}. An example of what it may say:\n{EXAMPLE}"]


async def test_server(*, server: str, invocation: Invocation) -> None:
    """Connect to a server, list its tools, and say what has changed since it was approved.

    Raises:
        Problem: `mcp_unknown`, `mcp_unapproved`, or what keeps it from answering.
    """
    named = await _find(invocation, server)
    check_approved(named, await read_pins(named))
    started = time.monotonic()
    listed = await _ask(named)
    seconds = time.monotonic() - started
    pins = await note_seen(named, listed)
    line = f"{named.name} answered in {seconds:.2f} s: {pluralize(len(listed), 'tool')}"
    data = {**_as_dict(named, pins), "seconds": round(seconds, 3)}
    invocation.print_result(data, Text(line), _tool_table(named, pins), *_advice(named, pins))


async def approve_server(*, server: str, yes: bool, invocation: Invocation) -> None:
    """Show what a server is and says of its tools, and let runs use it so from now on.

    A server of a project is not even started before a person has seen how.

    Raises:
        Problem: `mcp_unknown`, `import_unconfirmed`, or what keeps it from answering.
    """
    named = await _find(invocation, server)
    before = await read_pins(named)
    if named.folder and before.digest != named.digest and not yes:
        question = f"Start the MCP server {named.name} of this project so?"
        if not confirm(question, ErrorCode.IMPORT_UNCONFIRMED, _start_lines(named, before)):
            print("Nothing was approved.")
            return
    listed = await _ask(named)
    changes = _describe_changes(before, listed)
    question = f"Let runs use the tools of {named.name} as it describes them?"
    if changes and not yes and not confirm(question, ErrorCode.IMPORT_UNCONFIRMED, changes):
        print("Nothing was approved.")
        return
    pins = await approve(named, listed)
    line = f"{named.name} is approved with {pluralize(len(listed), 'tool')}"
    line += "" if changes else "; they are as they were approved before"
    invocation.print_result(_as_dict(named, pins), line)


async def _find(invocation: Invocation, name: str) -> McpServer:
    allow_project_servers()
    known = await load_servers(invocation.owner)
    if name not in known:
        raise unknown_server(name, known)
    return known[name]


async def _ask(server: McpServer) -> dict[str, Definition]:
    """Return what a server says of its tools; what it wrote beside that tells why it does not.

    Raises:
        Problem: What keeps it from answering.
    """
    connection = get_connection(THREAD, server)
    try:
        return choose_tools(server, await connection.list_tools())
    except Problem as problem:
        hint = problem.hint
        if server.is_stdio and hint == ErrorCode.MCP_UNAVAILABLE.hint:
            hint = f"to see all that it writes, start it by itself: {server.describe()}"
        # The last line of a program that fails mostly says why.
        told = connection.told.rpartition("\n")[2]
        what = f"{problem.what}; it wrote: {one_line(told[:300])}" if told else problem.what
        raise Problem(problem.error, what, where=problem.where, hint=hint) from problem
    finally:
        await close_thread_connections(THREAD)


def _start_lines(server: McpServer, before: ServerPins) -> list[str]:
    """Return how a server is started or reached, and with which files, for a person to read."""
    changed = list_changed_files(server, before)
    files = [
        f"  {name}: sha256 {digest[:12]}{', changed since it was approved' * (name in changed)}"
        for name, digest in server.files.items()
    ]
    variables = [f"  {name}={mask_value(name, value)}" for name, value in server.env.items()]
    lines = [f"  {' '.join([server.command, *server.args])}" if server.is_stdio else server.url]
    rights = [f"  {name}: {json.dumps(value)}" for name, value in server.rights.items()]
    head = f"from {server.folder}:"
    return [one_line(line) for line in [head, *lines, *variables, *files, *rights]]


def _describe_changes(before: ServerPins, listed: dict[str, Definition]) -> list[str]:
    """Return the lines of what a server says otherwise than before, tool by tool."""
    lines: list[str] = []
    for name in dict.fromkeys([*before.tools, *listed]):
        old, new = (_written(one.get(name)) for one in (before.tools, listed))
        names = f"{name} as approved", f"{name} now"
        lines += [one_line(one) for one in difflib.unified_diff(old, new, *names, lineterm="")]
        if name in listed and instructs_models(listed[name]):
            lines.append(f"! {name} gives instructions to models; they are cut out")
    return lines


def _written(definition: Definition | None) -> list[str]:
    text = json.dumps(definition, indent=1, ensure_ascii=False) if definition else ""
    return text.splitlines()


def _headline(server: McpServer, pins: ServerPins) -> Text:
    """Return a line on a server: how it is reached, who is given it, and how it stands."""
    roles = ", ".join(server.roles)
    place = f" ({server.folder})" if server.folder else ""
    said = f"{server.name}{place}: {_standing(server, pins)}; {roles}; {server.describe()}"
    return Text(one_line(said))


def _standing(server: McpServer, pins: ServerPins) -> str:
    if server.disabled:
        return "disabled"
    if server.folder and pins.digest != server.digest:
        changed = ", ".join(list_changed_files(server, pins))
        why = f"changed: {changed}" if changed else "changed" if pins.digest else "not approved"
        return f"{why} ({server.approval_command})"
    if not pins.digest:
        return "not used yet"
    states = [pins.state(name) for name in pins.names]
    if "changed" in states or "new" in states:
        return f"changed ({server.approval_command})"
    return "approved"


def _advice(server: McpServer, pins: ServerPins) -> list[RenderableType]:
    if not _standing(server, pins).startswith("changed"):
        return []
    told = f"What is new or changed is not used until: {server.approval_command}"
    return [Text(told), *map(color_diff_line, _describe_changes(pins, dict(pins.seen)))]


def _tool_table(server: McpServer, pins: ServerPins) -> RenderableType:
    rows = make_table("tool", "state", "calls", Column("says"))
    for name in pins.names:
        definition = pins.seen.get(name) or pins.tools[name]
        free = "ask" if is_risky(server, definition) else "free"
        warning = "! instructs models: " if instructs_models(definition) else ""
        says = f"{warning}{definition.get('description', '')}"
        cells = Text(one_line(name)), Text(pins.state(name)), Text(free), truncate_cell(says)
        rows.add_row(*cells)
    return rows


def _as_dict(server: McpServer, pins: ServerPins) -> dict[str, Any]:
    tools = [
        {
            "name": name,
            "state": pins.state(name),
            "needs_approval": is_risky(server, definition),
            "instructs_models": instructs_models(definition),
            "description": definition.get("description", ""),
        }
        for name in pins.names
        for definition in [pins.seen.get(name) or pins.tools[name]]
    ]
    return {
        "name": server.name,
        "folder": server.folder,
        "standing": _standing(server, pins),
        "roles": server.roles,
        "reached": server.describe(),
        "tools": tools,
    }
