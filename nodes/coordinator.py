"""Tell small talk from something to research."""

from __future__ import annotations

import asyncio
from typing import Literal

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

from graph.context import Context
from graph.state import State
from nodes.agent import ask
from nodes.conversation import conversation
from nodes.learn import learn_due
from prompts.loader import render
from runs.lifecycle import mark
from runs.place import here


class Triage(BaseModel):
    """What to do with what a person said."""

    research: bool = Field(description="true unless it is only small talk")
    reply: str = Field(default="", description="the answer to small talk, else empty")


async def coordinator(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["rewrite", "__end__"]]:
    """Answer small talk at once and send everything else on to research.

    Reads `messages`, `answers`, `summary`; writes `summary`, and `messages` and `status` when it
    answers.
    """
    system = render("coordinator", language=state["language"])
    # Research is never wrong where nobody can tell.
    unsure = Triage(research=True)
    said, summary = await conversation(state, runtime)
    asked = ask(state, runtime, "coordinator", system, said, Triage, otherwise=unsure)
    # What an earlier run left to be learnt holds nothing up beside this call.
    triage, late = await asyncio.gather(asked, learn_due(state, runtime), return_exceptions=True)
    if isinstance(triage, BaseException):
        raise triage
    if isinstance(late, BaseException):
        raise late
    if triage.research or not triage.reply:
        return Command(goto="rewrite", update=State(summary=summary))
    await mark(here(state, runtime).run, "succeeded")
    reply = State(messages=[AIMessage(triage.reply)], status="succeeded", summary=summary)
    return Command(goto="__end__", update=reply)
