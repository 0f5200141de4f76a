"""Take a run through to its end on the command line: reviews, pauses, report and exit status."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markdown import Markdown

from app.cli import review
from app.cli.progress import Progress
from config.errors import EXIT, Problem
from graph.context import Context
from graph.session import Outcome, Session
from graph.state import RunStatus, State
from report.document import document
from report.export import write
from runs.lifecycle import mark
from runs.place import run_id

STATUS = {
    "succeeded": 0,
    "waiting_review": 0,
    "partial": EXIT["partial"],
    "insufficient_evidence": EXIT["failed"],
    "failed": EXIT["failed"],
}
"""The exit status of each way a run can end."""


class Conductor:
    """Drives one session and tells the person about it."""

    def __init__(self, session: Session, thread: str, context: Context, *, as_json: bool) -> None:
        self.session, self.thread, self.context = session, thread, context
        self.as_json = as_json
        self.err = Console(stderr=True)
        self.run = ""

    async def drive(
        self,
        first: Coroutine[Any, Any, Outcome],
        progress: Progress,
        *,
        wait: bool,
        out: Path | None,
        force: bool = False,
    ) -> int:
        """Bring a run to its end.

        Args:
            first: How the session begins.
            progress: Is told what happens.
            wait: Whether to stop at a review instead of asking the person.
            out: Where the report goes.
            force: Whether a report that is there is replaced.

        Returns:
            The exit status.
        """
        try:
            with progress:
                outcome = await first
            while outcome.request and not wait and sys.stdin.isatty():
                review.show_plan(self.err, outcome.request)
                decision = await asyncio.to_thread(review.ask_decision, self.err, outcome.request)
                with progress:
                    outcome = await self.session.answer(decision, self.context, progress.watch)
        except asyncio.CancelledError:
            await self._paused()
            raise
        except Problem as problem:
            await self._failed(problem)
            raise
        self.run = run_id(self.thread, outcome.state["turn"])
        if outcome.request:
            return self._waiting(outcome.request)
        return await self._finished(outcome.state, out, force)

    async def _finished(self, state: State, out: Path | None, force: bool) -> int:
        status = state["status"]
        if "report" not in state or state["report"]["title"] == "":
            return self._replied(state)
        today = datetime.now(UTC).date().isoformat()
        shown = document(state, state["report"], status, today)
        folder = (out or Path("reports") / self.run).absolute()
        files = await write(shown, folder, force=force)
        await mark(self.run, status, folder=str(folder))
        text = await asyncio.to_thread(files["md"].read_text, "utf-8")
        self._print(text, _summary(state, self.run, self.thread, str(files["md"])))
        self.err.print(f"{status}: {files['md']} and {files['html'].name}", soft_wrap=True)
        return STATUS[status]

    def _replied(self, state: State) -> int:
        text = str(state["messages"][-1].text)
        summary: dict[str, Any] = {
            "run": self.run,
            "thread": self.thread,
            "status": state["status"],
            "report": None,
            "reply": text,
            "sources": [],
            "quotes": [],
        }
        self._print(text, summary)
        return 0

    def _waiting(self, request: dict[str, Any]) -> int:
        command = f"dossier resume {self.run} --approve"
        if not sys.stdin.isatty():
            review.show_plan(self.err, request)
        self.err.print(f"The plan waits for your decision: {command}", soft_wrap=True)
        summary: dict[str, Any] = {
            "run": self.run,
            "thread": self.thread,
            "status": "waiting_review",
            "report": None,
            "plan": request["plan"],
            "resume": command,
            "sources": [],
            "quotes": [],
        }
        if self.as_json:
            print(json.dumps(summary, ensure_ascii=False))
        return STATUS["waiting_review"]

    async def _paused(self) -> None:
        run = await self._current_run()
        if run:
            snapshot = await self.session.current()
            waiting: RunStatus = "waiting_review" if snapshot.interrupts else "paused"
            await mark(run, waiting)
            self.err.print(f"Paused. Go on with: dossier resume {run}", soft_wrap=True)

    async def _failed(self, problem: Problem) -> None:
        run = await self._current_run()
        if run and problem.code not in ("waiting_review", "run_unfinished", "not_waiting"):
            await mark(run, "failed", code=problem.code)

    async def _current_run(self) -> str:
        snapshot = await self.session.graph.aget_state(self.session.config)
        turn = snapshot.values.get("turn")
        return run_id(self.thread, turn) if turn else ""

    def _print(self, text: str, summary: dict[str, Any]) -> None:
        if self.as_json:
            print(json.dumps(summary, ensure_ascii=False))
        elif sys.stdout.isatty():
            Console().print(Markdown(text))
        else:
            print(text)


def _summary(state: State, run: str, thread: str, report: str) -> dict[str, Any]:
    """Return what `--json` prints of a finished run."""
    cited = set(state["report"]["cited"])
    sources = [
        {
            "id": one["id"],
            "title": one["title"],
            "location": one["location"],
            "cited": one["id"] in cited,
        }
        for one in state.get("sources", {}).values()
    ]
    return {
        "run": run,
        "thread": thread,
        "status": state["status"],
        "report": report,
        "sources": sources,
        "quotes": state["report"]["quotes"],
    }
