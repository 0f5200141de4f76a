"""Dispatch the steps that are ready, wave after wave, then judge whether more are needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any, cast

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.run_budget import get_budget
from calls.run_progress import show_progress
from config.errors import Problem
from graph.context import Context
from graph.pauses import list_open_pauses, list_pending_requests
from graph.plan import make_research_step, render_plan
from graph.records import Finding, Step, entries_of_turn, of_steps, turn_key
from graph.state import State
from models.chat_models import built_in
from models.extractive.finding_review import review_coverage
from models.extractive.schema_answers import extractive_answer
from models.faults import raise_if_fatal
from nodes.human_input import ask_person
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
    render_open_block,
    select_earlier_findings,
)
from runs.call_site import CallSite, call_site
from runs.incomplete import UNUSABLE_ANSWER, list_capped_findings, list_failed_findings
from text.keyword_ranking import rank_texts
from text.tokens import estimate_tokens

MAX_NEEDED_TOKENS = 4_000
"""Limit of the findings that an added step is handed, in tokens."""

MAX_RAISED = 12
"""How many questions of researchers the judge is shown."""


class Missing(BaseModel):
    """Something the findings leave open."""

    title: VisibleText
    description: VisibleText = ""
    queries: SearchTexts = []


@extractive_answer(review_coverage)
class Enough(BaseModel):
    """Whether the findings answer the question."""

    enough: bool
    missing: list[Missing] = []


async def team(state: State, runtime: Runtime[Context]) -> State:
    """Let the steps that are ready be sent; when none remains, judge whether more are needed.

    The model is not asked when the rounds are used up, or when every finding passed and no review
    left the question open; in a deep run, also no researcher. The built-in model costs nothing and
    is asked in that case too.

    Steps that failed, or that a limit prevented, in an earlier session of the run are sent again.
    Where steps wait for the person, their questions are shown, and nothing else is done.

    Reads `question`, `plan`, `decision`, `findings`, `rounds`, `pauses`; writes `rounds`,
    `follow_ups`, `again`, `messages` and `status` where the person is asked, and removes from
    `findings` those that are researched again, from `pauses` those of steps that are done.

    Raises:
        Problem: The problem of a step that every other call would meet too, or that of the first
            step if no step succeeded. The run can be resumed from here.
    """
    place = call_site(state, runtime)
    pauses = list_open_pauses(state)
    if list_pending_requests(pauses):
        return await ask_person(state, place)
    over = {key: None for key in state.get("pauses") or {} if key not in pauses}
    if over:
        state = {**state, "pauses": pauses}
    cleared = State(pauses=cast("Any", over)) if over else State()
    return cleared | await _continue(state, runtime, place)


async def _continue(state: State, runtime: Runtime[Context], place: CallSite) -> State:
    """Return what is to be done again, or added."""
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
    if ready := list_ready_steps(state):
        titles = [step["title"] for step in ready]
        show_progress(state, "sending", count=len(ready), titles=titles)
        return State()
    if errors and not (list_findings(state) or list_background_passages(state)):
        raise errors[0]
    more = await _follow_ups(state, runtime, entries_of_turn(state.get("findings"), state["turn"]))
    if not more:
        show_progress(state, "researched")
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
    limits = runtime.context.limits
    if state["rounds"] >= limits.max_rounds or state.get("decision") == "edit":
        return []
    steps = of_steps(state.get("findings"), state["turn"])
    deep = runtime.context.depth == "deep"
    raised = _raised_questions(steps.values()) if deep else []
    ended = not deep or all(one.get("outcome") != "open" for one in steps.values())
    left_open = _select_left_open(state, done)
    settled = not (raised or left_open) and ended and all(map(_passed, steps.values()))
    if settled and not built_in("judge", runtime.context):
        return []
    show_progress(state, "judging")
    system = render_prompt("judge", language=state["language"], most=limits.follow_ups)
    request = HumanMessage(_request(state, done, left_open, raised))
    default = Enough(enough=True)
    verdict = await ask(state, runtime, "judge", system, [request], Enough, default=default)
    if verdict.enough:
        return []
    taken = {step["id"] for step in state["plan"]["steps"] + state["follow_ups"]}
    missing = [gap for gap in verdict.missing if gap.title.strip()]
    return [_added_step(gap, _next_id(taken), done) for gap in missing[: limits.follow_ups]]


def _select_left_open(state: State, done: Mapping[str, Finding]) -> list[Finding]:
    """Return the findings whose reviews left something open that no later review took up.

    A step that needs a finding is reviewed with what stands open there; what it closes, its review
    does not name again.
    """
    steps = [*state["plan"]["steps"], *state["follow_ups"]]
    passed = [step for step in steps if step["id"] in done and _passed(done[step["id"]])]
    taken_up = {need for step in passed for need in step["needs"]}
    return [one for name, one in done.items() if one.get("open") and name not in taken_up]


def _request(
    state: State,
    done: Mapping[str, Finding],
    left_open: Iterable[Finding],
    raised: Iterable[str],
) -> str:
    """Return what the judge is shown."""
    earlier = select_earlier_findings(state, state["question"])
    found = done.values()
    return join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("plan", render_plan(state["plan"])),
        render_sources_block([*found, *earlier], state.get("sources", {})),
        render_findings_block(found),
        render_earlier_block(earlier),
        render_open_block(left_open),
        render_block("raised", "\n".join(raised)),
    )


def _raised_questions(findings: Iterable[Finding]) -> list[str]:
    """Return the questions that researchers would ask next, those of each step in turn."""
    by_step = zip_longest(*(finding.get("questions", []) for finding in findings))
    questions = (one.strip() for row in by_step for one in row if one)
    return list(dict.fromkeys(filter(None, questions)))[:MAX_RAISED]


def _added_step(gap: Missing, name: str, done: Mapping[str, Finding]) -> Step:
    """Return a step for something that is missing, which builds on the findings so far."""
    about = f"{gap.title}\n{gap.description}"
    same = gap.description.casefold().strip() == gap.title.casefold().strip()
    return make_research_step(
        name,
        gap.title,
        gap.queries or [gap.title],
        description="" if same else gap.description,
        needs=_select_needed(about, done),
    )


def _select_needed(about: str, done: Mapping[str, Finding]) -> list[str]:
    """Return the ids of the findings that a step on a subject is handed, in their order.

    Where they are too long together, those with the closest titles are chosen.
    """
    told = [name for name, finding in done.items() if finding["text"]]
    ranked = [at for at, _ in rank_texts(about, [done[name]["title"] for name in told])]
    selected, budget = set[str](), MAX_NEEDED_TOKENS
    for at in dict.fromkeys([*ranked, *range(len(told))]):
        size = estimate_tokens(done[told[at]]["text"])
        if size <= budget:
            selected.add(told[at])
            budget -= size
    return [name for name in told if name in selected]


def _passed(finding: Finding) -> bool:
    """Tell whether a finding answers its step and passed its review."""
    return finding["status"] == "ok" and finding["review"] == "passed"


def _next_id(taken: set[str]) -> str:
    """Return the next free id of the form `s5`, and add it to those taken."""
    number = len(taken) + 1
    while f"s{number}" in taken:
        number += 1
    taken.add(f"s{number}")
    return f"s{number}"
