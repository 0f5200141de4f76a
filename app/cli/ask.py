"""dossier ask: read the folder, run the job, write the report."""

from __future__ import annotations

import json
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.conduct import Conductor
from app.cli.output import has_terminal
from app.cli.progress import Progress
from config.errors import Problem
from config.models import ROLES
from config.settings import settings
from graph.context import Context, context
from graph.session import Outcome, Session
from models.load import load, model_name
from nodes.profile import check_question
from report.export import check_folder
from runs.lifecycle import check_thread, newest
from runs.lock import held
from runs.place import owned
from tools.ingest import Library, ingest
from tools.search import check_names

KINDS = {bool: "true or false", list: "a JSON list of texts", dict: "a JSON object of texts"}
"""How a value is written that is neither a text nor a number."""


def main(
    question: str,
    docs: list[Path],
    yes: bool,
    review: bool,
    quick: bool,
    out: Path | None,
    force: bool,
    thread: str | None,
    project: str,
    choices: list[str],
    as_json: bool,
) -> int:
    """Run the command; return its exit status."""
    question = check_question(question)
    thread = new_thread() if thread is None else check_thread(thread)
    wanted = read_choices(choices)
    check_names(wanted.get("search", []))
    if project:
        wanted["project"] = project
    if quick:
        wanted["deep"] = False
    wanted.setdefault("auto_accept", yes or quick or not (review or has_terminal()))
    check_folder((out or Path("reports", thread)).absolute(), force=force)
    conductor = Conductor(thread, wait=review, out=out, force=force, as_json=as_json)
    with held(thread):
        return conductor.drive(lambda opened: _ask(opened, conductor, question, docs, wanted))


async def _ask(
    opened: Session, conductor: Conductor, question: str, docs: list[Path], wanted: dict[str, Any]
) -> Outcome:
    plain = context(wanted)
    owner = owned(plain.user or settings().user, plain.project)
    files = plain.files or await _files_of_thread(opened, owner, conductor.thread)
    await check_models(plain, conductor.progress)
    if docs:
        files = [(await _read(owner, folder, conductor.progress)).root for folder in docs]
    if plain.auto_accept and plain.deep and not has_terminal():
        conductor.progress.say("No terminal to ask on: the plan is approved as it is")
    return await conductor.begin(opened, question, context({**wanted, "files": files}))


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


async def _files_of_thread(opened: Session, owner: str, thread: str) -> list[str]:
    """Return the files of the last question of a thread; none for a new thread.

    Raises:
        Problem: `waiting_review` or `run_unfinished` when the last question is not finished, or
            `thread_not_found` when the thread is another owner's.
    """
    if not (await opened.check_free()).values.get("turn"):
        return []
    last = await newest(owner, thread)
    if last is None:
        raise Problem(
            "thread_not_found", f"there is no thread {thread!r}", hint="see `dossier runs`"
        )
    files: list[str] = last.context.get("files", [])
    return files


def new_thread() -> str:
    """Return a name for a new thread: the day and six random letters."""
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"


def read_choices(choices: list[str]) -> dict[str, Any]:
    """Read `name=value` pairs; a value is JSON unless a text is wanted.

    Raises:
        Problem: `bad_choice`, or `out_of_range` and `unknown_field` for the choice itself.
    """
    read: dict[str, Any] = {}
    for choice in choices:
        name, equals, value = choice.partition("=")
        if not equals:
            raise Problem("bad_choice", f"{choice!r} is not name=value", hint="--set max_steps=2")
        read[name] = _value(name, value)
    if "user" in read:
        raise Problem("bad_choice", "the user is not a choice of a run", hint="set DOSSIER_USER")
    fitting = context(read)
    return {name: getattr(fitting, name) for name in read}


def _value(name: str, written: str) -> Any:
    """Read the value of one choice; whether a number is in its bounds is the context's to say."""
    usual = getattr(Context(), name, None)
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        value = written
    if isinstance(usual, str):
        return value if isinstance(value, str) else written
    wanted = KINDS.get(type(usual))
    if wanted and not (type(value) is type(usual) and _holds_texts(value)):
        raise Problem("bad_choice", f"{written!r} is not {wanted}", where=name)
    return value


def _holds_texts(value: Any) -> bool:
    """Say whether a list or an object holds texts only; everything else does."""
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(isinstance(one, str) for one in held)
