"""Show a plan as the fields of a form, and read back what a person has decided on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.web.console_route import SentForm
from config.errors import ErrorCode, Problem
from graph.plan import MOST_STEPS

MAX_NEW_STEPS = 5
"""How many empty steps a form has room for."""


class FormStep(NamedTuple):
    """A step as a form has it."""

    place: float
    number: int
    """Its number in the plan that was shown, from 1; 0 for a new one."""
    title: str
    description: str


def read_plan_decision(form: SentForm, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decision on a plan that a form holds, as the review takes it.

    Args:
        form: The form.
        asked: The request for the review, with the plan that was shown.

    Raises:
        Problem: `bad_feedback` for a plan that was replaced meanwhile, or for one without steps.
    """
    if form.text("revision") != str(asked.get("revision", "")):
        what = "the plan was replaced while you read it"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="look at the new plan")
    answers = {"answers": read_plan_answers(form, asked.get("questions") or [])}
    if form.text("decision") == "reject":
        return {"decisions": [{"type": "reject", "message": form.words("words"), **answers}]}
    plan = asked["plan"]
    changes = _read_changes(form, plan)
    if not changes:
        return {"decisions": [{"type": "approve", **answers}]}
    action = {"name": asked["action_requests"][0]["name"], "args": changes}
    return {"decisions": [{"type": "edit", "edited_action": action, **answers}]}


def read_plan_answers(form: SentForm, questions: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the answers to questions, by their ids; what was left open is left out."""
    given = {
        str(one["id"]): form.words(f"{one['id']}_words") or form.text(f"{one['id']}_option")
        for one in questions
    }
    return {name: answer for name, answer in given.items() if answer}


def _read_changes(form: SentForm, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a plan was changed, as the arguments of the review's action."""
    changes: dict[str, Any] = {}
    if (title := form.words("title")) and title != plan["title"]:
        changes["title"] = title
    steps = _read_steps(form, plan["steps"])
    if steps != plan["steps"]:
        changes["steps"] = steps
    if "knowledge" in plan:
        chosen = form.texts("knowledge")
        if sorted(chosen) != sorted(plan["knowledge"]):
            changes["knowledge"] = chosen
    return changes


def _read_steps(form: SentForm, steps: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps that are left, in their order, and those that were added."""
    kept = [one for number in range(1, len(steps) + 1) if (one := _read_step(form, number))]
    added = [one for at in range(1, MAX_NEW_STEPS + 1) if (one := _read_new_step(form, at))]
    ordered = [*sorted(kept, key=lambda one: one.place), *added]
    if not ordered:
        raise Problem(ErrorCode.BAD_FEEDBACK, "the plan has no step left", hint="keep one, or add")
    gone = {
        str(one["id"])
        for number, one in enumerate(steps, start=1)
        if number not in {step.number for step in kept}
    }
    taken = {str(one["id"]) for one in steps}
    return [_make_step(one, steps, gone, taken) for one in ordered]


def _read_step(form: SentForm, number: int) -> FormStep | None:
    title = form.words(f"step_{number}_title")
    if form.text(f"step_{number}_drop") or not title:
        return None
    try:
        place = float(form.text(f"step_{number}_place") or number)
    except ValueError:
        place = float(number)
    return FormStep(place, number, title, form.words(f"step_{number}_description"))


def _read_new_step(form: SentForm, at: int) -> FormStep | None:
    title = form.words(f"new_{at}_title")
    return FormStep(0, 0, title, form.words(f"new_{at}_description")) if title else None


def _make_step(
    one: FormStep, steps: Sequence[Mapping[str, Any]], gone: set[str], taken: set[str]
) -> dict[str, Any]:
    """Return a step of the changed plan; one with a new title searches for its title."""
    if not one.number:
        id = next(name for at in range(1, 2 * MOST_STEPS + 2) if (name := f"s{at}") not in taken)
        taken.add(id)
        new = {"kind": "research", "queries": [one.title], "needs": [], "need_web_search": True}
        return {"id": id, "title": one.title, "description": one.description, **new}
    old = steps[one.number - 1]
    needs = [need for need in old["needs"] if need not in gone]
    # A browser sends the breaks of lines in a form of its own.
    same = " ".join(one.description.split()) == " ".join(old["description"].split())
    described = old["description"] if same else one.description
    changed = {**old, "description": described, "needs": needs}
    if one.title != old["title"]:
        changed |= {"title": one.title, "queries": [one.title]}
    return changed
