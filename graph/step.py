"""The branch of one step: researcher or coder, then reflection, then again or done."""

from __future__ import annotations

from typing import Any, cast

from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from graph.compiled import Branch
from graph.context import Context
from graph.routing import after_reflection, first
from graph.state import StepOutput, StepState
from nodes.coder import coder
from nodes.embedding import traced
from nodes.reflection import reflection
from nodes.researcher import fallen, researcher


def make_step() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph of one step's branch."""
    graph = StateGraph(
        StepState, context_schema=Context, input_schema=StepState, output_schema=StepOutput
    )
    # One branch that raises would cancel the others, so what nobody foresaw is a finding too.
    # LangGraph's types do not know that a handler may take the error beside the state.
    graph.set_node_defaults(error_handler=cast("Any", fallen))
    graph.add_node("researcher", traced(researcher))
    graph.add_node("coder", traced(coder))
    graph.add_node("reflection", traced(reflection))
    graph.add_conditional_edges(START, first, ["researcher", "coder"])
    graph.add_edge("researcher", "reflection")
    graph.add_edge("coder", "reflection")
    graph.add_conditional_edges("reflection", after_reflection)
    return Branch(**vars(graph.compile(name="step")))
