"""Look around before planning: one branch per query."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from calls.streaming import show_progress
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import (
    COMPUTED_ENTRY,
    UNCOMPUTED_ENTRY,
    Background,
    Passage,
    key_by_turn,
    turn_key,
)
from graph.state import QueryState, State
from nodes.direct import answer_directly
from nodes.recall.recall_graph import EMPTY_EVIDENCE, RecallHits, recall_hits, recall_related
from runs.call_site import call_site
from tools.computed_pages import DirectAnswer
from tools.evidence import EVIDENCE_TOKENS, gather_evidence

SHOWN = 700
"""How many tokens the passages of one query may take, where a plan is made of them."""

REMEMBERED = 4
"""How many passages of earlier runs and chats are kept."""

log = logging.getLogger(__name__)


async def background(state: QueryState, runtime: Runtime[Context]) -> State:
    """Search for one query; the first one is the question, for which the memory is asked too.

    What is computed, remembered of the person, or a list of the documents is not searched for,
    unless more is asked; then it stands beside what the search finds.

    Reads `query`, `number`; writes `background`, `sources`, `unsearched`.
    """
    query = state["query"]
    show_progress(state, "searching", query=query)
    runtime.stream_writer({"event": "searching", "query": query})
    found_out = await answer_directly(state, runtime) if state["number"] == 1 else None
    if found_out and found_out.whole:
        return _only_direct(state, found_out)
    room = SHOWN if runtime.context.deep else EVIDENCE_TOKENS
    searched = gather_evidence(
        call_site(state, runtime), runtime.context, [query], about=query, max_tokens=room
    )
    found, (remembered, half) = await asyncio.gather(searched, _remembered(state, runtime))
    kept = [*found.passages]
    kept += [one for one in remembered.passages[:REMEMBERED] if one not in kept]
    known = {**remembered.sources, **found.sources}
    entry = Background(
        query=found.sent.get(query, query),
        status="ok" if kept else "failed",
        reason="" if kept else found.problems[0].code if found.problems else "no_evidence",
        passages=kept,
    )
    entry |= {"half": True} if half else {}
    sources = {one["source"]: known[one["source"]] for one in kept}
    update = State(sources=sources, unsearched=key_by_turn(state["turn"], found.unsearched))
    return _with_direct(state, update | _found(state, entry), found_out)


def _with_direct(state: QueryState, update: State, computed: DirectAnswer | None) -> State:
    """Return an update with what was computed beside the search, and what was not."""
    if computed is None:
        return update
    entries = _uncomputed(state, computed)
    if computed.passages:
        entries[turn_key(state["turn"], COMPUTED_ENTRY)] = Background(
            query=state["query"], status="ok", reason="", passages=computed.passages
        )
    background = update["background"] | entries
    sources = {**computed.sources, **update["sources"]}
    return State(**{**update, "background": background, "sources": sources})


def _only_direct(state: QueryState, found: DirectAnswer) -> State:
    """Leave what was worked out as all that the search for the question found."""
    entry = Background(
        query=state["query"],
        status="failed" if not found.passages else "partial" if found.reason else "ok",
        reason=found.reason,
        passages=found.passages,
    )
    told = _found(state, entry)
    told["background"] |= _uncomputed(state, found)
    return State(sources=found.sources) | told


def _uncomputed(state: QueryState, found: DirectAnswer) -> dict[str, Background]:
    """Return an entry for each part of the question that was not computed, with the reason."""
    nothing: list[Passage] = []
    entries = {
        f"{UNCOMPUTED_ENTRY}{number}": Background(
            query=part, status="failed", reason=f"not_computed: {why}", passages=nothing
        )
        for number, (part, why) in enumerate(found.uncomputed, start=1)
    }
    return key_by_turn(state["turn"], entries)


async def _remembered(state: QueryState, runtime: Runtime[Context]) -> RecallHits:
    """Return what earlier runs and chats say on the question; a memory that fails says nothing.

    No plan waits for the memory researcher, who works beside the steps (`nodes/remember.py`).
    """
    if state["number"] != 1:
        return RecallHits(EMPTY_EVIDENCE, half=False)
    try:
        if runtime.context.deep:
            return await recall_hits(state, runtime, state["query"])
        return RecallHits(await recall_related(state, runtime, state["query"]), half=False)
    except Problem as problem:
        log.warning("nothing was recalled for %r: %s", state["query"], problem)
        return RecallHits(EMPTY_EVIDENCE, half=False)


async def on_background_error(state: QueryState, error: NodeError) -> Command[Any]:
    """End the branch of a query that failed in saying so, for one that raises stops the others.

    Reads `query`, `number`; writes `background`.
    """
    foreseen = isinstance(error.error, Problem)
    log.error(
        "the search for %r failed", state["query"], exc_info=None if foreseen else error.error
    )
    reason = _reason(error.error)
    entry = Background(query=state["query"], status="failed", reason=reason, passages=[])
    # A handler has no edges, so it says itself where to go on.
    return Command(goto="planner", update=_found(state, entry))


def _reason(error: BaseException) -> str:
    """Return what stopped a branch, with the limit if it was one."""
    if not isinstance(error, Problem):
        return "internal"
    return f"{error.code}: {error.where}" if error.code == ErrorCode.BUDGET_SPENT else error.code


def _found(state: QueryState, entry: Background) -> State:
    return State(background={turn_key(state["turn"], str(state["number"])): entry})
