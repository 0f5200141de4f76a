"""What clients of MCP have done by models: whole research runs, and questions to the memory."""

from __future__ import annotations

import asyncio
import io
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self, cast

from rich.console import Console
from typing_extensions import TypedDict

from app.cli.progress import RunProgress
from app.cli.question_run import load_model_names
from app.cli.runner import has_report, summarize_report
from app.mcp_folders import ServedFolders, TellProgress
from app.mcp_library import FoundPassage, list_passages
from app.unattended_run import UnattendedRun
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import Context, build_context
from graph.plan import render_plan
from graph.records import Passage
from graph.session import SessionOutcome, open_session
from library.page_retrieval import find_misspellings
from library.scope import parse_scope, resolve_scope
from library.spelling import apply_corrections
from models.chat_models import check_model_prices
from nodes.recall.recall_graph import make_recall_graph
from nodes.recall.recall_state import RecallState, recalled_passages, render_recall
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from prompts.loader import render_prompt
from report.rendering.chat_report import unlink_citations
from runs.call_site import join_owner
from runs.lifecycle import (
    REPORT_FILES,
    check_question,
    check_thread_id,
    find_run,
)
from runs.lock import acquire


class AskedSource(TypedDict):
    """A source of a report."""

    id: str
    page: str
    """The id of its page, by which `read` shows it."""
    title: str
    location: str
    cited: bool


class AskAnswer(TypedDict, total=False):
    """How a run ended, or stands."""

    run: str
    thread: str
    status: str
    answer: str
    """The short answer of the report, or the reply to small talk."""
    report: str
    """The whole report as Markdown; empty if there is none."""
    file: str
    """Where the report is on this machine."""
    sources: list[AskedSource]
    plan: str
    """The plan that waits for a person."""
    limit: str
    """The limit that the run reached."""
    error: dict[str, str]
    """The problem that left a part undone."""
    resume: str
    """The command with which a person goes on with the run."""


class RecalledPassage(FoundPassage):
    """A passage on which notes rest."""

    source: str
    """Its id in the notes."""


class RecallAnswer(TypedDict):
    """What the memory knows of a question."""

    question: str
    status: str
    notes: str
    passages: list[RecalledPassage]


@dataclass(frozen=True)
class ServedRuns:
    """What the runs of the clients of one server use, and what is chosen for all of them."""

    project: str = ""
    """The project whose memory is used."""
    folders: ServedFolders = field(default_factory=ServedFolders)
    """The folders and files that runs search."""
    choices: Mapping[str, Any] = field(default_factory=dict)
    """What the person has chosen for every run; no client chooses otherwise."""

    @property
    def owner(self) -> str:
        """Whose library and memory is served."""
        return join_owner(settings().user, self.project)

    def choose(self, **asked: Any) -> dict[str, Any]:
        """Return the choices of a run that a client asks for.

        Raises:
            Problem: `bad_choice` if the person has chosen otherwise.
        """
        for name, value in asked.items():
            if self.choices.get(name, value) != value:
                what = f"{name} is {self.choices[name]!r} for all runs of this server"
                raise Problem(ErrorCode.BAD_CHOICE, what, where=name, hint="leave it out")
        return {"auto_accept": True, **asked, **self.choices, "project": self.project}


class ToldProgress(RunProgress):
    """The lines of a run, told to whoever asked for it."""

    def __init__(self, tell: TellProgress) -> None:
        super().__init__(Console(file=io.StringIO()))
        self.tell = tell

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def print_line(self, line: str) -> None:
        """Tell one line."""
        super().print_line(line)
        self.console.file = io.StringIO()
        self.tell(line)


async def ask_question(
    served: ServedRuns, question: str, thread: str, asked: Mapping[str, Any], tell: TellProgress
) -> tuple[str, AskAnswer]:
    """Research a question to its end, or to its plan; return how it stands, as text and as data.

    A run that is cancelled is paused: its person can go on with it.

    Args:
        served: What may be used, and what the person has chosen.
        question: The question.
        thread: The conversation to ask in; a new one if empty.
        asked: The choices that the client has made.
        tell: Tells how far it is.

    Raises:
        Problem: What is wrong with the question, the choices, the thread or the models, or why
            the run failed.
    """
    question = check_question(question)
    thread = check_thread_id(thread) if thread else _new_thread()
    chosen = served.choose(**asked)
    context = build_context(chosen)
    lock = await asyncio.to_thread(acquire, thread)
    try:
        with ToldProgress(tell) as progress:
            run = UnattendedRun(served.owner, thread, progress)
            files = await served.folders.read(served.owner, progress.print_line)
            context = build_context({**vars(context), "files": files})
            await _load_models(context, money="max_cost" in chosen)
            outcome = await run.carry_out(question, context)
    finally:
        await asyncio.to_thread(lock.release)
    answer = await _describe(run, outcome)
    return _render(answer), answer


async def _load_models(context: Context, *, money: bool) -> None:
    """Load the models before anything is spent; a limit of money needs their prices."""
    loaded = await load_model_names(context)
    if money:
        check_model_prices(context, loaded)


async def _describe(run: UnattendedRun, outcome: SessionOutcome) -> AskAnswer:
    state, request = outcome
    named = AskAnswer(run=run.run, thread=run.thread, status=state["status"])
    resume = f"dossier resume {run.run}{run.of_project}"
    if request:
        plan = render_plan(request["plan"]) if request.get("plan") else ""
        return {**named, "status": "waiting_review", "plan": plan, "resume": resume}
    text = str(state["messages"][-1].text)
    if not has_report(state):
        return {**named, "answer": text, "report": "", "sources": []}
    folder = (await find_run(run.owner, run.run)).folder
    file = f"{folder}/{REPORT_FILES['md']}" if folder else ""
    about = summarize_report(run.run, run.thread, state, file, resume)
    kept = ("answer", "sources", "limit", "error", "resume")
    found = {name: about[name] for name in kept if name in about}
    found["sources"] = [
        {**one, "page": state["sources"][one["id"]]["page"]} for one in about["sources"]
    ]
    plain = unlink_citations(text)
    return cast("AskAnswer", {**named, "report": plain, "file": file, **found})


def _render(answer: AskAnswer) -> str:
    """Return the answer for a model: the report or the plan, with how the run stands."""
    named = {name: answer.get(name, "") for name in ("run", "thread", "status")}
    body = answer.get("report") or answer.get("plan") or answer.get("answer", "")
    tag = "report" if answer.get("report") else "plan" if answer.get("plan") else "message"
    shown = render_block(tag, body, **named)
    if "resume" not in answer:
        return shown
    problem = answer.get("error", {})
    why = answer.get("limit") or problem.get("detail", "")
    name = "mcp_plan_waits" if answer.get("plan") else "mcp_incomplete"
    return join_prompt_blocks(shown, render_prompt(name, why=why, command=answer["resume"]))


async def recall_notes(
    served: ServedRuns, question: str, within: str, tell: TellProgress
) -> tuple[str, RecallAnswer]:
    """Return what the memory knows of a question, as text and as data.

    Raises:
        Problem: What is wrong with the question or the folders, or `namespace_not_found`.
    """
    question = check_question(question)
    await served.folders.read_first(served.owner, tell)
    kinds, groups = await resolve_scope(served.owner, within)
    scope = [*(kinds or []), *(groups or [])]
    context = build_context(served.choose(memory=scope) if scope else served.choose())
    await load_model_names(context)
    spelling = await find_misspellings(served.owner, question, *parse_scope(scope))
    question = apply_corrections(question, spelling)
    with ToldProgress(tell) as progress:
        progress.set_activity("Searching the memory")
        async with open_session(f"recall-{secrets.token_hex(6)}", make_recall_graph) as opened:
            outcome = await opened.begin(question, context, lambda _: None)
            state = cast("RecallState", outcome.state)
            passages = await recalled_passages(served.owner, state)
    return _show_recalled(state, passages)


def _show_recalled(state: RecallState, passages: Sequence[Passage]) -> tuple[str, RecallAnswer]:
    sources = state["sources"]
    found = zip(passages, list_passages(passages, sources), strict=True)
    listed = [RecalledPassage(source=one["source"], **passage) for one, passage in found]
    pages = {one["source"]: f"{one['source']}: {one['page']}, {one['location']}" for one in listed}
    shown = join_prompt_blocks(
        render_block("notes", render_recall(state)),
        render_pages_block(passages, sources),
        render_block("sources", "\n".join(pages.values())),
    )
    status = "succeeded" if state["notes"] else "insufficient_evidence"
    notes, question = state["notes"], state["question"]
    return shown, RecallAnswer(question=question, status=status, notes=notes, passages=listed)


def _new_thread() -> str:
    return f"{datetime.now(UTC):%Y%m%d}-{secrets.token_hex(3)}"
