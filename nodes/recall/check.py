"""Judge whether the finding answers the question, or what to look for next."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from config.errors import Problem
from graph.context import Context
from nodes.recall.state import RecallState
from nodes.reflection import Verdict, judged
from prompts.loader import render
from runs.budget import pause
from runs.faults import bear
from runs.place import here

ROUNDS = 3
"""How often memory is searched for one question."""


async def check(
    state: RecallState, runtime: Runtime[Context]
) -> Command[Literal["search", "__end__"]]:
    """Finish when the finding is enough, nothing new was found, or it was tried often enough.

    Reads `question`, `step`, `finding`, `passages`, `sources`, `fresh`, `attempt`; writes
    `queries`, `attempt`, `messages`.
    """
    if state["fresh"] and state["attempt"] + 1 < ROUNDS:
        verdict = await _verdict(state, runtime)
        if not verdict.passed and verdict.queries:
            again = RecallState(queries=verdict.queries, attempt=state["attempt"] + 1)
            return Command(goto="search", update=again)
    pause(here(state, runtime))
    nothing = render("nothing_remembered", language=state["language"])
    reply = AIMessage(state["finding"]["text"] or nothing)
    return Command(goto="__end__", update=RecallState(messages=[reply]))


async def _verdict(state: RecallState, runtime: Runtime[Context]) -> Verdict:
    try:
        return await judged(state, runtime, "recall")
    except Problem as problem:
        bear(problem)
        return Verdict(passed=True)
