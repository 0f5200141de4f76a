"""Judge a finding: pass it, or send the step back with what is wrong."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from config.errors import Problem
from graph.context import Context
from graph.records import Doubted, Finding, key
from graph.state import StepState
from nodes.agent import ask
from nodes.researcher import asked_of, upheld_in, with_checked
from nodes.streaming import tell_step
from prompts.loader import render
from prompts.marks import blocks, cited, findings_block, step_blocks
from report.earlier import earlier_block
from report.wording import told
from runs.place import here, owner
from tools.evidence import note_checked, verified


class Verdict(BaseModel):
    """Whether a finding does what its step asked for."""

    passed: bool
    feedback: str = ""
    queries: list[str] = []
    right: list[int] = Field(default=[], description="numbers of contested sentences")


async def reflection(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Let a finding pass, or have the step done again with the feedback.

    Reads `question`, `step`, `finding`, `passages`, `earlier`, `draft`, `removed`, `doubted`;
    writes `findings`, or `feedback`, `more_queries`, `attempt` and what it read of the finding, as
    it stands then. A judge that fails leaves the finding `unverified`.
    """
    finding = state["finding"]
    last = state["attempt"] >= runtime.context.max_reflections
    hopeless = not finding["text"] and (last or finding["reason"] != "no_evidence")
    if hopeless:
        return _done(state, finding)
    tell_step(state, "checking")
    try:
        verdict = await _verdict(state, runtime)
    except Problem:
        return _done(state, finding | {"review": "unverified"})
    checked = await _upheld(state, runtime, verdict.right)
    finding = checked["finding"]
    # Where the checks left nothing of a draft, it is worth another try that is told why.
    if verdict.passed and (finding["text"] or not state.get("removed")):
        return _done(state, finding | {"review": "passed"})
    if last:
        return _done(state, _rejected(state, finding, verdict.feedback))
    return checked | StepState(
        feedback=verdict.feedback or finding["reason"],
        more_queries=verdict.queries,
        attempt=state["attempt"] + 1,
    )


async def _verdict(state: StepState, runtime: Runtime[Context]) -> Verdict:
    found = findings_block([state["finding"] | {"doubted": ""}])
    data = step_blocks(
        state["question"], state["step"], found, state["passages"], state.get("sources", {})
    )
    contested = "\n".join(
        f"{number}. {' '.join(line.removeprefix('- ').split())}"
        for number, line in enumerate(_contested(state), start=1)
    )
    data = blocks(data, cited("contested", contested), earlier_block(state.get("earlier", [])))
    system = render("reflection", language=state["language"])
    return await ask(state, runtime, "reflector", system, [HumanMessage(data)], Verdict)


def _contested(state: StepState) -> list[str]:
    """Return what was removed from the draft or is doubted in it, each with the reason."""
    language = state["language"]
    removed = [told([one], [], language) for one in state.get("removed", [])]
    return [*removed, *(told([], [one], language) for one in state.get("doubted", []))]


async def _upheld(state: StepState, runtime: Runtime[Context], right: Sequence[int]) -> StepState:
    """Return the finding, what was removed and what is doubted, once some of that is upheld."""
    finding, draft = state["finding"], state.get("draft", "")
    removed, doubted = state.get("removed", []), state.get("doubted", [])
    texts = [one["text"] for one in [*removed, *doubted]]
    named = [texts[at - 1] for at in right if 0 < at <= len(texts)]
    upheld = StepState(upheld=[*state.get("upheld", []), *named])
    if named and draft and finding["text"]:
        own, asked = owner(runtime), asked_of(state)
        ruling = upheld_in(state | upheld)
        checked = await verified(own, draft, state["sources"], asked, ruling)
        await note_checked(here(state, runtime), "researcher", checked, again=True)
        finding = with_checked(state, finding, checked)
        removed, doubted = checked.removed, checked.doubted
    return upheld | StepState(finding=finding, removed=removed, doubted=doubted)


def _rejected(state: StepState, finding: Finding, feedback: str) -> Finding:
    """Return a finding that was not mended, with what the review holds against it."""
    if not feedback:
        return finding | {"review": "failed"}
    objection = told([], [Doubted(text=feedback, reason="review")], state["language"])
    doubted = "\n".join(filter(None, [finding.get("doubted", ""), objection]))
    reason = finding["reason"] or f"failed: {' '.join(feedback.split())}"
    return finding | {"review": "failed", "doubted": doubted, "reason": reason}


def _done(state: StepState, finding: Finding) -> StepState:
    return StepState(findings={key(state["turn"], finding["step"]): finding})
