"""Research one step: search first, then let the model write what the passages say."""

from __future__ import annotations

import logging

from langchain_core.messages import HumanMessage
from langgraph.errors import NodeError
from langgraph.runtime import Runtime

from config.errors import Problem
from graph.context import Context
from graph.state import Finding, Passage, Source, Status, Step, StepState, key
from nodes.agent import Work, work
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, pages_block
from report.verify import Checked, check
from runs.place import Here, here
from tools.evidence import Evidence, gather, texts_of

log = logging.getLogger(__name__)


async def researcher(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Find out what one step asks for.

    Reads `question`, `step`, `needed`, `feedback`, `more_queries`, `passages`, `sources`; writes
    `finding`, `passages`, `sources`. A step that fails is a finding that says so.
    """
    place = here(state, runtime)
    step = state["step"]
    runtime.stream_writer({"event": "researching", "step": step["id"], "title": step["title"]})
    try:
        return await _research(state, runtime, place)
    except Problem as problem:
        skipped = problem.code in ("budget_spent", "model_refused")
        finding = _finding(state, "skipped" if skipped else "failed", problem.code)
        return StepState(finding=finding)


async def fallen(state: StepState, error: NodeError) -> StepState:
    """End the branch of a step in a finding that says it failed.

    Reads `step`; writes `findings`. No error that was not foreseen may leave a branch.
    """
    log.error("step %s failed", state["step"]["id"], exc_info=error.error)
    finding = _finding(state, "failed", "internal")
    return StepState(findings={key(state["turn"], finding["step"]): finding})


async def _research(state: StepState, runtime: Runtime[Context], place: Here) -> StepState:
    step = state["step"]
    queries = state["more_queries"] or step["queries"] or [step["title"]]
    evidence = await _gathered(state, runtime, place, queries)
    passages = _joined(state["passages"], evidence.passages)
    sources = {**state.get("sources", {}), **evidence.sources}
    if not passages and not any(finding["text"] for finding in state["needed"]):
        reason = evidence.problems[0].code if evidence.problems else "no_evidence"
        return StepState(finding=_finding(state, "failed", reason, queries=queries))
    system = render("researcher", language=state["language"])
    request = HumanMessage(_request(state, passages, sources))
    written = await work(state, runtime, "researcher", system, [request])
    for more in written.found:
        sources |= more.sources
        passages = _joined(passages, more.passages)
    checked = check(written.text, await texts_of(sources))
    finding = _written(state, written, checked, queries)
    if finding["status"] == "ok" and any(
        one.code == "search_unavailable" for one in evidence.problems
    ):
        finding = Finding(**{**finding, "status": "partial", "reason": "search_unavailable"})
    return StepState(finding=finding, passages=passages, sources=sources)


async def _gathered(
    state: StepState, runtime: Runtime[Context], place: Here, queries: list[str]
) -> Evidence:
    step = state["step"]
    about = f"{step['title']}\n{step['description']}"
    web = step["need_web_search"]
    return await gather(place, runtime.context, queries, about=about, web=web)


def _request(state: StepState, passages: list[Passage], sources: dict[str, Source]) -> str:
    step = state["step"]
    draft = state["finding"]["text"] if state["feedback"] else ""
    return blocks(
        block("question", state["question"]),
        block("step", step["description"] or step["title"], title=step["title"]),
        findings_block(state["needed"], "needs"),
        pages_block(passages, sources),
        block("draft", draft),
        block("feedback", state["feedback"]),
    )


def _written(state: StepState, written: Work, checked: Checked, queries: list[str]) -> Finding:
    """Judge what was written by what the checks left of it."""
    if not checked.cited:
        return _finding(state, "failed", "no_evidence", queries=queries)
    finding = _finding(state, "ok", "", queries=queries)
    finding |= {"text": checked.body, "sources": checked.cited}
    return finding if written.complete else finding | {"status": "partial", "reason": "answer_cut"}


def _finding(
    state: StepState, status: Status, reason: str, *, queries: list[str] | None = None
) -> Finding:
    """Make a finding without text, or leave the one that is there when a redo brought nothing."""
    before = state.get("finding")
    if before and before["text"] and status != "ok":
        return Finding(**{**before, "status": "partial", "reason": reason})
    step: Step = state["step"]
    return Finding(
        step=step["id"],
        title=step["title"],
        status=status,
        reason=reason,
        text="",
        sources=[],
        queries=queries or step["queries"],
        attempts=state["attempt"] + 1,
        review="",
    )


def _joined(old: list[Passage], new: list[Passage]) -> list[Passage]:
    return [*old, *(passage for passage in new if passage not in old)]
