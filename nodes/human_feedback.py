"""Show the plan to a person and do what they say."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field, ValidationError

from config.errors import Problem
from graph.context import Context
from graph.plan import checked
from graph.records import Plan
from graph.state import State
from memory.experience.memory import PERSON
from prompts.loader import render
from retrieval.secrets import masked_within
from runs import ledger
from runs.lifecycle import mark
from runs.place import here

ACTION = "research_plan"
"""The name of what a person approves, edits or rejects."""

EXAMPLE = '{"decisions": [{"type": "approve"}]}, or "edit" or "reject"'


class Approve(BaseModel):
    """Research this plan."""

    type: Literal["approve"]


class PlanAction(BaseModel):
    """The action with a plan of the person's own."""

    name: Literal["research_plan"] = "research_plan"
    args: dict[str, Any]


class Edit(BaseModel):
    """Research my plan instead; `args` is the plan."""

    type: Literal["edit"]
    edited_action: PlanAction


class Reject(BaseModel):
    """Think again, with these words in mind."""

    type: Literal["reject"]
    message: str = Field(default="", max_length=20_000)


class Review(BaseModel):
    """What a person may answer: LangChain's human-in-the-loop response, with one decision."""

    decisions: list[Approve | Edit | Reject] = Field(min_length=1, max_length=1)


async def human_feedback(
    state: State, runtime: Runtime[Context]
) -> Command[Literal["planner", "team", "human_feedback"]]:
    """Pause for a decision on the plan, then do what it says.

    Reads `plan`, `revisions`; writes `plan`, `feedback`, `wishes`, `note`, `revisions`, `status`.
    On resume this runs again from its first line, so nothing with an effect may stand above
    `interrupt`.
    """
    if runtime.context.auto_accept:
        return Command(goto="team")
    limit = runtime.context.max_revisions
    try:
        answer = interrupt(review_request(state, limit), response_schema=Review)
        said = Review.model_validate(answer).model_dump()
        decision = Review.model_validate(masked_within(said)).decisions[0]
    except ValidationError:
        unread = Problem("bad_feedback", "the answer holds no decision", hint=f"send {EXAMPLE}")
        return Command(goto="human_feedback", update=State(note=str(unread)))
    if isinstance(decision, Reject):
        return await _rejected(state, runtime, decision.message)
    plan = state["plan"]
    if isinstance(decision, Edit):
        try:
            plan = checked(decision.edited_action.args)
        except Problem as problem:
            return Command(goto="human_feedback", update=State(note=str(problem)))
    place = here(state, runtime)
    await mark(place.owner, place.run, "running")
    return Command(goto="team", update=State(plan=plan, feedback="", note="", status="running"))


async def _rejected(
    state: State, runtime: Runtime[Context], words: str
) -> Command[Literal["planner", "team", "human_feedback"]]:
    """Go back to the planner, or wait on when there were enough plans: never to the research.

    What was said holds for the rest of the run either way.
    """
    place = here(state, runtime)
    said = [words.strip()] if words.strip() else []
    await ledger.note(place, PERSON, "review", [ledger.Said(one) for one in said])
    wishes = [*state.get("wishes", []), *said]
    if state["revisions"] >= runtime.context.max_revisions:
        limit = runtime.context.max_revisions
        told = render("no_more_plans", language=state["language"], limit=limit)
        return Command(goto="human_feedback", update=State(note=told, wishes=wishes))
    await mark(place.owner, place.run, "running")
    revisions = state["revisions"] + 1
    more = State(feedback=words, wishes=wishes, note="", revisions=revisions)
    return Command(goto="planner", update=more)


def review_request(state: State, limit: int) -> dict[str, Any]:
    """Return what is shown: LangChain's human-in-the-loop request, and the plan beside it."""
    left = max(limit - state["revisions"], 0)
    note = state["note"] or state["feedback"]
    told = "\n\n".join(part for part in (note, outline(state["plan"])) if part)
    request = {"name": ACTION, "args": dict(state["plan"]), "description": told}
    allowed = ["approve", "edit", "reject"] if left else ["approve", "edit"]
    return {
        "action_requests": [request],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": allowed}],
        "plan": state["plan"],
        "revision": state["revisions"],
        "note": note,
    }


def outline(plan: Plan) -> str:
    """Return a plan as text that a person reads."""
    lines = [plan["title"], *([plan["thought"]] if plan["thought"] else [])]
    for number, step in enumerate(plan["steps"], start=1):
        after = f" (after {', '.join(step['needs'])})" if step["needs"] else ""
        lines.append(f"{number}. {step['title']}{after}")
        lines += [f"   {step['description']}"] if step["description"] else []
    return "\n".join(lines)
