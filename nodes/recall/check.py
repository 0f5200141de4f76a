"""Judge whether the notes answer the question, or what else to ask memory for."""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

from graph.context import Context
from nodes.agent import ask
from nodes.recall.output import answer
from nodes.recall.state import RecallState, round_of
from nodes.typed import Searches
from prompts.loader import render
from prompts.marks import block, blocks, cited
from runs.budget import pause
from runs.place import here

ROUNDS = 3
"""How often memory is searched for one question, where nothing else is said."""

FOLLOW_UPS = 5
"""How many requests a round may lead to."""


class Complete(BaseModel):
    """Whether the notes answer the question completely."""

    complete: bool
    requests: Searches = Field(default=[], description="what is still to be found out")


async def check(
    state: RecallState, runtime: Runtime[Context]
) -> Command[Literal["plan", "__end__"]]:
    """Finish when the notes are enough, nothing was found, or it was tried often enough.

    Reads `question`, `notes`, `fresh`, `asked`, `recall_round`, `most`, `reports`; writes
    `requests`, `recall_round`, `messages`.
    """
    if state["fresh"] and round_of(state) + 1 < state.get("most", ROUNDS):
        requests = await _requests(state, runtime)
        if requests:
            again = RecallState(requests=requests, recall_round=round_of(state) + 1)
            return Command(goto="plan", update=again)
    if "run" not in state:
        pause(here(state, runtime))
    reply = AIMessage(answer(state))
    return Command(goto="__end__", update=RecallState(requests=[], messages=[reply]))


async def _requests(state: RecallState, runtime: Runtime[Context]) -> list[str]:
    """Return what else is to be found out; nothing when it is enough or nobody can tell."""
    data = blocks(
        block("question", state["question"]),
        block("queries", "\n".join(state["asked"])),
        cited("notes", state["notes"]),
    )
    system = render("recall_check", language=state["language"])
    said, done = [HumanMessage(data)], Complete(complete=True)
    judged = await ask(state, runtime, "recall", system, said, Complete, otherwise=done)
    new = [one for one in dict.fromkeys(judged.requests) if one.strip()]
    left = [one for one in new if one not in state["asked"]]
    return [] if judged.complete else left[:FOLLOW_UPS]
