"""dossier doctor: check this installation."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.folder_settings import describe_ignored_settings
from app.cli.output import one_line
from app.cli.question_run import (
    describe_long_memory_files,
    load_model_names,
    memory_file_tokens,
)
from app.cli.shared_database import describe_shared_database
from config import environment, packages
from config.errors import ErrorCode, ErrorKind, Problem
from config.model_table import MODEL_ROLES
from config.search_table import load_search_table
from config.settings import settings
from graph.context import Context
from library.knowledge_records import KnowledgeBase
from memory.experience.insights import count_dangling_edges
from models.chat_models import (
    check_model_server,
    has_api_key,
    list_unpriced_models,
    model_for_role,
)
from models.embeddings import list_paid_embedders, load_embedder
from runs.call_site import join_owner
from storage.engine import get_engine
from storage.permissions import find_exposed_files, is_read_only, secure_home
from text.tokens import ENCODING, is_count_exact, vocabulary_file
from tools.knowledge.catalog import list_bases
from tools.knowledge.kinds import open_base
from tools.knowledge.knowledge_source import BaseUnanswered
from tools.mcp.connections import close_thread_connections
from tools.mcp.mcp_tools import learn_tools
from tools.mcp.server_config import McpServer, load_servers
from tools.mcp.tool_definitions import check_approved, read_pins
from tools.sandbox.sandbox import describe_sandbox
from tools.web.federated_search import is_any_reachable
from tools.web.provider_choice import check_table_names
from tools.web.providers.provider_registry import list_configured_providers

PACKAGES = ("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite", "chromadb")


async def check_installation(*, invocation: Invocation) -> int:
    """Check this installation and say how to mend what is wrong."""
    rows = await _checks()
    shown = Table.grid(Column(no_wrap=True), Column(no_wrap=True), padding=(0, 2))
    for name, ok, says in rows:
        mark = "[green]ok[/green]" if ok else "[bold red]MEND[/bold red]"
        shown.add_row(mark, name, Text(one_line(says), overflow="fold"))
    data = [{"check": name, "ok": ok, "says": says} for name, ok, says in rows]
    invocation.print_result(data, shown)
    return 0 if all(ok for _, ok, _ in rows) else ErrorKind.UNAVAILABLE.exit_status


async def _checks() -> list[tuple[str, bool, str]]:
    checks: dict[str, Callable[[], Awaitable[str]]] = {
        "packages": _packages,
        "versions": _versions,
        "settings": _settings,
        "tracing": _tracing,
        "telemetry": _telemetry,
        "storage": _storage,
        "shared database": describe_shared_database,
        "privacy": _privacy,
        "experience": _experience,
        "instructions": _instructions,
        "strict checkpoints": _strict,
        "models": _models,
        "embeddings": _embeddings,
        "web search": _search,
        "knowledge bases": _knowledge,
        "token counts": _tokens,
        "mcp servers": _mcp,
        "sandbox": _sandbox,
    }
    rows = []
    for name, check in checks.items():
        try:
            rows.append((name, True, await check()))
        except Problem as problem:
            rows.append((name, False, str(problem)))
    return rows


async def _packages() -> str:
    packages.check_requirements()
    return f"all {len(packages.list_requirements())} that are needed are installed"


async def _versions() -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    named = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return f"python {python}, sqlite {sqlite3.sqlite_version}, {named}"


async def _settings() -> str:
    own = environment.home_env_file()
    read = "read" if await asyncio.to_thread(os.path.isfile, own) else "not there"
    left = await asyncio.to_thread(environment.read_folder_env)
    line = f"{own} is {read}"
    return f"{line}; {describe_ignored_settings(left)}" if left else line


async def _tracing() -> str:
    if environment.is_tracing_enabled():
        return "every run is sent to LangSmith, as the environment or your settings say"
    return "runs are not sent to LangSmith"


async def _telemetry() -> str:
    if not environment.is_span_export_enabled():
        return "no collector of OpenTelemetry is named"
    try:
        # Few people name one, and OpenTelemetry takes a while to load.
        from runs.collectors import check_collectors  # noqa: PLC0415
    except ImportError as error:
        what = "a collector of OpenTelemetry is named, and what sends to it is not installed"
        hint = "pip install 'dossier[telemetry]'"
        raise Problem(ErrorCode.PACKAGE_MISSING, what, hint=hint) from error
    return f"every run is told to {await asyncio.to_thread(check_collectors)}"


async def _storage() -> str:
    engine = await get_engine()
    address = engine.url.render_as_string(hide_password=True)
    file = Path(engine.url.database or "")
    if engine.dialect.name == "sqlite" and await asyncio.to_thread(is_read_only, file):
        return f"{address} (read-only: no questions can be asked and nothing is learnt)"
    return address


def _open(left: Sequence[Path]) -> tuple[str, str]:
    """Return what others may read, and what can be done about it."""
    more = f" and {len(left) - 1} more" if len(left) > 1 else ""
    first, place = left[0].resolve(), settings().home
    led = "" if left[0] == first else f", which is a link to {first}"
    where = first if led else place
    hint = f"chmod -R go= {where}, as its owner, on a file system with permissions"
    return f"others may read {left[0]}{led}{more}", hint


async def _privacy() -> str:
    await asyncio.to_thread(secure_home, again=True)
    left = await asyncio.to_thread(find_exposed_files)
    if left:
        what, hint = await asyncio.to_thread(_open, left)
        raise Problem(ErrorCode.HOME_NOT_PRIVATE, what, hint=hint)
    return f"nobody else reads {settings().home}"


async def _instructions() -> str:
    warnings = await describe_long_memory_files(_owner())
    fits = f"AGENTS.md fits into the {memory_file_tokens():,} tokens that it has in each call"
    return "; ".join(warnings) or fits


async def _experience() -> str:
    wrong = await count_dangling_edges()
    if wrong:
        what = ", ".join(f"{count} of {name}" for name, count in wrong.items())
        hint = "restore the database from a backup"
        raise Problem(ErrorCode.STORAGE_CORRUPT, f"edges lead nowhere: {what}", hint=hint)
    return "every edge has both its ends"


async def _strict() -> str:
    serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    forged = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(["os", "getpid", []])))
    if serde.loads_typed(("msgpack", forged)) == os.getpid():
        raise Problem(ErrorCode.CHECKPOINTS_UNSAFE, "a forged checkpoint can run code")
    return "a forged checkpoint cannot run code"


async def _models() -> str:
    wanted = [model_for_role(role, Context()) for role in MODEL_ROLES]
    if any(name.startswith("openai:") and has_api_key(name) for name in wanted):
        await check_model_server()
    loaded = await load_model_names(Context())
    models = ", ".join(dict.fromkeys(loaded))
    if unknown := list_unpriced_models([*loaded, *list_paid_embedders()]):
        listed = ", ".join(unknown)
        price = f"no price is known for {listed}: max_cost cannot be enforced; add it to [prices]"
        return f"{models}; {price}"
    return f"{models} (no key is set)" if models == "extractive:" else models


async def _embeddings() -> str:
    made = await asyncio.to_thread(load_embedder)
    return made.name if made else "none: pages are found by their words only"


async def _search() -> str:
    table = load_search_table()
    check_table_names(table)
    names = list_configured_providers(os.environ)
    if names:
        return ", ".join(names)
    if settings().keyless_search:
        keyless = ", ".join(table.keyless)
        if not await is_any_reachable(table.keyless, os.environ):
            return f"{keyless}, which need no key, and cannot be reached from here now"
        return f"{keyless}, which need no key (SEARXNG_URL, TAVILY_API_KEY or BRAVE_API_KEY: more)"
    return "none (set SEARXNG_URL, TAVILY_API_KEY or BRAVE_API_KEY for the web)"


async def _knowledge() -> str:
    bases = await list_bases(join_owner(settings().user, ""))
    checked = await asyncio.gather(*map(_base, bases))
    if failed := [problem for _, problem in checked if problem]:
        told = "; ".join(f"{problem.where}: {problem.what}" for problem in failed)
        hint = failed[0].hint
        raise Problem(ErrorCode.KNOWLEDGE_UNAVAILABLE, told, hint=hint)
    return "; ".join(line for line, _ in checked) or "none (dossier kb add names one)"


async def _base(base: KnowledgeBase) -> tuple[str, Problem | None]:
    try:
        return f"{base.name}: {await open_base(base).check()}", None
    except Problem as problem:
        return "", BaseUnanswered(base.name, problem)


async def _tokens() -> str:
    if await asyncio.to_thread(is_count_exact):
        return "exact"
    what = f"{vocabulary_file()} is not the vocabulary {ENCODING}"
    return f"estimated: {what} (TIKTOKEN_CACHE_DIR names its folder)"


async def _mcp() -> str:
    servers = [one for one in (await load_servers(_owner())).values() if not one.disabled]
    said = await asyncio.gather(*map(_try_server, servers))
    failed = [one for one in said if isinstance(one, Problem)]
    if failed:
        hint = "; ".join([failed[0].hint, *map(str, failed[1:])])
        raise Problem(failed[0].error, failed[0].what, where=failed[0].where, hint=hint)
    return "; ".join(map(str, said)) or "none (mcp.json in the home names them)"


async def _try_server(server: McpServer) -> str | Problem:
    """Return what a server has, or why it cannot be used."""
    # A connection is held by a thread, and no thread of a run is called so.
    thread = f"dossier doctor {server.name}"
    try:
        check_approved(server, await read_pins(server))
        pins = await learn_tools(thread, server)
    except Problem as problem:
        return problem
    finally:
        await close_thread_connections(thread)
    states = Counter(pins.state(name) for name in pins.names)
    counts = ", ".join(f"{count} {state}" for state, count in states.items())
    return f"{server.name}: {counts or 'no tools'}"


def _owner() -> str:
    return join_owner(settings().user, "")


async def _sandbox() -> str:
    chosen, (backend, obstacle) = settings().sandbox, await describe_sandbox()
    if backend:
        return backend
    if chosen == "off":
        return f"none, and no step computes: {obstacle}"
    if chosen == "auto":
        mend = ErrorCode.SANDBOX_UNAVAILABLE.hint
        return f"none, and no step computes: {obstacle} ({mend})"
    raise Problem(ErrorCode.SANDBOX_UNAVAILABLE, obstacle)
