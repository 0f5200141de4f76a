"""Tell whoever watches a run how far it is: each event once, in every stream of its graph."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._constants import CONFIG_KEY_RUNTIME, CONFIG_KEY_STREAM, NS_SEP
from langgraph.types import StreamWriter

from calls.run_budget import find_budget
from calls.run_estimate import RunMoment, RunPace, RunStage, estimate_left, load_run_paces
from calls.streaming import outer_config, show_progress_message
from config.resources import RecentCache, Resource
from graph.context import Context
from graph.records import Plan
from graph.state import StepState
from runs.call_site import CallSite, run_id
from runs.progress_events import (
    DETAIL_KINDS,
    EVENT_KINDS,
    MAX_DETAILS,
    NOTHING_LEFT,
    NOTHING_SPENT,
    ProgressEstimate,
    ProgressEvent,
    ProgressSpending,
    describe_left,
    describe_progress,
    limit_data,
)

WATCHED_RUNS = 256
"""How many runs a process keeps the progress of."""

COST_SECONDS = 1.0
"""The fewest seconds between two events that only tell what was spent."""

MAX_CHAT_LINES = 60
"""How many lines of details a chat page is shown in one branch of a run."""

UNSPOKEN = (
    *("called", "plan", "plan_waits", "steps_wait", "earlier_waits", "sending"),
    *("answered", "researched"),
)
"""The events that a chat page sees by other means, or has no use for."""


@dataclass
class WatchedRun:
    """How far a run is, as far as this process has told."""

    language: str = "en"
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    """How long it had worked at its last event."""
    stage: RunStage = "preparing"
    stage_began: tuple[float, int] = (0.0, 0)
    """The seconds and the calls at the beginning of its stage."""
    planned: int = 0
    done: set[str] = field(default_factory=set)
    details: int = 0
    cost_told: float = 0.0
    writer: tuple[str, StreamWriter] | None = None
    """What writes into the stream of the main graph, and the request in which it does."""
    session: str = ""
    """The session whose `paces` are known."""
    paces: list[RunPace] = field(default_factory=list)


_watched = Resource(lambda: RecentCache[str, WatchedRun](WATCHED_RUNS))
"""The progress of runs, by their ids."""


def show_progress(state: Mapping[str, Any], name: str, **values: object) -> None:
    """Tell what a node does.

    Args:
        state: The state of the node, for the run, the step and the language.
        name: A key of `EVENT_KINDS`.
        values: What the words of the event are made of; its data.
    """
    thread = outer_config().get("configurable", {}).get("thread_id")
    if not thread:
        return
    run = run_id(str(thread), state.get("turn", 1), state.get("fork", 1))
    watched = _watch(run)
    watched.language = state.get("language", watched.language)
    step = state["step"]["id"] if "step" in state else ""
    _tell(watched, run, step, name, values)


def show_step_progress(state: StepState, name: str, **values: object) -> None:
    """Tell what the branch of a step does."""
    # The state of a branch that an older version began has no number.
    number, count = state.get("number", 1), state.get("count", 1)
    show_progress(state, name, number=number, count=count, title=state["step"]["title"], **values)


def tell_plan(state: Mapping[str, Any], plan: Plan) -> None:
    """Tell which steps a plan has."""
    titles = [step["title"] for step in plan["steps"]]
    show_progress(state, "plan", count=len(titles), titles=titles)


def tell_progress(here: CallSite, name: str, **values: object) -> None:
    """Tell what is done at a point of a run, beneath its nodes; nothing outside of a run."""
    if here.run and (watched := _watched.get().get(here.run)):
        _tell(watched, here.run, here.step, name, values)


async def watch_costs(place: CallSite, context: Context, session: str) -> None:
    """Learn, once in a session, what earlier runs took that are like this one."""
    watched = _watch(place.run)
    if watched.session != session:
        watched.session, watched.details = session, 0
        watched.paces = await load_run_paces(place.owner, context)


def tell_costs(here: CallSite, role: str, model: str) -> None:
    """Tell what was spent after a call, at most once a second."""
    watched = _watched.get().get(here.run)
    if watched and time.monotonic() - watched.cost_told >= COST_SECONDS:
        watched.cost_told = time.monotonic()
        _tell(watched, here.run, here.step, "called", {"role": role, "model": model})


def _watch(run: str) -> WatchedRun:
    watches = _watched.get()
    if run not in watches:
        watches[run] = WatchedRun()
    return watches[run]


def _tell(
    watched: WatchedRun, run: str, step: str, name: str, values: Mapping[str, object]
) -> None:
    kind = EVENT_KINDS[name]
    if kind in DETAIL_KINDS:
        watched.details += 1
        if watched.details > MAX_DETAILS:
            return
    spent = _spending(watched, run)
    _follow(watched, step, name, values, spent)
    event = ProgressEvent(
        kind=kind,
        event=name,
        run=run,
        step=step,
        text=describe_progress(name, watched.language, values),
        data=limit_data(values),
        seconds=round(watched.seconds, 2),
        spent=spent,
        left=_left(watched, name, spent),
    )
    _send(event, watched)


def _spending(watched: WatchedRun, run: str) -> ProgressSpending:
    """Return what a run has used; note how long it has worked."""
    budget = find_budget(run)
    if budget is None:
        watched.seconds = max(watched.seconds, time.monotonic() - watched.started)
        return NOTHING_SPENT
    worked = budget.seconds + time.monotonic() - budget.started
    watched.seconds = max(watched.seconds, worked)
    return ProgressSpending(calls=budget.calls, tokens=budget.tokens, cost=round(budget.dollars, 6))


def _follow(
    watched: WatchedRun,
    step: str,
    name: str,
    values: Mapping[str, object],
    spent: ProgressSpending,
) -> None:
    """Note at which stage a run is, and how many of its steps have ended."""
    stage = _STAGE_EVENTS.get(name)
    if stage and stage != watched.stage:
        watched.stage, watched.stage_began = stage, (watched.seconds, spent["calls"])
    count = values.get("count")
    if name in ("plan", "researching") and isinstance(count, int):
        watched.planned = count
    if name == "plan":
        watched.done.clear()
    if name == "step_done":
        watched.done.add(step)


_STAGE_EVENTS: dict[str, RunStage] = {
    "planning": "preparing",
    "researching": "researching",
    "writing": "reporting",
}


def _left(watched: WatchedRun, name: str, spent: ProgressSpending) -> ProgressEstimate:
    if name == "answered":
        return NOTHING_LEFT
    seconds, calls = watched.stage_began
    steps = max(watched.planned, len(watched.done))
    now = RunMoment(
        watched.stage, watched.seconds - seconds, spent["calls"] - calls, steps, len(watched.done)
    )
    return estimate_left(now, watched.paces)


def _send(event: ProgressEvent, watched: WatchedRun) -> None:
    """Put an event into the stream of the main graph, and its words into that of messages."""
    outer = outer_config()
    writer = _find_writer(outer, watched)
    if writer is None:
        return
    # The writer asks the configuration around it from which graph an event is.
    around = var_child_runnable_config.set(outer)
    try:
        writer(event)
        if event["event"] not in UNSPOKEN and watched.details <= MAX_CHAT_LINES:
            show_progress_message(_describe_for_chat(event, watched.language))
    finally:
        var_child_runnable_config.reset(around)


def _find_writer(outer: RunnableConfig, watched: WatchedRun) -> StreamWriter | None:
    """Return what writes into the stream of the main graph, also from the graph of a step.

    Where a client watches no subgraphs, LangGraph gives these a writer that writes nothing.
    """
    options, about = outer.get("configurable", {}), outer.get("metadata", {})
    runtime = options.get(CONFIG_KEY_RUNTIME)
    if runtime is None:
        return None
    request = str(about.get("run_id", ""))
    own: StreamWriter = runtime.stream_writer
    if NS_SEP not in str(about.get("langgraph_checkpoint_ns", "")):
        watched.writer = (request, own)
        return own
    known = watched.writer if CONFIG_KEY_STREAM not in options else None
    return known[1] if known and known[0] == request else own


def _describe_for_chat(event: ProgressEvent, language: str) -> str:
    """Return the words of an event; a stage and a step say how long the rest takes."""
    left = describe_left(event["left"], language) if event["kind"] in ("stage", "step") else ""
    return f"{event['text']} ({left})" if left else event["text"]
