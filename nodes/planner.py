"""Break the question into steps that can be researched side by side."""

from __future__ import annotations

from datetime import UTC, datetime

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from config.errors import Problem
from graph.context import Context
from graph.plan import checked, to_research
from graph.plan_text import written
from graph.records import EMPTY_PLAN, Passage, Plan, Step, of_turn
from graph.state import State
from nodes.agent import ask
from nodes.shown_plan import plan_message
from nodes.streaming import tell
from nodes.typed import Searches, Shown
from prompts.loader import render
from prompts.marks import block, blocks, pages_block
from report.earlier import accepted, earlier_block, left_open
from report.material import settled
from runs.budget import pause
from runs.faults import bear
from runs.lifecycle import mark
from runs.place import here

TRIES = 2
"""How often a plan is asked for before one is made from the queries."""


class DraftStep(BaseModel):
    """One step as the model writes it."""

    title: Shown
    description: Shown = ""
    kind: str = Field(default="research", json_schema_extra={"enum": ["research"]})
    queries: Searches = Field(default=[], description="what to search for, one or two")
    needs: list[int | str] = Field(default=[], description="numbers of earlier steps it builds on")
    need_web_search: bool = True


class Draft(BaseModel):
    """A plan as the model writes it."""

    title: Shown
    thought: Shown = ""
    has_enough_context: bool = Field(
        default=False, description="true if the pages already answer the question completely"
    )
    steps: list[DraftStep] = []


async def planner(state: State, runtime: Runtime[Context]) -> State:
    """Write a plan for the question; a run without steps goes by without one.

    Reads `question`, `queries`, `background`, `plan`, `feedback`, and of earlier turns `findings`
    and `answers`; writes `plan`, `status`, and `messages` where the plan is shown.
    """
    if not runtime.context.deep:
        return State()
    if settled(state):
        # There is nothing to research, so there is no plan that a person could review.
        return State(plan=EMPTY_PLAN, decision="")
    tell(state, "planning")
    plan = await _plan(state, runtime)
    runtime.stream_writer({"event": "plan", "plan": plan})
    if runtime.context.auto_accept:
        return State(plan=plan, decision="")
    place = here(state, runtime)
    pause(place)
    await mark(place.owner, place.run, "waiting_review")
    shown = [plan_message(state, plan)]
    return State(plan=plan, messages=shown, status="waiting_review", decision="")


def answered(state: State) -> bool:
    """Say whether a plan finds that nothing is left to research, with something to rest on."""
    if not state["plan"]["has_enough_context"]:
        return False
    return bool(_passages(state) or accepted(state, state["question"]))


async def _plan(state: State, runtime: Runtime[Context]) -> Plan:
    system = render(
        "planner",
        language=state["language"],
        today=datetime.now(UTC).date(),
        max_steps=runtime.context.max_steps,
    )
    for plan_try in range(TRIES):
        again = {**state, "plan_try": plan_try}
        try:
            draft = await ask(again, runtime, "planner", system, [_request(state, runtime)], Draft)
            plan = to_plan(draft, runtime.context.max_steps, state["language"])
            # A person who wants to see the plan is shown one, also where nothing seems left to do.
            if plan["steps"] or runtime.context.auto_accept:
                return plan
            break
        except Problem as problem:
            bear(problem)
            if problem.code == "budget_spent":
                break
    return plan_of_queries(state, runtime.context.max_steps)


def _request(state: State, runtime: Runtime[Context]) -> HumanMessage:
    rejected = state["feedback"] or state["revisions"]
    return HumanMessage(
        blocks(
            block("question", state["question"]),
            block("queries", "\n".join(state["queries"])),
            pages_block(_passages(state), state.get("sources", {})),
            earlier_block(accepted(state, state["question"]), left_open(state)),
            block("limit", str(runtime.context.max_steps)),
            block("plan", written(state["plan"])) if rejected else "",
            block("feedback", state["feedback"]),
        )
    )


def _passages(state: State) -> list[Passage]:
    found = of_turn(state.get("background"), state["turn"])
    return [passage for entry in found.values() for passage in entry["passages"]]


def to_plan(draft: Draft, limit: int, language: str = "en") -> Plan:
    """Make a plan of a draft, keeping to the limit and to needs that point back.

    A step that computes becomes one that looks the figures up, and says so: nothing computes yet.

    Raises:
        Problem: If the draft is no plan that can be researched (`graph/plan.py`).
    """
    # A model asked for four steps sometimes writes nine, so the limit is kept here.
    kept = draft.steps[:limit]
    steps = [
        Step(
            id=f"s{number}",
            title=step.title[:300],
            description=_described(step, language),
            kind="research",
            queries=step.queries or [step.title],
            needs=_earlier(step.needs, number),
            need_web_search=step.need_web_search,
        )
        for number, step in enumerate(kept, start=1)
    ]
    plan = Plan(
        title=draft.title[:300],
        thought=draft.thought[:10_000],
        has_enough_context=draft.has_enough_context,
        steps=steps,
    )
    return plan if plan["has_enough_context"] and not steps else checked(plan)


def _described(step: DraftStep, language: str) -> str:
    note = render("not_computed", language=language).strip() if step.kind == "compute" else ""
    return " ".join(part for part in (step.description[: 2000 - len(note) - 1], note) if part)


def _earlier(needs: list[int | str], number: int) -> list[str]:
    """Return the ids of the earlier steps that are meant, named as 2, "2" or "s2"."""
    meant = [int(digits) for need in needs if (digits := str(need).lstrip("s")).isdecimal()]
    return [f"s{need}" for need in dict.fromkeys(meant) if 0 < need < number]


def plan_of_queries(state: State, limit: int) -> Plan:
    """Make a plan without a model: one step for each query."""
    queries = enumerate(state["queries"][:limit], start=1)
    steps = [to_research(f"s{number}", query, [query]) for number, query in queries]
    title = state["question"][:300]
    return Plan(title=title, thought="", has_enough_context=False, steps=steps)
