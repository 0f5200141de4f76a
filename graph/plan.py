"""Check a plan, whoever made it: a model or a person."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from config.errors import Problem
from config.validation import first_error
from graph.records import Plan, Step

MOST_STEPS = 50
"""No plan may be longer, whatever a run chooses."""


class StepForm(BaseModel):
    """A step as a person may write it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,32}$")
    title: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=2000)
    kind: Literal["research", "compute"] = "research"
    queries: list[str] = []
    needs: list[str] = []
    need_web_search: bool = True


class PlanForm(BaseModel):
    """A plan as a person may write it."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(default="", max_length=300)
    thought: str = Field(default="", max_length=10_000)
    has_enough_context: bool = False
    steps: list[StepForm] = Field(min_length=1)


def to_research(name: str, title: str, queries: list[str], *, description: str = "") -> Step:
    """Return a step that needs no other; `name` is its id."""
    return Step(
        id=name,
        title=title[:300],
        description=description[:2000],
        kind="research",
        queries=queries,
        needs=[],
        need_web_search=True,
    )


def checked(plan: Any) -> Plan:
    """Return the plan if it can be researched.

    Raises:
        Problem: `plan_field`, `plan_too_long`, `plan_duplicate_id`, `plan_unknown_need` or
            `plan_cycle`, naming the place.
    """
    try:
        form = PlanForm.model_validate(plan)
    except ValidationError as error:
        place, what = first_error(error)
        hint = "`dossier resume --help` shows how a plan is written"
        raise Problem("plan_field", what, where=place, hint=hint) from error
    steps = [cast("Step", step.model_dump()) for step in form.steps]
    _check_steps(steps)
    return Plan(
        title=form.title,
        thought=form.thought,
        has_enough_context=form.has_enough_context,
        steps=steps,
    )


def _check_kinds(steps: list[Step]) -> None:
    for place, step in enumerate(steps):
        if step["kind"] == "compute":
            what = "there are no steps that compute yet"
            hint = 'leave `kind` out: "research" looks the figures up in the sources'
            raise Problem("plan_field", what, where=f"steps.{place}.kind", hint=hint)


def _check_steps(steps: list[Step]) -> None:
    if len(steps) > MOST_STEPS:
        what = f"the plan has {len(steps)} steps, the most is {MOST_STEPS}"
        raise Problem("plan_too_long", what, where="steps", hint="join or drop steps")
    _check_kinds(steps)
    ids = [step["id"] for step in steps]
    for name in ids:
        if ids.count(name) > 1:
            raise Problem("plan_duplicate_id", f"two steps are named {name!r}", where="steps")
    for step in steps:
        for need in step["needs"]:
            if need not in ids:
                what = f"step {step['id']!r} needs {need!r}, which is no step"
                raise Problem("plan_unknown_need", what, hint=f"one of {', '.join(ids)}")
    try:
        TopologicalSorter({step["id"]: step["needs"] for step in steps}).prepare()
    except CycleError as error:
        path = "->".join(reversed(error.args[1]))
        what = f"the steps wait for each other: {path}"
        raise Problem("plan_cycle", what, hint="drop one of the needs") from error
