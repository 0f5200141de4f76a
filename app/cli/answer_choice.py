"""Show an earlier answer to the same question on the terminal, and take what to do with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from app.cli.output import drop_typed, one_line
from app.cli.review import ReviewDecision
from config.errors import ErrorCode, Problem
from graph.context import AGAIN
from report.labels import format_days, format_source_count

ACTION = "answered_question"
"""The name of the action that decides on an earlier answer (`nodes/same_question.py`)."""

LETTERS = {"u": "reuse", "r": "refresh", "d": "deepen", "n": "new"}
"""What may be typed for each choice."""

CHOICES = tuple(name for name in AGAIN if name)

LEGEND = (
    "re[bold]u[/bold]se: show that report again\n"
    "[bold]r[/bold]efresh: read again only what may have changed\n"
    "[bold]d[/bold]eepen: keep what was found, and go beyond it\n"
    "[bold]n[/bold]ew: research it as a new question"
)


def offers_answer(request: Mapping[str, Any]) -> bool:
    """Tell whether a request is about an earlier answer, and not about a plan."""
    return any(one["name"] == ACTION for one in request["action_requests"])


def describe_earlier(request: Mapping[str, Any]) -> str:
    """Return when a question was answered, from how many sources of which age, in one line."""
    earlier = request["earlier"]
    sources = format_source_count(earlier["sources"], "en")
    read = format_days(earlier["oldest"], earlier["newest"], "en")
    return f"Answered on {earlier['answered']} ({earlier['run']}) from {sources}, read {read}"


def print_offer(console: Console, request: Mapping[str, Any]) -> None:
    """Print an earlier answer that waits for a choice."""
    lines = [escape(describe_earlier(request))]
    if file := request["earlier"]["file"]:
        lines.append(f"[dim]{escape(one_line(file))}[/dim]")
    title = "This question was answered before"
    body = "\n".join([*lines, "", LEGEND])
    console.print(Panel(body, title=title, title_align="left", border_style="cyan"))
    if request["note"]:
        console.print(escape(one_line(request["note"])), style="yellow")


def ask_choice(console: Console) -> ReviewDecision:
    """Ask until the person chooses.

    Raises:
        EOFError: If they close the input instead.
    """
    while True:
        drop_typed()
        console.print("re(u)se, (r)efresh, (d)eepen, or (n)ew? ", style="bold", end="")
        said = input().strip().lower()
        if choice := LETTERS.get(said, said if said in CHOICES else ""):
            return make_choice(choice)
        if said:
            console.print("Type u, r, d or n.")


def make_choice(choice: str) -> ReviewDecision:
    """Return the decision to do something with an earlier answer.

    Raises:
        Problem: `bad_choice`.
    """
    if choice not in CHOICES:
        what, hint = f"{choice!r} is no choice", f"one of {', '.join(CHOICES)}"
        raise Problem(ErrorCode.BAD_CHOICE, what, where="again", hint=hint)
    return {"type": "edit", "edited_action": {"name": ACTION, "args": {"choice": choice}}}


def check_decision_fits(request: Mapping[str, Any], decision: ReviewDecision) -> None:
    """Make sure that a decision is about what waits: a plan, or an earlier answer.

    Raises:
        Problem: `bad_feedback`.
    """
    action = decision.get("edited_action")
    if not action or (action["name"] == ACTION) == offers_answer(request):
        return
    if offers_answer(request):
        what, hint = "no plan waits, but an earlier answer", f"--again {'|'.join(CHOICES)}"
    else:
        what, hint = "a plan waits", "--approve, --reject TEXT or --plan FILE"
    raise Problem(ErrorCode.BAD_FEEDBACK, what, hint=hint)
