"""dossier ingest: read folders, files or a chat into memory."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_notice, print_problem
from config.errors import ErrorCode, ErrorKind, Problem
from graph.context import Context
from library.scope import list_namespaces
from library.vector_upkeep import update_vectors
from models.embeddings import EmbeddingCall, collect_embedding_calls, list_paid_embedders
from text.pluralization import pluralize
from tools.folder_ingestion import IngestResult, SkippedFile, ingest_folder, list_ignored_files

MAX_NAMED_FILES = 20
"""How many files of a folder that are not read are named without `--json`."""

IngestReport = tuple[dict[str, Any], list[str]]
"""What is told with `--json`, and the lines for a person."""


class _FolderSummary(NamedTuple):
    """A folder after it was read: what is in it, and what was passed over."""

    library: IngestResult
    pages: int
    passed_over: list[SkippedFile]

    @property
    def left_out(self) -> list[SkippedFile]:
        """The files that were not read."""
        return [*self.library.skipped, *self.passed_over]


def ingest_paths(*, paths: list[Path] | None, chat: Path | None, invocation: Invocation) -> int:
    """Read folders, files or a chat into memory; what was read before is not read again."""
    paths = paths or []
    if bool(chat) == bool(paths):
        what = "name folders and files, or one chat" if paths else "there is nothing to read"
        raise Problem(ErrorCode.USAGE, what, hint="dossier ingest PATH..., or --chat FILE.jsonl")
    bar = make_ingest_bar()
    work = (
        _read_chat(invocation, os.path.realpath(chat), bar)
        if chat
        else _read_folders(invocation.owner, paths, bar)
    )
    try:
        with bar:
            result, lines = run_and_close(work)
    except KeyboardInterrupt:
        print_notice("Stopped. What was read is kept; the same command goes on.")
        raise
    invocation.print_result(result, "\n".join(lines))
    return ErrorKind.PARTIAL.exit_status if result["status"] == "partial" else 0


async def _read_folders(owner: str, paths: Sequence[Path], bar: Progress) -> IngestReport:
    """Read folders one after the other; one that cannot be read does not stop the others."""
    read: list[_FolderSummary] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            read.append(await _read_folder(owner, path, bar))
        except Problem as problem:
            if len(paths) == 1:
                raise
            problems.append(problem)
            print_problem(problem, as_json=False)
    vectors = await _make_vectors(bar) if read else ""
    if not read:
        raise problems[0]
    whole = not problems and not any(one.library.skipped for one in read)
    result = {
        "status": "succeeded" if whole else "partial",
        "folders": [_folder_as_dict(one) for one in read],
        "errors": [problem.as_dict() for problem in problems],
        "vectors": vectors,
    }
    return result, [line for one in read for line in _folder_lines(one)] + [vectors] * bool(vectors)


async def _read_folder(owner: str, path: Path, bar: Progress) -> _FolderSummary:
    task = bar.add_task(one_line(path.name or str(path)), total=None)
    library = await ingest_folder(
        owner,
        path,
        lambda _: bar.advance(task),
        expect=lambda count: bar.update(task, total=count),
    )
    passed = await asyncio.to_thread(list_ignored_files, Path(library.root))
    shelves = await list_namespaces(owner)
    pages = sum(one.pages for one in shelves if (one.kind, one.group) == ("file", library.root))
    return _FolderSummary(library, pages, passed)


async def _read_chat(invocation: Invocation, path: str, bar: Progress) -> IngestReport:
    """Read a chat in a thread of its own: what a model wrote of it is never asked for again."""
    # Files do without the graph.
    from graph.session import open_session  # noqa: PLC0415
    from nodes.ingest import make_ingest_graph  # noqa: PLC0415

    task = bar.add_task(one_line(os.path.basename(path)), total=None)
    name = hashlib.sha256(f"{invocation.owner}\n{path}".encode(errors="replace")).hexdigest()
    context = Context(project=invocation.project)
    async with open_session(f"chat-{name[:16]}", make_ingest_graph) as opened:
        stream = opened.graph.astream(
            {"file": path}, opened.config, context=context, stream_mode="custom"
        )
        async for _ in stream:
            bar.advance(task)
        chat = (await opened.graph.aget_state(opened.config)).values["conversation"]
        vectors = await _make_vectors(bar)
    counts = ", ".join(pluralize(chat[f"{one}s"], one) for one in ("message", "session"))
    skipped = [f"line {one['number']}: {one['reason']}" for one in chat["skipped"]]
    lines = [one_line(chat["name"]), f"  {counts}; {pluralize(chat['added'], 'new page')}"]
    lines += _left_out_lines(skipped)
    if chat["masked"]:
        lines.append(f"  in {chat['masked']:,} of them a password, a key or a card was taken out")
    status = "partial" if skipped else "succeeded"
    return {"status": status, **chat}, lines + [vectors] * bool(vectors)


async def _make_vectors(bar: Progress) -> str:
    """Make the vectors of the pages that have none; return what a provider used, and what failed.

    Pages are found by their words meanwhile, and what is left is made another time.
    """
    task = bar.add_task("Making vectors", total=None)
    with collect_embedding_calls() as asked:
        try:
            problem = (await update_vectors(lambda pages: bar.advance(task, pages))).problem
        except Problem as error:
            problem = error
    lines = [_used(asked)] if asked and list_paid_embedders() else []
    return "\n".join(lines + [f"without vectors: {one_line(str(problem))}"] * bool(problem))


def _used(asked: list[EmbeddingCall]) -> str:
    """Return what a provider of vectors was asked, which is under no run's caps."""
    # It loads the clients of models, which local embedders do without.
    from models.chat_models import list_unpriced_models  # noqa: PLC0415

    tokens, dollars = sum(one.tokens for one in asked), sum(one.dollars for one in asked)
    unknown = ", ".join(list_unpriced_models(list_paid_embedders()))
    price = f"no price is known for {unknown}" if unknown else f"${dollars:.4f}"
    calls = pluralize(len(asked), "embedding call")
    return f"vectors: {calls}, {pluralize(tokens, 'token')}, {price}"


def make_ingest_bar() -> Progress:
    """Return the bar on standard error; nothing moves where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _folder_lines(read: _FolderSummary) -> list[str]:
    library, root = read.library, read.library.root
    files = pluralize(library.files + len(read.passed_over), "file")
    counts = f"{library.read} read, {library.known} known already"
    counts += f", {len(read.left_out)} left out" if read.left_out else ""
    lines = [one_line(root), f"  {files}: {counts}; {pluralize(read.pages, 'page')}"]
    return lines + _left_out_lines([_name_skipped(one, root) for one in read.left_out])


def _left_out_lines(named: Sequence[str]) -> list[str]:
    """Return a line for each thing that is not read, at most so many."""
    lines = [f"  left out {one}" for one in named[:MAX_NAMED_FILES]]
    if len(named) > MAX_NAMED_FILES:
        lines.append(f"  … and {len(named) - MAX_NAMED_FILES} more; --json names them all")
    return lines


def _name_skipped(one: SkippedFile, root: str) -> str:
    path = Path(one.path)
    name = path.relative_to(root) if path.is_relative_to(root) and one.path != root else path
    return f"{one_line(str(name))}: {one.reason} [{one.code}]"


def _folder_as_dict(read: _FolderSummary) -> dict[str, Any]:
    library = read.library
    files = library.files + len(read.passed_over)
    counts = {"files": files, "read": library.read, "known": library.known, "pages": read.pages}
    return {"root": library.root, **counts, "skipped": [one._asdict() for one in read.left_out]}
