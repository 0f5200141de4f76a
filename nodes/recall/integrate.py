"""Write down what the passages say about the question."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from nodes.agent import work
from nodes.recall.state import RecallState
from prompts.loader import render
from prompts.marks import block, blocks, pages_block
from report.verify import check
from runs.faults import FATAL
from tools.evidence import texts_of


async def integrate(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Make notes of the passages, keeping only what its sources bear out.

    Reads `question`, `passages`, `sources`; writes `notes`, `pages`.
    """
    if not state["passages"]:
        return RecallState(notes="", pages=[])
    request = blocks(
        block("question", state["question"]),
        block("step", state["question"], title=state["question"][:100]),
        pages_block(state["passages"], state["sources"]),
    )
    system = render("researcher", language=state["language"])
    sources = state["sources"]
    try:
        written = await work(state, runtime, "recall", system, [HumanMessage(request)])
    except Problem as problem:
        if problem.code in FATAL:
            raise
        return RecallState(notes="", pages=[])
    checked = check(written.text, await texts_of(sources))
    notes = checked.body if checked.cited else ""
    return RecallState(notes=notes, pages=[sources[one]["page"] for one in checked.cited])
