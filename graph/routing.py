"""Where a run goes next, worked out from its state alone.

So a state that a person has changed, in Studio or by a client, goes on like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langgraph.types import Send

from graph.records import MEMORY, Background, Finding, Seen, Source, Step, key, of_turn
from graph.state import QueryState, State, StepState
from nodes.planner import answered
from nodes.team import ready
from report.earlier import accepted
from report.earlier import sources as cited


def after_coordinator(state: State) -> list[Send] | Literal["rewrite", "learn"]:
    """Search for what was not answered at once; a run without queries has them written first."""
    if state["status"] == "succeeded" and not state["report"]["title"]:
        return "learn"
    return after_rewrite(state) if state["queries"] else "rewrite"


def after_rewrite(state: State) -> list[Send]:
    """Search for every query, each in a branch of its own."""
    return [
        Send("background", _query(state, query, number))
        for number, query in enumerate(state["queries"] or [state["question"]], start=1)
    ]


def after_planner(state: State) -> Literal["human_feedback", "reporter"]:
    """Show a plan, unless there is none or what was found is enough."""
    if state["status"] == "waiting_review":
        return "human_feedback"
    planned = state["plan"]["steps"] or state["plan"]["title"]
    return "reporter" if not planned or answered(state) else "human_feedback"


def after_human_feedback(state: State) -> Literal["human_feedback", "planner", "team"]:
    """Ask again what was not decided, plan again what was rejected, and research the rest."""
    if state["note"]:
        return "human_feedback"
    return "planner" if state.get("decision") == "reject" else "team"


def after_team(state: State) -> list[Send] | Literal["knowledge"]:
    """Send every step that can start now, at once, and the memory researcher beside them."""
    steps = [Send("step", _step(state, step)) for step in ready(state)]
    return [*steps, *_memory(state)] if steps else "knowledge"


def first(state: StepState) -> Literal["coder", "researcher"]:
    """Choose who does a step."""
    return "coder" if state["step"]["kind"] == "compute" else "researcher"


def after_reflection(state: StepState) -> Literal["coder", "researcher", "__end__"]:
    """Do a step again that has no finding yet."""
    done = key(state["turn"], state["step"]["id"]) in state.get("findings", {})
    return "__end__" if done else first(state)


def _query(state: State, query: str, number: int) -> QueryState:
    return QueryState(
        turn=state["turn"],
        fork=state.get("fork", 1),
        again=state.get("again", 0),
        language=state["language"],
        query=query,
        number=number,
    )


def _memory(state: State) -> list[Send]:
    """Send the memory researcher for what the memory has half an answer to, once."""
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    if MEMORY in entries or not any(one.get("half") for one in entries.values()):
        return []
    query = _query(state, state["question"], 0)
    return [Send("remember", query | QueryState(known=sorted(state.get("sources", {}))))]


def _step(state: State, step: Step) -> StepState:
    findings: dict[str, Finding] = of_turn(state.get("findings"), state["turn"])
    steps = state["plan"]["steps"] + state["follow_ups"]
    earlier = accepted(state, f"{step['title']}\n{step['description']}")
    needed = [findings[need] for need in step["needs"]]
    return StepState(
        turn=state["turn"],
        fork=state.get("fork", 1),
        again=state.get("again", 0),
        language=state["language"],
        question=state["question"],
        step=step,
        number=steps.index(step) + 1,
        count=len(steps),
        wishes=state.get("wishes", []),
        redo=0,
        needed=needed,
        earlier=earlier,
        others=[one["title"] for one in steps if one["id"] != step["id"]],
        feedback="",
        more_queries=[],
        seen=_seen(state),
        passages=[],
        sources=_citable(state, [*needed, *earlier]),
    )


def _citable(state: State, built_on: Sequence[Finding]) -> dict[str, Source]:
    """Return what a step may cite: what it builds on, and the pages that the plan was made from."""
    searched: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    shown = [passage for entry in searched.values() for passage in entry["passages"]]
    names = [*sorted(cited(built_on)), *(passage["source"] for passage in shown)]
    return {name: state["sources"][name] for name in dict.fromkeys(names)}


def _seen(state: State) -> list[Seen]:
    """Return which pieces of pages the first search showed in this turn."""
    entries: dict[str, Background] = of_turn(state.get("background"), state["turn"])
    shown = [one for entry in entries.values() for one in entry["passages"] if "start" in one]
    return [
        Seen(
            page=state["sources"][one["source"]]["page"],
            start=one["start"],
            end=one["start"] + len(one["text"]),
        )
        for one in shown
    ]
