"""Research one step: search first, then let the model write what the passages say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from calls.attempts import set_attempt_status
from calls.gateway import WorkResult, work
from calls.run_budget import get_budget, step_semaphore
from calls.streaming import show_step_progress
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.records import Finding, Passage, ResultStatus, Source, key_by_turn, turn_key
from graph.state import StepState, redo_count
from nodes.recall.recall_graph import recall_from_memory
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_findings_block,
    render_step_blocks,
)
from prompts.loader import render_prompt
from report.checks.attribution import CheckedText
from report.checks.second_reader import Ruling
from report.findings import clip_answer, is_empty_answer, render_earlier_block
from report.labels import render_check_results
from report.markdown.markdown_blocks import statement_key
from runs.call_site import CallSite, call_site
from runs.incomplete import CAPPED_PREFIX, UNUSABLE_ANSWER
from tools.evidence import gather_evidence, preparing_checks
from tools.source_checks import record_text_checks, verify_text
from tools.toolbox import RESEARCHER_TOOLS
from tools.web.web_search import describe_redacted_queries, list_sent_queries

log = logging.getLogger(__name__)


async def researcher(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Find out what one step asks for.

    Reads `question`, `step`, `needed`, `earlier`, `feedback`, `more_queries`, `seen`, `passages`,
    `upheld`, `sources`; writes `finding`, `passages`, `sources`, `unsearched`, `draft`, `removed`,
    `doubted`. A step that fails is a finding that says so.
    """
    place = call_site(state, runtime)
    try:
        # Every step that can start was sent; a slow one must not hold back those that wait.
        async with step_semaphore(place, runtime.context.parallelism):
            return await _research(state, runtime, place)
    except Problem as problem:
        return await _ended(state, runtime, place, problem, [])


async def _ended(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    problem: Problem,
    queries: list[str],
) -> StepState:
    """End a step that a problem stopped, after some queries were sent."""
    if problem.code == ErrorCode.BUDGET_SPENT:
        finding = _finding(state, "skipped", f"{CAPPED_PREFIX}{problem.where}", queries)
        return StepState(finding=await _capped(finding, runtime, place))
    finding = _finding(state, "failed", problem.code, queries)
    return StepState(finding=await _undone(finding, problem, runtime, place))


async def on_step_error(state: StepState, error: NodeError) -> StepState:
    """End the branch of a step in a finding that says it failed.

    Reads `step`; writes `findings`. No error that was not foreseen may leave a branch.
    """
    log.error("step %s failed", state["step"]["id"], exc_info=error.error)
    finding = _finding(state, "failed", "internal")
    return StepState(findings={turn_key(state["turn"], finding["step"]): finding})


async def _research(state: StepState, runtime: Runtime[Context], place: CallSite) -> StepState:
    step = state["step"]
    runtime.stream_writer({"event": "researching", "step": step["id"], "title": step["title"]})
    show_step_progress(state, "researching")
    queries = state["more_queries"] or step["queries"] or [step["title"]]
    about, web = f"{step['title']}\n{step['description']}", step["need_web_search"]
    evidence = await gather_evidence(
        place,
        runtime.context,
        queries,
        about=about,
        web=web,
        seen=state.get("seen", []),
        subject=state["question"],
    )
    queries = list_sent_queries(queries, evidence.sent)
    passages = _joined(state["passages"], evidence.passages)
    sources = {**state.get("sources", {}), **evidence.sources}
    unsearched = key_by_turn(state["turn"], evidence.unsearched)
    known = [*state["needed"], *state.get("earlier", [])]
    if not passages and not any(finding["text"] for finding in known):
        reason = evidence.problems[0].code if evidence.problems else "no_evidence"
        finding = _finding(state, "failed", reason, queries)
        return StepState(finding=finding, unsearched=unsearched)
    read = StepState(passages=passages, sources=sources, unsearched=unsearched)
    try:
        return await _write(
            state | read, runtime, queries, describe_redacted_queries(evidence.sent)
        )
    except Problem as problem:
        return await _ended(state, runtime, place, problem, queries)


async def _write(
    state: StepState, runtime: Runtime[Context], queries: list[str], withheld: str
) -> StepState:
    """Let the model write what the passages say; keep what its sources bear out."""
    system = render_prompt("researcher", language=state["language"])
    said = [HumanMessage(join_prompt_blocks(_request(state), render_block("withheld", withheld)))]
    memory = partial(recall_from_memory, state, runtime)
    passages, sources = state["passages"], state["sources"]
    place, unsearched = call_site(state, runtime), state["unsearched"]
    async with preparing_checks(place, runtime.context, "researcher", sources):
        written = await work(state, runtime, "researcher", system, said, RESEARCHER_TOOLS, memory)
    for more in written.tool_results:
        passages = _joined(passages, more.passages)
        sources = {**more.sources, **sources}
        unsearched = unsearched | key_by_turn(state["turn"], more.unsearched)
    asked, ruling = subject_of_step(state), upheld_ruling(state)
    checked = await verify_text(
        place, runtime.context, "researcher", written.text, sources, asked, ruling
    )
    await record_text_checks(place, "researcher", checked)
    if not checked.cited and (failed := _unread(written)):
        raise failed
    finding = _judged(state, written, checked, queries)
    if not checked.cited and _unusable(written, sources):
        finding = await _refused(state, runtime, place, written, queries)
    kept = StepState(passages=passages, sources=sources, unsearched=unsearched)
    kept |= StepState(draft=written.text, removed=checked.removed, doubted=checked.doubted)
    if finding["reason"].startswith(CAPPED_PREFIX):
        finding = await _capped(finding, runtime, place)
    if written.fallback_reason:
        finding = await _undone(finding, written.fallback_reason, runtime, place)
    return kept | StepState(finding=finding)


def upheld_ruling(state: StepState) -> Ruling:
    """Return what reviews of the step have found right so far."""
    return Ruling(dict.fromkeys(map(statement_key, state.get("upheld", [])), ""))


def subject_of_step(state: StepState) -> str:
    """Return what a step is about; what that names, its finding may name."""
    step = state["step"]
    return f"{state['question']}\n{step['title']}\n{step['description']}"


def _request(state: StepState) -> str:
    needed, again = render_findings_block(state["needed"], "needs"), bool(state["feedback"])
    return join_prompt_blocks(
        render_step_blocks(
            state["question"], state["step"], needed, state["passages"], state["sources"]
        ),
        render_earlier_block(state.get("earlier", [])),
        render_cited_block("draft", state["finding"]["text"]) if again else "",
        render_cited_block(
            "removed", render_check_results(state.get("removed", []), [], state["language"])
        )
        if again
        else "",
        render_cited_block(
            "doubted", render_check_results([], state.get("doubted", []), state["language"])
        )
        if again
        else "",
        render_block("feedback", state["feedback"]),
    )


async def _undone(
    finding: Finding, problem: Problem, runtime: Runtime[Context], place: CallSite
) -> Finding:
    """Return a finding with the problem because of which its step was not done, if any."""
    session = (await get_budget(place, runtime.context)).session
    return finding | {"error": problem.as_dict(), "session": session}


def _unusable(written: WorkResult, sources: Mapping[str, Source]) -> bool:
    chosen = written.complete and not is_extractive(written.model)
    return chosen and is_empty_answer(written.text, sources)


async def _refused(
    state: StepState,
    runtime: Runtime[Context],
    place: CallSite,
    written: WorkResult,
    queries: list[str],
) -> Finding:
    """Return the finding of a step whose model failed to answer, in the words that it wrote."""
    await set_attempt_status(written.attempt_id, UNUSABLE_ANSWER)
    said = clip_answer(written.text)
    problem = Problem(ErrorCode.ANSWER_UNUSABLE, f"the researcher's answer cannot be used: {said}")
    finding = _finding(state, "failed", f"{UNUSABLE_ANSWER}: {said}", queries)
    return await _undone(finding, problem, runtime, place)


async def _capped(finding: Finding, runtime: Runtime[Context], place: CallSite) -> Finding:
    """Return a finding with the session in which a limit was reached."""
    return finding | {"session": (await get_budget(place, runtime.context)).session}


def _unread(written: WorkResult) -> Problem | None:
    """Return why the chosen model did not read the sources, if it did not.

    That a fallback model finds nothing in them does not mean that nothing is there.
    """
    if written.complete or written.cap:
        return written.fallback_reason
    return Problem(ErrorCode.ANSWER_TOO_LONG, "the answer was cut off at the model's limit")


def _judged(
    state: StepState, written: WorkResult, checked: CheckedText, queries: list[str]
) -> Finding:
    """Judge what was written by what the checks left of it."""
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
        # What another model is not sure of, the chosen one may have answered.
        return finding | {"status": "partial", "reason": written.fallback_reason.code}
    missing = f": {written.uncertainty}" if written.uncertainty else ""
    return finding | {"status": "partial", "reason": f"unsure{missing}"}


def apply_checks(state: StepState, finding: Finding, checked: CheckedText) -> Finding:
    """Return a finding with the text that the checks left, and what they doubt in it."""
    doubted = render_check_results([], checked.doubted, state["language"])
    return finding | {"text": checked.body, "sources": checked.cited, "doubted": doubted}


def _finding(
    state: StepState, status: ResultStatus, reason: str, queries: Sequence[str] = ()
) -> Finding:
    """Make a finding without text, or leave the one that is there when a redo brought nothing."""
    before = state.get("finding")
    if before and before["text"] and status != "ok":
        return before | {"status": "partial", "reason": reason}
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


def _joined(old: list[Passage], new: list[Passage]) -> list[Passage]:
    return [*old, *(passage for passage in new if passage not in old)]
