"""Show on the terminal what steps ask of a person, and take their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from app.cli.output import drop_typed, one_line
from app.cli.review import ReviewDecision, edit_text, make_approval
from calls.tool_requests import write_arguments
from config.errors import ErrorCode, Problem
from graph.pauses import ASK_USER, list_open_pauses, list_pending_requests
from graph.state import State


def asks_for_steps(request: Mapping[str, Any]) -> bool:
    """Tell whether a request is what steps ask, and not a plan or an earlier answer."""
    return "requests" in request


def waits_for_steps(state: State) -> bool:
    """Tell whether a run waits for what its steps ask, also if its pause was not saved."""
    return bool(list_pending_requests(list_open_pauses(state)))


def list_requests(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what is asked as plain data: id, step, name, arguments, and description of each."""
    both = zip(request["requests"], request["action_requests"], strict=True)
    return [{**named, **action} for named, action in both]


def suggest_answer(requests: Sequence[Mapping[str, Any]]) -> str:
    """Return how the first request is answered on the command line: a question, or a tool."""
    first = requests[0]
    return f"{first['id']}={'TEXT' if first['name'] == ASK_USER else 'yes'}"


def print_requests(console: Console, request: Mapping[str, Any]) -> None:
    """Print what steps ask."""
    if note := request["note"]:
        console.print(escape(one_line(note)), style="yellow")
    for one in list_requests(request):
        head, _, rest = one["description"].removeprefix(f"{note}\n\n").partition("\n\n")
        lines = [escape(one_line(head)), f"[dim]{escape(one_line(rest))}[/dim]"]
        if one["name"] != ASK_USER:
            given = write_arguments(one["args"])
            lines.insert(1, "\n".join(map(_indented_line, given.splitlines())))
        title = f"Step {escape(one_line(one['step']))} asks"
        panel = Panel("\n".join(lines), title=title, title_align="left", border_style="cyan")
        console.print(panel)


def _indented_line(line: str) -> str:
    """Return a line of JSON for a panel, with its indentation."""
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + escape(one_line(line))


def ask_answers(console: Console, request: Mapping[str, Any]) -> ReviewDecision:
    """Ask until the person has decided everything.

    Raises:
        EOFError: If they close the input instead.
    """
    decisions: list[ReviewDecision] = []
    allowed: set[str] = set()
    for one in list_requests(request):
        known = one["name"] in allowed
        decisions.append(make_approval() if known else _ask_one(console, one))
        allowed |= {one["name"]} if decisions[-1].get("for_run") else set()
    return {"decisions": decisions}


def _ask_one(console: Console, one: Mapping[str, Any]) -> ReviewDecision:
    if one["name"] == ASK_USER:
        head = f"{one['id']}, a number or your own words; Enter: {one['args']['answer']}?"
        drop_typed()
        console.print(escape(one_line(head)), style="bold", end=" ")
        said = input().strip()
        return {"type": "respond", "message": said} if said else make_approval()
    return _ask_leave(console, one)


def _ask_leave(console: Console, one: Mapping[str, Any]) -> ReviewDecision:
    """Ask whether a tool may be used; nothing is used without a clear yes."""
    while True:
        head = f"{one['id']}: (a)pprove, a(l)ways in this run, (e)dit, or (r)eject with words?"
        drop_typed()
        console.print(escape(one_line(head)), style="bold", end=" ")
        said, _, words = input().strip().partition(" ")
        try:
            if said.lower() in ("a", "approve", "y", "yes"):
                return make_approval()
            if said.lower() in ("l", "always"):
                return {**make_approval(), "for_run": True}
            if said.lower() in ("r", "reject", "n", "no"):
                return {"type": "reject", "message": words}
            if said.lower() in ("e", "edit"):
                return _edit(one)
            if said:
                console.print("Type a, l, e or r.")
        except Problem as problem:
            console.print(one_line(str(problem)), style="red", markup=False)


def _edit(one: Mapping[str, Any]) -> ReviewDecision:
    """Return the decision to use a tool with arguments that the person edits as JSON.

    Raises:
        Problem: `bad_feedback`, or `editor_failed`.
    """
    text = edit_text(json.dumps(one["args"], ensure_ascii=False, indent=2), "arguments.json")
    try:
        args = dict(json.loads(text))
    except (TypeError, ValueError) as error:
        what = "the arguments are not a JSON object"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint=str(error)) from error
    return {"type": "edit", "edited_action": {"name": one["name"], "args": args}}


def make_response(state: State, decision: ReviewDecision) -> ReviewDecision:
    """Return the answer to what steps ask that the options of a command are.

    Args:
        state: The state of the run that waits.
        decision: `answers` hold by the ids of requests; approval or rejection for all others.

    Raises:
        Problem: `bad_feedback` for a plan, or for an answer to what is not asked.
    """
    ids = [one.id for one in list_pending_requests(list_open_pauses(state))]
    answers = decision.get("answers", {})
    if decision.get("type") == "edit":
        hint = f"--answer {ids[0]}=TEXT, --approve or --reject TEXT"
        raise Problem(ErrorCode.BAD_FEEDBACK, "no plan waits, but a question of a step", hint=hint)
    for name in answers:
        if name not in ids:
            hint = f"one of {', '.join(ids)}"
            raise Problem(ErrorCode.BAD_FEEDBACK, f"there is no question {name!r}", hint=hint)
    if "type" not in decision:
        return {"answers": answers}
    rest = {name: one for name, one in decision.items() if name != "answers"}
    decisions = [None if one in answers else rest for one in ids]
    return {"decisions": decisions, "answers": answers}
