"""Wire the memory researcher."""

from __future__ import annotations

from functools import cache
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.context import Context
from graph.state import Asked
from nodes.embedding import traced
from nodes.recall.check import check
from nodes.recall.integrate import integrate
from nodes.recall.plan import plan
from nodes.recall.search import search
from nodes.recall.state import RecallState


@cache
def make_recall(*, inside: bool = False) -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that answers a question from memory alone.

    Inside another graph it is told for which run it works, and saves nothing of its own.
    """
    given = RecallState if inside else Asked
    graph = StateGraph(RecallState, context_schema=Context, input_schema=given)
    graph.add_node("plan", traced(plan))
    graph.add_node("search", traced(search))
    graph.add_node("integrate", traced(integrate))
    graph.add_node("check", traced(check))
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "search")
    graph.add_edge("search", "integrate")
    graph.add_edge("integrate", "check")
    return graph.compile(checkpointer=False if inside else None, name="recall")
