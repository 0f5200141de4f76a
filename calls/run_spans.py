"""The spans of runs: sessions, nodes and steps, including what a killed session did not send."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from sqlalchemy import select

from calls.attempts import OPEN_STATUS, UNSENT_PREFIX, Attempt, list_attempts
from calls.call_spans import attempt_span_id, describe_attempt, describe_messages
from config.resources import SharedTasks
from graph.context import Context
from graph.state import StepState
from runs.call_site import CallSite, call_site, split_owner
from runs.spans import (
    RunSpan,
    SpanNotes,
    begin_span,
    describe_failure,
    end_span,
    find_run_span,
    find_span_around,
    find_span_export,
    open_span,
    set_run_span,
    take_run_spans,
    trace_id,
)
from runs.tables import runs as table
from runs.trace import read_trace, trace
from storage.engine import read_rows

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from runs.span_export import SpanExport

Node = TypeVar("Node", bound=Callable[..., Awaitable[Any]])

WORKFLOW = "dossier"
"""The name of the main graph."""

SESSION, BEGAN, ENDED = "session", "began", "ended"
"""The kind of trace lines about sessions, and their statuses."""

KILLED = "killed"
"""The error type of a session that did not end."""

_opening: SharedTasks[str, None] = SharedTasks()


def trace_node(node: Node, workflow: str = WORKFLOW) -> Node:
    """Wrap a node so that its work is a span in that of its run; `workflow` names its graph."""
    name = getattr(node, "__name__", "")

    @wraps(node)
    async def run(state: Any, runtime: Runtime[Context]) -> Any:
        if find_span_export() is None:
            return await node(state, runtime)
        site = call_site(state, runtime)
        await open_run_span(site, workflow=workflow)
        with _node_span(site, name):
            update = await node(state, runtime)
        _note_update(site.run, update)
        return update

    return cast("Node", run)


def trace_turn(node: Node) -> Node:
    """Wrap the node that begins a run so that its work is the first span of the run."""
    name = getattr(node, "__name__", "")

    @wraps(node)
    async def run(state: Any, runtime: Runtime[Context]) -> Any:
        started = time.time()
        update = await node(state, runtime)
        if find_span_export() is not None:
            site = call_site(update, runtime)
            await open_run_span(site, started)
            span = begin_span(site, name, {"dossier.node": name}, started=started)
            end_span(span, SpanNotes())
            _note_update(site.run, update)
        return update

    return cast("Node", run)


@asynccontextmanager
async def trace_step(state: StepState, runtime: Runtime[Context]) -> AsyncIterator[None]:
    """Surround the work on a step with a span; its title is sent only with content capture."""
    if find_span_export() is None:
        yield
        return
    site = call_site(state, runtime)
    await open_run_span(site)
    about = {"dossier.node": "step", "dossier.step.kind": state["step"]["kind"]}
    with open_span(site, f"step {site.step}", about) as notes:
        notes.content["dossier.step.title"] = state["step"]["title"]
        yield


@contextmanager
def _node_span(site: CallSite, name: str) -> Iterator[None]:
    whole = find_run_span(site.run)
    try:
        with open_span(site, name, {"dossier.node": name}):
            yield
    except BaseException as error:
        if whole:
            whole.failure = describe_failure(error)
        raise


def _note_update(run: str, update: Any) -> None:
    """Note the status of a run after a node; a node that succeeds clears an earlier failure."""
    whole = find_run_span(run)
    if whole and isinstance(update, Mapping):
        whole.status, whole.failure = update.get("status", whole.status), ""


async def open_run_span(
    site: CallSite, started: float | None = None, workflow: str = WORKFLOW
) -> None:
    """Begin the span of this session of a run unless there is one; do nothing without a collector.

    Args:
        site: A point of the run.
        started: When the session began, in seconds since 1970; now by default.
        workflow: The name of its graph.
    """
    export = find_span_export()
    if export is None or find_run_span(site.run):
        return
    whole = site._replace(step="", repetition="")
    await _opening.run(site.run, lambda: _open(export, whole, started, workflow))


async def _open(export: SpanExport, site: CallSite, started: float | None, workflow: str) -> None:
    made = select(table.c.created, table.c.question).where(table.c.id == site.run)
    row = (await read_rows(made)).first()
    earlier = _read_sessions(await read_trace(site.run))
    attempts = await list_attempts(site.run)
    run = _TracedRun(
        trace_id(site, row.created if row else 0.0),
        _describe_run(export, site, row.question if row else "", workflow),
    )
    before = [(run.trace, earlier.spans[-1])] if earlier.spans else []
    links = [*before, *find_span_around()]
    number = len(earlier.spans) + 1
    span = _begin_session(export, run, number, started=started, links=links)
    set_run_span(RunSpan(site, span))
    named = format(span.get_span_context().span_id, "016x")
    await trace(site, SESSION, workflow, BEGAN, span=named)
    _export_lost_spans(export, run, earlier, attempts, span)


class _TracedRun(NamedTuple):
    """What the spans of all sessions of a run have in common."""

    trace: int
    about: dict[str, Any]


def _begin_session(export: SpanExport, run: _TracedRun, number: int, **more: Any) -> Span:
    about = {**run.about, "dossier.session": number}
    name = f"invoke_workflow {about['gen_ai.workflow.name']}"
    return export.begin(name, None, about, trace_id=run.trace, **more)


class _Sessions(NamedTuple):
    """The earlier sessions of a run, from its trace."""

    spans: list[int]
    """The ids of their spans."""
    began: float
    """When the last one began; 0 if none did."""
    ended: float
    """When a session last ended; 0 if none has."""
    last: float
    """When the trace was last written to."""


def _read_sessions(lines: Sequence[Mapping[str, Any]]) -> _Sessions:
    told = [line for line in lines if line["kind"] == SESSION]
    began = [line for line in told if line["status"] == BEGAN]
    return _Sessions(
        [int(line["span"], 16) for line in began],
        max((line["at"] for line in began), default=0.0),
        max((line["at"] for line in told if line["status"] == ENDED), default=0.0),
        max((line["at"] for line in lines), default=0.0),
    )


def _describe_run(
    export: SpanExport, site: CallSite, question: str, workflow: str
) -> dict[str, Any]:
    about = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": workflow,
        "gen_ai.conversation.id": site.thread,
        "session.id": site.thread,
        "dossier.run": site.run,
    }
    if export.shows_content:
        about["user.id"] = split_owner(site.owner)[0]
    # A recall is no run that is listed.
    if export.shows_content and question:
        about |= {**describe_messages([HumanMessage(question)], None), "input.value": question}
    return about


def _export_lost_spans(
    export: SpanExport,
    run: _TracedRun,
    earlier: _Sessions,
    attempts: Sequence[Attempt],
    now: Span,
) -> None:
    """Export the span of a killed session, and attempts whose end was never exported.

    They get the ids that they had before the kill, so that a collector can recognize duplicates.
    """
    killed = None
    if earlier.began > earlier.ended:
        number, id = len(earlier.spans), earlier.spans[-1]
        killed = _begin_session(export, run, number, started=earlier.began, span_id=id)
    for attempt in attempts:
        told = attempt.started <= earlier.ended and attempt.status != OPEN_STATUS
        if told or attempt.status.startswith(UNSENT_PREFIX):
            continue
        name, used, error = describe_attempt(attempt)
        place = {name: run.about[name] for name in ("dossier.run", "gen_ai.conversation.id")}
        place |= {"dossier.step": attempt.step} if attempt.step else {}
        span = export.begin(
            name,
            killed or now,
            {**place, **used},
            client=True,
            started=attempt.started,
            span_id=attempt_span_id(attempt.id),
        )
        export.end(span, {}, error=error, ended=attempt.ended)
    if killed:
        export.end(killed, {}, error=KILLED, ended=earlier.last)


async def end_run_spans(thread: str) -> None:
    """End the session spans of the runs of a thread, however the sessions ended."""
    export = find_span_export()
    if export is None:
        return
    for run in take_run_spans(thread):
        await trace(run.site, SESSION, WORKFLOW, ENDED)
        told = {"dossier.status": run.status} if run.status else {}
        export.end(run.span, told, error=run.failure)
