"""dossier recall: answer a question from what was read before."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import MISSING_LOCATION, one_line, print_json, read_question
from app.cli.progress import RunProgress
from app.cli.question_run import check_models
from app.cli.snippets import cut_snippet
from config.errors import ErrorKind
from graph.context import Context
from graph.session import open_session
from library.page_retrieval import find_misspellings
from library.scope import parse_scope, resolve_scope
from library.spelling import apply_corrections, describe_corrections
from nodes.recall.recall_graph import make_recall_graph
from nodes.recall.recall_state import RecallState, recalled_passages, render_recall, round_of
from prompts.loader import render_prompt
from runs.lifecycle import check_question

FOLLOWING = {
    "plan": "Reading",
    "search": "Noting",
    "integrate": "Judging whether it is enough",
    "check": "Looking through memory",
}
"""What is done when a node has ended."""

LONGEST = 480
"""How many characters of a page are shown, some five lines."""


class RecallExtract(NamedTuple):
    """Words of a page that the notes rest on, under the id by which the notes name the page."""

    source: str
    page: str
    title: str
    location: str
    text: str


def recall(*, question: str, within: str, pages: bool, invocation: Invocation) -> int:
    """Answer a question from what was read before."""
    # An event loop would keep Ctrl-C from ending the wait for standard input.
    question = check_question(read_question(question))
    return run_and_close(_answer(question, within, invocation, whole=pages))


async def _answer(question: str, within: str, invocation: Invocation, *, whole: bool) -> int:
    """Print what memory knows of a question; return the exit status."""
    kinds, groups = await resolve_scope(invocation.owner, within)
    choices = Context(project=invocation.project, memory=[*(kinds or []), *(groups or [])])
    state, extracts, spelling = await _recall(invocation.owner, question, choices, whole=whole)
    if invocation.as_json:
        head = {"question": state["question"], "notes": state["notes"]}
        found = {"extracts": [one._asdict() for one in extracts], "pages": state["pages"]}
        more = {"reports": state["reports"], "rounds": round_of(state) + 1, "spelling": spelling}
        status = "succeeded" if state["notes"] else "insufficient_evidence"
        print_json({**head, **found, **more, "status": status})
    else:
        _print(state, extracts, spelling, whole=whole)
    return 0 if state["notes"] else ErrorKind.FAILED.exit_status


async def _recall(
    owner: str, question: str, choices: Context, *, whole: bool
) -> tuple[RecallState, list[RecallExtract], dict[str, str]]:
    """Let the memory researcher work in a thread of its own.

    Returns:
        How it ended, the words that its notes rest on, and the words of the question that were
        searched for in another spelling.
    """
    progress = RunProgress(Console(stderr=True))
    async with open_session(f"recall-{secrets.token_hex(6)}", make_recall_graph) as opened:
        with progress:
            await check_models(choices, progress)
            spelling = await find_misspellings(owner, question, *parse_scope(choices.memory))
            asked = apply_corrections(question, spelling)
            state: Any = (await opened.begin(asked, choices, _watch(progress))).state
        passages = await recalled_passages(owner, state, whole=whole)
    extracts = []
    for one in passages:
        source = state["sources"][one["source"]]
        named = (source["id"], source["page"], source["title"], source["location"])
        extracts.append(RecallExtract(*named, one["text"]))
    return state, extracts, spelling


def _watch(progress: RunProgress) -> Callable[[dict[str, Any]], None]:
    def watch(event: dict[str, Any]) -> None:
        """Say what comes next when a node has ended."""
        if event.get("node") in FOLLOWING:
            progress.set_activity(FOLLOWING[event["node"]])

    progress.set_activity(FOLLOWING["check"])
    return watch


def _print(
    state: RecallState,
    extracts: Sequence[RecallExtract],
    spelling: dict[str, str],
    *,
    whole: bool,
) -> None:
    if spelling:
        words = describe_corrections(spelling)
        _show(render_prompt("notice_spelling", language=state["language"], words=words), Markdown)
    _show(render_recall(state), Markdown)
    by_page = sorted(extracts, key=lambda one: int(one.source[1:]))
    for source, group in groupby(by_page, key=lambda one: one.source):
        parts = list(group)
        title, location = one_line(parts[0].title), one_line(parts[0].location)
        head = f"\n[{source}] {title}  {location or MISSING_LOCATION}"
        _show(head, partial(Text, style="bold", overflow="fold"))
        text = "\n[…]\n".join(one.text for one in parts)
        _show(text if whole else _passage(text, state, source), _beside)


def _passage(text: str, state: RecallState, source: str) -> str:
    """Return the part of a page that the notes rest on, or else that the question is about."""
    if len(text) <= LONGEST:
        return text
    noted = " ".join(line for line in state["notes"].splitlines() if f"[{source}]" in line)
    part = cut_snippet(text, noted or state["question"], LONGEST).strip("…")
    whole = " ".join(one_line(line).lstrip("# ") for line in text.splitlines() if line.strip())
    before, _, after = whole.partition(part)
    return f"{'… ' if before else ''}{part}{' …' if after else ''}"


def _show(text: str, drawn: Callable[[str], RenderableType]) -> None:
    """Draw a text on a terminal; elsewhere it is printed as it is."""
    if sys.stdout.isatty():
        Console().print(drawn(text))
    else:
        print(text)


def _beside(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 4))
