"""Take a run through to its end on the command line.

Work, pauses, reviews, and what is printed of it, also as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from app.cli import review
from app.cli.answer_choice import ask_choice, offers_answer, print_offer
from app.cli.choices import RAISABLE_CAPS, double_cap
from app.cli.event_loop import run_and_close
from app.cli.output import has_terminal, one_line, print_json, print_problem
from app.cli.progress import make_progress
from app.cli.step_requests import (
    ask_answers,
    asks_for_steps,
    list_requests,
    print_requests,
    suggest_answer,
)
from config.errors import ErrorKind, Problem
from config.settings import settings
from graph.builder import make_graph
from graph.context import Context
from graph.plan import render_plan
from graph.records import RunStatus, VersionChanges
from graph.session import SessionOutcome, ThreadSession, open_session
from graph.state import State, is_delivered
from memory.agents_md.proposals import count_pending_proposals
from nodes.deliver import write_run_report
from report.computed_results import cut_computations
from report.document import extract_answer, to_graded_doubt
from report.export import ReportTarget, resolve_report_folder
from report.rendering.markdown_report import cut_method_details
from report.versions import find_version_changes, is_unchanged
from runs import lifecycle
from runs.call_site import join_owner
from runs.incomplete import find_first_error, find_limit
from runs.lifecycle import REPORT_FILES, mark_interrupted, set_run_status
from runs.thread_integrity import DAMAGE_ERRORS, find_damage, guard_thread
from runs.trace import describe_shortened_searches, read_trace
from text.pluralization import pluralize
from text.secret_masking import list_removed_kinds, mask_secrets_within


def summarize_report(
    run: str, thread: str, state: State, report: str, resume: str = ""
) -> dict[str, Any]:
    """Return the summary of a finished run whose report is in a file.

    If a model's failure or a limit left parts undone, it has the error or the limit and, in
    `resume`, the command that repeats them.
    """
    problem, reached = find_first_error(state), find_limit(state)
    failed: dict[str, Any] = {"error": problem.as_dict()} if problem else {}
    failed |= {"limit": reached} if reached else {}
    failed |= {"resume": resume} if failed else {}
    cited = set(state["report"]["cited"])
    sources = [
        {"id": id, "title": one["title"], "location": one["location"], "cited": id in cited}
        for id, one in state.get("sources", {}).items()
    ]
    return {
        "run": run,
        "thread": thread,
        "status": state["status"],
        "report": report,
        "answer": extract_answer(state["report"]["body"]),
        "sources": sources,
        "quotes": state["report"]["quotes"],
        "doubted": [to_graded_doubt(one) for one in state["report"].get("doubted", [])],
        "standing": state["report"].get("standing", []),
        "contradictions": state["report"].get("contradictions", []),
        "second_reader": state["report"].get("second_reader"),
        "recomputed": state["report"].get("recomputed", []),
        **_summarize_version(state),
        **failed,
    }


def _summarize_version(state: State) -> dict[str, Any]:
    """Return which earlier answer a report is, or is a version of, and what that changes."""
    revision, reused = state.get("revision"), state["report"].get("reused", "")
    shown: dict[str, Any] = {"reused": reused} if reused else {}
    if changes := find_version_changes(state, state["report"]):
        shown |= {"revises": revision["run"] if revision else "", "changes": changes}
    return shown


def has_report(state: State) -> bool:
    """Say whether a run ended in a report rather than in a reply to small talk."""
    return bool("report" in state and state["report"]["title"])


STATUS = {
    "succeeded": 0,
    "partial": ErrorKind.PARTIAL.exit_status,
    "insufficient_evidence": ErrorKind.FAILED.exit_status,
    "failed": ErrorKind.FAILED.exit_status,
}
"""The exit status of each way a run can end."""

REMOVAL_NOTICE = (
    "What looks like a password, a key or the number of a card is taken out and not saved"
)
"""What a person is told of a secret in their words."""

LEARNING = "The report is done. Learning from it; press Ctrl-C to skip; the next run will catch up"
"""What is said while a run learns behind its answer."""

Work = Callable[[ThreadSession], Awaitable[SessionOutcome]]
"""What is done with a thread while it is open."""


def _print_request(console: Console, request: dict[str, Any]) -> None:
    """Print what waits for a decision: a plan, an earlier answer, or what steps ask."""
    if asks_for_steps(request):
        print_requests(console, request)
    else:
        show = print_offer if offers_answer(request) else review.print_plan
        show(console, request)


class _FoldedTable(TableElement):
    """A table of Markdown whose cells are whole, also where their words have no blanks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            assert isinstance(table, Table)  # noqa: S101 - rich yields nothing else here
            for column in table.columns:
                column.overflow = "fold"
            yield table


class WholeMarkdown(Markdown):
    """Markdown in which no cell of a table is cut off.

    Rich takes Chinese without blanks for one word, and shortens words that do not fit a column.
    """

    elements: ClassVar = {**Markdown.elements, "table_open": _FoldedTable}


class CliRunner:
    """Drives one run and tells the person about it.

    Nothing is open while a person thinks: a decision may take days, or come from another process.
    """

    def __init__(
        self,
        thread: str,
        *,
        wait: bool,
        out: Path | None,
        force: bool,
        as_json: bool,
        progress: str = "auto",
    ) -> None:
        self.thread, self.wait, self.out, self.force = thread, wait, out, force
        self.as_json = as_json
        self.err = Console(stderr=True)
        self.progress = make_progress(progress)
        self.context = Context()
        self.run = ""
        self.status: RunStatus | None = None
        self.delivered = False
        self.problem: Problem | None = None

    @property
    def owner(self) -> str:
        """Whose run it is."""
        return join_owner(self.context.user or settings().user, self.context.project)

    def run_to_end(self, work: Work) -> int:
        """Do the work, ask for decisions while a plan waits, and hand over what came out.

        Returns:
            The exit status.

        Raises:
            KeyboardInterrupt: When the person stops it; how to go on is told by then.
            Problem: When it goes wrong before the run has begun.
        """
        try:
            return self._driven(work)
        except KeyboardInterrupt:
            if not self.delivered:
                raise
            # It only learnt by now, and the next run does what is left of that.
            return STATUS[str(self.status)]
        except Problem as problem:
            if self.status is None:
                raise
            after_answer = self.delivered and problem is not self.problem
            if after_answer:
                self._tell_how_to_go_on("The report is not in memory yet. Store it")
            about = self._summary(self.status, resume=self._command())
            return print_problem(problem, as_json=self.as_json and not after_answer, about=about)
        except DAMAGE_ERRORS as error:
            # A request or a report that was read back is shown when its thread is closed again.
            if found := run_and_close(self._damage()):
                raise found from error
            raise

    def _driven(self, work: Work) -> int:
        outcome = asyncio.run(self._work(work))
        while outcome.request and not self.wait and has_terminal():
            decision = self._decision(outcome.request)
            answer = partial(self.answer, decision=decision, shown=outcome.request)
            outcome = asyncio.run(self._work(answer))
        if outcome.request:
            return self._waiting(outcome.request)
        if not self.delivered:
            # The run had ended before.
            run_and_close(self._answered(outcome.state))
        if self.problem:
            raise self.problem
        return STATUS[str(self.status)]

    async def begin(self, opened: ThreadSession, question: str, context: Context) -> SessionOutcome:
        """Ask a question in an open thread."""
        turn = (await opened.check_free()).values.get("turn", 0) + 1
        self.context = context
        out = str(self.out.absolute()) if self.out else ""
        self.run = await lifecycle.create_run(self.owner, self.thread, turn, question, context, out)
        return await opened.begin(question, context, self.progress.on_event)

    async def answer(
        self,
        opened: ThreadSession,
        decision: review.ReviewDecision,
        shown: dict[str, Any] | None = None,
    ) -> SessionOutcome:
        """Answer the review that an open thread waits for."""
        decision = mask_secrets_within(decision)
        if list_removed_kinds(json.dumps(decision)):
            self.progress.print_line(REMOVAL_NOTICE)
        return await opened.answer_review(decision, self.context, self.progress.on_event, shown)

    async def _work(self, work: Work) -> SessionOutcome:
        async with open_session(self.thread) as opened:
            opened.on_answer = self._answered
            opened.set_report_target(ReportTarget(self.out, self.force))
            opened.shows_draft = self.progress.shows_draft
            try:
                with self.progress:
                    async with guard_thread(opened.graph, self.thread):
                        return await work(opened)
            except asyncio.CancelledError:
                await self._paused(opened)
                raise
            except Problem as problem:
                await self._failed(problem.code, problem.where)
                raise
            except DAMAGE_ERRORS:
                await self._failed("internal")
                raise

    async def _damage(self) -> Problem | None:
        """Return what is damaged in what is saved of the thread, and mark the run, if so."""
        if found := await find_damage(make_graph(), self.thread):
            await mark_interrupted(self.owner, self.thread, "failed", code=found.code)
        return found

    async def _failed(self, code: str, where: str = "") -> None:
        """Write down that the run has failed, unless its answer was handed over."""
        if self.run and not self.delivered:
            self.status = "failed"
            await set_run_status(self.owner, self.run, self.status, code=code)
            capped = code == "budget_spent"
            what = "Allow more, and go on" if capped else "When the problem is solved, go on"
            self._tell_how_to_go_on(what, where if capped else "")

    async def _paused(self, opened: ThreadSession) -> None:
        if self.delivered:
            return
        if self.run:
            waits = (await opened.current()).interrupts
            status: RunStatus = "waiting_review" if waits else "paused"
            await set_run_status(self.owner, self.run, status)
            self._tell_how_to_go_on("Paused. Go on")
            self._print_json(self._summary(status, resume=self._command()))
        else:
            self._tell("Stopped before the run began.")

    def _decision(self, request: dict[str, Any]) -> review.ReviewDecision:
        _print_request(self.err, request)
        try:
            if asks_for_steps(request):
                return ask_answers(self.err, request)
            if offers_answer(request):
                return ask_choice(self.err)
            return review.ask_decision(self.err, request)
        except (KeyboardInterrupt, EOFError):
            self.err.print()
            self._tell_how_to_go_on("Nothing is decided. Go on")
            self._print_json(self._waits(request))
            raise KeyboardInterrupt from None

    def _tell(self, line: str) -> None:
        """Say something to the person, in one line as it is."""
        self.err.print(line, soft_wrap=True, markup=False)

    def _tell_how_to_go_on(self, what: str, limit: str = "") -> None:
        self._tell(f"{what} with: {self._command(limit)}")

    def _command(self, limit: str = "") -> str:
        """Return the command that goes on with the run, with more than a limit that it reached."""
        name, command = limit.partition(" = ")[0], f"dossier resume {self.run}{self._of_project()}"
        if name not in RAISABLE_CAPS:
            return command
        return f"{command} --set {double_cap(name, getattr(self.context.limits, name))}"

    def _of_project(self) -> str:
        project = self.context.project
        return f" --project {quote(project)}" if project else ""

    def _waiting(self, request: dict[str, Any]) -> int:
        _print_request(self.err, request)
        waiting = self._waits(request)
        if asks_for_steps(request):
            self._tell(f"The research waits for your answers: {waiting['resume']}")
            self._tell("  (one --answer for each, --approve or --reject TEXT for all others)")
            self._print_json(waiting)
            return 0
        if offers_answer(request):
            self._tell(f"The earlier answer waits for your choice: {waiting['resume']}")
            self._print_json(waiting)
            return 0
        self._tell(f"The plan waits for your decision: {waiting['resume']}")
        other = "or --reject TEXT, or --plan FILE with a plan as lines of text"
        self._tell(f"  ({other}: dossier resume --help)")
        if request.get("questions"):
            self._tell("To answer a question of the plan, add for example: --answer q1=1")
        if not self.as_json and not sys.stdout.isatty():
            print(render_plan(request["plan"]), end="")
        self._print_json(waiting)
        return 0

    def _waits(self, request: dict[str, Any]) -> dict[str, Any]:
        if asks_for_steps(request):
            requests = list_requests(request)
            command = f"{self._command()} --answer {suggest_answer(requests)}"
            return self._summary("waiting_review", resume=command, requests=requests)
        if offers_answer(request):
            command, earlier = f"{self._command()} --again refresh", request["earlier"]
            return self._summary("waiting_review", resume=command, earlier=earlier)
        command = f"{self._command()} --approve"
        return self._summary("waiting_review", resume=command, plan=request["plan"])

    def _summary(self, status: RunStatus, **more: Any) -> dict[str, Any]:
        """Return the summary of a run without a report.

        Args:
            status: How it stands.
            more: What came instead, and the command that goes on with it.
        """
        named = {"run": self.run, "thread": self.thread, "status": status}
        lists = ("sources", "quotes", "doubted", "standing", "contradictions", "recomputed")
        empty: dict[str, Any] = {name: [] for name in lists} | {"second_reader": None}
        return {**named, "report": None, "answer": "", **empty, **more}

    async def _answered(self, state: State) -> None:
        """Hand over what came out; the run still learns behind it, so nothing may break it off."""
        self.status, self.delivered = state["status"], True
        with self.progress.paused():
            try:
                await self._hand_over(state)
            except Problem as problem:
                self.problem = problem
        self.progress.restart_clock(LEARNING)

    async def _hand_over(self, state: State) -> None:
        if not has_report(state):
            text = str(state["messages"][-1].text)
            self._print(text, self._summary(state["status"], reply=text))
            return
        file = await self._file(state)
        try:
            command = self._command("" if find_first_error(state) else find_limit(state))
            summary = summarize_report(self.run, self.thread, state, str(file), command)
            text = file.read_text("utf-8")
            if sys.stdout.isatty():
                language = state["report"]["language"]
                text = cut_computations(cut_method_details(text, language), language)
            self._print(text, summary)
        finally:
            self._tell_where(state["status"], file)
            self._tell_changes(state)
            if line := describe_shortened_searches(await read_trace(self.run)):
                self._tell(f"{line}: dossier runs show {self.run} --json{self._of_project()}")
            if problem := find_first_error(state):
                self._tell(one_line(str(problem)))
                self._tell_how_to_go_on("When the problem is solved, repeat the failed parts")
            elif reached := find_limit(state):
                what = f"The run reached its limit {reached}. Complete it"
                self._tell_how_to_go_on(what, reached)

    def _tell_changes(self, state: State) -> None:
        """Say how far a new version of a report differs from the one before."""
        changes, revision = find_version_changes(state, state["report"]), state.get("revision")
        if changes and revision:
            runs = f"{revision['run']} {self.run}{self._of_project()}"
            self._tell(f"Against the version before: {_summarize_changes(changes)}")
            if not is_unchanged(changes):
                self._tell(f"To see them: dossier diff {runs}")

    def _tell_where(self, status: RunStatus, file: Path) -> None:
        if sys.stdout.isatty():
            self.err.print()
        for head, one in ((f"{status}:", file), ("", file.with_suffix(".html"))):
            self._tell(f"{head:{len(status) + 1}} {one_line(str(one))}")
        self._tell(f"To ask on: dossier ask QUESTION --thread {self.thread}{self._of_project()}")

    async def _file(self, state: State) -> Path:
        """Return the Markdown file of the report, which is written unless it was delivered there.

        Raises:
            Problem: `output_exists` or `output_not_writable`, with the way to have it elsewhere.
        """
        try:
            folder = resolve_report_folder(self.out, self.run)
            written = (await lifecycle.find_run(self.owner, self.run)).folder == str(folder)
            if not (written and is_delivered(state)) or "file_error" in state["report"]:
                await write_run_report(self.owner, self.run, state, folder, force=self.force)
        except Problem as problem:
            hint = f"the report is kept: {self._command()} --out FOLDER"
            raise Problem(problem.error, problem.what, where=problem.where, hint=hint) from problem
        if count := await count_pending_proposals(self.owner, self.run):
            changes = f"{pluralize(count, 'change')} to AGENTS.md"
            command = f"dossier memory proposals{self._of_project()}"
            self._tell(f"The run proposes {changes}: {command}")
        return folder / REPORT_FILES["md"]

    def _print(self, text: str, data: dict[str, Any]) -> None:
        if self.as_json:
            print_json(data)
        elif sys.stdout.isatty():
            Console().print("", WholeMarkdown(text))
        else:
            print(text)

    def _print_json(self, data: dict[str, Any]) -> None:
        if self.as_json:
            print_json(data)


def _summarize_changes(changes: VersionChanges) -> str:
    """Return how many sentences differ between two versions, in a few words."""
    counts = {name: len(changes[name]) for name in ("added", "removed", "changed")}
    told = [f"{pluralize(count, 'sentence')} {name}" for name, count in counts.items() if count]
    return ", ".join(told) or "every sentence is the same"
