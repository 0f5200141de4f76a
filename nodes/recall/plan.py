"""Decide what to look for in memory."""

from __future__ import annotations

import asyncio

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from graph.context import Context
from memory.pages.outline import outline, read_out
from memory.pages.within import scope
from nodes.agent import ask
from nodes.recall.state import RecallState, Search
from nodes.typed import Searches
from prompts.loader import render
from prompts.marks import block, blocks, cited
from retrieval.text import language
from runs.lifecycle import check_question
from runs.place import owner

MOST = 5
"""How many searches of one kind a request may have."""

REPAIRS = 1
"""How often a plan that cannot be read is asked for again before the request itself is searched."""


class Lookup(BaseModel):
    """What to look for in memory, and in which ways."""

    needs: Searches = Field(default=[], description="what must be known, one thing each")
    keywords: Searches = Field(default=[], description="searches by the words that pages hold")
    meanings: Searches = Field(default=[], description="searches by meaning, whole sentences")
    pages: list[str] = Field(default=[], description="ids of pages shown that are to be read")


async def plan(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write the searches of a round, for every request at once.

    Reads `messages`, `question`, `requests`, `asked`, `scope`; writes `searches` and `asked`, and
    for a new question everything else.
    """
    opened = _opened(state, runtime.context)
    requests = opened["requests"]
    searches = await asyncio.gather(*(_search(opened, runtime, one) for one in requests))
    asked = [*opened["asked"], *requests]
    return RecallState(**{**opened, "searches": list(searches), "asked": asked})


def _opened(state: RecallState, context: Context) -> RecallState:
    """Return the state of a round: the next one, or the first of a new question."""
    question = check_question(str(state["messages"][-1].text))
    if state.get("requests") and question == state.get("question"):
        return RecallState(**{**state, "messages": []})
    inside = "run" in state
    return RecallState(
        question=question,
        language=language(question),
        # Inside another graph the turn is that of the run it works for.
        turn=state["turn"] if inside else state.get("turn", 0) + 1,
        scope=state["scope"] if inside else list(context.memory),
        recall_round=0,
        requests=[question],
        asked=[],
        passages=[],
        sources={},
        notes="",
        extracts=[],
        pages=[],
        reports=[],
    )


async def _search(state: RecallState, runtime: Runtime[Context], request: str) -> Search:
    whose, part = owner(runtime), scope(state["scope"])
    shown = await outline(whose, request, part.kinds, part.groups)
    data = blocks(
        block("question", state["question"]),
        block("request", request),
        cited("notes", state["notes"]),
        block("outline", shown.text),
    )
    system = render("recall_plan", language=state["language"])
    as_asked = Lookup(keywords=[request], meanings=[request])
    lookup = await ask(
        state,
        runtime,
        "recall",
        system,
        [HumanMessage(data)],
        Lookup,
        otherwise=as_asked,
        repairs=REPAIRS,
    )
    if not (lookup.keywords or lookup.meanings or lookup.pages):
        lookup = as_asked
    return Search(
        request=request,
        keywords=lookup.keywords[:MOST],
        meanings=lookup.meanings[:MOST],
        pages=await read_out(whose, shown, lookup.pages[:MOST], request),
    )
