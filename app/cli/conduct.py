"""Take a run through to its end on the command line: work, pauses, reviews, and what is told."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from app.cli import review, summary
from app.cli.choices import CAPS, more
from app.cli.output import has_terminal, one_line, print_json, tell
from app.cli.progress import Progress
from app.cli.runs import of_shortened
from config.counted import counted
from config.errors import EXIT, Problem
from config.settings import settings
from graph.builder import make_graph
from graph.context import Context
from graph.plan_text import written
from graph.records import RunStatus
from graph.session import Outcome, Session, session
from graph.state import State
from memory.files.proposals import proposed_by
from report.document import document, shows_removed
from report.export import digests, report_folder, write
from report.undone import first_error, limit
from retrieval.secrets import masked_within, removed
from runs import lifecycle
from runs.lifecycle import broken_off, filed, mark
from runs.place import owned
from runs.soundness import UNFORESEEN, damage, sound
from runs.trace import read_trace
from storage.engine import close
from tools.evidence import cited_texts

STATUS = {
    "succeeded": 0,
    "partial": EXIT["partial"],
    "insufficient_evidence": EXIT["failed"],
    "failed": EXIT["failed"],
}
"""The exit status of each way a run can end."""

REMOVED = "What looks like a password, a key or the number of a card is taken out and not saved"
"""What a person is told of a secret in their words."""

LEARNING = "The report is done. Learning from it; press Ctrl-C to skip; the next run will catch up"
"""What is said while a run learns behind its answer."""

Work = Callable[[Session], Awaitable[Outcome]]
"""What is done with a thread while it is open."""


class Conductor:
    """Drives one run and tells the person about it.

    Nothing is open while a person thinks: a decision may take days, or come from another process.
    """

    def __init__(
        self, thread: str, *, wait: bool, out: Path | None, force: bool, as_json: bool
    ) -> None:
        self.thread, self.wait, self.out, self.force = thread, wait, out, force
        self.as_json = as_json
        self.err = Console(stderr=True)
        self.progress = Progress(self.err)
        self.context = Context()
        self.run = ""
        self.status: RunStatus | None = None
        self.handed = False
        self.problem: Problem | None = None

    @property
    def owner(self) -> str:
        """Whose run it is."""
        return owned(self.context.user or settings().user, self.context.project)

    def drive(self, work: Work) -> int:
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
            if not self.handed:
                raise
            # It only learnt by now, and the next run does what is left of that.
            return STATUS[str(self.status)]
        except Problem as problem:
            if self.status is None:
                raise
            return tell(problem, as_json=self.as_json, about=self._stopped(self.status))
        except UNFORESEEN as error:
            # A request or a report that was read back is shown when its thread is closed again.
            if found := asyncio.run(self._damage()):
                raise found from error
            raise

    def _driven(self, work: Work) -> int:
        outcome = asyncio.run(self._work(work))
        while outcome.request and not self.wait and has_terminal():
            decision = self._decision(outcome.request)
            outcome = asyncio.run(self._work(self._answering(decision, outcome.request)))
        if outcome.request:
            return self._waiting(outcome.request)
        if not self.handed:
            asyncio.run(self._late(outcome.state))
        if self.problem:
            raise self.problem
        return STATUS[str(self.status)]

    async def begin(self, opened: Session, question: str, context: Context) -> Outcome:
        """Ask a question in an open thread."""
        turn = (await opened.check_free()).values.get("turn", 0) + 1
        self.context = context
        out = str(self.out.absolute()) if self.out else ""
        self.run = await lifecycle.opened(self.owner, self.thread, turn, question, context, out)
        return await opened.begin(question, context, self.progress.watch)

    async def answer(
        self, opened: Session, decision: review.Decision, shown: dict[str, Any] | None = None
    ) -> Outcome:
        """Answer the review that an open thread waits for."""
        decision = masked_within(decision)
        if removed(json.dumps(decision)):
            self.progress.say(REMOVED)
        return await opened.answer(decision, self.context, self.progress.watch, shown)

    async def go_on(self, opened: Session) -> Outcome:
        """Continue an open thread that was stopped."""
        return await opened.go_on(self.context, self.progress.watch)

    def _answering(self, decision: review.Decision, shown: dict[str, Any]) -> Work:
        return lambda opened: self.answer(opened, decision, shown)

    async def _work(self, work: Work) -> Outcome:
        async with session(self.thread) as opened:
            opened.answered = self._answered
            try:
                with self.progress:
                    async with sound(opened.graph, self.thread):
                        return await work(opened)
            except asyncio.CancelledError:
                await self._paused(opened)
                raise
            except Problem as problem:
                await self._failed(problem.code, problem.where)
                raise
            except UNFORESEEN:
                await self._failed("internal")
                raise

    async def _damage(self) -> Problem | None:
        """Return what is damaged in what is saved of the thread, and mark the run, if so."""
        try:
            if found := await damage(make_graph(), self.thread):
                await broken_off(self.owner, self.thread, "failed", code=found.code)
            return found
        finally:
            await close()

    async def _failed(self, code: str, where: str = "") -> None:
        """Write down that the run has failed, unless its answer was handed over."""
        if self.run and not self.handed:
            self.status = "failed"
            await mark(self.owner, self.run, self.status, code=code)
            capped = code == "budget_spent"
            what = "Allow more, and go on" if capped else "When the problem is solved, go on"
            self._tell_how_to_go_on(what, where if capped else "")

    async def _paused(self, opened: Session) -> None:
        if self.handed:
            return
        if self.run:
            waits = (await opened.current()).interrupts
            status: RunStatus = "waiting_review" if waits else "paused"
            await mark(self.owner, self.run, status)
            self._tell_how_to_go_on("Paused. Go on")
            self._print_json(self._stopped(status))
        else:
            self.err.print("Stopped before the run began.")

    async def _tell_proposals(self) -> None:
        """Say that the run would change memory files, if so."""
        project = self.context.project
        if count := await proposed_by(self.owner, self.run):
            shown = "dossier memory proposals" + (f" --project {quote(project)}" if project else "")
            line = f"The run proposes {counted(count, 'change')} to AGENTS.md: {shown}"
            self.err.print(line, soft_wrap=True, markup=False)

    async def _tell_shortened(self) -> None:
        """Say that queries were shortened or not sent because of private words, if so."""
        if line := of_shortened(await read_trace(self.run)):
            shown = f"dossier runs show {self.run} --json{self._of_project()}"
            self.err.print(f"{line}: {shown}", soft_wrap=True, markup=False)

    def _decision(self, request: dict[str, Any]) -> review.Decision:
        review.show_plan(self.err, request)
        try:
            return review.ask_decision(self.err, request)
        except (KeyboardInterrupt, EOFError):
            self.err.print()
            self._tell_how_to_go_on("Nothing is decided. Go on")
            self._print_json(self._waits(request))
            raise KeyboardInterrupt from None

    def _tell_how_to_go_on(self, what: str, limit: str = "") -> None:
        self.err.print(f"{what} with: {self._command(limit)}", soft_wrap=True, markup=False)

    def _command(self, limit: str = "") -> str:
        """Return the command that goes on with the run, with more than a limit that it reached."""
        name = limit.partition(" = ")[0]
        caps = f" --set {more(name, getattr(self.context, name))}" if name in CAPS else ""
        return f"dossier resume {self.run}{self._of_project()}{caps}"

    def _of_project(self) -> str:
        project = self.context.project
        return f" --project {quote(project)}" if project else ""

    def _waiting(self, request: dict[str, Any]) -> int:
        review.show_plan(self.err, request)
        told = self._waits(request)
        what = f"The plan waits for your decision: {told['resume']}"
        self.err.print(what, soft_wrap=True, markup=False)
        other = "or --reject TEXT, or --plan FILE with a plan as lines of text"
        self.err.print(f"  ({other}: dossier resume --help)", soft_wrap=True, markup=False)
        if not self.as_json and not sys.stdout.isatty():
            print(written(request["plan"]), end="")
        self._print_json(told)
        return 0

    def _waits(self, request: dict[str, Any]) -> dict[str, Any]:
        command = f"{self._command()} --approve"
        return summary.of_waiting(self.run, self.thread, request["plan"], command)

    def _stopped(self, status: RunStatus) -> dict[str, Any]:
        return summary.of_stopped(self.run, self.thread, status, self._command())

    async def _late(self, state: State) -> None:
        """Hand over what came of a run that had ended before."""
        try:
            await self._answered(state)
        finally:
            await close()

    async def _answered(self, state: State) -> None:
        """Hand over what came out; the run still learns behind it, so nothing may break it off."""
        self.status, self.handed = state["status"], True
        with self.progress.paused():
            try:
                await self._hand_over(state)
            except Problem as problem:
                self.problem = problem
        self.progress.beginning(LEARNING)

    async def _hand_over(self, state: State) -> None:
        if not summary.has_report(state):
            text = str(state["messages"][-1].text)
            self._print(text, summary.of_reply(self.run, self.thread, state, text))
            return
        file = await self._file(state)
        try:
            command = self._command("" if first_error(state) else limit(state))
            told = summary.of_report(self.run, self.thread, state, str(file), command)
            self._print(file.read_text("utf-8"), told)
        finally:
            self._tell_where(state["status"], file)
            await self._tell_shortened()
            if problem := first_error(state):
                self.err.print(one_line(str(problem)), soft_wrap=True, markup=False)
                self._tell_how_to_go_on("When the problem is solved, repeat the failed parts")
            elif reached := limit(state):
                what = f"The run reached its limit {reached}. Complete it"
                self._tell_how_to_go_on(what, reached)

    def _tell_where(self, status: RunStatus, file: Path) -> None:
        if sys.stdout.isatty():
            self.err.print()
        for head, one in ((f"{status}:", file), ("", file.with_suffix(".html"))):
            line = f"{head:{len(status) + 1}} {one_line(str(one))}"
            self.err.print(line, soft_wrap=True, markup=False)
        ask = f"To ask on: dossier ask QUESTION --thread {self.thread}{self._of_project()}"
        self.err.print(ask, soft_wrap=True, markup=False)

    async def _file(self, state: State) -> Path:
        """Write the report to its folder; return its markdown file."""
        today = datetime.now(UTC).date().isoformat()
        cited = await cited_texts(self.owner, state)
        shown = document(state, state["report"], state["status"], today, cited)
        shown["command"] = shows_removed(self.run)
        try:
            folder = report_folder(self.out, self.run)
            owner = owned(self.context.user or settings().user, self.context.project)
            own = await lifecycle.written(self.run, owner)
            # A kill may come between the files and the word that they are there.
            await lifecycle.writing(self.run, owner, digests(shown))
            files = await write(shown, folder, force=self.force, own=own)
            await filed(self.run, str(folder))
            await self._tell_proposals()
        except Problem as problem:
            hint = f"the report is kept: {self._command()} --out FOLDER"
            raise Problem(problem.code, problem.what, where=problem.where, hint=hint) from problem
        return files["md"]

    def _print(self, text: str, told: dict[str, Any]) -> None:
        self._print_json(told)
        if not self.as_json and sys.stdout.isatty():
            Console().print("", Markdown(text))
        elif not self.as_json:
            print(text)

    def _print_json(self, told: dict[str, Any]) -> None:
        if self.as_json:
            print_json(told)
