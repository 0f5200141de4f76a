"""What a plan rests on: who would ask, and what it asks the person, with answers or assumptions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from config.errors import ErrorCode, Problem
from graph.records import Plan, PlanQuestion

MOST_QUESTIONS = 3
"""So many questions may be asked with one plan."""

MOST_OPTIONS = 6
"""So many likely answers may be offered to one question."""

LONGEST_ANSWER = 2_000
"""The most characters of an answer."""

_Line = Annotated[str, StringConstraints(min_length=1, max_length=300)]

_ANSWER = re.compile(
    r"(?:^|[;；])[ \t]*(q[1-9]\d?)[ \t]*[:：=]([^;；\n]*)", re.IGNORECASE | re.MULTILINE
)
"""An answer in plain words: `q1: Austria`, on a line of its own or before a semicolon."""


class PlanQuestionForm(BaseModel):
    """A question of a plan as a client may send it back."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^q[1-9]$")
    question: _Line
    options: list[_Line] = Field(default=[], max_length=MOST_OPTIONS)
    assumed: _Line
    answer: Annotated[str, StringConstraints(max_length=LONGEST_ANSWER)] = ""


def list_questions(plan: Plan) -> list[PlanQuestion]:
    """Return the questions of a plan, of any version."""
    return plan.get("questions", [])


def split_answers(words: str) -> tuple[dict[str, str], str]:
    """Return the answers that words hold, by the ids of their questions, and the other words.

    An answer stands behind the id of its question: `q1: Austria; q2: 2`. Blank ones are left out.
    """
    said = {found[1].lower(): found[2].strip() for found in _ANSWER.finditer(words)}
    return {name: answer for name, answer in said.items() if answer}, _ANSWER.sub("", words).strip()


def answer_questions(plan: Plan, answers: Mapping[str, str]) -> Plan:
    """Return a plan with the answers to its questions; blank ones leave what is assumed.

    Args:
        plan: The plan.
        answers: By the id of the question: the number of an option, or other words.

    Raises:
        Problem: `bad_feedback` for an answer to what was not asked.
    """
    asked = {question["id"]: question for question in list_questions(plan)}
    for name, answer in answers.items():
        if name not in asked:
            hint = f"one of {', '.join(asked)}" if asked else "leave the answers out"
            raise Problem(ErrorCode.BAD_FEEDBACK, f"there is no question {name!r}", hint=hint)
        if answer.strip():
            asked[name] = asked[name] | {"answer": choose_option(asked[name]["options"], answer)}
    return plan | {"questions": [*asked.values()]} if answers else plan


def choose_option(options: Sequence[str], answer: str) -> str:
    """Return the option that an answer names by its number, or else the answer in one line."""
    said = " ".join(answer.split())
    if said in options or not (said.isdecimal() and len(said) == 1):
        return said
    return options[int(said) - 1] if 0 < int(said) <= len(options) else said


def list_answers(plan: Plan) -> list[str]:
    """Return the questions of a plan that were answered, each with its answer."""
    asked = list_questions(plan)
    return [f"{one['question']} {one['answer']}" for one in asked if one.get("answer")]


def list_assumptions(plan: Plan) -> list[str]:
    """Return the questions of a plan that nobody answered, each with what is assumed."""
    asked = list_questions(plan)
    return [f"{one['question']} {one['assumed']}" for one in asked if not one.get("answer")]


def list_own_answers(plan: Plan) -> list[str]:
    """Return the answers that are the person's own words: the others were offered to them."""
    answered = [one for one in list_questions(plan) if one.get("answer")]
    return [
        one["answer"] for one in answered if one["answer"] not in (*one["options"], one["assumed"])
    ]


def render_perspectives(plan: Plan) -> str:
    """Return who would ask, and what they would want to know, in one line."""
    parts = (re.split(r"\s*[:：]\s*", view, maxsplit=1) for view in plan.get("perspectives", []))
    return "; ".join(f"{who} ({', '.join(wanted)})" if wanted else who for who, *wanted in parts)


def render_plan_remarks(plan: Plan) -> str:
    """Return what a plan rests on, as comments of its text: views, answers, assumptions."""
    views = render_perspectives(plan)
    said = [f"views: {views}"] if views else []
    said += [f"answered: {answer}" for answer in list_answers(plan)]
    said += [f"assumed: {assumption}" for assumption in list_assumptions(plan)]
    # Two hyphens could end the comment.
    lines = (" ".join(line.replace("--", "–").split()) for line in said)
    return "".join(f"<!-- {line} -->\n" for line in lines)
