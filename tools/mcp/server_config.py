"""Read which MCP servers there are, from the `mcp.json` of the home and of a trusted project."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, Literal

from config.errors import ErrorCode, Problem, first_validation_error
from config.resources import Resource
from config.settings import settings
from config.user_files import read_user_file
from memory.agents_md.project_trust import trusted_folder
from text.regex import regex

FILE_NAME = "mcp.json"

LARGEST = 262_144
"""The largest size of such a file, in bytes."""

NO_SERVERS = "none"
"""The name that stands for no server in the choice `mcp` of a run."""

CONNECT_SECONDS = 15.0
"""How long a server may take to start, to greet and to list its tools."""

MAX_SECONDS = 600.0
"""The longest timeout of a call."""

ToolRole = Literal["researcher", "coder"]
"""The roles that may be given servers."""

_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_VARIABLE = regex(r"\$\{([^}]*)\}")
_HARMFUL = regex(
    r"LD_\w+|DYLD_\w+|BASH_ENV|ENV|IFS|GCONV_PATH|NODE_OPTIONS|PYTHON(?:STARTUP|HOME|INSPECT)"
    r"|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS",
    re.ASCII,
)
_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")


@dataclass(frozen=True)
class McpServer:
    """One server as its entry in a file describes it; `${VAR}` stands in it unreplaced."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "strict": True,
        "allow_inf_nan": False,
    }

    command: str = ""
    """The program of a server that is started here and spoken to over its standard streams."""
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    """The address of a server that is spoken to over streamable HTTP."""
    headers: dict[str, str] = field(default_factory=dict)
    type: Literal["", "stdio", "http", "streamable-http", "streamable_http"] = ""
    disabled: bool = False
    roles: list[ToolRole] = field(default_factory=lambda: ["researcher"])
    """The roles that are offered its tools."""
    tools: list[str] | None = None
    """Which of its tools are offered; all if missing."""
    allow: list[str] = field(default_factory=list)
    """Which of its tools may be called without approval although they do more than read."""
    local: bool = False
    """Whether what it is told stays on this machine, so that private words may be in it."""
    timeout: float = 30.0
    """How long one call may take, in seconds."""
    name: str = ""
    folder: str = ""
    """The project's folder whose file has it; "" for that of the home."""
    files: dict[str, str] = field(default_factory=dict)
    """The hashes of the project's own files that start it, by their paths in the folder."""

    @property
    def key(self) -> str:
        """Return what it is called among those of all files."""
        return f"{self.folder}:{self.name}" if self.folder else self.name

    @property
    def is_stdio(self) -> bool:
        """Tell whether it is a program that is started here."""
        return bool(self.command)

    @property
    def working_folder(self) -> str | None:
        """Return the folder in which its program is started; `None` for the current one."""
        return os.path.join(self.folder, os.path.expanduser(self.cwd)) or None

    @property
    def is_local(self) -> bool:
        """Tell whether private words may be sent to it."""
        return self.local and self.is_stdio

    @property
    def rights(self) -> dict[str, Any]:
        """Return what its entry grants it beyond what any server may do, by field."""
        granted = {"allow": sorted(self.allow), "local": self.is_local, "roles": sorted(self.roles)}
        usual = {"allow": [], "local": False, "roles": ["researcher"]}
        return {name: one for name, one in granted.items() if one != usual[name]}

    @property
    def digest(self) -> str:
        """Return a hash of how it is started or reached, with which files, and of its rights."""
        named = {name: asdict(self)[name] for name in ("command", "args", "env", "cwd", "url")}
        more = [one for one in (self.rights, self.files) if one]
        text = json.dumps([named, self.headers, *more], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def approval_command(self) -> str:
        """Return the command with which a person approves it."""
        project = f" --project {quote(self.folder)}" if self.folder else ""
        return f"dossier mcp approve {self.name}{project}"

    def describe(self) -> str:
        """Return in one line how it is started or reached, without values of variables."""
        names = [f"{name}=…" for name in self.env]
        return " ".join([*names, self.command, *self.args]) if self.command else self.url


_OWN_FIELDS = {"name", "folder", "files"}
"""The fields that no entry has."""

_FIELDS = {one.name for one in fields(McpServer)} - _OWN_FIELDS

_project_files = Resource(list[bool])
"""Not empty where the `mcp.json` of projects count: in commands of a person, never on a server."""


def allow_project_servers() -> None:
    """Let the files of trusted projects count in this process."""
    _project_files.get().append(True)


async def load_servers(owner: str) -> dict[str, McpServer]:
    """Return the servers that an owner's runs may use, by name.

    A server of the home hides one of the same name in the project.

    Raises:
        Problem: `config_syntax` or `mcp_config`.
    """
    folder = await trusted_folder(owner) if _project_files.get() else ""
    return await asyncio.to_thread(_read_all, folder)


async def choose_servers(owner: str, names: Sequence[str], role: str) -> list[McpServer]:
    """Return the servers that a role is given in a run.

    Args:
        owner: Whose run.
        names: The choice `mcp` of the run.
        role: The role.

    Raises:
        Problem: `mcp_unknown`, `config_syntax` or `mcp_config`.
    """
    if [*names] == [NO_SERVERS]:
        return []
    known = await load_servers(owner)
    check_server_names(names, known)
    chosen = [known[name] for name in dict.fromkeys(names)] if names else list(known.values())
    return [one for one in chosen if role in one.roles and not one.disabled]


def check_server_names(names: Sequence[str], known: Mapping[str, McpServer]) -> None:
    """Make sure that there are servers of these names.

    Raises:
        Problem: `mcp_unknown`, with the names that there are.
    """
    for name in names if [*names] != [NO_SERVERS] else ():
        if name not in known:
            raise unknown_server(name, known)


def unknown_server(name: str, known: Mapping[str, McpServer]) -> Problem:
    """Return the problem of a name that no server has."""
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(known)}" if known else ""
    hint = hint or f"name servers in {settings().home / FILE_NAME}"
    return Problem(ErrorCode.MCP_UNKNOWN, f"there is no MCP server {name[:80]!r}", hint=hint)


def _read_all(folder: str) -> dict[str, McpServer]:
    servers = _read_file(settings().home / FILE_NAME, "")
    # This folder was trusted, not the one that a link of its name may lead to by now.
    if folder and folder == os.path.realpath(folder):
        for file in (Path(folder, ".dossier", FILE_NAME), Path(folder, FILE_NAME)):
            if Path(os.path.realpath(file)).is_relative_to(folder):
                servers = _read_file(file, folder) | servers
    return servers


def _read_file(file: Path, folder: str) -> dict[str, McpServer]:
    """Return the servers of a file; none without a file.

    Raises:
        Problem: `config_syntax` or `mcp_config`.
    """
    if not os.path.isfile(file):
        return {}
    try:
        text = read_user_file(file)
    except (OSError, UnicodeDecodeError) as error:
        what = "the file cannot be read as text in UTF-8"
        raise _problem(ErrorCode.CONFIG_SYNTAX, what, str(file)) from error
    if len(text) > LARGEST:
        what = f"the file has more than {LARGEST:,} characters"
        raise _problem(ErrorCode.CONFIG_SYNTAX, what, str(file))
    entries = _parse(text, file)
    return {name: _build(name, entry, file, folder) for name, entry in entries.items()}


def _parse(text: str, file: Path) -> dict[str, Any]:
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _distinct(pairs, file))
    except json.JSONDecodeError as error:
        where = f"{file}:{error.lineno}:{error.colno}"
        raise _problem(ErrorCode.CONFIG_SYNTAX, f"it is not JSON: {error.msg}", where) from error
    except (ValueError, RecursionError) as error:
        raise _problem(ErrorCode.CONFIG_SYNTAX, "it is not JSON", str(file)) from error
    if not isinstance(data, dict) or not isinstance(data.get("mcpServers"), dict):
        what = "it has no table of servers named mcpServers"
        raise _problem(ErrorCode.MCP_CONFIG, what, str(file))
    if other := [name for name in data if name != "mcpServers"]:
        what = f"there is no field {other[0][:80]!r} beside mcpServers"
        raise _problem(ErrorCode.MCP_CONFIG, what, str(file))
    entries: dict[str, Any] = data["mcpServers"]
    return entries


def _distinct(pairs: list[tuple[str, Any]], file: Path) -> dict[str, Any]:
    named = dict(pairs)
    if len(named) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _problem(ErrorCode.MCP_CONFIG, f"{twice[:80]!r} stands twice in it", str(file))
    return named


def _build(name: str, entry: Any, file: Path, folder: str) -> McpServer:
    """Return the server that an entry describes.

    Raises:
        Problem: `mcp_config` or `mcp_env_denied`.
    """
    where = f"{file}: mcpServers.{name[:80]}"
    if not _NAME.fullmatch(name) or name == NO_SERVERS:
        what = "a server is named by at most 32 letters, digits, - and _"
        raise _problem(ErrorCode.MCP_CONFIG, what, where)
    if not isinstance(entry, dict):
        raise _problem(ErrorCode.MCP_CONFIG, "this is no entry of a server", where)
    if own := sorted(entry.keys() & _OWN_FIELDS):
        raise _problem(ErrorCode.MCP_CONFIG, "there is no such field", f"{where}.{own[0]}")
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415

    try:
        written = json.dumps({**entry, "name": name, "folder": folder})
        server = TypeAdapter(McpServer).validate_json(written)
    except ValidationError as error:
        place, what = first_validation_error(error)
        if close := get_close_matches(place, set(_FIELDS) - entry.keys(), n=1):
            what = f"{what}; did you mean {close[0]}?"
        raise _problem(ErrorCode.MCP_CONFIG, what, f"{where}.{place}") from error
    _check(server, where)
    return replace(server, files=_hash_files(server)) if folder and server.is_stdio else server


def _hash_files(server: McpServer) -> dict[str, str]:
    """Return the hashes of the files below a project's folder that a command line names.

    A word names a file by its path, also behind a `=`, or as a module behind `-m`.
    """
    words = [server.command, *server.args]
    named = [part for word in words for part in (word, word.partition("=")[2]) if part]
    for option, module in pairwise(words):
        if option == "-m":
            path = module.replace(".", "/")
            named += [f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py"]
    place, hashes = server.working_folder or "", dict[str, str]()
    for one in named:
        path = os.path.normpath(os.path.join(place, os.path.expanduser(one)))
        ways = Path(path), Path(os.path.realpath(path))
        if any(way.is_relative_to(server.folder) for way in ways) and os.path.isfile(path):
            hashes[os.path.relpath(path, server.folder)] = _hash_file(path)
    return hashes


def _hash_file(path: str) -> str:
    """Return the hash of a file; of one that cannot be read, why not."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return error.strerror or "unreadable"


def _check(server: McpServer, where: str) -> None:
    """Make sure that an entry says one way to reach a server, and nothing that does harm.

    Raises:
        Problem: `mcp_config` or `mcp_env_denied`.
    """
    wrong = {
        "give either command, for a program, or url, for streamable HTTP": (
            bool(server.command.strip()) == bool(server.url)
        ),
        f"its type {server.type} does not fit {'command' if server.command else 'url'}": (
            server.type and (server.type == "stdio") != server.is_stdio
        ),
        "its url begins with neither http:// nor https://": (
            server.url and not server.url.startswith(("http://", "https://", "${"))
        ),
        "args, env and cwd are for a server with command": (
            server.url and (server.args or server.env or server.cwd)
        ),
        "headers are for a server with url": server.command and server.headers,
        "its timeout is not between 0 and 600 seconds": not 0 < server.timeout <= MAX_SECONDS,
    }
    what = next((what for what, holds in wrong.items() if holds), "")
    if what:
        raise _problem(ErrorCode.MCP_CONFIG, what, where)
    if harmful := [name for name in server.env if _HARMFUL.fullmatch(name)]:
        what = f"{harmful[0]} would change which code runs, and may not be set"
        raise _problem(ErrorCode.MCP_ENV_DENIED, what, f"{where}.env")


def _problem(code: ErrorCode, what: str, where: str) -> Problem:
    return Problem(code, what, where=where, hint="docs/mcp.md shows the format")


def expand_variables(server: McpServer, text: str) -> str:
    """Return a text of an entry with each `${VAR}` replaced, if the settings allow that variable.

    Raises:
        Problem: `mcp_env_denied` if they do not, or if it is not set.
    """

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in settings().mcp_env and name in os.environ:
            return os.environ[name]
        allowed = name in settings().mcp_env
        what = f"{name[:80]} is not set" if allowed else f"it may not have {name[:80]}"
        hint = f"set {name[:80]}" if allowed else f"allow it with DOSSIER_MCP_ENV={name[:80]}"
        where = f"MCP server {server.name}"
        raise Problem(ErrorCode.MCP_ENV_DENIED, what, where=where, hint=hint)

    return _VARIABLE.sub(value, text)


def build_environment(server: McpServer) -> dict[str, str]:
    """Return all variables that the program of a server has; no key of Dossier is among them.

    Raises:
        Problem: `mcp_env_denied`.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    named = {name: expand_variables(server, value) for name, value in server.env.items()}
    return inherited | named


def list_secret_values(server: McpServer) -> list[str]:
    """Return the values of an entry that may be keys, longest first, to be kept out of messages."""
    written = [*server.env.values(), *server.headers.values(), *server.args, server.url]
    names = {name for text in written for name in _VARIABLE.findall(text)}
    values = {os.environ[name] for name in names if name in os.environ}
    values |= {*server.env.values(), *server.headers.values()}
    return sorted((one for one in values if len(one) >= 8), key=len, reverse=True)
