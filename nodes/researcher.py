"""Research one step: search first, then let the model write what the passages say."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.records import Finding, Passage, Source, Status, key, keyed
from graph.state import StepState, redo_count
from nodes.agent import Work, work
from nodes.recall.inner import recall
from nodes.streaming import tell_step
from prompts.loader import render
from prompts.marks import block, blocks, cited, findings_block, step_blocks
from report.earlier import earlier_block
from report.leads import letters
from report.refusals import answers_nothing, clipped
from report.rulings import Ruling
from report.support import Proven
from report.undone import CAPPED, UNUSABLE
from report.wording import told
from runs.attempts import renamed
from runs.budget import budget
from runs.gate import gate
from runs.place import Here, here
from tools.evidence import gather, note_checked, preparing, verified
from tools.web_search import as_sent, notice

log = logging.getLogger(__name__)


async def researcher(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Find out what one step asks for.

    Reads `question`, `step`, `needed`, `earlier`, `feedback`, `more_queries`, `seen`, `passages`,
    `upheld`, `sources`; writes `finding`, `passages`, `sources`, `unsearched`, `draft`, `removed`,
    `doubted`. A step that fails is a finding that says so.
    """
    place = here(state, runtime)
    try:
        # Every step that can start was sent; a slow one must not hold back those that wait.
        async with gate(place, runtime.context.parallelism):
            return await _research(state, runtime, place)
    except Problem as problem:
        return await _ended(state, runtime, place, problem, [])


async def _ended(
    state: StepState, runtime: Runtime[Context], place: Here, problem: Problem, queries: list[str]
) -> StepState:
    """End a step that a problem stopped, after some queries were sent."""
    if problem.code == "budget_spent":
        finding = _finding(state, "skipped", f"{CAPPED}{problem.where}", queries)
        return StepState(finding=await _capped(finding, runtime, place))
    finding = _finding(state, "failed", problem.code, queries)
    return StepState(finding=await _undone(finding, problem, runtime, place))


async def fallen(state: StepState, error: NodeError) -> StepState:
    """End the branch of a step in a finding that says it failed.

    Reads `step`; writes `findings`. No error that was not foreseen may leave a branch.
    """
    log.error("step %s failed", state["step"]["id"], exc_info=error.error)
    finding = _finding(state, "failed", "internal")
    return StepState(findings={key(state["turn"], finding["step"]): finding})


async def _research(state: StepState, runtime: Runtime[Context], place: Here) -> StepState:
    step = state["step"]
    runtime.stream_writer({"event": "researching", "step": step["id"], "title": step["title"]})
    tell_step(state, "researching")
    queries = state["more_queries"] or step["queries"] or [step["title"]]
    about, web = f"{step['title']}\n{step['description']}", step["need_web_search"]
    evidence = await gather(
        place,
        runtime.context,
        queries,
        about=about,
        web=web,
        seen=state.get("seen", []),
        subject=state["question"],
    )
    queries = as_sent(queries, evidence.sent)
    passages = _joined(state["passages"], evidence.passages)
    sources = {**state.get("sources", {}), **evidence.sources}
    unsearched = keyed(state["turn"], evidence.unsearched)
    known = [*state["needed"], *state.get("earlier", [])]
    if not passages and not any(finding["text"] for finding in known):
        reason = evidence.problems[0].code if evidence.problems else "no_evidence"
        finding = _finding(state, "failed", reason, queries)
        return StepState(finding=finding, unsearched=unsearched)
    read = StepState(passages=passages, sources=sources, unsearched=unsearched)
    try:
        return await _write(state | read, runtime, queries, notice(evidence.sent))
    except Problem as problem:
        return await _ended(state, runtime, place, problem, queries)


async def _write(
    state: StepState, runtime: Runtime[Context], queries: list[str], withheld: str
) -> StepState:
    """Let the model write what the passages say; keep what its sources bear out."""
    system = render("researcher", language=state["language"])
    said = [HumanMessage(blocks(_request(state), block("withheld", withheld)))]
    memory = partial(recall, state, runtime)
    passages, sources = state["passages"], state["sources"]
    place, unsearched = here(state, runtime), state["unsearched"]
    async with preparing(place, runtime.context, "researcher", sources):
        written = await work(state, runtime, "researcher", system, said, memory)
    for more in written.found:
        passages = _joined(passages, more.passages)
        sources = {**more.sources, **sources}
        unsearched = unsearched | keyed(state["turn"], more.unsearched)
    asked, ruling = asked_of(state), upheld_in(state)
    checked = await verified(
        place, runtime.context, "researcher", written.text, sources, asked, ruling
    )
    await note_checked(place, "researcher", checked)
    if not checked.cited and (failed := _unread(written)):
        raise failed
    finding = _judged(state, written, checked, queries)
    if not checked.cited and _unusable(written, sources):
        finding = await _refused(state, runtime, place, written, queries)
    kept = StepState(passages=passages, sources=sources, unsearched=unsearched)
    kept |= StepState(draft=written.text, removed=checked.removed, doubted=checked.doubted)
    if finding["reason"].startswith(CAPPED):
        finding = await _capped(finding, runtime, place)
    if written.stood_in:
        finding = await _undone(finding, written.stood_in, runtime, place)
    return kept | StepState(finding=finding)


def upheld_in(state: StepState) -> Ruling:
    """Return what reviews of the step have found right so far."""
    return Ruling(dict.fromkeys(map(letters, state.get("upheld", [])), ""))


def asked_of(state: StepState) -> str:
    """Return what a step is about; what that names, its finding may name."""
    step = state["step"]
    return f"{state['question']}\n{step['title']}\n{step['description']}"


def _request(state: StepState) -> str:
    needed, again = findings_block(state["needed"], "needs"), bool(state["feedback"])
    return blocks(
        step_blocks(state["question"], state["step"], needed, state["passages"], state["sources"]),
        earlier_block(state.get("earlier", [])),
        cited("draft", state["finding"]["text"]) if again else "",
        cited("removed", told(state.get("removed", []), [], state["language"])) if again else "",
        cited("doubted", told([], state.get("doubted", []), state["language"])) if again else "",
        block("feedback", state["feedback"]),
    )


async def _undone(
    finding: Finding, problem: Problem, runtime: Runtime[Context], place: Here
) -> Finding:
    """Return a finding with the problem because of which its step was not done, if any."""
    session = (await budget(place, runtime.context)).session
    return finding | {"error": problem.as_dict(), "session": session}


def _unusable(written: Work, sources: Mapping[str, Source]) -> bool:
    chosen = written.complete and not written.model.startswith("extractive:")
    return chosen and answers_nothing(written.text, sources)


async def _refused(
    state: StepState, runtime: Runtime[Context], place: Here, written: Work, queries: list[str]
) -> Finding:
    """Return the finding of a step whose model failed to answer, in the words that it wrote."""
    await renamed(written.attempt, UNUSABLE)
    said = clipped(written.text)
    problem = Problem("answer_unusable", f"the researcher's answer cannot be used: {said}")
    finding = _finding(state, "failed", f"{UNUSABLE}: {said}", queries)
    return await _undone(finding, problem, runtime, place)


async def _capped(finding: Finding, runtime: Runtime[Context], place: Here) -> Finding:
    """Return a finding with the session in which a limit was reached."""
    return finding | {"session": (await budget(place, runtime.context)).session}


def _unread(written: Work) -> Problem | None:
    """Return why the chosen model did not read the sources, if it did not.

    That a fallback model finds nothing in them does not mean that nothing is there.
    """
    if written.complete or written.capped:
        return written.stood_in
    return Problem("answer_too_long", "the answer was cut off at the model's limit")


def _judged(state: StepState, written: Work, checked: Proven, queries: list[str]) -> Finding:
    """Judge what was written by what the checks left of it."""
    cut = f"{CAPPED}{written.capped}" if written.capped else "answer_cut"
    if not checked.cited:
        reason = "no_evidence" if written.complete else cut
        return _finding(state, "failed", reason, queries)
    finding = with_checked(state, _finding(state, "ok", "", queries), checked)
    if not written.complete:
        return finding | {"status": "partial", "reason": cut}
    if written.unsure is None:
        return finding
    if written.stood_in:
        # What another model is not sure of, the chosen one may have answered.
        return finding | {"status": "partial", "reason": written.stood_in.code}
    missing = f": {written.unsure}" if written.unsure else ""
    return finding | {"status": "partial", "reason": f"unsure{missing}"}


def with_checked(state: StepState, finding: Finding, checked: Proven) -> Finding:
    """Return a finding with the text that the checks left, and what they doubt in it."""
    doubted = told([], checked.doubted, state["language"])
    return finding | {"text": checked.body, "sources": checked.cited, "doubted": doubted}


def _finding(state: StepState, status: Status, reason: str, queries: Sequence[str] = ()) -> Finding:
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
