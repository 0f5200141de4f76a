"""dossier ingest: read folders and files into memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import one_line, print_json, print_problem
from config.errors import ErrorCode, ErrorKind, Problem
from library.scope import list_namespaces
from library.vector_upkeep import update_vectors
from models.embeddings import EmbeddingCall, collect_embedding_calls, list_paid_embedders
from text.pluralization import pluralize
from tools.folder_ingestion import IngestResult, SkippedFile, ingest_folder, list_ignored_files

MAX_NAMED_FILES = 20
"""How many files of a folder that are not read are named without `--json`."""


class _FolderSummary(NamedTuple):
    """A folder after it was read: what is in it, and what was passed over."""

    library: IngestResult
    pages: int
    passed_over: list[SkippedFile]


def ingest_paths(*, paths: list[Path] | None, chat: Path | None, invocation: Invocation) -> int:
    """Read folders, files or a chat into memory; what was read before is not read again."""
    if chat and not paths:
        # It needs the graph, which files do without.
        from app.cli.ingest_chat import print_chat_ingestion  # noqa: PLC0415

        return print_chat_ingestion(chat, invocation)
    if chat or not paths:
        what = "name folders and files, or one chat" if paths else "there is nothing to read"
        raise Problem(ErrorCode.USAGE, what, hint="dossier ingest PATH..., or --chat FILE.jsonl")
    bar = make_ingest_bar()
    return run_ingestion(_folders(invocation.owner, paths, bar), bar, as_json=invocation.as_json)


IngestReport = tuple[dict[str, Any], list[str], int]
"""What is told with `--json`, the lines for a person, and the exit status."""


def run_ingestion(work: Coroutine[Any, Any, IngestReport], bar: Progress, *, as_json: bool) -> int:
    """Do the work under its bar, print what came of it, and return the exit status."""
    try:
        with bar:
            document, lines, status = run_and_close(work)
    except KeyboardInterrupt:
        Console(stderr=True).print("Stopped. What was read is kept; the same command goes on.")
        raise
    if as_json:
        print_json(document)
    else:
        print("\n".join(lines))
    return status


async def _folders(owner: str, paths: list[Path], bar: Progress) -> IngestReport:
    """Read folders one after the other; one that cannot be read does not stop the others."""
    read: list[_FolderSummary] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            read.append(await _folder(owner, path, bar))
        except Problem as problem:
            if len(paths) == 1:
                raise
            problems.append(problem)
            print_problem(problem, as_json=False)
    vectors = await make_page_vectors(bar) if read else ""
    if not read:
        raise problems[0]
    whole = not problems and not any(one.library.skipped for one in read)
    result = {
        "status": "succeeded" if whole else "partial",
        "folders": [_plain(one) for one in read],
        "errors": [problem.as_dict() for problem in problems],
        "vectors": vectors,
    }
    lines = [line for one in read for line in _lines(one)] + [vectors] * bool(vectors)
    return result, lines, 0 if whole else ErrorKind.PARTIAL.exit_status


async def _folder(owner: str, path: Path, bar: Progress) -> _FolderSummary:
    task = bar.add_task(one_line(path.name or str(path)), total=None)
    library = await ingest_folder(
        owner, path, _step(bar, task), expect=lambda count: bar.update(task, total=count)
    )
    passed = await asyncio.to_thread(list_ignored_files, Path(library.root))
    shelves = await list_namespaces(owner)
    pages = sum(one.pages for one in shelves if (one.kind, one.group) == ("file", library.root))
    return _FolderSummary(library, pages, passed)


async def make_page_vectors(bar: Progress) -> str:
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


def _step(bar: Progress, task: TaskID) -> Callable[[object], None]:
    return lambda _: bar.advance(task)


def _lines(read: _FolderSummary) -> list[str]:
    library = read.library
    left = [*library.skipped, *read.passed_over]
    files = pluralize(library.files + len(read.passed_over), "file")
    counts = f"{library.read} read, {library.known} known already"
    counts += f", {len(left)} left out" if left else ""
    lines = [one_line(library.root), f"  {files}: {counts}; {pluralize(read.pages, 'page')}"]
    lines += [f"  left out {_named(one, library.root)}" for one in left[:MAX_NAMED_FILES]]
    if len(left) > MAX_NAMED_FILES:
        lines.append(f"  … and {len(left) - MAX_NAMED_FILES} more; --json names them all")
    return lines


def _named(one: SkippedFile, root: str) -> str:
    path = Path(one.path)
    name = path.relative_to(root) if path.is_relative_to(root) and one.path != root else path
    return f"{one_line(str(name))}: {one.reason} [{one.code}]"


def _plain(read: _FolderSummary) -> dict[str, Any]:
    library = read.library
    left = [*library.skipped, *read.passed_over]
    return {
        "root": library.root,
        "files": library.files + len(read.passed_over),
        "read": library.read,
        "known": library.known,
        "pages": read.pages,
        "skipped": [one._asdict() for one in left],
    }
