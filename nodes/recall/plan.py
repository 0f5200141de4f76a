"""Decide what to look for in memory."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from nodes.agent import ask
from nodes.profile import check_question
from nodes.recall.state import RecallState
from nodes.rewrite import Rewrite
from prompts.loader import render
from prompts.marks import block, blocks
from retrieval.text import language
from runs.faults import FATAL


async def plan(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write the queries of the first round.

    Reads `messages` or `question`; writes `question`, `queries`, `language`, `turn`.
    """
    said = state["messages"][-1].text if state.get("messages") else state.get("question", "")
    question = check_question(str(said))
    opened = RecallState(
        question=question,
        language=language(question),
        turn=state.get("turn", 0) + 1,
        attempt=0,
        passages=[],
        sources={},
    )
    request = blocks(block("question", question), block("count", str(runtime.context.query_count)))
    system = render("rewrite", language=opened["language"])
    try:
        rewritten = await ask(opened, runtime, "recall", system, [HumanMessage(request)], Rewrite)
    except Problem as problem:
        if problem.code in FATAL:
            raise
        return RecallState(**opened, queries=[question])
    return RecallState(**opened, queries=list(dict.fromkeys([question, *rewritten.queries])))
