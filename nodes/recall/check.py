"""Judge whether the notes answer the question, or what to look for next."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from config.errors import Problem
from graph.context import Context
from graph.state import Finding
from nodes.agent import ask
from nodes.recall.state import RecallState
from nodes.reflection import Verdict
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, pages_block
from runs.budget import pause
from runs.place import here

ROUNDS = 3
"""How often memory is searched for one question."""


async def check(
    state: RecallState, runtime: Runtime[Context]
) -> Command[Literal["search", "__end__"]]:
    """Finish when the notes are enough, nothing new was found, or it was tried often enough.

    Reads `question`, `notes`, `passages`, `fresh`, `attempt`; writes `queries`, `attempt`,
    `messages`.
    """
    if state["fresh"] and state["attempt"] + 1 < ROUNDS:
        verdict = await _verdict(state, runtime)
        if not verdict.passed and verdict.queries:
            again = RecallState(queries=verdict.queries, attempt=state["attempt"] + 1)
            return Command(goto="search", update=again)
    pause(here(state, runtime))
    nothing = render("nothing_remembered", language=state["language"])
    reply = AIMessage(state["notes"] or nothing)
    return Command(goto="__end__", update=RecallState(messages=[reply]))


async def _verdict(state: RecallState, runtime: Runtime[Context]) -> Verdict:
    finding = Finding(
        step="s1",
        title=state["question"][:100],
        status="ok" if state["notes"] else "failed",
        reason="" if state["notes"] else "no_evidence",
        text=state["notes"],
        sources=[],
        queries=state["queries"],
        attempts=state["attempt"] + 1,
        review="",
    )
    data = blocks(
        block("question", state["question"]),
        block("step", state["question"], title=state["question"][:100]),
        findings_block([finding]),
        pages_block(state["passages"], state["sources"]),
    )
    system = render("reflection", language=state["language"])
    try:
        return await ask(state, runtime, "recall", system, [HumanMessage(data)], Verdict)
    except Problem:
        return Verdict(passed=True)
