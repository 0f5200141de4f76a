"""Ask the memory researcher about earlier runs and chats, beside the steps."""

from __future__ import annotations

import logging
from typing import Any

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from calls.run_progress import show_progress
from config.errors import Problem
from graph.context import Context
from graph.records import MEMORY, Background, Finding, turn_key
from graph.state import QueryState, State
from nodes.recall.recall_calls import RecallResult, recall_from_memory
from nodes.recall.recall_state import NOTE_DOUBT_MARK
from prompts.loader import render_prompt
from report.markdown.markers import list_cited_ids

log = logging.getLogger(__name__)


async def remember(state: QueryState, runtime: Runtime[Context]) -> State:
    """Ask the memory researcher, and add its notes to the findings.

    Reads `query`, `known`; writes `background`, `findings`, `sources`. If it fails, nothing is
    added.
    """
    show_progress(state, "remembering")
    try:
        recalled = await recall_from_memory(state, runtime, state["query"], rounds=1)
    except Problem as problem:
        log.warning("nothing was recalled for %r: %s", state["query"], problem)
        return _asked(state)
    finding = _finding(state, recalled)
    known, sources = state.get("known", []), recalled.evidence.sources
    new = {name: source for name, source in sources.items() if name not in known}
    findings = {turn_key(state["turn"], MEMORY): finding} if finding["text"] else {}
    return _asked(state) | State(findings=findings, sources=new)


async def on_remember_error(state: QueryState, error: NodeError) -> Command[Any]:
    """Record an unexpected failure; an error that left the branch would stop the steps.

    Reads `query`; writes `background`.
    """
    log.error("the memory of %r failed", state["query"], exc_info=error.error)
    # An error handler has no outgoing edges, so it names the next node itself.
    return Command(goto="team", update=_asked(state))


def _asked(state: QueryState) -> State:
    """Record that the memory researcher was asked, so that no later wave asks it again."""
    entry = Background(query=state["query"], status="ok", reason="", passages=[])
    return State(background={turn_key(state["turn"], MEMORY): entry})


def _finding(state: QueryState, recalled: RecallResult) -> Finding:
    """Return the notes without a doubt as a finding."""
    lines = [line for line in recalled.notes.splitlines() if not line.endswith(NOTE_DOUBT_MARK)]
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
