"""Build the graph from its nodes.

Routing depends on the state alone, so a run continues correctly after a person edits its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph._internal._constants import CONF, CONFIG_KEY_RUNTIME
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from calls.attempts import EMBEDDER, INDEXER
from calls.embedding_meter import meter_embeddings
from calls.run_spans import Node, trace_node, trace_step, trace_turn
from graph.compiled import BranchGraph, DossierGraph
from graph.context import Context
from graph.pauses import Pause, list_open_pauses, list_pending_requests, list_wishes
from graph.records import (
    MEMORY,
    Background,
    Finding,
    Passage,
    ShownSpan,
    Source,
    Step,
    entries_of_turn,
    turn_key,
)
from graph.state import (
    InputState,
    QueryState,
    State,
    StepOutput,
    StepState,
    is_delivered,
)
from nodes.background import background, on_background_error
from nodes.coder import coder
from nodes.coordinator import coordinator
from nodes.deliver import deliver
from nodes.human_feedback import human_feedback
from nodes.human_input import human_input
from nodes.knowledge import knowledge
from nodes.learn import learn
from nodes.memorize import memorize
from nodes.planner import is_already_answered, planner
from nodes.profile import profile
from nodes.reflection import reflection
from nodes.remember import on_remember_error, remember
from nodes.reporter import reporter
from nodes.researcher import on_step_error, researcher
from nodes.revision import needs_only_writing
from nodes.rewrite import rewrite
from nodes.same_question import awaits_choice, same_question
from nodes.team import list_ready_steps, team
from report.findings import collect_source_ids, needs_no_research, select_earlier_findings


def _to_research(state: State) -> Literal["knowledge", "team"]:
    """Search the knowledge bases that the plan names before its steps."""
    return "knowledge" if state["plan"].get("knowledge") else "team"


def _after_profile(state: State) -> Literal["coordinator", "same_question"]:
    """Offer an earlier answer to the same question, if there is one."""
    return "same_question" if awaits_choice(state) else "coordinator"


def _after_same_question(
    state: State,
) -> Literal["coordinator", "deliver", "knowledge", "same_question", "team"]:
    """Show a report that is reused, or research what a refreshed plan lacks, or go on as usual."""
    if awaits_choice(state):
        return "same_question"
    if state["report"]["title"]:
        return "deliver"
    return _to_research(state) if state["decision"] == "approve" else "coordinator"


def _after_coordinator(state: State) -> list[Send] | Literal["rewrite", "reporter", "learn"]:
    """Search unless the coordinator has answered; without queries, write them first.

    A report that only changes its form needs no search.
    """
    if state["status"] == "succeeded" and not state["report"]["title"]:
        return "learn"
    if needs_only_writing(state):
        return "reporter"
    return _after_rewrite(state) if state["queries"] else "rewrite"


def _after_rewrite(state: State) -> list[Send]:
    """Search for every query, each in a branch of its own."""
    return [
        Send("background", _query_state(state, query, number))
        for number, query in enumerate(state["queries"] or [state["question"]], start=1)
    ]


def _after_planner(
    state: State,
) -> Literal["human_feedback", "knowledge", "reporter", "team"]:
    """Show a plan that is not approved, unless it is empty or the evidence suffices."""
    if state["status"] == "waiting_review":
        return "human_feedback"
    planned = state["plan"]["steps"] or state["plan"]["title"]
    if not planned or is_already_answered(state):
        return "knowledge" if state["plan"].get("knowledge") else "reporter"
    return _to_research(state) if state.get("decision") == "approve" else "human_feedback"


def _after_human_feedback(
    state: State,
) -> Literal["human_feedback", "knowledge", "planner", "team"]:
    """Ask again without a decision, plan again after a rejection, else start the research."""
    if state["note"]:
        return "human_feedback"
    return "planner" if state.get("decision") == "reject" else _to_research(state)


def _after_knowledge(state: State) -> Literal["reporter", "team"]:
    """Do the steps of the plan; report if it has none, if they are done, or not needed any more.

    In threads of version 6 and older, `knowledge` stands behind the steps.
    """
    return "reporter" if needs_no_research(state) or not list_ready_steps(state) else "team"


def after_team(state: State) -> list[Send] | Literal["human_input", "reporter"]:
    """Send all ready steps at once, and the memory researcher beside them; at the end, report.

    What steps ask the person is asked first, all of it at once.
    """
    if list_pending_requests(list_open_pauses(state)):
        return "human_input"
    steps = [Send("step", _step_state(state, step)) for step in list_ready_steps(state)]
    return [*steps, *_memory_sends(state)] if steps else "reporter"


def _after_human_input(state: State) -> Literal["human_input", "team"]:
    """Ask again while something is not decided."""
    return "human_input" if list_pending_requests(list_open_pauses(state)) else "team"


def _after_memorize(state: State) -> Literal["deliver", "learn"]:
    """Deliver a report that version 4 or older wrote but did not deliver."""
    return "deliver" if state["report"]["title"] and not is_delivered(state) else "learn"


def choose_worker(state: StepState) -> Literal["coder", "researcher"]:
    """Choose the node that does a step."""
    return "coder" if state["step"]["kind"] == "compute" else "researcher"


def _after_worker(state: StepState) -> Literal["reflection", "__end__"]:
    """Review what was found, unless the step waits for the person."""
    return "__end__" if state.get("pauses") else "reflection"


def _after_reflection(state: StepState) -> Literal["coder", "researcher", "__end__"]:
    """Do a step again unless its review has stored a finding."""
    done = turn_key(state["turn"], state["step"]["id"]) in state.get("findings", {})
    return "__end__" if done else choose_worker(state)


def _query_state(state: State, query: str, number: int) -> QueryState:
    return QueryState(
        turn=state["turn"],
        fork=state.get("fork", 1),
        again=state.get("again", 0),
        language=state["language"],
        wishes=list_wishes(state),
        query=query,
        number=number,
    )


def _memory_sends(state: State) -> list[Send]:
    """Send the memory researcher, once, if memory has a part of the answer."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    if MEMORY in entries or not any(entry.get("half") for entry in entries.values()):
        return []
    query = _query_state(state, state["question"], 0)
    return [Send("remember", query | QueryState(known=sorted(state.get("sources", {}))))]


def _step_state(state: State, step: Step) -> StepState:
    findings: dict[str, Finding] = entries_of_turn(state.get("findings"), state["turn"])
    steps = state["plan"]["steps"] + state["follow_ups"]
    earlier = select_earlier_findings(state, f"{step['title']}\n{step['description']}")
    needed = [findings[need] for need in step["needs"]]
    pause = list_open_pauses(state).get(turn_key(state["turn"], step["id"]))
    began = StepState(
        turn=state["turn"],
        fork=state.get("fork", 1),
        again=state.get("again", 0),
        language=state["language"],
        question=state["question"],
        step=step,
        number=steps.index(step) + 1,
        count=len(steps),
        wishes=list_wishes(state),
        consulted={**(state.get("consulted") or {})},
        redo=0,
        needed=needed,
        earlier=earlier,
        others=[other["title"] for other in steps if other["id"] != step["id"]],
        feedback="",
        more_queries=[],
        seen=_seen_spans(state),
        outline=state.get("outline", ""),
        bases=state["plan"].get("knowledge", []),
        read=[],
        sources=_citable(state, [*needed, *earlier]),
    )
    return _resumed_state(state, began, pause) if pause else began


def _resumed_state(state: State, began: StepState, pause: Pause) -> StepState:
    """Return the state of a step that goes on behind what it asked the person."""
    sources = {name: state["sources"][name] for name in pause["sources"]}
    written = cast("StepState", pause["written"])
    return began | written | StepState(pause=pause, sources={**began["sources"], **sources})


def _citable(state: State, findings: Sequence[Finding]) -> dict[str, Source]:
    """Return the sources that a step may cite: those of given findings and of the background."""
    names = [*sorted(collect_source_ids(findings))]
    names += [passage["source"] for passage in _first_passages(state)]
    return {name: state["sources"][name] for name in dict.fromkeys(names)}


def _first_passages(state: State) -> list[Passage]:
    """Return the passages of the background searches of this turn and of its knowledge bases."""
    entries: dict[str, Background] = entries_of_turn(state.get("background"), state["turn"])
    found = [passage for entry in entries.values() for passage in entry["passages"]]
    return [*found, *state.get("knowledge", [])]


def _seen_spans(state: State) -> list[ShownSpan]:
    """Return the pieces of pages that were found before the steps of this turn."""
    return [
        ShownSpan(
            page=state["sources"][passage["source"]]["page"],
            start=passage["start"],
            end=passage["start"] + len(passage["text"]),
        )
        for passage in _first_passages(state)
        if "start" in passage
    ]


def _observe(node: Node, pages: str = INDEXER) -> Node:
    """Return a node whose work is a span, and whose embedding requests are metered."""
    return trace_node(meter_embeddings(node, pages))


class StepGraph(BranchGraph):
    """The graph that does one step, whose work is a span."""

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **more: Any) -> Any:
        """Do the step."""
        runtime = ensure_config(config)[CONF][CONFIG_KEY_RUNTIME]
        async with trace_step(input, runtime):
            return await super().ainvoke(input, config, **more)


def make_step_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph that does one step."""
    graph = StateGraph(
        StepState, context_schema=Context, input_schema=StepState, output_schema=StepOutput
    )
    # A branch that raises would cancel the others, so an unexpected error becomes a finding.
    # LangGraph's types do not allow the error as a second argument of a handler.
    graph.set_node_defaults(error_handler=cast("Any", on_step_error))
    graph.add_node("researcher", _observe(researcher))
    graph.add_node("coder", _observe(coder))
    graph.add_node("reflection", _observe(reflection))
    graph.add_conditional_edges(START, choose_worker, ["researcher", "coder"])
    graph.add_conditional_edges("researcher", _after_worker)
    graph.add_conditional_edges("coder", _after_worker)
    graph.add_conditional_edges("reflection", _after_reflection)
    return StepGraph(**vars(graph.compile(name="step")))


def build_workflow() -> StateGraph[State, Context, Any, Any]:
    """Build the main graph without compiling it."""
    graph = StateGraph(State, context_schema=Context, input_schema=InputState)
    graph.add_node("profile", trace_turn(profile))
    graph.add_node("same_question", _observe(same_question))
    graph.add_node("coordinator", _observe(coordinator))
    graph.add_node("rewrite", _observe(rewrite))
    # A branch that raises would cancel the others.
    graph.add_node("background", _observe(background), error_handler=on_background_error)
    graph.add_node("planner", _observe(planner))
    graph.add_node("human_feedback", trace_node(human_feedback))
    graph.add_node("team", _observe(team))
    graph.add_node("step", make_step_graph(), input_schema=StepState)
    graph.add_node("human_input", trace_node(human_input))
    graph.add_node("remember", _observe(remember), error_handler=on_remember_error)
    graph.add_node("knowledge", _observe(knowledge))
    graph.add_node("reporter", _observe(reporter))
    graph.add_node("deliver", trace_node(deliver))
    graph.add_node("memorize", _observe(memorize))
    graph.add_node("learn", _observe(learn, pages=EMBEDDER))
    graph.add_edge(START, "profile")
    graph.add_conditional_edges("profile", _after_profile)
    graph.add_conditional_edges("same_question", _after_same_question)
    graph.add_conditional_edges(
        "coordinator", _after_coordinator, ["background", "rewrite", "reporter", "learn"]
    )
    graph.add_conditional_edges("rewrite", _after_rewrite, ["background"])
    graph.add_edge("background", "planner")
    graph.add_conditional_edges("planner", _after_planner)
    graph.add_conditional_edges("human_feedback", _after_human_feedback)
    graph.add_conditional_edges("team", after_team, ["step", "remember", "human_input", "reporter"])
    graph.add_conditional_edges("human_input", _after_human_input)
    graph.add_edge("step", "team")
    graph.add_edge("remember", "team")
    graph.add_conditional_edges("knowledge", _after_knowledge)
    graph.add_edge("reporter", "deliver")
    graph.add_edge("deliver", "memorize")
    graph.add_conditional_edges("memorize", _after_memorize)
    graph.add_edge("learn", END)
    return graph


@cache
def make_graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the main graph for a server, which brings its own checkpointer."""
    return DossierGraph(**vars(build_workflow().compile(name="dossier")))
