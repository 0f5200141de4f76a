"""Take a run through to its end on the command line: work, pauses, reviews, and what is told."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from app.cli import review, summary
from app.cli.output import has_terminal, print_json
from app.cli.progress import Progress
from config.errors import EXIT, Problem
from config.settings import settings
from graph.context import Context
from graph.session import Outcome, Session, session
from graph.state import RunStatus, State
from report.document import document
from report.export import write
from runs import lifecycle
from runs.lifecycle import filed, mark
from runs.place import owned
from storage.engine import close

STATUS = {
    "succeeded": 0,
    "partial": EXIT["partial"],
    "insufficient_evidence": EXIT["failed"],
    "failed": EXIT["failed"],
}
"""The exit status of each way a run can end."""

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

    def drive(self, work: Work) -> int:
        """Do the work, ask for decisions while a plan waits, and hand over what came out.

        Returns:
            The exit status.

        Raises:
            KeyboardInterrupt: When the person stops it; how to go on is told by then.
        """
        outcome = asyncio.run(self._work(work))
        while outcome.request and not self.wait and has_terminal():
            decision = self._decision(outcome.request)
            outcome = asyncio.run(self._work(self._answering(decision, outcome.request)))
        return self._waiting(outcome.request) if outcome.request else self._ended(outcome.state)

    async def begin(self, opened: Session, question: str, context: Context) -> Outcome:
        """Ask a question in an open thread."""
        turn = (await opened.check_free()).values.get("turn", 0) + 1
        owner = owned(context.user or settings().user, context.project)
        out = str(self.out.absolute()) if self.out else ""
        self.run = await lifecycle.opened(owner, self.thread, turn, question, context, out)
        self.context = context
        return await opened.begin(question, context, self.progress.watch)

    async def answer(
        self, opened: Session, decision: review.Decision, shown: dict[str, Any] | None = None
    ) -> Outcome:
        """Answer the review that an open thread waits for."""
        return await opened.answer(decision, self.context, self.progress.watch, shown)

    async def go_on(self, opened: Session) -> Outcome:
        """Continue an open thread that was stopped."""
        return await opened.go_on(self.context, self.progress.watch)

    def _answering(self, decision: review.Decision, shown: dict[str, Any]) -> Work:
        return lambda opened: self.answer(opened, decision, shown)

    async def _work(self, work: Work) -> Outcome:
        async with session(self.thread) as opened:
            try:
                with self.progress:
                    return await work(opened)
            except asyncio.CancelledError:
                await self._paused(opened)
                raise
            except Problem as problem:
                if self.run:
                    await mark(self.run, "failed", code=problem.code)
                    self._tell_how_to_go_on("When it is mended, go on")
                raise

    async def _paused(self, opened: Session) -> None:
        if self.run:
            waits = (await opened.current()).interrupts
            status: RunStatus = "waiting_review" if waits else "paused"
            await mark(self.run, status)
            self._tell_how_to_go_on("Paused. Go on")
        else:
            self.err.print("Stopped before the run began.")

    def _decision(self, request: dict[str, Any]) -> review.Decision:
        review.show_plan(self.err, request)
        try:
            return review.ask_decision(self.err, request)
        except (KeyboardInterrupt, EOFError):
            self.err.print()
            self._tell_how_to_go_on("Nothing is decided. Go on")
            raise KeyboardInterrupt from None

    def _tell_how_to_go_on(self, what: str) -> None:
        self.err.print(f"{what} with: dossier resume {self.run}", soft_wrap=True)

    def _waiting(self, request: dict[str, Any]) -> int:
        command = f"dossier resume {self.run} --approve"
        if not has_terminal():
            review.show_plan(self.err, request)
        self.err.print(f"The plan waits for your decision: {command}", soft_wrap=True)
        if self.as_json:
            print_json(summary.of_waiting(self.run, self.thread, request["plan"], command))
        return 0

    def _ended(self, state: State) -> int:
        if not summary.has_report(state):
            text = str(state["messages"][-1].text)
            self._print(text, summary.of_reply(self.run, self.thread, state, text))
            return STATUS[state["status"]]
        file = asyncio.run(self._file(state))
        text = file.read_text("utf-8")
        self._print(text, summary.of_report(self.run, self.thread, state, str(file)))
        where = f"{state['status']}: {file} and {file.with_suffix('.html').name}"
        self.err.print(where, soft_wrap=True, markup=False)
        return STATUS[state["status"]]

    async def _file(self, state: State) -> Path:
        """Write the report to its folder; return its markdown file."""
        today = datetime.now(UTC).date().isoformat()
        shown = document(state, state["report"], state["status"], today)
        folder = (self.out or Path("reports") / self.run).absolute()
        try:
            files = await write(shown, folder, force=self.force)
            await filed(self.run, str(folder))
        except Problem as problem:
            hint = f"the report is kept: dossier resume {self.run} --out FOLDER"
            raise Problem(problem.code, problem.what, where=problem.where, hint=hint) from problem
        finally:
            await close()
        return files["md"]

    def _print(self, text: str, told: dict[str, Any]) -> None:
        if self.as_json:
            print_json(told)
        elif sys.stdout is not None and sys.stdout.isatty():
            Console().print(Markdown(text))
        else:
            print(text)
