"""Run the graph in this process: begin, watch, go on, and hand over what came out."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from calls.run_budget import end_thread_sessions
from config.errors import ErrorCode, Problem
from graph.builder import make_graph
from graph.context import Context
from graph.state import GRAPH_VERSION, RESUMABLE_VERSIONS, State, is_delivered
from nodes.deliver import TARGET_KEY
from report.export import ReportTarget
from runs.checkpointer import open_checkpointer
from runs.incomplete import build_resume_update, find_resume_node
from runs.thread_integrity import (
    check_thread_branches,
    checkpoint_file_problem,
    damage_problem,
    guard_thread,
)
from runs.trace import flush_traces
from storage.engine import close_database
from text.secret_masking import mask_secrets, mask_secrets_within

Graph = CompiledStateGraph[Any, Context, Any, Any]

EventListener = Callable[[dict[str, Any]], None]
"""Is told every event of a run: `{"node": …}` when a node ends, or what a node said itself."""

RECURSION_LIMIT = 200
"""How many steps the graph may take for one question; its own caps are reached long before."""

INTERRUPT = "__interrupt__"
"""The name under which LangGraph streams a pause, among those of the nodes."""

AnswerListener = Callable[[State], Awaitable[None]]
"""Is given the state in which a run has its answer, before it is learnt from."""

NOT_STARTED_NODES = {"__start__", "profile"}
"""Where a thread stands whose newest question has not become a run yet."""

POST_ANSWER_NODE = "learn"
"""The node that works behind the answer; a run that stands there has nothing to go on with."""

ALWAYS = {"run": str, "turn": int, "language": str, "question": str, "status": str}
"""What every state has since its first question was taken, and of which kind."""


class SessionOutcome(NamedTuple):
    """How a session ended: the state it left, and the request that waits for an answer, if any."""

    state: State
    request: dict[str, Any] | None


class ThreadSession:
    """One thread, opened for work."""

    def __init__(self, graph: Graph, thread: str) -> None:
        self.graph = graph
        self.config: RunnableConfig = {
            "configurable": {"thread_id": thread},
            "run_id": uuid.uuid4(),
            "recursion_limit": RECURSION_LIMIT,
        }
        self.on_answer: AnswerListener | None = None

    def set_report_target(self, target: ReportTarget) -> None:
        """Name where the files of reports go."""
        self.config["configurable"][TARGET_KEY] = target

    async def begin(self, question: str, context: Context, watch: EventListener) -> SessionOutcome:
        """Ask a question in this thread.

        Raises:
            Problem: What `check_free` tells of.
        """
        before = await self.check_free()
        if stores_answer(before):
            await self.graph.ainvoke(
                None, self.config, context=context, interrupt_before=[POST_ANSWER_NODE]
            )
        return await self._run(
            {"messages": [HumanMessage(mask_secrets(question).text)]}, context, watch
        )

    async def check_free(self) -> StateSnapshot:
        """Make sure that a new question may be asked; return how the thread stands.

        Raises:
            Problem: `waiting_review` or `run_unfinished` when the thread has not finished the last
                question, or `thread_incompatible`.
        """
        before = await self.current()
        if before.interrupts:
            raise Problem(
                ErrorCode.WAITING_REVIEW, "this thread waits for a review", hint=_hint(before)
            )
        pending = set(pending_nodes(before))
        if pending and not (NOT_STARTED_NODES & pending or stores_answer(before)):
            raise Problem(
                ErrorCode.RUN_UNFINISHED, "this thread was stopped at work", hint=_hint(before)
            )
        return before

    async def answer_review(
        self,
        decision: dict[str, Any],
        context: Context,
        watch: EventListener,
        shown: dict[str, Any] | None = None,
    ) -> SessionOutcome:
        """Answer the review that this thread waits for.

        Args:
            decision: The decision.
            context: The choices of the run.
            watch: Is told what happens.
            shown: The request that was decided on, if it was shown.

        Raises:
            Problem: `not_waiting`, `stale_plan` when the plan is not the one that was shown any
                more, or `thread_incompatible`.
        """
        before = await self.current()
        if not before.interrupts:
            raise Problem(ErrorCode.NOT_WAITING, "this run does not wait for a review")
        if shown is not None and before.interrupts[0].value != shown:
            raise Problem(
                ErrorCode.STALE_PLAN, "the plan has changed since you saw it", hint=_hint(before)
            )
        return await self._run(
            Command(resume={"decisions": [mask_secrets_within(decision)]}), context, watch
        )

    async def resume(self, context: Context, watch: EventListener) -> SessionOutcome:
        """Continue a run that was stopped or killed, or repeat what a model's failure left undone.

        Raises:
            Problem: `not_waiting` when it is finished, or `thread_incompatible`.
        """
        before = await self.current()
        if not pending_nodes(before):
            state = cast("State", before.values)
            node = find_resume_node(state)
            if not node:
                hint = "ask a new question"
                raise Problem(ErrorCode.NOT_WAITING, "this run is already finished", hint=hint)
            await self.graph.aupdate_state(
                self.config, build_resume_update(state, node), as_node=node
            )
        return await self._run(None, context, watch)

    async def current(self) -> StateSnapshot:
        """Return how the thread stands.

        Raises:
            Problem: `thread_incompatible`, or `storage_corrupt` when what is saved lacks something.
        """
        snapshot = await self.graph.aget_state(self.config)
        _check_whole(snapshot.values)
        check_graph_version(snapshot.values)
        return snapshot

    async def _run(self, given: Any, context: Context, watch: EventListener) -> SessionOutcome:
        try:
            outcome = await self._streamed(given, context, watch)
            await flush_traces()
            return outcome
        finally:
            with suppress(Problem):
                await flush_traces()
            end_thread_sessions(self.config["configurable"]["thread_id"])

    async def _streamed(self, given: Any, context: Context, watch: EventListener) -> SessionOutcome:
        stream = self.graph.astream(
            given,
            self.config,
            context=context,
            stream_mode=["updates", "custom"],
            subgraphs=True,
            # Nothing that was paid for may be lost, so each step is saved before the next.
            durability="sync",
        )
        async for _, mode, data in stream:
            for event in _events(mode, data):
                watch(event)
                if self.on_answer and event.get("event") == "answered":
                    state = (await self.graph.aget_state(self.config)).values
                    await self.on_answer(cast("State", state))
        after = await self.graph.aget_state(self.config)
        request = after.interrupts[0].value if after.interrupts else None
        return SessionOutcome(cast("State", after.values), request)


@asynccontextmanager
async def open_session(
    thread: str, make: Callable[[], Graph] = make_graph
) -> AsyncIterator[ThreadSession]:
    """Open a thread for work, and close everything behind it.

    Args:
        thread: Its name.
        make: Makes the graph that works in it, not yet with a checkpointer.
    """
    try:
        async with open_checkpointer() as saver:
            opened = ThreadSession(make().copy({"checkpointer": saver}), thread)
            await check_thread_branches(saver, opened.graph, thread)
            async with guard_thread(opened.graph, thread):
                yield opened
    except sqlite3.Error as error:
        raise checkpoint_file_problem(error) from error
    finally:
        await close_database()


def check_graph_version(values: Mapping[str, Any]) -> None:
    """Make sure that a state was written by a version of the graph whose threads go on.

    Raises:
        Problem: `thread_incompatible`.
    """
    version = values.get("graph_version")
    if version not in (None, *RESUMABLE_VERSIONS):
        what = f"it was begun by version {version} of the graph, this is {GRAPH_VERSION}"
        raise Problem(ErrorCode.THREAD_INCOMPATIBLE, what, hint="ask the question again")


def _check_whole(values: dict[str, Any]) -> None:
    """Make sure that a state which was read back has what every state has, once it has begun."""
    begun = [name for name in ALWAYS if name in values]
    if begun and not all(isinstance(values.get(name), kind) for name, kind in ALWAYS.items()):
        raise damage_problem("what every thread has is missing")


def _events(mode: str, data: Any) -> list[dict[str, Any]]:
    if mode == "custom":
        return [data]
    nodes = {node: update for node, update in data.items() if node != INTERRUPT}
    return [{"node": node, "update": update} for node, update in nodes.items()]


def _hint(before: StateSnapshot) -> str:
    return f"dossier resume {before.values['run']}"


def stores_answer(snapshot: StateSnapshot) -> bool:
    """Tell whether a thread was stopped behind its answer, before that was stored in memory."""
    delivered = is_delivered(cast("State", snapshot.values))
    return delivered and pending_nodes(snapshot) == ("memorize",)


def pending_nodes(snapshot: StateSnapshot) -> tuple[str, ...]:
    """Return the nodes that a thread stands at; none when its last run is finished.

    `snapshot.next` leaves out a node that has written and whose step was not closed any more.
    """
    return tuple(task.name for task in snapshot.tasks if task.name != POST_ANSWER_NODE)
