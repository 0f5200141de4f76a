"""Dispatch the steps that are ready, wave after wave, then judge whether more are needed."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.run_budget import get_budget
from calls.streaming import show_progress
from config.errors import Problem
from graph.context import Context
from graph.plan import make_research_step, render_plan
from graph.records import Finding, Step, entries_of_turn, of_steps, turn_key
from graph.state import State
from models.chat_models import built_in
from models.extractive.finding_review import review_coverage
from models.extractive.schema_answers import extractive_answer
from models.faults import raise_if_fatal
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_findings_block,
    render_sources_block,
)
from prompts.loader import render_prompt
from report.findings import (
    list_background_passages,
    list_findings,
    render_earlier_block,
    select_earlier_findings,
)
from runs.call_site import call_site
from runs.incomplete import UNUSABLE_ANSWER, list_capped_findings, list_failed_findings


class Missing(BaseModel):
    """Something the findings leave open."""

    title: VisibleText
    queries: SearchTexts = []


@extractive_answer(review_coverage)
class Enough(BaseModel):
    """Whether the findings answer the question."""

    enough: bool
    missing: list[Missing] = []


async def team(state: State, runtime: Runtime[Context]) -> State:
    """Let the steps that are ready be sent; when none remains, judge whether more are needed.

    The model is not asked when the rounds are used up, or when every finding passed and no review
    left the question open. The built-in model costs nothing and is asked in that case too.

    Steps that failed, or that a limit prevented, in an earlier session of the run are sent again.

    Reads `question`, `plan`, `decision`, `findings`, `rounds`; writes `rounds`, `follow_ups`,
    `again`, and removes from `findings` those that are researched again.

    Raises:
        Problem: The problem of a step that every other call would meet too, or that of the first
            step if no step succeeded. The run can be resumed from here.
    """
    place = call_site(state, runtime)
    session = (await get_budget(place, runtime.context)).session
    failed = list_failed_findings(state)
    again = {
        turn_key(state["turn"], finding["step"]): None
        for finding in [*failed, *list_capped_findings(state)]
        if finding.get("session", session) != session
    }
    if again:
        # The ledger would repeat the recorded answer, so an unusable one needs a new `again`.
        unusable = any(finding["error"]["code"] == UNUSABLE_ANSWER for finding in failed)
        return State(findings=cast("Any", again), again=state.get("again", 0) + unusable)
    errors = [Problem.from_dict(finding["error"]) for finding in failed if not finding["text"]]
    for problem in errors:
        raise_if_fatal(problem)
    if list_ready_steps(state):
        return State()
    if errors and not (list_findings(state) or list_background_passages(state)):
        raise errors[0]
    more = await _follow_ups(state, runtime, entries_of_turn(state.get("findings"), state["turn"]))
    if not more:
        runtime.stream_writer({"event": "researched"})
        return State()
    return State(rounds=state["rounds"] + 1, follow_ups=[*state["follow_ups"], *more])


def list_ready_steps(state: State) -> list[Step]:
    """Return the steps without a finding whose needed steps all have one."""
    done = entries_of_turn(state.get("findings"), state["turn"])
    steps = state["plan"]["steps"] + state["follow_ups"]
    waiting = [step for step in steps if step["id"] not in done]
    return [step for step in waiting if set(step["needs"]) <= done.keys()]


async def _follow_ups(
    state: State, runtime: Runtime[Context], done: dict[str, Finding]
) -> list[Step]:
    """Return steps for what is missing; none if the findings suffice or cannot be judged.

    Nothing is added to a plan that a person edited, for they also chose what to leave out.
    """
    if state["rounds"] >= runtime.context.limits.max_rounds or state.get("decision") == "edit":
        return []
    steps = of_steps(state.get("findings"), state["turn"])
    if all(map(_settled, steps.values())) and not built_in("judge", runtime.context):
        return []
    show_progress(state, "judging")
    earlier = select_earlier_findings(state, state["question"])
    open_points = [point for finding in done.values() for point in finding.get("open", [])]
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("plan", render_plan(state["plan"])),
        render_sources_block([*done.values(), *earlier], state.get("sources", {})),
        render_findings_block(done.values()),
        render_earlier_block(earlier),
        render_block("open", "\n".join(open_points)),
    )
    system = render_prompt("judge", language=state["language"])
    messages, default = [HumanMessage(data)], Enough(enough=True)
    verdict = await ask(state, runtime, "judge", system, messages, Enough, default=default)
    if verdict.enough:
        return []
    taken = {step["id"] for step in state["plan"]["steps"] + state["follow_ups"]}
    missing = [gap for gap in verdict.missing if gap.title.strip()]
    return [
        make_research_step(_next_id(taken), gap.title, gap.queries or [gap.title])
        for gap in missing[: runtime.context.limits.follow_ups]
    ]


def _settled(finding: Finding) -> bool:
    """Tell whether a finding passed its review, and the review left nothing open."""
    passed = finding["status"] == "ok" and finding["review"] == "passed"
    return passed and not finding.get("open")


def _next_id(taken: set[str]) -> str:
    """Return the next free id of the form `s5`, and add it to those taken."""
    number = len(taken) + 1
    while f"s{number}" in taken:
        number += 1
    taken.add(f"s{number}")
    return f"s{number}"
