"""dossier ingest: read folders and files into memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from app.cli.output import one_line, print_json, tell
from config.counted import counted
from config.errors import EXIT, Problem
from config.settings import settings
from memory.pages.listing import stats
from memory.pages.worker import keep_up
from models.embeddings import EmbeddingCall, collected, paid
from runs.place import owned
from storage.engine import close
from tools.ingest import Library, Skipped, ingest, passed_over

NAMED = 20
"""How many files of a folder that are not read are named without `--json`."""


class Read(NamedTuple):
    """A folder after it was read: what is in it, and what was passed over."""

    library: Library
    pages: int
    passed: list[Skipped]


def main(*, paths: list[Path], chat: Path | None, project: str, as_json: bool) -> int:
    """Read everything that is named; return the exit status."""
    if bool(paths) == bool(chat):
        what = "name folders and files, or one chat" if paths else "there is nothing to read"
        raise Problem("usage", what, hint="dossier ingest PATH..., or --chat FILE.jsonl")
    bar = progress_bar()
    return told(_folders(owned(settings().user, project), paths, bar), bar, as_json=as_json)


Done = tuple[dict[str, Any], list[str], int]
"""What is told with `--json`, the lines for a person, and the exit status."""


def told(work: Coroutine[Any, Any, Done], bar: Progress, *, as_json: bool) -> int:
    """Do the work under its bar, print what came of it, and return the exit status."""
    try:
        with bar:
            document, lines, status = asyncio.run(work)
    except KeyboardInterrupt:
        Console(stderr=True).print("Stopped. What was read is kept; the same command goes on.")
        raise
    if as_json:
        print_json(document)
    else:
        print("\n".join(lines))
    return status


async def _folders(owner: str, paths: list[Path], bar: Progress) -> Done:
    """Read folders one after the other; one that cannot be read does not stop the others."""
    read: list[Read] = []
    problems: list[Problem] = []
    try:
        for path in paths:
            try:
                read.append(await _folder(owner, path, bar))
            except Problem as problem:
                if len(paths) == 1:
                    raise
                problems.append(problem)
                tell(problem, as_json=False)
        vectors = await make_vectors(bar) if read else ""
    finally:
        await close()
    if not read:
        raise problems[0]
    whole = not problems and not any(one.library.skipped for one in read)
    told = {
        "status": "succeeded" if whole else "partial",
        "folders": [_plain(one) for one in read],
        "errors": [problem.as_dict() for problem in problems],
        "vectors": vectors,
    }
    lines = [line for one in read for line in _lines(one)] + [vectors] * bool(vectors)
    return told, lines, 0 if whole else EXIT["partial"]


async def _folder(owner: str, path: Path, bar: Progress) -> Read:
    task = bar.add_task(one_line(path.name or str(path)), total=None)
    library = await ingest(
        owner, path, _step(bar, task), expect=lambda count: bar.update(task, total=count)
    )
    passed = await asyncio.to_thread(passed_over, Path(library.root))
    shelves = await stats(owner)
    pages = sum(one.pages for one in shelves if (one.kind, one.group) == ("file", library.root))
    return Read(library, pages, passed)


async def make_vectors(bar: Progress) -> str:
    """Make the vectors of the pages that have none; return what a provider used, and what failed.

    Pages are found by their words meanwhile, and what is left is made another time.
    """
    task = bar.add_task("Making vectors", total=None)
    with collected() as asked:
        try:
            problem = (await keep_up(lambda pages: bar.advance(task, pages))).problem
        except Problem as error:
            problem = error
    told = [_used(asked)] if asked and paid() else []
    return "\n".join(told + [f"without vectors: {one_line(str(problem))}"] * bool(problem))


def _used(asked: list[EmbeddingCall]) -> str:
    """Return what a provider of vectors was asked, which is under no run's caps."""
    # It loads the clients of models, which local embedders do without.
    from models.load import without_price  # noqa: PLC0415

    tokens, dollars = sum(one.tokens for one in asked), sum(one.dollars for one in asked)
    unknown = ", ".join(without_price(paid()))
    price = f"no price is known for {unknown}" if unknown else f"${dollars:.4f}"
    calls = counted(len(asked), "embedding call")
    return f"vectors: {calls}, {counted(tokens, 'token')}, {price}"


def progress_bar() -> Progress:
    """Return the bar on standard error; nothing moves where that is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _step(bar: Progress, task: TaskID) -> Callable[[object], None]:
    return lambda _: bar.advance(task)


def _lines(read: Read) -> list[str]:
    library = read.library
    left = [*library.skipped, *read.passed]
    files = counted(library.files + len(read.passed), "file")
    counts = f"{library.read} read, {library.known} known already"
    counts += f", {len(left)} left out" if left else ""
    lines = [one_line(library.root), f"  {files}: {counts}; {counted(read.pages, 'page')}"]
    lines += [f"  left out {_named(one, library.root)}" for one in left[:NAMED]]
    if len(left) > NAMED:
        lines.append(f"  … and {len(left) - NAMED} more; --json names them all")
    return lines


def _named(one: Skipped, root: str) -> str:
    path = Path(one.path)
    name = path.relative_to(root) if path.is_relative_to(root) and one.path != root else path
    return f"{one_line(str(name))}: {one.reason} [{one.code}]"


def _plain(read: Read) -> dict[str, Any]:
    library = read.library
    left = [*library.skipped, *read.passed]
    return {
        "root": library.root,
        "files": library.files + len(read.passed),
        "read": library.read,
        "known": library.known,
        "pages": read.pages,
        "skipped": [one._asdict() for one in left],
    }
