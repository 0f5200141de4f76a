"""Look around before planning: one branch per query."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import (
    COMPUTED_ENTRY,
    THE_WEB,
    UNCOMPUTED_ENTRY,
    WEB_UNREACHABLE,
    Background,
    Passage,
    key_by_turn,
    turn_key,
)
from graph.state import QueryState, State
from nodes.direct import answer_directly
from nodes.recall.recall_calls import EMPTY_EVIDENCE, RecallHits, recall_hits, recall_related
from report.first_passages import FROM_A_DOCUMENT
from runs.call_site import call_site
from tools.computed_pages import DirectAnswer
from tools.evidence import EVIDENCE_TOKENS, SearchRequest, gather_evidence

SHOWN = 700
"""Token limit for the passages of one query when the planner reads them."""

REMEMBERED = 4
"""How many passages of earlier runs and chats are added."""

log = logging.getLogger(__name__)


async def background(state: QueryState, runtime: Runtime[Context]) -> State:
    """Search for one query; for the first, which is the question, search memory too.

    A question that a computation, the personal notes or the list of documents answers completely
    is not searched for. A partial answer of that kind is added to the search results.

    Reads `query`, `number`; writes `background`, `sources`, `unsearched`.
    """
    query = state["query"]
    direct = await answer_directly(state, runtime) if state["number"] == 1 else None
    if direct and direct.whole:
        return _only_direct(state, direct)
    is_quick = runtime.context.depth == "quick"
    wanted = SearchRequest(
        [query],
        about=query,
        max_tokens=EVIDENCE_TOKENS if is_quick else SHOWN,
        of_document=0 if is_quick else FROM_A_DOCUMENT,
    )
    search = gather_evidence(call_site(state, runtime), runtime.context, wanted)
    found, (recalled, half) = await asyncio.gather(search, _recall(state, runtime))
    passages = [*found.passages]
    passages += [hit for hit in recalled.passages[:REMEMBERED] if hit not in passages]
    sources = {**recalled.sources, **found.sources}
    entry = Background(
        query=found.sent.get(query, query),
        status="ok" if passages else "failed",
        reason="" if passages else found.problems[0].code if found.problems else "no_evidence",
        passages=passages,
    )
    entry |= {"half": True} if half else {}
    used = {hit["source"]: sources[hit["source"]] for hit in passages}
    unsearched = dict(found.unsearched)
    if runtime.context.web == "unreachable":
        unsearched[THE_WEB] = WEB_UNREACHABLE
    update = State(sources=used, unsearched=key_by_turn(state["turn"], unsearched))
    update |= _background_update(state, entry)
    return _with_direct(state, update, direct) if direct else update


def _with_direct(state: QueryState, update: State, direct: DirectAnswer) -> State:
    """Add the direct answer to an update, with an entry for each part that it leaves open."""
    entries = _uncomputed_entries(state, direct)
    if direct.passages:
        entries[turn_key(state["turn"], COMPUTED_ENTRY)] = Background(
            query=state["query"], status="ok", reason="", passages=direct.passages
        )
    background = update["background"] | entries
    sources = {**direct.sources, **update["sources"]}
    return State(**{**update, "background": background, "sources": sources})


def _only_direct(state: QueryState, direct: DirectAnswer) -> State:
    """Return the update of a question that the direct answer covers without a search."""
    entry = Background(
        query=state["query"],
        status="failed" if not direct.passages else "partial" if direct.reason else "ok",
        reason=direct.reason,
        passages=direct.passages,
    )
    update = _background_update(state, entry)
    update["background"] |= _uncomputed_entries(state, direct)
    return State(sources=direct.sources) | update


def _uncomputed_entries(state: QueryState, direct: DirectAnswer) -> dict[str, Background]:
    """Return an entry for each part of the question that was not computed, with the reason."""
    no_passages: list[Passage] = []
    entries = {
        f"{UNCOMPUTED_ENTRY}{number}": Background(
            query=part, status="failed", reason=f"not_computed: {reason}", passages=no_passages
        )
        for number, (part, reason) in enumerate(direct.uncomputed, start=1)
    }
    return key_by_turn(state["turn"], entries)


async def _recall(state: QueryState, runtime: Runtime[Context]) -> RecallHits:
    """Return what earlier runs and chats say on the question; nothing if memory fails.

    The plan does not wait for the memory researcher, which runs beside the steps
    (`nodes/remember.py`).
    """
    if state["number"] != 1:
        return RecallHits(EMPTY_EVIDENCE, half=False)
    try:
        if runtime.context.depth != "quick":
            return await recall_hits(state, runtime, state["query"])
        return RecallHits(await recall_related(state, runtime, state["query"]), half=False)
    except Problem as problem:
        log.warning("nothing was recalled for %r: %s", state["query"], problem)
        return RecallHits(EMPTY_EVIDENCE, half=False)


async def on_background_error(state: QueryState, error: NodeError) -> Command[Any]:
    """Record a failed query as a failed entry; an error that left the branch would stop the others.

    Reads `query`, `number`; writes `background`.
    """
    expected = isinstance(error.error, Problem)
    log.error(
        "the search for %r failed", state["query"], exc_info=None if expected else error.error
    )
    reason = _reason(error.error)
    entry = Background(query=state["query"], status="failed", reason=reason, passages=[])
    # An error handler has no outgoing edges, so it names the next node itself.
    return Command(goto="planner", update=_background_update(state, entry))


def _reason(error: BaseException) -> str:
    """Return the reason code of an error; for a spent budget, with the limit that was reached."""
    if not isinstance(error, Problem):
        return "internal"
    return f"{error.code}: {error.where}" if error.code == ErrorCode.BUDGET_SPENT else error.code


def _background_update(state: QueryState, entry: Background) -> State:
    return State(background={turn_key(state["turn"], str(state["number"])): entry})
