"""Run the graph in this process: begin, watch and resume a run, and return its outcome."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple, cast

from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot, StreamMode

from calls.run_budget import end_thread_sessions
from calls.run_spans import end_run_spans
from calls.streaming import PROGRESS
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
from tools.mcp.connections import close_thread_connections

Graph = CompiledStateGraph[Any, Context, Any, Any]

EventListener = Callable[[dict[str, Any]], None]
"""Receives every event of a run: `{"node": …}` when a node ends, what a node says of its progress
(`runs/progress_events.py`), or `{"draft": …}`, further words of a report that is not checked."""

RECURSION_LIMIT = 200
"""How many steps the graph may take for one question; the caps of a run are far lower."""

INTERRUPT = "__interrupt__"
"""The key under which LangGraph streams a pause, among the names of nodes."""

AnswerListener = Callable[[State], Awaitable[None]]
"""Receives the state of a run that has its answer, before the run is learnt from."""

NOT_STARTED_NODES = {"__start__", "profile"}
"""The pending nodes of a thread whose newest question is not a run yet."""

WRITING_NODE = "reporter"
"""The node whose words are those of the report."""

POST_ANSWER_NODE = "learn"
"""The node that runs after the answer; a run that has reached it is finished."""

ALWAYS = {"run": str, "turn": int, "language": str, "question": str, "status": str}
"""The keys that every state has after its first question, with their types."""


class SessionOutcome(NamedTuple):
    """The state at the end of a session, and the review request that awaits an answer, if any."""

    state: State
    request: dict[str, Any] | None


class ThreadSession:
    """An open thread."""

    def __init__(self, graph: Graph, thread: str) -> None:
        self.graph = graph
        self.config: RunnableConfig = {
            "configurable": {"thread_id": thread},
            "run_id": uuid.uuid4(),
            "recursion_limit": RECURSION_LIMIT,
        }
        self.on_answer: AnswerListener | None = None
        self.shows_draft = False
        """Whether the words of the report are among the events while it is written."""

    def set_report_target(self, target: ReportTarget) -> None:
        """Set the folder for the files of reports."""
        self.config["configurable"][TARGET_KEY] = target

    async def begin(self, question: str, context: Context, watch: EventListener) -> SessionOutcome:
        """Ask a question in this thread.

        Raises:
            Problem: What `check_free` raises.
        """
        if stores_answer(await self.check_free()):
            await self.graph.ainvoke(
                None, self.config, context=context, interrupt_before=[POST_ANSWER_NODE]
            )
        return await self._run(
            {"messages": [HumanMessage(mask_secrets(question).text)]}, context, watch
        )

    async def check_free(self) -> StateSnapshot:
        """Ensure that the thread accepts a new question; return its snapshot.

        Raises:
            Problem: `waiting_review` or `run_unfinished` if the thread has not finished the last
                question, or `thread_incompatible`.
        """
        snapshot = await self.current()
        if snapshot.interrupts:
            what = "this thread waits for a review"
            raise Problem(ErrorCode.WAITING_REVIEW, what, hint=_hint(snapshot))
        pending = set(pending_nodes(snapshot))
        if pending and not (NOT_STARTED_NODES & pending or stores_answer(snapshot)):
            what = "this thread was stopped at work"
            raise Problem(ErrorCode.RUN_UNFINISHED, what, hint=_hint(snapshot))
        return snapshot

    async def answer_review(
        self,
        decision: dict[str, Any],
        context: Context,
        watch: EventListener,
        shown: dict[str, Any] | None = None,
    ) -> SessionOutcome:
        """Answer the review that this thread waits for.

        Args:
            decision: The decision, or a whole answer with several of them.
            context: The choices of the run.
            watch: Receives the events of the run.
            shown: The request that the person saw, if any.

        Raises:
            Problem: `not_waiting`, `stale_plan` if the plan is not the one that was shown, or
                `thread_incompatible`.
        """
        snapshot = await self.current()
        if not snapshot.interrupts:
            raise Problem(ErrorCode.NOT_WAITING, "this run does not wait for a review")
        if shown is not None and snapshot.interrupts[0].value != shown:
            what = "the plan has changed since you saw it"
            raise Problem(ErrorCode.STALE_PLAN, what, hint=_hint(snapshot))
        answer = decision if "type" not in decision else {"decisions": [decision]}
        return await self._run(Command(resume=mask_secrets_within(answer)), context, watch)

    async def resume(self, context: Context, watch: EventListener) -> SessionOutcome:
        """Continue a stopped or killed run, or repeat the parts in which a model failed.

        Raises:
            Problem: `not_waiting` if it is finished, or `thread_incompatible`.
        """
        snapshot = await self.current()
        if not pending_nodes(snapshot):
            state = cast("State", snapshot.values)
            node = find_resume_node(state)
            if not node:
                hint = "ask a new question"
                raise Problem(ErrorCode.NOT_WAITING, "this run is already finished", hint=hint)
            update = build_resume_update(state, node)
            await self.graph.aupdate_state(self.config, update, as_node=node)
        return await self._run(None, context, watch)

    async def current(self) -> StateSnapshot:
        """Return the latest snapshot of the thread.

        Raises:
            Problem: `thread_incompatible`, or `storage_corrupt` if the saved state lacks a key.
        """
        snapshot = await self.graph.aget_state(self.config)
        _check_keys(snapshot.values)
        check_graph_version(snapshot.values)
        return snapshot

    async def _run(self, inputs: Any, context: Context, watch: EventListener) -> SessionOutcome:
        try:
            outcome = await self._stream(inputs, context, watch)
            await flush_traces()
            return outcome
        finally:
            thread = self.config["configurable"]["thread_id"]
            with suppress(Problem):
                await end_run_spans(thread)
                await flush_traces()
            end_thread_sessions(thread)
            await close_thread_connections(thread)

    async def _stream(self, inputs: Any, context: Context, watch: EventListener) -> SessionOutcome:
        modes: list[StreamMode] = ["updates", "custom"]
        modes += ["messages"] if self.shows_draft else []
        stream = self.graph.astream(
            inputs,
            self.config,
            context=context,
            stream_mode=modes,
            subgraphs=True,
            # Each step is saved before the next, so that no paid result is lost.
            durability="sync",
        )
        async for _, mode, data in stream:
            for event in _events(mode, data):
                watch(event)
                if self.on_answer and event.get("event") == "answered":
                    state = (await self.graph.aget_state(self.config)).values
                    await self.on_answer(cast("State", state))
        snapshot = await self.graph.aget_state(self.config)
        request = snapshot.interrupts[0].value if snapshot.interrupts else None
        return SessionOutcome(cast("State", snapshot.values), request)


@asynccontextmanager
async def open_session(
    thread: str, make: Callable[[], Graph] = make_graph
) -> AsyncIterator[ThreadSession]:
    """Open a thread, and close the checkpointer and the database afterwards.

    Args:
        thread: The id of the thread.
        make: Makes its graph, without a checkpointer.
    """
    try:
        async with open_checkpointer() as saver:
            session = ThreadSession(make().copy({"checkpointer": saver}), thread)
            await check_thread_branches(saver, session.graph, thread)
            async with guard_thread(session.graph, thread):
                yield session
    except sqlite3.Error as error:
        raise checkpoint_file_problem(error) from error
    finally:
        await close_database()


def check_graph_version(values: Mapping[str, Any]) -> None:
    """Ensure that the state is of a version of the graph whose threads can be resumed.

    Raises:
        Problem: `thread_incompatible`.
    """
    version = values.get("graph_version")
    if version not in (None, *RESUMABLE_VERSIONS):
        what = f"it was begun by version {version} of the graph, this is {GRAPH_VERSION}"
        raise Problem(ErrorCode.THREAD_INCOMPATIBLE, what, hint="ask the question again")


def _check_keys(values: dict[str, Any]) -> None:
    """Ensure that a saved state that has any of the keys `ALWAYS` has them all."""
    has_begun = any(name in values for name in ALWAYS)
    if has_begun and not all(isinstance(values.get(name), kind) for name, kind in ALWAYS.items()):
        raise damage_problem("what every thread has is missing")


def _events(mode: str, data: Any) -> list[dict[str, Any]]:
    if mode == "custom":
        return [data]
    if mode == "messages":
        message, about = data
        drafted = about.get("langgraph_node") == WRITING_NODE and message.name != PROGRESS
        is_part = drafted and isinstance(message, AIMessageChunk)
        return [{"draft": str(message.text)}] if is_part else []
    nodes = {node: update for node, update in data.items() if node != INTERRUPT}
    return [{"node": node, "update": update} for node, update in nodes.items()]


def _hint(snapshot: StateSnapshot) -> str:
    return f"dossier resume {snapshot.values['run']}"


def stores_answer(snapshot: StateSnapshot) -> bool:
    """Tell whether a thread stopped after its answer, before that was stored in memory."""
    delivered = is_delivered(cast("State", snapshot.values))
    return delivered and pending_nodes(snapshot) == ("memorize",)


def pending_nodes(snapshot: StateSnapshot) -> tuple[str, ...]:
    """Return the pending nodes of a thread; none if its last run is finished.

    `snapshot.next` omits a node that has written its update in a step that was not completed.
    """
    return tuple(task.name for task in snapshot.tasks if task.name != POST_ANSWER_NODE)
