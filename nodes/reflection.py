"""Judge a finding: pass it, or send the step back with what is wrong."""

from __future__ import annotations

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import Problem
from graph.context import Context
from graph.records import Finding, key
from graph.state import StepState
from nodes.agent import ask
from nodes.streaming import tell_step
from prompts.loader import render
from prompts.marks import blocks, cited, findings_block, step_blocks
from report.earlier import earlier_block
from report.wording import told


class Verdict(BaseModel):
    """Whether a finding does what its step asked for."""

    passed: bool
    feedback: str = ""
    queries: list[str] = []


async def reflection(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Let a finding pass, or have the step done again with the feedback.

    Reads `question`, `step`, `finding`, `passages`, `earlier`, `removed`; writes `findings`,
    or `feedback`, `more_queries` and `attempt`. A judge that fails leaves the finding `unverified`.
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
    # Where the checks left nothing of a draft, it is worth another try that is told why.
    if verdict.passed and (finding["text"] or not state.get("removed")):
        return _done(state, finding | {"review": "passed"})
    if last:
        return _done(state, finding | {"review": "failed"})
    return StepState(
        feedback=verdict.feedback or finding["reason"],
        more_queries=verdict.queries,
        attempt=state["attempt"] + 1,
    )


async def _verdict(state: StepState, runtime: Runtime[Context]) -> Verdict:
    found = findings_block([state["finding"]])
    data = step_blocks(
        state["question"], state["step"], found, state["passages"], state.get("sources", {})
    )
    removed = told(state.get("removed", []), [], state["language"])
    data = blocks(data, cited("removed", removed), earlier_block(state.get("earlier", [])))
    system = render("reflection", language=state["language"])
    return await ask(state, runtime, "reflector", system, [HumanMessage(data)], Verdict)


def _done(state: StepState, finding: Finding) -> StepState:
    return StepState(findings={key(state["turn"], finding["step"]): finding})
