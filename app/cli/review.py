"""Show a plan on the terminal and take the person's decision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from app.cli.editor import edit as edit_text
from app.cli.output import one_line
from config.errors import Problem
from config.named_files import opened
from graph.plan_text import LEGEND, read, written
from retrieval.text import blank

Decision = dict[str, Any]

LONGEST = 20_000
"""The most characters a person may say against a plan."""

LARGEST = 1_000_000
"""The most bytes of a file with a plan; it may be a pipe, or a device without an end."""

PLAN_HINT = "name a text file with the plan; `dossier resume --help` shows one"


def show_plan(console: Console, request: dict[str, Any]) -> None:
    """Print a plan that waits for a decision."""
    plan = request["plan"]
    table = Table.grid(padding=(0, 1))
    numbers = {step["id"]: str(place) for place, step in enumerate(plan["steps"], start=1)}
    for step in plan["steps"]:
        after = ", ".join(numbers.get(need, need) for need in step["needs"])
        told = f"[dim]after {after}[/dim]" if after else ""
        number = f"[bold]{numbers[step['id']]}.[/bold]"
        table.add_row(number, escape(one_line(step["title"])), told)
        if step["description"].casefold() not in ("", step["title"].casefold()):
            table.add_row("", f"[dim]{escape(one_line(step['description']))}[/dim]", "")
    title = escape(one_line(plan["title"]))
    console.print(Panel(table, title=title, title_align="left", border_style="cyan"))
    if request["note"]:
        console.print(escape(one_line(request["note"])), style="yellow")


def ask_decision(console: Console, request: dict[str, Any]) -> Decision:
    """Ask until the person approves, edits or rejects.

    Raises:
        EOFError: If they close the input instead.
    """
    shown = text = f"{LEGEND}\n{written(request['plan'])}"
    while True:
        console.print("(a)pprove, (e)dit, or (r)eject with words? ", style="bold", end="")
        said, _, words = input().strip().partition(" ")
        try:
            if said.lower() in ("a", "approve", "y", "yes"):
                return approve()
            if said.lower() in ("r", "reject"):
                return reject(words or _ask_words(console))
            if said.lower() in ("e", "edit"):
                text = edit_text(text, "plan.md")
                if text.split() != shown.split():
                    return edit_in(text)
                console.print("Nothing was changed.")
            elif said:
                console.print("Type a, e or r.")
        except Problem as problem:
            console.print(one_line(str(problem)), style="red", markup=False)


def _ask_words(console: Console) -> str:
    console.print("What should be different? ", end="")
    return input()


def approve() -> Decision:
    """Return the decision to research the plan as it is."""
    return {"type": "approve"}


def reject(words: str) -> Decision:
    """Return the decision to have another plan made.

    Raises:
        Problem: `bad_feedback` when nothing is said, or too much.
    """
    if blank(words):
        raise Problem("bad_feedback", "the rejection has no words", hint="say what is to change")
    if len(words) > LONGEST:
        what = f"the rejection has {len(words)} characters, the most is {LONGEST}"
        raise Problem("bad_feedback", what, hint="please shorten it")
    return {"type": "reject", "message": words}


def edit_in(text: str) -> Decision:
    """Return the decision to research the plan that is written in a text.

    Raises:
        Problem: What is wrong with the plan, and in which line (`graph/plan_text.py`).
    """
    return {"type": "edit", "edited_action": {"name": "research_plan", "args": read(text)}}


def edit_from(file: Path) -> Decision:
    """Return the decision to research the plan in a file, as lines of text or as JSON.

    Raises:
        Problem: `plan_file` when it cannot be read, or what is wrong with the plan.
    """
    try:
        with opened(file) as stream:
            content = stream.read(LARGEST + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError as error:
        what = "there is no such file"
        raise Problem("file_not_found", what, where=str(file), hint=PLAN_HINT) from error
    except OSError as error:
        what = f"the plan cannot be read: {error.strerror}"
        raise Problem("plan_file", what, where=str(file), hint=PLAN_HINT) from error
    except UnicodeDecodeError as error:
        what = "the plan is not UTF-8"
        raise Problem("plan_file", what, where=str(file), hint=PLAN_HINT) from error
    if len(content) > LARGEST:
        what = f"the plan has more than {LARGEST} bytes"
        raise Problem("plan_file", what, where=str(file), hint=PLAN_HINT)
    return edit_in(text)
