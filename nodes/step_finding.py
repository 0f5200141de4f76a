"""What a step of any kind makes of an answer: a finding with what its sources support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from langgraph.runtime import Runtime

from calls.attempts import set_attempt_status
from calls.gateway import WorkResult
from calls.run_budget import get_budget
from calls.tool_requests import HumanInput
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.pauses import list_wishes
from graph.records import Finding, Passage, ResultStatus, Source, key_by_turn
from graph.state import StepState, redo_count
from prompts.data_blocks import render_block, render_cited_block
from prompts.loader import render_prompt
from report.checks.attribution import CheckedText
from report.checks.second_reader import Ruling
from report.finding_parts import FindingParts, join_finding, split_finding
from report.findings import clip_answer, is_empty_answer, list_finding_sources
from report.labels import render_check_results
from report.markdown.markdown_blocks import statement_key
from runs.call_site import CallSite, call_site
from runs.incomplete import CAPPED_PREFIX, UNUSABLE_ANSWER
from tools.reading_choice import list_spans, load_passages
from tools.source_checks import record_text_checks, verify_text


class StepAnswer(NamedTuple):
    """What the model of a step has written, and what its finding is made of beside that."""

    state: StepState
    runtime: Runtime[Context]
    role: str
    """Who wrote it."""
    written: WorkResult
    """The answer, with what the tools found."""
    human: HumanInput
    """What the tools have asked the person."""
    passages: list[Passage]
    """What the first request showed."""
    queries: list[str]
    """What was searched for."""


async def compose_finding(answer: StepAnswer) -> StepState:
    """Return what a step writes of an answer: its finding, and what it read for it."""
    answer = merge_tool_results(answer)
    state, runtime = answer.state, answer.runtime
    parts = split_finding(answer.written.text)
    checked = await check_answer(state, runtime, answer.role, parts.answer)
    finding = _with_parts(await _conclude(answer, checked), parts, answer.passages)
    place = call_site(state, runtime)
    return StepState(
        finding=await _with_limits(finding, answer.written, runtime, place),
        read=list_spans(answer.passages, state["sources"]),
        sources=state["sources"],
        unsearched=state["unsearched"],
        draft=parts.answer,
        removed=checked.removed,
        doubted=checked.doubted,
    )


def merge_tool_results(answer: StepAnswer) -> StepAnswer:
    """Return an answer with what its tools have found: in its passages and in the state."""
    state, passages = answer.state, answer.passages
    sources, unsearched = state["sources"], state.get("unsearched", {})
    for result in answer.written.tool_results:
        passages = join_new_passages(passages, result.passages)
        sources = {**result.sources, **sources}
        unsearched = unsearched | key_by_turn(state["turn"], result.unsearched)
    merged = state | StepState(sources=sources, unsearched=unsearched)
    return answer._replace(state=merged, passages=passages)


async def load_read_passages(owner: str, state: StepState) -> list[Passage]:
    """Return the passages that a step has read so far, in a thread of any version."""
    if not state.get("read"):
        return state.get("passages", [])
    return await load_passages(owner, state["read"], state.get("sources", {}))


async def check_answer(
    state: StepState, runtime: Runtime[Context], role: str, answer: str
) -> CheckedText:
    """Compare an answer with the sources of the step, and record the result."""
    place, subject, ruling = call_site(state, runtime), subject_of_step(state), upheld_ruling(state)
    checked = await verify_text(
        place,
        runtime.context,
        role,
        answer,
        state["sources"],
        subject,
        ruling,
        told=list_wishes(state),
    )
    await record_text_checks(place, role, checked)
    return checked


async def _conclude(answer: StepAnswer, checked: CheckedText) -> Finding:
    """Return the finding that a checked answer makes.

    Raises:
        Problem: Why the model did not read all sources, if nothing of its answer is left.
    """
    written = answer.written
    if not checked.cited and (problem := _unread_problem(written)):
        raise problem
    if not checked.cited and _is_unusable(written, answer.state["sources"]):
        return await _reject_answer(answer)
    return _judge(answer.state, written, checked, answer.queries)


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


async def _reject_answer(answer: StepAnswer) -> Finding:
    """Return the finding of a step whose answer is unusable, with that answer as the reason."""
    state, runtime, role, written, *_ = answer
    place = call_site(state, runtime)
    await set_attempt_status(written.attempt_id, UNUSABLE_ANSWER)
    said = clip_answer(written.text)
    what = f"the {role}'s answer cannot be used: {said}"
    finding = make_finding(state, "failed", f"{UNUSABLE_ANSWER}: {said}", answer.queries)
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
        return make_finding(state, "failed", reason, queries)
    finding = apply_checks(state, make_finding(state, "ok", "", queries), checked)
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


def make_finding(
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


def join_new_passages(old: list[Passage], new: list[Passage]) -> list[Passage]:
    """Return passages with those of another list that are not among them."""
    return [*old, *(passage for passage in new if passage not in old)]


async def end_step(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    problem: Problem,
    queries: list[str],
) -> StepState:
    """Return the finding of a step that a problem stopped, with the queries sent so far."""
    if problem.code == ErrorCode.BUDGET_SPENT:
        finding = make_finding(state, "skipped", f"{CAPPED_PREFIX}{problem.where}", queries)
        return StepState(finding=await _with_session(finding, runtime, place))
    finding = make_finding(state, "failed", problem.code, queries)
    return StepState(finding=await _with_problem(finding, problem, runtime, place))


def render_revision_blocks(state: StepState) -> list[str]:
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
