"""Research one step: search, then let the model write a finding from the passages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import cast

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from calls.gateway import WorkResult, work
from calls.run_budget import step_semaphore
from calls.run_progress import show_step_progress
from calls.tool_requests import HumanInput
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.pauses import Pause
from graph.records import Passage, key_by_turn, turn_key
from graph.state import StepState
from models.chat_models import built_in
from nodes.recall.recall_calls import recall_from_memory
from nodes.step_finding import (
    StepAnswer,
    end_step,
    join_new_passages,
    load_read_passages,
    make_finding,
    render_revision_blocks,
)
from nodes.step_pause import (
    end_or_pause,
    open_human_input,
    with_skipped_documents,
)
from prompts.data_blocks import (
    join_prompt_blocks,
    list_unseen_passages,
    render_block,
    render_findings_block,
    render_pages_block,
    render_step_block,
)
from prompts.loader import render_prompt
from report.findings import (
    render_earlier_block,
)
from report.source_registry import list_web_pages
from runs.call_site import CallSite, call_site
from tools.evidence import EVIDENCE_TOKENS, SearchRequest, gather_evidence
from tools.mcp.mcp_tools import prepare_server_tools
from tools.reading_choice import load_passages, reading_room
from tools.source_checks import preparing_checks
from tools.toolbox import RESEARCHER_TOOLS
from tools.web.web_search import describe_redacted_queries, list_sent_queries

log = logging.getLogger(__name__)

MAX_SKIPPED = 20
"""How many documents are named that were found and not read."""


async def researcher(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Research one step of the plan.

    Reads `question`, `step`, `needed`, `earlier`, `feedback`, `more_queries`, `seen`, `read`,
    `upheld`, `sources`, `pause`, `consulted`; writes `finding`, `read`, `sources`, `unsearched`,
    `draft`, `removed`, `doubted`, `consulted`, or `pauses` where a tool needs the person. A step
    that fails has a finding that says so.
    """
    place = call_site(state, runtime)
    try:
        # All ready steps are sent at once, so a waiting step starts as soon as another ends.
        async with step_semaphore(place, runtime.context.parallelism):
            update = await _research(state, runtime, place)
    except Problem as problem:
        update = await end_step(state, runtime, place, problem, [])
    # A step that is done again begins anew.
    return update | StepState(pause=None)


async def on_step_error(state: StepState, error: NodeError) -> StepState:
    """Record an unexpected error as a failed finding; an error must not leave the branch.

    Reads `step`; writes `findings`.
    """
    log.error("step %s failed", state["step"]["id"], exc_info=error.error)
    finding = make_finding(state, "failed", "internal")
    show_step_progress(state, "step_done", status=finding["status"])
    return StepState(findings={turn_key(state["turn"], finding["step"]): finding})


async def _research(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    show_step_progress(state, "researching")
    if state.get("pause"):
        return await _go_on(state, runtime, place)
    room = await reading_room("researcher", runtime.context, EVIDENCE_TOKENS)
    researched = await _research_within(state, runtime, place, room)
    error = researched["finding"].get("error") if "finding" in researched else None
    if not error or error["code"] != ErrorCode.MODEL_CONTEXT:
        return researched
    # A server that names no window tells it by refusing a request.
    smaller = await reading_room("researcher", runtime.context, EVIDENCE_TOKENS)
    if smaller >= room:
        return researched
    return await _research_within(state, runtime, place, smaller)


async def _research_within(
    state: StepState, runtime: Runtime[Context], place: CallSite, room: int
) -> StepState:
    """Research a step with at most so many tokens of sources in its first prompt."""
    step = state["step"]
    queries = state["more_queries"] or step["queries"] or [step["title"]]
    request = SearchRequest(
        queries,
        about=f"{step['title']}\n{step['description']}",
        web=step["need_web_search"],
        max_tokens=room,
        seen=state.get("seen", []),
        subject=state["question"],
        widely=room > EVIDENCE_TOKENS,
        bases=state.get("bases", []),
        read=list_web_pages(state.get("sources", {})),
    )
    evidence, has_tools = await asyncio.gather(
        gather_evidence(place, runtime.context, request),
        prepare_server_tools(place.owner, runtime.context, "researcher"),
    )
    queries = list_sent_queries(queries, evidence.sent)
    sources = {**state.get("sources", {}), **evidence.sources}
    before = await load_read_passages(place.owner, state | StepState(sources=sources))
    passages = join_new_passages(before, evidence.passages)
    unsearched = key_by_turn(state["turn"], evidence.unsearched)
    given = [*state["needed"], *state.get("earlier", [])]
    nothing_read = not passages and not any(finding["text"] for finding in given)
    if nothing_read and not has_tools:
        reason = evidence.problems[0].code if evidence.problems else "no_evidence"
        finding = make_finding(state, "failed", reason, queries)
        return StepState(finding=finding, unsearched=unsearched)
    state = state | StepState(sources=sources, unsearched=unsearched)
    withheld = describe_redacted_queries(evidence.sent, state["language"])
    try:
        written = await _write(state, runtime, passages, queries, withheld)
        return _with_skipped(written, evidence.skipped)
    except Problem as problem:
        return await end_step(state, runtime, place, problem, queries)


async def _go_on(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    """Go on with a step behind what it asked the person, with what it had read by then."""
    pause = cast("Pause", state["pause"])
    state = state | StepState(unsearched=state.get("unsearched", {}))
    passages = await load_read_passages(place.owner, state)
    try:
        written = await _write(state, runtime, passages, pause["queries"], "")
        return _with_skipped(written, pause["skipped"])
    except Problem as problem:
        return await end_step(state, runtime, place, problem, pause["queries"])


def _with_skipped(written: StepState, skipped: Sequence[str]) -> StepState:
    """Return what a step wrote, with the documents that it found and did not read, if any."""
    if not skipped:
        return written
    if "finding" not in written:
        return with_skipped_documents(written, skipped)
    return written | StepState(finding=written["finding"] | {"skipped": [*skipped[:MAX_SKIPPED]]})


async def _write(
    state: StepState,
    runtime: Runtime[Context],
    passages: list[Passage],
    queries: list[str],
    withheld: str,
) -> StepState:
    """Let the model write the finding; keep what its sources support."""
    place = call_site(state, runtime)
    human = await open_human_input(state, runtime.context)
    written = await _ask_model(state, runtime, place, passages, withheld, human)
    return await end_or_pause(
        StepAnswer(state, runtime, "researcher", written, human, passages, queries)
    )


def render_instructions(language: str, context: Context) -> str:
    """Return the prompt of a researcher, who asks further questions only where one goes deep."""
    asks = context.depth == "deep"
    questions = render_prompt("next_questions", language=language) if asks else ""
    return render_prompt(
        "researcher",
        language=language,
        today=datetime.now(UTC).date(),
        questions=f"{questions.strip()}\n" if questions else "",
    )


async def _render_reviewed(state: StepState, owner: str, request: str) -> str:
    """Mark what only the reviewer of the earlier answer was shown, which the feedback may name."""
    objection, sources = state.get("objection"), state["sources"]
    spans = objection.get("shown", []) if objection else []
    passages = await load_passages(owner, spans, sources)
    return render_pages_block(list_unseen_passages(passages, [request]), sources)


async def _ask_model(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    passages: Sequence[Passage],
    withheld: str,
    human: HumanInput,
) -> WorkResult:
    """Let the model write from the passages, with tools that read on."""
    request = render_request(state, runtime, passages)
    reviewed = await _render_reviewed(state, place.owner, request)
    request = join_prompt_blocks(request, reviewed, render_block("withheld", withheld))
    async with preparing_checks(place, runtime.context, "researcher", state["sources"]):
        return await work(
            state,
            runtime,
            "researcher",
            render_instructions(state["language"], runtime.context),
            [HumanMessage(request)],
            RESEARCHER_TOOLS,
            partial(recall_from_memory, state, runtime),
            sources=state["sources"],
            human=human,
        )


def render_request(state: StepState, runtime: Runtime[Context], passages: Sequence[Passage]) -> str:
    """Return the request, which begins alike for all steps of a run: a provider caches that.

    Args:
        state: The state of the step.
        runtime: The runtime of the node; the built-in model only quotes, and needs no outline.
        passages: What the researcher reads.
    """
    sources = state["sources"]
    shared = [passage for passage in passages if passage.get("shared")]
    own = [passage for passage in passages if not passage.get("shared")]
    return join_prompt_blocks(
        render_block("question", state["question"]),
        render_pages_block(shared, sources),
        render_pages_block(own, sources),
        "" if built_in("researcher", runtime.context) else state.get("outline", ""),
        render_findings_block(state["needed"], "needs"),
        render_earlier_block(state.get("earlier", [])),
        render_step_block(state["step"]),
        *(render_revision_blocks(state) if state["feedback"] else []),
    )
