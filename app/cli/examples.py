"""What the help of a command shows below its options: examples, and what a choice takes."""

from __future__ import annotations

import textwrap

from app.cli.choices import CHOICES, VALUES
from graph.context import BOUNDS, Context

WIDTH = 78

EXAMPLES = {
    "ask": (
        'dossier ask "How do bees find food?" --docs notes --docs paper.pdf',
        "dossier ask - --docs notes --yes < question.txt",
        'dossier ask "Is it so in winter too?" --thread 20260101-a1b2c3 --json',
        'dossier ask "How do bees find food?" --docs notes --set max_steps=2 --set language=zh',
    ),
    "resume": (
        "dossier resume 20260101-a1b2c3-1 --approve",
        'dossier resume 20260101-a1b2c3-1 --reject "leave the history out"',
        "dossier resume 20260101-a1b2c3-1 --plan plan.md",
    ),
    "feedback": (
        "dossier feedback 20260101-a1b2c3-1 up",
        'dossier feedback 20260101-a1b2c3-1 "It was 1927 and not 1972."',
    ),
    "ingest": ("dossier ingest notes paper.pdf", "dossier ingest --chat talk.jsonl"),
    "search": ('dossier search "waggle dance" --in file --explain',),
    "recall": ('dossier recall "What did I read about bees?"',),
    "show": ("dossier runs show 20260101-a1b2c3-1",),
}
"""How commands are called, by their names."""

PLAN = """\
A plan for --plan, as dossier ask --review prints it:
  # How bees find food
  1. The waggle dance
     Who described it, and when.
     search: waggle dance discovery
     files only
  2. What the dance tells
     after: 1
"""


def examples(command: str) -> str:
    """Return the examples of a command, as click leaves them as they are."""
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])


def of_ask() -> str:
    """Return the examples of `ask`, and the choices that `--set` takes with what each may be."""
    told = "\n".join(_line(one.name, one.metadata["description"]) for one in CHOICES)
    return f"{examples('ask')}\n\n\b\nChoices for --set NAME=VALUE:\n{told}"


def of_resume() -> str:
    """Return the examples of `resume`, and a plan as `--plan` takes it."""
    return f"{examples('resume')}\n\n\b\n{PLAN}"


def _line(name: str, says: str) -> str:
    head = f"  {name}={_takes(name)}"
    return textwrap.fill(f"{head:28} {says}", WIDTH, subsequent_indent=" " * 29)


def _takes(name: str) -> str:
    """Return what a choice may be: its bounds, its words, or its kind of value."""
    usual = getattr(Context(), name)
    if name in BOUNDS:
        least, most = BOUNDS[name]
        return f"{least:g}..{most:g}" if isinstance(usual, float) else f"{least}..{most}"
    if name in VALUES:
        return "|".join(VALUES[name])
    kinds = {bool: "true|false", list: '["A", "B"]', dict: '{"ROLE": "NAME"}'}
    return kinds.get(type(usual), "TEXT")
