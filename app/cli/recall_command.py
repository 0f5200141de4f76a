"""dossier recall: answer a question from what was read before."""

from __future__ import annotations

import asyncio
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

from app.cli.ask import read_question
from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.output import MISSING_LOCATION, one_line, print_json
from app.cli.progress import RunProgress
from app.cli.question_run import check_models
from app.cli.search import cut_snippet
from config.errors import ErrorKind
from config.settings import settings
from graph.context import Context
from graph.records import Passage
from graph.session import open_session
from library.page_retrieval import find_misspellings
from library.scope import parse_scope, resolve_scope
from library.spelling import apply_corrections, describe_corrections
from nodes.recall.recall_graph import make_recall_graph
from nodes.recall.recall_state import (
    EarlierReport,
    RecallState,
    recalled_passages,
    render_recall,
    round_of,
)
from prompts.loader import render_prompt
from runs.call_site import join_owner
from runs.lifecycle import check_question

STAGES = {
    "plan": "Looking through memory",
    "search": "Reading",
    "integrate": "Noting",
    "check": "Judging whether it is enough",
}
"""What is done while a node works."""


LONGEST = 480
"""How many characters of a page are shown, some five lines."""


class RecallExtract(NamedTuple):
    """Words of a page that the notes rest on, under the id by which the notes name the page."""

    source: str
    page: str
    title: str
    location: str
    text: str


class RecallAnswer(NamedTuple):
    """What memory knows of a question."""

    question: str
    notes: str
    extracts: list[RecallExtract]
    pages: list[str]
    reports: list[EarlierReport]
    """Earlier reports on the question; they are no sources."""
    rounds: int
    spelling: dict[str, str]
    """The words of the question that were searched for in another spelling."""


def recall(
    *,
    question: str,
    within: str,
    pages: bool,
    invocation: Invocation,
) -> int:
    """Answer a question from what was read before."""
    question = check_question(read_question(question))
    chosen = Context(project=invocation.project, memory=_named(invocation.owner, within))
    progress = RunProgress(Console(stderr=True))
    state, recalled = asyncio.run(_recalled(question, chosen, progress, whole=pages))
    if invocation.as_json:
        print_json(_plain(recalled))
    else:
        _print(recalled, state, whole=pages)
    return 0 if recalled.notes else ErrorKind.FAILED.exit_status


def _named(owner: str, name: str) -> list[str]:
    """Return what a namespace is called by those who search it."""
    kinds, groups = run_and_close(resolve_scope(owner, name))
    return [*(kinds or []), *(groups or [])]


async def _recalled(
    question: str, chosen: Context, progress: RunProgress, *, whole: bool
) -> tuple[RecallState, RecallAnswer]:
    """Let the memory researcher work in a thread of its own."""
    owner = join_owner(settings().user, chosen.project)
    async with open_session(f"recall-{secrets.token_hex(6)}", make_recall_graph) as opened:
        with progress:
            await check_models(chosen, progress)
            changed = await find_misspellings(owner, question, *parse_scope(chosen.memory))
            asked = apply_corrections(question, changed)
            state: Any = (await opened.begin(asked, chosen, _watch(progress))).state
        passages = await recalled_passages(owner, state, whole=whole)
    return state, _gathered(state, passages, changed)


def _gathered(
    state: RecallState, passages: Sequence[Passage], changed: dict[str, str]
) -> RecallAnswer:
    extracts = []
    for one in passages:
        source = state["sources"][one["source"]]
        named = (source["id"], source["page"], source["title"], source["location"])
        extracts.append(RecallExtract(*named, one["text"]))
    rounds = round_of(state) + 1
    return RecallAnswer(
        state["question"],
        state["notes"],
        extracts,
        state["pages"],
        state["reports"],
        rounds,
        changed,
    )


def _plain(recalled: RecallAnswer) -> dict[str, Any]:
    return {
        **recalled._asdict(),
        "extracts": [one._asdict() for one in recalled.extracts],
        "status": "succeeded" if recalled.notes else "insufficient_evidence",
    }


def _watch(progress: RunProgress) -> Callable[[dict[str, Any]], None]:
    nodes = list(STAGES)
    following = dict(zip(nodes, [*nodes[1:], "plan"], strict=True))

    def watch(event: dict[str, Any]) -> None:
        """Say what comes next when a node has ended."""
        if event.get("node") in following:
            progress.set_activity(STAGES[following[event["node"]]])

    progress.set_activity(STAGES["plan"])
    return watch


def _print(recalled: RecallAnswer, state: RecallState, *, whole: bool) -> None:
    if recalled.spelling:
        words = describe_corrections(recalled.spelling)
        _show(render_prompt("notice_spelling", language=state["language"], words=words), Markdown)
    _show(render_recall(state), Markdown)
    by_page = sorted(recalled.extracts, key=lambda one: int(one.source[1:]))
    for source, extracts in groupby(by_page, key=lambda one: one.source):
        said = list(extracts)
        title, location = (one_line(one) for one in (said[0].title, said[0].location))
        _show(
            f"\n[{source}] {title}  {location or MISSING_LOCATION}",
            partial(Text, style="bold", overflow="fold"),
        )
        text = "\n[…]\n".join(one.text for one in said)
        _show(text if whole else _passage(text, recalled, source), _beside)


def _passage(text: str, recalled: RecallAnswer, source: str) -> str:
    """Return the part of a page that the notes rest on, or else that the question is about."""
    if len(text) <= LONGEST:
        return text
    noted = " ".join(line for line in recalled.notes.splitlines() if f"[{source}]" in line)
    part = cut_snippet(text, noted or recalled.question, LONGEST).strip("…")
    said = " ".join(one_line(line).lstrip("# ") for line in text.splitlines() if line.strip())
    before, _, after = said.partition(part)
    return f"{'… ' if before else ''}{part}{' …' if after else ''}"


def _show(text: str, drawn: Callable[[str], RenderableType]) -> None:
    """Draw a text on a terminal; elsewhere it is printed as it is."""
    if sys.stdout.isatty():
        Console().print(drawn(text))
    else:
        print(text)


def _beside(text: str) -> RenderableType:
    return Padding(Text(text), (0, 0, 0, 4))
