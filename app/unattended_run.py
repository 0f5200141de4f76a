"""A run without a person at its terminal, of which the end is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from shlex import quote

from app.cli.progress import RunProgress
from config.errors import ErrorCode, Problem
from graph.builder import make_graph
from graph.context import Context, build_context
from graph.records import RunStatus
from graph.session import SessionOutcome, ThreadSession, open_session
from graph.state import State
from runs.lifecycle import create_run, find_newest_run, mark_interrupted, set_run_status
from runs.thread_integrity import DAMAGE_ERRORS, find_damage


class UnattendedRun:
    """A run that nobody watches; what becomes of it is recorded however it ends."""

    def __init__(self, owner: str, thread: str, progress: RunProgress) -> None:
        self.owner, self.thread, self.progress = owner, thread, progress
        self.run = ""
        self.answered: State | None = None

    async def carry_out(self, question: str, context: Context) -> SessionOutcome:
        """Run a question; its status is set if it does not come to its answer."""
        return await self._work(lambda opened: self._begin(opened, question, context))

    async def go_on(self, run: str, context: Context) -> SessionOutcome:
        """Go on with the newest run of the thread, which was stopped."""
        self.run = run
        await set_run_status(self.owner, run, "running")
        return await self._work(lambda opened: opened.resume(context, self.progress.on_event))

    async def _work(
        self, work: Callable[[ThreadSession], Awaitable[SessionOutcome]]
    ) -> SessionOutcome:
        async with open_session(self.thread) as opened:
            opened.on_answer = self._take_answer
            try:
                return await work(opened)
            except asyncio.CancelledError:
                await self._pause(opened)
                raise
            except Problem as problem:
                return await self._fail(problem)
            except DAMAGE_ERRORS as error:
                found = await find_damage(make_graph(), self.thread)
                if found is None:
                    hint = "see the log of the server"
                    await self._fail(Problem(ErrorCode.INTERNAL, "the run failed", hint=hint))
                    raise
                await mark_interrupted(self.owner, self.thread, "failed", code=found.code)
                raise found from error

    async def _begin(
        self, opened: ThreadSession, question: str, context: Context
    ) -> SessionOutcome:
        turn = (await opened.check_free()).values.get("turn", 0) + 1
        last = await find_newest_run(self.owner, self.thread)
        if turn > 1 and last is None:
            what, hint = f"there is no thread {self.thread!r}", "leave it out for a new one"
            raise Problem(ErrorCode.THREAD_NOT_FOUND, what, hint=hint)
        if last and not context.files:
            context = build_context({**vars(context), "files": last.context.get("files", [])})
        self.run = await create_run(self.owner, self.thread, turn, question, context)
        return await opened.begin(question, context, self.progress.on_event)

    @property
    def of_project(self) -> str:
        """The option of a command that names the project; empty for none."""
        project = self.owner.partition("/")[2]
        return f" --project {quote(project)}" if project else ""

    async def _take_answer(self, state: State) -> None:
        self.answered = state

    async def _pause(self, opened: ThreadSession) -> None:
        if self.run and not self.answered:
            waits = (await opened.current()).interrupts
            status: RunStatus = "waiting_review" if waits else "paused"
            await set_run_status(self.owner, self.run, status)

    async def _fail(self, problem: Problem) -> SessionOutcome:
        """Return the answer that a run gave before it failed; record the failure of any other.

        Raises:
            Problem: The same, if there was no answer.
        """
        if self.answered:
            return SessionOutcome(self.answered, None)
        if self.run:
            await set_run_status(self.owner, self.run, "failed", code=problem.code)
        raise problem
