"""Show what steps ask the person as a form, and read the answers back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.web.console_route import SentForm
from graph.pauses import ASK_USER


class AskedRequest(NamedTuple):
    """What a step asks: a question, or approval of a tool call."""

    id: str
    is_question: bool
    name: str
    question: str
    options: list[str]
    assumed: str
    arguments: str
    """What a tool would be called with, as JSON."""
    description: str


def list_asked_requests(asked: Mapping[str, Any]) -> list[AskedRequest]:
    """Return what a request of steps asks, in its order."""
    pairs = zip(asked["requests"], asked["action_requests"], strict=True)
    return [_describe(str(one["id"]), action) for one, action in pairs]


def _describe(id: str, action: Mapping[str, Any]) -> AskedRequest:
    args, about = action["args"], str(action.get("description", ""))
    if action["name"] == ASK_USER:
        options = [str(one) for one in args["options"]]
        return AskedRequest(
            id, True, ASK_USER, str(args["question"]), options, str(args["answer"]), "", about
        )
    written = json.dumps(args, ensure_ascii=False, indent=2)
    return AskedRequest(id, False, str(action["name"]), "", [], "", written, about)


def read_pause_answers(form: SentForm, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers in a form to what steps ask; unanswered requests keep waiting."""
    answers = {
        one.id: answer
        for one in list_asked_requests(asked)
        if (answer := _read_question(form, one) if one.is_question else _read_leave(form, one))
    }
    return {"answers": answers}


def _read_question(form: SentForm, one: AskedRequest) -> str:
    return form.words(f"{one.id}_words") or form.text(f"{one.id}_option")


def _read_leave(form: SentForm, one: AskedRequest) -> str:
    """Return the decision on a tool call: yes, always, changed arguments, or no with a reason."""
    leave, words = form.text(f"{one.id}_leave"), form.words(f"{one.id}_words")
    changed = form.words(f"{one.id}_arguments")
    if leave == "yes" and changed and changed != one.arguments:
        return changed
    if leave == "no":
        return f"no, {words}" if words else "no"
    return leave if leave in ("yes", "always") else ""
