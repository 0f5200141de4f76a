"""dossier ask: read the folder, run the job, write the report."""

from __future__ import annotations

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.choices import read_choices
from app.cli.conduct import REMOVED, Conductor
from app.cli.output import has_terminal
from app.cli.progress import Progress
from app.cli.questions import given
from app.cli.trusting import left_out
from config.counted import counted
from config.errors import Problem
from config.models import ROLES
from config.settings import settings
from graph.context import Context, context
from graph.session import Outcome, Session
from memory.facts.looking import listed
from memory.files.memory import AgentsFiles
from memory.files.reading import above
from memory.learning.rules import only_tells
from memory.middleware import BUDGET
from memory.pages.recollection import empty
from memory.pages.within import scope
from memory.profile.store import kept
from models.embeddings import paid
from models.extractive.smalltalk import reply
from models.load import check_prices, model_name, playing, without_price
from report.export import check_folder, report_folder
from retrieval.secrets import removed
from runs.lifecycle import check_question, check_thread, newest
from runs.lock import held
from runs.place import owned
from tools.ingest import Library, ingest
from tools.search import available, check_names

OWN = int(BUDGET * AgentsFiles.share)
"""How many tokens memory files have for themselves in a call, whatever else is told."""

LONG = (
    f"has {{tokens:,}} tokens, and calls have room for {OWN:,} to {BUDGET:,}: "
    "each is told the beginning and what fits it"
)
"""What is said of memory files that are too long together."""

BEFORE = "No files are named: what was read before is searched"

OTHER_MODEL = (
    "The model server has no {usual}, the usual one: {other} answers (DOSSIER_MODEL names another)"
)

NO_PRICE = (
    "Warning: no price is known for {models}, so max_cost = {most} cannot be enforced; "
    "max_tokens and max_calls are (prices: [prices] in the file that DOSSIER_MODELS names)"
)
"""The warning if the default cap on money cannot be enforced."""

NOTHING = (
    "name files with --docs PATH, read some in with `dossier ingest PATH`, or set SEARXNG_URL, "
    "TAVILY_API_KEY or BRAVE_API_KEY for the web"
)


def main(
    *,
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
    question = check_question(given(question))
    thread = new_thread() if thread is None else check_thread(thread)
    wanted = read_choices(choices, yes=yes, review=review, quick=quick, project=project)
    check_names(wanted.get("search", []))
    check_folder(report_folder(out, thread), force=force)
    conductor = Conductor(thread, wait=review, out=out, force=force, as_json=as_json)
    with held(thread):
        return conductor.drive(lambda opened: _ask(opened, conductor, question, docs, wanted))


async def _ask(
    opened: Session, conductor: Conductor, question: str, docs: list[Path], wanted: dict[str, Any]
) -> Outcome:
    plain, say = context(wanted), conductor.progress.say
    if removed(question):
        say(REMOVED)
    owner = owned(plain.user or settings().user, plain.project)
    files = await _files_of_thread(opened, owner, conductor.thread)
    if docs:
        read = [await _read(owner, folder, conductor.progress) for folder in docs]
        files = list(dict.fromkeys(library.root for library in read))
    for path in await left_out(owner, files):
        say(f"{path} is not read before model calls: it is among the documents")
    for path, tokens in await above(owner, OWN):
        say(f"{path} {LONG.format(tokens=tokens)}")
    if not (files or plain.search or available(os.environ)):
        await _check_memory(owner, plain, question)
        say(BEFORE)
    await check_models(plain, conductor.progress, money="max_cost" in wanted)
    alone = not has_terminal()
    if alone and plain.deep and "auto_accept" not in wanted:
        say("No terminal to ask on: the plan is approved as it is")
    chosen = context({"auto_accept": alone, **wanted, "files": files})
    return await conductor.begin(opened, question, chosen)


async def _check_memory(owner: str, run: Context, question: str) -> None:
    """Make sure that something is remembered where there is nothing else to answer from.

    Raises:
        Problem: `nothing_to_search`, unless nothing is asked.
    """
    if reply(question) or only_tells(question) or await listed(owner):
        return
    if (await kept(owner)).revision == 0 and await empty(owner, scope(list(run.memory))):
        what = "there is nothing to search: no files, no search of the web, nothing remembered"
        raise Problem("nothing_to_search", what, hint=NOTHING)


async def check_models(run: Context, progress: Progress, *, money: bool = False) -> None:
    """Load every model of a run before anything is spent, and show which they are.

    Args:
        run: The choices of the run.
        progress: Where they are shown.
        money: Whether a person has set the cap on money; if so, every model needs a price.

    Raises:
        Problem: `unknown_model`, `model_key_missing` or `model_without_price`.
    """
    wanted = [model_name(role, run) for role in ROLES]
    loaded = [str(((await playing(role, run)).metadata or {})["model"]) for role in ROLES]
    names = dict.fromkeys(loaded)
    if money:
        check_prices(run, loaded)
    elif unknown := without_price([*names, *paid()]):
        progress.say(NO_PRICE.format(models=", ".join(unknown), most=run.max_cost))
    for usual, other in dict(zip(wanted, loaded, strict=True)).items():
        if other not in (usual, f"{usual}:"):
            progress.say(OTHER_MODEL.format(usual=usual, other=other))
    if list(names) == ["extractive:"]:
        progress.say("No model key is set: the built-in extractive model quotes the sources")
    else:
        progress.say(f"Models: {', '.join(names)}")


async def _read(owner: str, folder: Path, progress: Progress) -> Library:
    done = total = 0

    def expect(count: int) -> None:
        """Take down how many files there are."""
        nonlocal total
        total = count

    def one(path: str) -> None:
        """Show that one more file is read."""
        nonlocal done
        done += 1
        progress.doing(f"Reading {Path(path).name} ({done} of {total})")

    library = await ingest(owner, folder, one, expect=expect)
    counts = f"{library.read} read, {library.known} known already"
    left = f", {len(library.skipped)} left out" if library.skipped else ""
    progress.say(f"{counted(library.files, 'file')} in {folder} ({counts}{left})")
    progress.doing("Preparing the question")
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
