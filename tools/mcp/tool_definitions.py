"""What a server says of its tools: kept small, hashed, and pinned until a person approves another.

The pins are in a file of the home, as the keys of known hosts are for SSH: what a server said when
it was used first is trusted, and what it says otherwise later is not used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from filelock import FileLock, Timeout

from config.errors import ErrorCode, Problem
from config.settings import settings
from config.user_files import write_user_file
from prompts.prompt_injection import cut_injections, has_injection
from storage.permissions import FILE, FOLDER, check_writable, secure_home
from tools.mcp.server_config import McpServer

PINS_FILE = "mcp-pins.json"

MAX_TOOLS = 64
"""The most tools of one server that are offered."""

MAX_DEFINITION = 16_384
"""The most characters of a tool's definition as JSON."""

MAX_DESCRIPTION = 2_000
"""The most characters of a tool's description that a model is told."""

LOCK_SECONDS = 10.0

Definition = dict[str, Any]
"""What a server says of one tool: name, title, description, inputSchema, annotations."""

FIELDS = ("name", "title", "description", "inputSchema", "annotations")
"""The fields of a definition that are pinned."""

ToolState = Literal["pinned", "changed", "new", "gone"]
"""How what a server said last of a tool stands to what is pinned."""


class ServerPins(NamedTuple):
    """What is known of a server: what was approved, and what it said last."""

    digest: str = ""
    """The hash of how it was started or reached when it was approved; "" if it never was."""
    tools: Mapping[str, Definition] = {}
    """The approved definitions by the names of the tools."""
    seen: Mapping[str, Definition] = {}
    """What it said last."""
    files: Mapping[str, str] = {}
    """The hashes of the project's files that started it when it was approved, by their paths."""

    def state(self, name: str) -> ToolState:
        """Return how a tool stands."""
        if name not in self.tools:
            return "new"
        if name not in self.seen:
            return "gone"
        same = hash_definition(self.tools[name]) == hash_definition(self.seen[name])
        return "pinned" if same else "changed"

    @property
    def names(self) -> list[str]:
        """The names of all tools, the approved ones first."""
        return list(dict.fromkeys([*self.tools, *self.seen]))


def hash_definition(definition: Definition) -> str:
    """Return the hash of a definition, whatever the order of its fields."""
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def is_usable(definition: Definition) -> bool:
    """Tell whether a definition is small enough, and of the form that models are told."""
    try:
        fits = len(json.dumps(definition)) <= MAX_DEFINITION
    except (ValueError, RecursionError):
        return False
    schema = definition.get("inputSchema")
    name = definition.get("name")
    named = isinstance(name, str) and 0 < len(name) <= 128 and name.isprintable()
    return fits and named and isinstance(schema, dict) and schema.get("type", "object") == "object"


def clean_schema(schema: Any) -> Any:
    """Return a schema whose texts tell a model nothing to do, and are not long."""
    if isinstance(schema, str):
        return cut_injections(schema)[:MAX_DESCRIPTION]
    if isinstance(schema, Mapping):
        return {cut_injections(str(name))[:128]: clean_schema(one) for name, one in schema.items()}
    return [clean_schema(one) for one in schema] if isinstance(schema, list) else schema


def clean_description(definition: Definition) -> str:
    """Return what a model is told that a tool does, by the server's own words."""
    return cut_injections(str(definition.get("description") or ""))[:MAX_DESCRIPTION]


def instructs_models(definition: Definition) -> bool:
    """Tell whether a definition has instructions to models anywhere in it."""
    return any(map(has_injection, _texts(definition)))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for pair in value.items() for one in pair for text in _texts(one))
    elif isinstance(value, list):
        yield from (text for one in value for text in _texts(one))


async def read_pins(server: McpServer) -> ServerPins:
    """Return what is known of a server.

    Raises:
        Problem: `config_syntax` if the file of pins is damaged.
    """
    return _pins_of(await asyncio.to_thread(_read), server)


async def note_seen(server: McpServer, seen: Mapping[str, Definition]) -> ServerPins:
    """Record what a server says of its tools; trust it if it is used for the first time.

    Only a server of the home is trusted so: a project's file may be changed by others.

    Raises:
        Problem: `home_read_only`, `storage_unavailable` or `config_syntax`.
    """

    def update(known: ServerPins) -> ServerPins:
        """Return the pins with what was seen; a person may change how their server is started."""
        if not known.digest and not server.folder:
            return ServerPins(server.digest, seen, seen)
        digest = known.digest if server.folder else server.digest
        return known._replace(digest=digest, seen=seen)

    return await asyncio.to_thread(_update, server, update)


async def approve(server: McpServer, seen: Mapping[str, Definition]) -> ServerPins:
    """Approve how a server is started or reached, and what it says of its tools.

    Raises:
        Problem: `home_read_only`, `storage_unavailable` or `config_syntax`.
    """
    approved = ServerPins(server.digest, seen, seen, server.files)
    return await asyncio.to_thread(_update, server, lambda _: approved)


def check_approved(server: McpServer, pins: ServerPins) -> None:
    """Make sure that a server of a project is started as a person has approved it.

    Raises:
        Problem: `mcp_unapproved`.
    """
    if server.folder and pins.digest != server.digest:
        what = f"the MCP server {server.name} of this project is not approved"
        if pins.digest:
            what = f"the project starts its MCP server {server.name} otherwise than approved"
            if changed := list_changed_files(server, pins):
                what += f": {', '.join(changed)} is new or has changed"
        raise Problem(ErrorCode.MCP_UNAPPROVED, what, hint=server.approval_command)


def list_changed_files(server: McpServer, pins: ServerPins) -> list[str]:
    """Return the project's files, by their paths, that start a server and were not so approved."""
    names = dict.fromkeys([*pins.files, *server.files]) if pins.digest else []
    return [name for name in names if pins.files.get(name) != server.files.get(name)]


def check_unchanged(server: McpServer, pins: ServerPins, name: str) -> None:
    """Make sure that a server still says of a tool what was approved.

    Raises:
        Problem: `mcp_tool_changed`.
    """
    state = pins.state(name)
    if state != "pinned":
        said = {"gone": "no longer has", "new": "has a new tool", "changed": "has changed"}[state]
        what = f"the MCP server {server.name} {said} {name}"
        hint = f"a person decides: {server.approval_command}"
        raise Problem(ErrorCode.MCP_TOOL_CHANGED, what, hint=hint)


def _pins_of(data: Mapping[str, Any], server: McpServer) -> ServerPins:
    entry = data.get(server.key)
    if not isinstance(entry, dict):
        return ServerPins()
    tables = [entry.get(name) for name in ("tools", "seen", "files")]
    return ServerPins(
        str(entry.get("digest", "")), *(one if isinstance(one, dict) else {} for one in tables)
    )


def _read() -> dict[str, Any]:
    file = settings().home / PINS_FILE
    try:
        data = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        hint = "repair or remove it; servers are then seen as new"
        what = "the pins of MCP servers cannot be read"
        raise Problem(ErrorCode.CONFIG_SYNTAX, what, where=str(file), hint=hint) from error
    return data if isinstance(data, dict) else {}


def _update(server: McpServer, change: Callable[[ServerPins], ServerPins]) -> ServerPins:
    """Change what is known of a server, in one process at a time.

    Raises:
        Problem: `home_read_only`, `storage_busy`, `storage_unavailable` or `config_syntax`.
    """
    check_writable()
    secure_home()
    file = settings().home / PINS_FILE
    try:
        settings().locks.mkdir(mode=FOLDER, parents=True, exist_ok=True)
        with FileLock(settings().locks / "mcp-pins.lock", timeout=LOCK_SECONDS, mode=FILE):
            data = _read()
            known = _pins_of(data, server)
            pins = change(known)
            if pins != known:
                text = json.dumps({**data, server.key: pins._asdict()}, indent=1)
                write_user_file(file, text, force=True)
    except Timeout as error:
        what = "another process is writing the pins of MCP servers"
        raise Problem(ErrorCode.STORAGE_BUSY, what, where=str(file)) from error
    except OSError as error:
        what = f"the pins cannot be locked: {error.strerror}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=str(file)) from error
    return pins
