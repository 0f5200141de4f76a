"""Let the memory researcher look for what earlier runs and chats say, beside the steps."""

from __future__ import annotations

import logging
from typing import Any

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from calls.streaming import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import MEMORY, Background, Finding, turn_key
from graph.state import QueryState, State
from nodes.recall.recall_graph import RecallResult, recall_from_memory
from nodes.recall.recall_state import NOTE_DOUBT_MARK
from prompts.loader import render_prompt
from report.markdown.markers import list_cited_ids

log = logging.getLogger(__name__)


async def remember(state: QueryState, runtime: Runtime[Context]) -> State:
    """Ask the memory researcher; what it notes joins the findings of the steps.

    Reads `query`, `known`; writes `background`, `findings`, `sources`. A memory that fails says
    nothing.
    """
    show_progress(state, "remembering")
    try:
        found = await recall_from_memory(state, runtime, state["query"], rounds=1)
    except Problem as problem:
        log.warning("nothing was recalled for %r: %s", state["query"], problem)
        return _asked(state)
    finding = _finding(state, found)
    sources = found.evidence.sources
    new = {name: one for name, one in sources.items() if name not in state.get("known", [])}
    found_out = {turn_key(state["turn"], MEMORY): finding} if finding["text"] else {}
    return _asked(state) | State(findings=found_out, sources=new)


async def on_remember_error(state: QueryState, error: NodeError) -> Command[Any]:
    """End the branch of a memory that failed unforeseen, for one that raises stops the steps.

    Reads `query`; writes `background`.
    """
    log.error("the memory of %r failed", state["query"], exc_info=error.error)
    # A handler has no edges, so it says itself where to go on.
    return Command(goto="team", update=_asked(state))


def _asked(state: QueryState) -> State:
    """Note that the memory researcher was asked, so that no later wave asks it again."""
    entry = Background(query=state["query"], status="ok", reason="", passages=[])
    return State(background={turn_key(state["turn"], MEMORY): entry})


def _finding(state: QueryState, found: RecallResult) -> Finding:
    """Return the notes that nobody doubts as a finding."""
    lines = [one for one in found.notes.splitlines() if not one.endswith(NOTE_DOUBT_MARK)]
    text = "\n".join(lines).strip()
    return Finding(
        step=MEMORY,
        title=render_prompt("remembered", language=state["language"]).strip(),
        status="ok",
        reason="",
        text=text,
        sources=list(dict.fromkeys(list_cited_ids(text))),
        queries=[],
        attempts=1,
        review="",
    )
