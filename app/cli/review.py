"""Show a plan on the terminal, and take the person's decision, or let them edit the plan."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Column, Table

from app.cli.output import drop_typed, one_line
from config.errors import ErrorCode, Problem
from config.user_files import open_user_file
from graph.plan import (
    COMPUTES,
    NO_WEB,
    PLAN_LEGEND,
    is_plan_without_web,
    is_without_web,
    parse_plan,
    render_base_names,
    render_plan,
)
from graph.plan_questions import (
    answer_questions,
    list_answers,
    list_questions,
    render_perspectives,
)
from graph.records import Plan, PlanQuestion, Step
from prompts.loader import render_prompt
from text.normalization import is_blank


def edit_text(text: str, name: str) -> str:
    """Open a text in `$VISUAL`, `$EDITOR` or vi, and return what the person leaves.

    Args:
        text: What is edited.
        name: How the file is called while it is; editors go by its ending.

    Raises:
        Problem: `editor_failed` when there is no such editor, or it ends in a failure.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="dossier-") as folder:
        file = Path(folder, name)
        file.write_text(text, "utf-8")
        _run_editor(editor, file)
        return file.read_text("utf-8-sig", errors="replace")


def _run_editor(editor: str, file: Path) -> None:
    hint = "set EDITOR to an editor you have"
    try:
        process = subprocess.Popen([*shlex.split(editor), str(file)])  # noqa: S603 - theirs to name
    except (OSError, ValueError) as error:
        what = f"the editor does not start: {error}"
        raise Problem(ErrorCode.EDITOR_FAILED, what, where=editor, hint=hint) from error
    # Ctrl-C in an editor is a key of the editor, but the terminal sends it to us as well.
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = process.wait()
    finally:
        signal.signal(signal.SIGINT, usual)
    if status:
        what = f"the editor ended with {status}"
        raise Problem(ErrorCode.EDITOR_FAILED, what, where=editor, hint=hint)


ReviewDecision = dict[str, Any]

LONGEST = 20_000
"""The most characters a person may say against a plan."""

LARGEST = 1_000_000
"""The most bytes of a file with a plan; it may be a pipe, or a device without an end."""

PLAN_HINT = "name a text file with the plan; `dossier resume --help` shows one"


def print_plan(console: Console, request: dict[str, Any]) -> None:
    """Print a plan that waits for a decision, and its questions."""
    plan: Plan = request["plan"]
    title = escape(one_line(plan["title"]))
    console.print(Panel(_render_steps(plan), title=title, title_align="left", border_style="cyan"))
    if is_plan_without_web(plan):
        console.print("No step searches the web.", style="dim")
    if "knowledge" in plan:
        names = f"Knowledge bases that are searched: {render_base_names(plan)}"
        console.print(escape(one_line(names)), style="dim")
    if views := render_perspectives(plan):
        console.print(escape(one_line(render_prompt("plan_views", views=views))), style="dim")
    if questions := list_questions(plan):
        console.print("What the plan assumes, unless you answer otherwise:")
    for question in questions:
        console.print(escape(_question_line(question)))
    if request["note"]:
        console.print(escape(one_line(request["note"])), style="yellow")


def _render_steps(plan: Plan) -> Table:
    """Return the steps of a plan as rows: number, title, and what stands beside it."""
    table = Table.grid(*(Column(overflow="fold") for _ in range(3)), padding=(0, 1))
    numbers = {step["id"]: str(place) for place, step in enumerate(plan["steps"], start=1)}
    searching = not is_plan_without_web(plan)
    for step in plan["steps"]:
        marks = ", ".join(_list_marks(step, numbers, searching=searching))
        number = f"[bold]{numbers[step['id']]}.[/bold]"
        table.add_row(number, escape(one_line(step["title"])), f"[dim]{marks}[/dim]")
        if step["description"].casefold() not in ("", step["title"].casefold()):
            table.add_row("", f"[dim]{escape(one_line(step['description']))}[/dim]", "")
    return table


def _list_marks(step: Step, numbers: Mapping[str, str], *, searching: bool) -> list[str]:
    """Return what stands beside a step; where no step searches the web, none is marked so."""
    after = ", ".join(numbers.get(need, need) for need in step["needs"])
    marks = [COMPUTES[0]] if step["kind"] == "compute" else []
    marks += [NO_WEB] if searching and is_without_web(step) else []
    return [*marks, f"after {after}"] if after else marks


def _question_line(question: PlanQuestion) -> str:
    options = " ".join(f"({at}) {text}" for at, text in enumerate(question["options"], start=1))
    assumed = question.get("answer") or question["assumed"]
    return one_line(f"{question['id']}. {question['question']} {options} [{assumed}]")


def ask_decision(console: Console, request: dict[str, Any]) -> ReviewDecision:
    """Ask until the person has answered what the plan asks, and approves, edits or rejects it.

    Raises:
        EOFError: If they close the input instead.
    """
    answers = _ask_answers(console, request["plan"])
    decision = _ask_decision(console, request["plan"], answered=bool(answers))
    return with_answers(decision, answers)


def _ask_answers(console: Console, plan: Plan) -> dict[str, str]:
    """Ask for an answer to each question of a plan; Enter takes what is assumed."""
    answers: dict[str, str] = {}
    for question in list_questions(plan):
        head = f"{question['id']}, a number or your own words; Enter: {question['assumed']}? "
        drop_typed()
        console.print(escape(one_line(head)), style="bold", end="")
        answers |= {question["id"]: said} if (said := input().strip()) else {}
    if told := list_answers(answer_questions(plan, answers)):
        console.print(escape(one_line(f"The research is told: {'; '.join(told)}")))
        console.print("To have the plan made again with it, reject the plan.")
    return answers


def with_answers(decision: ReviewDecision, answers: Mapping[str, str]) -> ReviewDecision:
    """Return a decision with the answers to the questions of the plan, if there are any."""
    return {**decision, "answers": dict(answers)} if answers else decision


def parse_answers(given: Sequence[str]) -> dict[str, str]:
    """Return the answers that were given as `q1=TEXT`, by the ids of their questions.

    Raises:
        Problem: `bad_feedback` for one that has no `=`, or no text.
    """
    answers: dict[str, str] = {}
    for one in given:
        name, _, answer = (part.strip() for part in one.partition("="))
        if not name or is_blank(answer):
            hint = "write the id of the question, =, and the answer: --answer q1=2"
            raise Problem(ErrorCode.BAD_FEEDBACK, "an answer is incomplete", where=one, hint=hint)
        answers[name] = answer
    return answers


def _ask_decision(console: Console, plan: Plan, *, answered: bool) -> ReviewDecision:
    shown = text = f"{PLAN_LEGEND}\n{render_plan(plan)}"
    while True:
        drop_typed()
        console.print("(a)pprove, (e)dit, or (r)eject with words? ", style="bold", end="")
        said, _, words = input().strip().partition(" ")
        try:
            if said.lower() in ("a", "approve", "y", "yes"):
                return make_approval()
            if said.lower() in ("r", "reject"):
                return make_rejection(words or _ask_words(console), answered=answered)
            if said.lower() in ("e", "edit"):
                text = edit_text(text, "plan.md")
                if text.split() != shown.split():
                    return _parse_edit(text)
                console.print("Nothing was changed.")
            elif said:
                console.print("Type a, e or r.")
        except Problem as problem:
            console.print(one_line(str(problem)), style="red", markup=False)


def _ask_words(console: Console) -> str:
    drop_typed()
    console.print("What should be different? ", end="")
    return input()


def make_approval() -> ReviewDecision:
    """Return the decision to research the plan as it is."""
    return {"type": "approve"}


def make_rejection(words: str, *, answered: bool = False) -> ReviewDecision:
    """Return the decision to have another plan made.

    Args:
        words: What the person says against the plan.
        answered: Whether they have answered a question of the plan, which is enough to say.

    Raises:
        Problem: `bad_feedback` when nothing is said, or too much.
    """
    if is_blank(words) and not answered:
        what = "the rejection has no words"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="say what is to change")
    if len(words) > LONGEST:
        what = f"the rejection has {len(words)} characters, the most is {LONGEST}"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="please shorten it")
    return {"type": "reject", "message": words}


def _parse_edit(text: str) -> ReviewDecision:
    """Return the decision to research the plan that is written in a text.

    Raises:
        Problem: What is wrong with the plan, and in which line (`graph/plan.py`).
    """
    return {"type": "edit", "edited_action": {"name": "research_plan", "args": parse_plan(text)}}


def read_plan_edit(file: Path) -> ReviewDecision:
    """Return the decision to research the plan in a file, as lines of text or as JSON.

    Raises:
        Problem: `plan_file` when it cannot be read, or what is wrong with the plan.
    """
    code = ErrorCode.PLAN_FILE
    try:
        with open_user_file(file) as stream:
            content = stream.read(LARGEST + 1)
        text = content.decode("utf-8-sig")
        if len(content) <= LARGEST:
            return _parse_edit(text)
        what = f"the plan has more than {LARGEST} bytes"
    except FileNotFoundError:
        code, what = ErrorCode.FILE_NOT_FOUND, "there is no such file"
    except OSError as error:
        what = f"the plan cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        what = "the plan is not UTF-8"
    raise Problem(code, what, where=str(file), hint=PLAN_HINT)
