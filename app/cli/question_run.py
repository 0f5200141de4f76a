"""Run a question: read its folder, check its models and that there is something to search."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.folder_trust import list_skipped_memory_files
from app.cli.output import has_terminal
from app.cli.progress import RunProgress
from app.cli.runner import REMOVAL_NOTICE, CliRunner
from config.errors import ErrorCode, Problem
from config.model_table import MODEL_ROLES
from config.search_table import load_search_table
from config.settings import settings
from graph.context import Context, build_context
from graph.session import SessionOutcome, ThreadSession
from library.recall import is_scope_empty
from library.scope import parse_scope
from memory.agents_md.memory import AgentsMdMemory, files_over_budget
from memory.facts.queries import list_facts
from memory.learning.self_statements import is_only_statements
from memory.profile.store import load_profile
from models.chat_models import (
    built_in,
    check_model_prices,
    list_unpriced_models,
    load_role_model,
    model_for_role,
)
from models.embeddings import list_paid_embedders
from report.export import check_report_folder, resolve_report_folder
from runs.call_site import join_owner
from runs.lifecycle import check_question, check_thread_id, find_newest_run
from runs.lock import thread_lock
from text.pluralization import pluralize
from text.secret_masking import list_removed_kinds
from text.smalltalk import reply_to_smalltalk
from tools.folder_ingestion import ingest_folder
from tools.knowledge.catalog import check_base_names, list_bases
from tools.knowledge.kinds import NO_BASES
from tools.mcp.server_config import McpServer, allow_project_servers, choose_servers
from tools.web.federated_search import is_any_reachable
from tools.web.provider_choice import check_table_names, is_keyless, list_run_providers
from tools.web.providers.provider_registry import check_provider_names

OTHER_MODEL = (
    "The model server has no {usual}, the usual one: {other} answers (DOSSIER_MODEL names another)"
)

NO_PRICE = (
    "Warning: no price is known for {models}, so max_cost = {most} cannot be enforced; "
    "max_tokens and max_calls are (prices: [prices] in the file that DOSSIER_MODELS names)"
)
"""The warning if the default cap on money cannot be enforced."""

NO_TERMINAL = (
    "No terminal to ask on: the plan is approved as it is, and a step that asks stops the run "
    "(--yes: it goes by what it assumes)"
)

NOTHING_HINT = (
    "name files with --docs PATH, read some in with `dossier ingest PATH`, or set SEARXNG_URL, "
    "TAVILY_API_KEY or BRAVE_API_KEY for the web"
)


def run_question(
    question: str,
    docs: list[Path],
    wanted: dict[str, Any],
    *,
    thread: str | None,
    wait: bool,
    out: Path | None,
    force: bool,
    as_json: bool,
    progress: str = "auto",
) -> int:
    """Run a question to its end; return the exit status.

    Args:
        question: What was asked.
        docs: The folders and files to read before.
        wanted: The choices of the run.
        thread: The conversation it is asked in; a new one where none is named.
        wait: Whether to stop when the plan is made.
        out: The folder the report goes to.
        force: Whether files there are replaced.
        as_json: Whether the result is printed as JSON.
        progress: How progress is shown.
    """
    question = check_question(question)
    thread = _new_thread_name() if thread is None else check_thread_id(thread)
    check_provider_names(wanted.get("search", []))
    check_report_folder(resolve_report_folder(out, thread), force=force)
    conductor = CliRunner(
        thread, wait=wait, out=out, force=force, as_json=as_json, progress=progress
    )
    with thread_lock(thread):
        return conductor.run_to_end(lambda opened: _ask(opened, conductor, question, docs, wanted))


def memory_file_tokens() -> int:
    """Return how many tokens memory files have for themselves in a call."""
    return int(settings().memory_tokens * AgentsMdMemory.share)


async def describe_long_memory_files(owner: str) -> list[str]:
    """Say of each memory file that is longer than what it has for itself in a call."""
    most, own = settings().memory_tokens, memory_file_tokens()
    room = f"calls have room for {own:,} to {most:,}: each is told the beginning and what fits it"
    long = await files_over_budget(owner, own)
    return [f"{path} has {tokens:,} tokens, and {room}" for path, tokens in long]


async def _ask(
    opened: ThreadSession,
    conductor: CliRunner,
    question: str,
    docs: list[Path],
    wanted: dict[str, Any],
) -> SessionOutcome:
    plain, say = build_context(wanted), conductor.progress.print_line
    if list_removed_kinds(question):
        say(REMOVAL_NOTICE)
    owner = join_owner(plain.user or settings().user, plain.project)
    await check_base_names(owner, plain.knowledge)
    files = await _files_of_thread(opened, owner, conductor.thread)
    if docs:
        files = [await _read(owner, folder, conductor.progress) for folder in docs]
        files = list(dict.fromkeys(files))
    for path in await list_skipped_memory_files(owner, files):
        say(f"{path} is not read before model calls: it is among the documents")
    for line in await describe_long_memory_files(owner):
        say(line)
    servers = leave_unused_out(await check_servers(owner, plain), plain, say)
    web = await _choose_web(owner, plain, files, servers, question, say)
    await check_models(plain, conductor.progress, money="max_cost" in wanted)
    alone = not has_terminal()
    if alone and plain.depth != "quick" and "auto_accept" not in wanted:
        say(NO_TERMINAL)
    unasked = {"auto_accept": True, "stop_to_ask": "auto_accept" not in wanted} if alone else {}
    chosen = build_context({**unasked, **wanted, **web, "files": files})
    return await conductor.begin(opened, question, chosen)


async def _has_bases(owner: str, plain: Context) -> bool:
    """Tell whether a run may search a knowledge base."""
    return NO_BASES not in plain.knowledge and bool(await list_bases(owner))


WEB_WITHOUT_KEY = (
    "The web is searched with {names}, as no key of another search is set (--no-web: not at all)"
)
SERVERS_UNUSED = "The tools of MCP servers are not used: that takes a language model"
WEB_OUT_OF_REACH = "The web cannot be reached from here: it is not searched"


async def _choose_web(
    owner: str,
    run: Context,
    files: list[str],
    servers: list[McpServer],
    question: str,
    say: Callable[[str], object],
) -> dict[str, str]:
    """Say what is searched where neither files nor servers nor a search with a key are named.

    Returns:
        What is chosen of the web beside what the person chose: nothing, or that it is left out of a
        run on a machine without a network.

    Raises:
        Problem: `nothing_to_search`.
    """
    check_table_names(load_search_table())
    names = list_run_providers(replace(run, files=files), os.environ)
    if names and not is_keyless(run, os.environ):
        return {}
    reached = bool(names) and await is_any_reachable(names, os.environ)
    if names:
        general = ", ".join(load_search_table().keyless)
        say(WEB_WITHOUT_KEY.format(names=general) if reached else WEB_OUT_OF_REACH)
    if not (files or servers or reached or await _has_bases(owner, run)):
        await _check_memory(owner, run, question)
        say("No files are named: what was read before is searched")
    return {"web": "unreachable"} if names and not reached else {}


async def _check_memory(owner: str, run: Context, question: str) -> None:
    """Make sure that something is remembered where there is nothing else to answer from.

    Raises:
        Problem: `nothing_to_search`, unless nothing is asked.
    """
    if reply_to_smalltalk(question) or is_only_statements(question) or await list_facts(owner):
        return
    scope = parse_scope(list(run.memory))
    if (await load_profile(owner)).revision == 0 and await is_scope_empty(owner, scope):
        what = "there is nothing to search: no files, no search of the web, nothing remembered"
        raise Problem(ErrorCode.NOTHING_TO_SEARCH, what, hint=NOTHING_HINT)


async def check_servers(owner: str, run: Context) -> list[McpServer]:
    """Return the MCP servers of a run; here those of a trusted project count, too.

    Raises:
        Problem: `mcp_unknown`, `config_syntax`, `mcp_config` or `mcp_env_denied`.
    """
    allow_project_servers()
    return await choose_servers(owner, run.mcp, "researcher")


def leave_unused_out(
    servers: list[McpServer], run: Context, say: Callable[[str], object]
) -> list[McpServer]:
    """Return the servers whose tools a run uses; none without a language model, and say so."""
    if not servers or not built_in("researcher", run):
        return servers
    say(SERVERS_UNUSED)
    return []


async def check_models(run: Context, progress: RunProgress, *, money: bool = False) -> None:
    """Load every model of a run before anything is spent, and show which they are.

    Args:
        run: The choices of the run.
        progress: Where they are shown.
        money: Whether a person has set the cap on money; if so, every model needs a price.

    Raises:
        Problem: `unknown_model`, `model_key_missing` or `model_without_price`.
    """
    wanted = [model_for_role(role, run) for role in MODEL_ROLES]
    loaded = await load_model_names(run)
    names = dict.fromkeys(loaded)
    if money:
        check_model_prices(run, loaded)
    elif unknown := list_unpriced_models([*names, *list_paid_embedders()]):
        progress.print_line(NO_PRICE.format(models=", ".join(unknown), most=run.limits.max_cost))
    for usual, other in dict(zip(wanted, loaded, strict=True)).items():
        if other not in (usual, f"{usual}:"):
            progress.print_line(OTHER_MODEL.format(usual=usual, other=other))
    if list(names) == ["extractive:"]:
        progress.print_line("No model key is set: the built-in extractive model quotes the sources")
    else:
        progress.print_line(f"Models: {', '.join(names)}")


async def load_model_names(run: Context) -> list[str]:
    """Load the model of every role; return their names in the order of the roles."""
    models = [await load_role_model(role, run) for role in MODEL_ROLES]
    return [str((model.metadata or {})["model"]) for model in models]


async def _read(owner: str, folder: Path, progress: RunProgress) -> str:
    """Read a folder or a file, and show how far that is; return its whole path."""
    done = total = 0

    def expect(count: int) -> None:
        """Take down how many files there are."""
        nonlocal total
        total = count

    def one(path: str) -> None:
        """Show that one more file is read."""
        nonlocal done
        done += 1
        progress.set_activity(f"Reading {Path(path).name} ({done} of {total})")

    library = await ingest_folder(owner, folder, one, expect=expect)
    counts = f"{library.read} read, {library.known} known already"
    left = f", {len(library.skipped)} left out" if library.skipped else ""
    progress.print_line(f"{pluralize(library.files, 'file')} in {folder} ({counts}{left})")
    progress.set_activity("Preparing the question")
    for skipped in library.skipped:
        name = Path(skipped.path).name
        progress.print_line(f"  left out {name}: {skipped.reason} [{skipped.code}]")
    return library.root


async def _files_of_thread(opened: ThreadSession, owner: str, thread: str) -> list[str]:
    """Return the files of the last question of a thread; none for a new thread.

    Raises:
        Problem: `waiting_review` or `run_unfinished` when the last question is not finished, or
            `thread_not_found` when the thread is another owner's.
    """
    if not (await opened.check_free()).values.get("turn"):
        return []
    last = await find_newest_run(owner, thread)
    if last is None:
        what = f"there is no thread {thread!r}"
        raise Problem(ErrorCode.THREAD_NOT_FOUND, what, hint="see `dossier runs`")
    files: list[str] = last.context.get("files", [])
    return files


def _new_thread_name() -> str:
    """Return a name for a new thread: the day and six random letters."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"
