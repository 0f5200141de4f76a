"""Wire the nodes into the graph."""

from __future__ import annotations

from functools import cache
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.compiled import Compiled
from graph.context import Context
from graph.routing import (
    after_coordinator,
    after_human_feedback,
    after_planner,
    after_rewrite,
    after_team,
)
from graph.state import Asked, State, StepState
from graph.step import make_step
from nodes.background import background, fallen
from nodes.coordinator import coordinator
from nodes.embedding import traced
from nodes.human_feedback import human_feedback
from nodes.knowledge import knowledge
from nodes.learn import learn
from nodes.memorize import memorize
from nodes.planner import planner
from nodes.profile import profile
from nodes.remember import forgot, remember
from nodes.reporter import reporter
from nodes.rewrite import rewrite
from nodes.team import team
from runs.attempts import EMBEDDER


def workflow() -> StateGraph[State, Context, Any, Any]:
    """Return the main graph, not yet compiled."""
    graph = StateGraph(State, context_schema=Context, input_schema=Asked)
    graph.add_node(profile)
    graph.add_node("coordinator", traced(coordinator))
    graph.add_node("rewrite", traced(rewrite))
    # One branch that raises would cancel the others.
    graph.add_node("background", traced(background), error_handler=fallen)
    graph.add_node("planner", traced(planner))
    graph.add_node(human_feedback)
    graph.add_node("team", traced(team))
    graph.add_node("step", make_step(), input_schema=StepState)
    graph.add_node("remember", traced(remember), error_handler=forgot)
    graph.add_node(knowledge)
    graph.add_node("reporter", traced(reporter))
    graph.add_node("memorize", traced(memorize))
    graph.add_node("learn", traced(learn, pages=EMBEDDER))
    graph.add_edge(START, "profile")
    graph.add_edge("profile", "coordinator")
    graph.add_conditional_edges(
        "coordinator", after_coordinator, ["background", "rewrite", "learn"]
    )
    graph.add_conditional_edges("rewrite", after_rewrite, ["background"])
    graph.add_edge("background", "planner")
    graph.add_conditional_edges("planner", after_planner)
    graph.add_conditional_edges("human_feedback", after_human_feedback)
    graph.add_conditional_edges("team", after_team, ["step", "remember", "knowledge"])
    graph.add_edge("step", "team")
    graph.add_edge("remember", "team")
    graph.add_edge("knowledge", "reporter")
    graph.add_edge("reporter", "memorize")
    graph.add_edge("memorize", "learn")
    graph.add_edge("learn", END)
    return graph


@cache
def make_graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the main graph for a server, which brings its own checkpointer."""
    return Compiled(**vars(workflow().compile(name="dossier")))
