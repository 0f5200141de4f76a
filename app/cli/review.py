"""Show a plan on the terminal and take the person's decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from config.errors import Problem
from graph.plan import checked

Decision = dict[str, Any]


def show_plan(console: Console, request: dict[str, Any]) -> None:
    """Print a plan that waits for a decision."""
    plan = request["plan"]
    table = Table.grid(padding=(0, 1))
    for step in plan["steps"]:
        after = f"[dim]after {', '.join(step['needs'])}[/dim]" if step["needs"] else ""
        table.add_row(f"[bold]{step['id']}[/bold]", escape(step["title"]), after)
        if step["description"]:
            table.add_row("", f"[dim]{escape(step['description'])}[/dim]", "")
    console.print(
        Panel(table, title=escape(plan["title"]), title_align="left", border_style="cyan")
    )
    if request["note"]:
        console.print(escape(request["note"]), style="yellow")


def ask_decision(console: Console, request: dict[str, Any]) -> Decision:
    """Ask until the person approves, edits or rejects."""
    while True:
        console.print(
            "[bold]a[/bold]pprove, [bold]e[/bold]dit, or [bold]r[/bold]eject with words? ", end=""
        )
        said = input().strip()
        if said.lower() in ("a", "approve", "y", "yes", ""):
            return approve()
        if said.lower() in ("e", "edit"):
            try:
                return _edited(request)
            except Problem as problem:
                console.print(str(problem), style="red", markup=False)
        elif said.lower().split(maxsplit=1)[0] in ("r", "reject"):
            words = said.partition(" ")[2] or input("What should be different? ")
            return reject(words)


def approve() -> Decision:
    """Return the decision to research the plan as it is."""
    return {"type": "approve"}


def reject(words: str) -> Decision:
    """Return the decision to have another plan made."""
    return {"type": "reject", "message": words}


def edit(plan: Any) -> Decision:
    """Return the decision to research another plan.

    Raises:
        Problem: What is wrong with the plan (`graph/plan.py`).
    """
    return {"type": "edit", "edited_action": {"name": "research_plan", "args": checked(plan)}}


def edit_from(file: Path) -> Decision:
    """Return the decision to research the plan in a JSON file.

    Raises:
        Problem: `plan_file` when it cannot be read, or what is wrong with the plan.
    """
    try:
        return edit(json.loads(file.read_text("utf-8")))
    except OSError as error:
        raise Problem("plan_file", f"cannot be read: {error.strerror}", where=str(file)) from error
    except ValueError as error:
        hint = "write it as the plan is shown with --json"
        raise Problem("plan_file", f"is no JSON: {error}", where=str(file), hint=hint) from error


def _edited(request: dict[str, Any]) -> Decision:
    shown = json.dumps(request["plan"], ensure_ascii=False, indent=2)
    written = click.edit(shown, extension=".json")
    if written is None:
        return approve()
    try:
        return edit(json.loads(written))
    except ValueError as error:
        raise Problem("plan_field", f"is no JSON: {error}", hint="edit it again") from error
