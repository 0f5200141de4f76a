"""dossier ask: read the folder, run the job, write the report."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.conduct import Conductor
from app.cli.progress import Progress
from config.errors import Problem
from config.models import ROLES
from config.settings import settings
from graph.context import Context, chosen, context
from graph.session import session
from models.load import load, model_name
from nodes.profile import check_question
from report.export import check_folder
from runs.lifecycle import check_thread, found, held
from runs.place import owned
from tools.ingest import Library, ingest


def main(
    question: str,
    docs: list[Path],
    yes: bool,
    review: bool,
    quick: bool,
    out: Path | None,
    force: bool,
    thread: str,
    project: str,
    choices: list[str],
    as_json: bool,
) -> int:
    """Run the command; return its exit status."""
    question = check_question(question)
    thread = check_thread(thread) if thread else new_thread()
    wanted = read_choices(choices) | {"project": project, "deep": not quick}
    wanted["auto_accept"] = yes or quick or not (review or sys.stdin.isatty())
    if out:
        check_folder(out.absolute(), force=force)
    with held(thread):
        return run_async(
            _ask(question, docs, wanted, thread, out, force=force, review=review, as_json=as_json)
        )


async def _ask(
    question: str,
    docs: list[Path],
    wanted: dict[str, Any],
    thread: str,
    out: Path | None,
    *,
    force: bool,
    review: bool,
    as_json: bool,
) -> int:
    async with session(thread) as opened:
        plain = context(wanted)
        conductor = Conductor(opened, thread, plain, as_json=as_json)
        progress = Progress(conductor.err)
        with progress:
            await check_models(plain, progress)
            wanted["files"] = await _files(docs, plain, thread, progress)
        conductor.context = run_context = context(wanted)
        if run_context.auto_accept and run_context.deep and not sys.stdin.isatty():
            progress.say("No terminal to ask on: the plan is approved as it is")
        first = opened.begin(question, run_context, progress.watch)
        return await conductor.drive(first, progress, wait=review, out=out, force=force)


async def check_models(run: Context, progress: Progress) -> None:
    """Load every model of a run before anything is spent, and say which they are.

    Raises:
        Problem: `unknown_model` or `model_key_missing`.
    """
    loaded = [await load(model_name(role, run)) for role in ROLES]
    names = dict.fromkeys(str((model.metadata or {})["model"]) for model in loaded)
    if list(names) == ["extractive:"]:
        progress.say("No model key is set: the built-in extractive model quotes the sources")
    else:
        progress.say(f"Models: {', '.join(names)}")


async def _files(docs: list[Path], plain: Context, thread: str, progress: Progress) -> list[str]:
    """Read what was given; a later question of a thread goes on with the thread's files."""
    owner = owned(plain.user or settings().user, plain.project)
    if not docs:
        return await _files_of_thread(owner, thread)
    libraries = [await _read(owner, folder, progress) for folder in docs]
    return [library.root for library in libraries]


async def _read(owner: str, folder: Path, progress: Progress) -> Library:
    done = 0

    def one(path: str) -> None:
        nonlocal done
        done += 1
        progress.doing(f"Reading {Path(path).name} ({done})")

    library = await ingest(owner, folder, one)
    known = library.files - library.read
    progress.say(f"{library.files} files in {folder} ({library.read} read, {known} known already)")
    for skipped in library.skipped:
        progress.say(f"  left out {Path(skipped.path).name}: {skipped.reason} [{skipped.code}]")
    return library


async def _files_of_thread(owner: str, thread: str) -> list[str]:
    try:
        before = await found(owner, thread)
    except Problem:
        return []
    files: list[str] = before.context.get("files", [])
    return files


def new_thread() -> str:
    """Return a name for a new thread: the day and six random letters."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def read_choices(choices: list[str]) -> dict[str, Any]:
    """Read `name=value` pairs; a value is JSON where it can be, else text.

    Raises:
        Problem: `bad_choice`, or `out_of_range` and `unknown_field` for the choice itself.
    """
    read: dict[str, Any] = {}
    for choice in choices:
        name, equals, value = choice.partition("=")
        if not equals:
            raise Problem("bad_choice", f"{choice!r} is not name=value", hint="--set max_steps=2")
        try:
            read[name] = json.loads(value)
        except ValueError:
            read[name] = value
    return chosen(context(read))


def run_async(work: Any) -> int:
    """Run a command to its end; Ctrl-C stops it with status 130."""
    try:
        return int(asyncio.run(work))
    except KeyboardInterrupt:
        return 130
