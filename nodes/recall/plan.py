"""Decide what to look for in memory."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from graph.context import Context
from graph.plan import to_research
from nodes.agent import ask
from nodes.profile import check_question
from nodes.recall.state import RecallState
from nodes.researcher import finding_of
from nodes.rewrite import Rewrite
from prompts.loader import render
from prompts.marks import block, blocks
from retrieval.text import language


async def plan(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write the queries of the first round.

    Reads `messages` or `question`; writes `question`, `queries` and resets the rest.
    """
    asked = state["messages"][-1].text if state.get("messages") else state.get("question", "")
    question = check_question(str(asked))
    opened = RecallState(
        question=question,
        language=language(question),
        turn=state.get("turn", 0) + 1,
        attempt=0,
        step=to_research("memory", question[:100], [], description=question),
        passages=[],
        sources={},
    )
    opened["finding"] = finding_of(opened, "failed", "no_evidence", [])
    request = blocks(block("question", question), block("count", str(runtime.context.query_count)))
    system = render("rewrite", language=opened["language"])
    as_asked = Rewrite(question=question, queries=[])
    said = [HumanMessage(request)]
    rewritten = await ask(opened, runtime, "recall", system, said, Rewrite, otherwise=as_asked)
    return RecallState(**opened, queries=list(dict.fromkeys([question, *rewritten.queries])))
