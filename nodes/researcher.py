"""Research one step: search, then let the model write a finding from the passages."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from calls.attempts import set_attempt_status
from calls.gateway import WorkResult, work
from calls.human_input import HumanInput
from calls.run_budget import get_budget, step_semaphore
from calls.streaming import show_step_progress
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.human_input import Pause
from graph.records import Finding, Passage, ResultStatus, Source, key_by_turn, turn_key
from graph.state import StepState, redo_count
from models.chat_models import built_in
from nodes.recall.recall_calls import recall_from_memory
from nodes.step_pause import (
    note_consultations,
    open_human_input,
    pause_step,
    with_skipped_documents,
)
from prompts.data_blocks import (
    join_prompt_blocks,
    list_unseen_passages,
    render_block,
    render_cited_block,
    render_findings_block,
    render_pages_block,
    render_step_block,
)
from prompts.loader import render_prompt
from report.checks.attribution import CheckedText
from report.checks.second_reader import Ruling
from report.finding_parts import FindingParts, join_finding, split_finding
from report.findings import (
    clip_answer,
    is_empty_answer,
    list_finding_sources,
    render_earlier_block,
)
from report.labels import render_check_results
from report.markdown.markdown_blocks import statement_key
from runs.call_site import CallSite, call_site
from runs.incomplete import CAPPED_PREFIX, UNUSABLE_ANSWER
from tools.evidence import EVIDENCE_TOKENS, gather_evidence, preparing_checks
from tools.reading_choice import list_spans, load_passages, reading_room
from tools.source_checks import record_text_checks, verify_text
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
        update = await _end_step(state, runtime, place, problem, [])
    # A step that is done again begins anew.
    return update | StepState(pause=None)


async def _end_step(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    problem: Problem,
    queries: list[str],
) -> StepState:
    """Return the finding of a step that a problem stopped, with the queries sent so far."""
    if problem.code == ErrorCode.BUDGET_SPENT:
        finding = _finding(state, "skipped", f"{CAPPED_PREFIX}{problem.where}", queries)
        return StepState(finding=await _with_session(finding, runtime, place))
    finding = _finding(state, "failed", problem.code, queries)
    return StepState(finding=await _with_problem(finding, problem, runtime, place))


async def on_step_error(state: StepState, error: NodeError) -> StepState:
    """Record an unexpected error as a failed finding; an error must not leave the branch.

    Reads `step`; writes `findings`.
    """
    log.error("step %s failed", state["step"]["id"], exc_info=error.error)
    finding = _finding(state, "failed", "internal")
    return StepState(findings={turn_key(state["turn"], finding["step"]): finding})


async def _research(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    step = state["step"]
    runtime.stream_writer({"event": "researching", "step": step["id"], "title": step["title"]})
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
    evidence = await gather_evidence(
        place,
        runtime.context,
        queries,
        about=f"{step['title']}\n{step['description']}",
        web=step["need_web_search"],
        max_tokens=room,
        seen=state.get("seen", []),
        subject=state["question"],
        widely=room > EVIDENCE_TOKENS,
    )
    queries = list_sent_queries(queries, evidence.sent)
    sources = {**state.get("sources", {}), **evidence.sources}
    before = await load_read_passages(place.owner, state | StepState(sources=sources))
    passages = _merge(before, evidence.passages)
    unsearched = key_by_turn(state["turn"], evidence.unsearched)
    given = [*state["needed"], *state.get("earlier", [])]
    if not passages and not any(finding["text"] for finding in given):
        reason = evidence.problems[0].code if evidence.problems else "no_evidence"
        finding = _finding(state, "failed", reason, queries)
        return StepState(finding=finding, unsearched=unsearched)
    state = state | StepState(sources=sources, unsearched=unsearched)
    withheld = describe_redacted_queries(evidence.sent, state["language"])
    try:
        written = await _write(state, runtime, passages, queries, withheld)
        return _with_skipped(written, evidence.skipped)
    except Problem as problem:
        return await _end_step(state, runtime, place, problem, queries)


async def _go_on(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    """Go on with a step behind what it asked the person, with what it had read by then."""
    pause = cast("Pause", state["pause"])
    state = state | StepState(unsearched=state.get("unsearched", {}))
    passages = await load_read_passages(place.owner, state)
    try:
        written = await _write(state, runtime, passages, pause["queries"], "")
        return _with_skipped(written, pause["skipped"])
    except Problem as problem:
        return await _end_step(state, runtime, place, problem, pause["queries"])


def _with_skipped(written: StepState, skipped: Sequence[str]) -> StepState:
    """Return what a step wrote, with the documents that it found and did not read, if any."""
    if not skipped:
        return written
    if "finding" not in written:
        return with_skipped_documents(written, skipped)
    return written | StepState(finding=written["finding"] | {"skipped": [*skipped[:MAX_SKIPPED]]})


async def load_read_passages(owner: str, state: StepState) -> list[Passage]:
    """Return the passages that a step has read so far, in a thread of any version."""
    if not state.get("read"):
        return state.get("passages", [])
    return await load_passages(owner, state["read"], state.get("sources", {}))


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
    sources, unsearched = state["sources"], state["unsearched"]
    for result in written.tool_results:
        passages = _merge(passages, result.passages)
        sources = {**result.sources, **sources}
        unsearched = unsearched | key_by_turn(state["turn"], result.unsearched)
    state = state | StepState(sources=sources, unsearched=unsearched)
    if written.conversation:
        return pause_step(state, written, human, passages, queries)
    parts = split_finding(written.text)
    checked = await _check(state, runtime, place, parts.answer)
    finding = await _conclude(state, runtime, place, written, checked, queries)
    return StepState(
        finding=await _with_limits(_with_parts(finding, parts, passages), written, runtime, place),
        read=list_spans(passages, sources),
        sources=sources,
        unsearched=unsearched,
        draft=parts.answer,
        removed=checked.removed,
        doubted=checked.doubted,
    ) | note_consultations(state, human)


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


async def _check(
    state: StepState, runtime: Runtime[Context], place: CallSite, answer: str
) -> CheckedText:
    """Compare an answer with the sources of the step, and record the result."""
    subject, ruling = subject_of_step(state), upheld_ruling(state)
    checked = await verify_text(
        place, runtime.context, "researcher", answer, state["sources"], subject, ruling
    )
    await record_text_checks(place, "researcher", checked)
    return checked


async def _conclude(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    written: WorkResult,
    checked: CheckedText,
    queries: list[str],
) -> Finding:
    """Return the finding that a checked answer makes.

    Raises:
        Problem: Why the model did not read all sources, if nothing of its answer is left.
    """
    if not checked.cited and (problem := _unread_problem(written)):
        raise problem
    if not checked.cited and _is_unusable(written, state["sources"]):
        return await _reject_answer(state, runtime, place, written, queries)
    return _judge(state, written, checked, queries)


def upheld_ruling(state: StepState) -> Ruling:
    """Return the statements that earlier reviews of the step upheld."""
    return Ruling(dict.fromkeys(map(statement_key, state.get("upheld", [])), ""))


def subject_of_step(state: StepState) -> str:
    """Return the subject of a step; its finding may use every name in it without a source."""
    step = state["step"]
    return f"{state['question']}\n{step['title']}\n{step['description']}"


def _with_parts(finding: Finding, parts: FindingParts, read: Sequence[Passage]) -> Finding:
    """Return a finding with what its researcher says beside the answer, and what it has read."""
    beside: dict[str, Any] = {
        "read": list(dict.fromkeys(passage["source"] for passage in read)),
        "not_found": parts.not_found,
        "disagreements": parts.disagreements,
        "questions": parts.questions,
        "outcome": parts.outcome,
    }
    whole = cast("Finding", finding | {name: one for name, one in beside.items() if one})
    return whole | {"sources": list_finding_sources(whole)}


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
        *(_revision_blocks(state) if state["feedback"] else []),
    )


def _revision_blocks(state: StepState) -> list[str]:
    """Return the earlier finding of a step, the objections of its checks, and the feedback.

    They stand behind what the first request has, so that a provider has that in its cache.
    """
    language = state["language"]
    removed = render_check_results(state.get("removed", []), [], language)
    doubted = render_check_results([], state.get("doubted", []), language)
    return [
        render_prompt("research_again", language=language),
        render_cited_block("draft", join_finding(state["finding"], language)),
        render_cited_block("removed", removed),
        render_cited_block("doubted", doubted),
        render_block("feedback", state["feedback"]),
    ]


async def _with_problem(
    finding: Finding, problem: Problem, runtime: Runtime[Context], place: CallSite
) -> Finding:
    """Return a finding with the problem that stopped its step, and the current session."""
    return await _with_session(finding | {"error": problem.as_dict()}, runtime, place)


def _is_unusable(written: WorkResult, sources: Mapping[str, Source]) -> bool:
    """Tell whether a model other than the extractive one wrote a whole answer without content."""
    by_model = written.complete and not is_extractive(written.model)
    return by_model and is_empty_answer(written.text, sources)


async def _with_limits(
    finding: Finding, written: WorkResult, runtime: Runtime[Context], place: CallSite
) -> Finding:
    """Return a finding that says if a cap cut its answer short, or another model gave it."""
    if finding["reason"].startswith(CAPPED_PREFIX):
        finding = await _with_session(finding, runtime, place)
    if written.fallback_reason:
        finding = await _with_problem(finding, written.fallback_reason, runtime, place)
    return finding


async def _reject_answer(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    written: WorkResult,
    queries: list[str],
) -> Finding:
    """Return the finding of a step whose answer is unusable, with that answer as the reason."""
    await set_attempt_status(written.attempt_id, UNUSABLE_ANSWER)
    answer = clip_answer(written.text)
    what = f"the researcher's answer cannot be used: {answer}"
    finding = _finding(state, "failed", f"{UNUSABLE_ANSWER}: {answer}", queries)
    return await _with_problem(finding, Problem(ErrorCode.ANSWER_UNUSABLE, what), runtime, place)


async def _with_session(finding: Finding, runtime: Runtime[Context], place: CallSite) -> Finding:
    """Return a finding with the current session, so that a later one does the step again."""
    return finding | {"session": (await get_budget(place, runtime.context)).session}


def _unread_problem(written: WorkResult) -> Problem | None:
    """Return why the chosen model did not read all sources, or None.

    If a fallback model finds nothing in them, the chosen model still might.
    """
    if written.complete or written.cap:
        return written.fallback_reason
    return Problem(ErrorCode.ANSWER_TOO_LONG, "the answer was cut off at the model's limit")


def _judge(
    state: StepState, written: WorkResult, checked: CheckedText, queries: list[str]
) -> Finding:
    """Return the finding with the status that follows from the checks of its text."""
    cut = f"{CAPPED_PREFIX}{written.cap}" if written.cap else "answer_cut"
    if not checked.cited:
        reason = "no_evidence" if written.complete else cut
        return _finding(state, "failed", reason, queries)
    finding = apply_checks(state, _finding(state, "ok", "", queries), checked)
    if not written.complete:
        return finding | {"status": "partial", "reason": cut}
    if written.uncertainty is None:
        return finding
    if written.fallback_reason:
        # The chosen model might have answered what the fallback model is unsure of.
        return finding | {"status": "partial", "reason": written.fallback_reason.code}
    missing = f": {written.uncertainty}" if written.uncertainty else ""
    return finding | {"status": "partial", "reason": f"unsure{missing}"}


def apply_checks(state: StepState, finding: Finding, checked: CheckedText) -> Finding:
    """Return a finding with the checked text, its sources and its doubts."""
    doubted = render_check_results([], checked.doubted, state["language"])
    sources = list_finding_sources(finding | {"text": checked.body})
    return finding | {"text": checked.body, "sources": sources, "doubted": doubted}


def _finding(
    state: StepState, status: ResultStatus, reason: str, queries: Sequence[str] = ()
) -> Finding:
    """Make a finding without text; if a redo failed, keep the text of the earlier finding."""
    earlier = state.get("finding")
    if earlier and earlier["text"] and status != "ok":
        return earlier | {"status": "partial", "reason": reason}
    step = state["step"]
    return Finding(
        step=step["id"],
        title=step["title"],
        status=status,
        reason=reason,
        text="",
        sources=[],
        queries=[*queries],
        attempts=redo_count(state) + 1,
        review="",
    )


def _merge(old: list[Passage], new: list[Passage]) -> list[Passage]:
    return [*old, *(passage for passage in new if passage not in old)]
