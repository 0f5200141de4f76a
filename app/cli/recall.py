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

from app.cli.ask import check_models
from app.cli.output import GONE, one_line, print_json
from app.cli.progress import Progress
from app.cli.questions import given
from app.cli.snippet import snippet
from config.errors import EXIT
from config.settings import settings
from graph.context import Context
from graph.records import Passage
from graph.session import session
from memory.pages.finding import spelling
from memory.pages.within import Scope, scope
from memory.pages.within import within as within_named
from nodes.recall.graph import make_recall
from nodes.recall.output import answer, output
from nodes.recall.state import EarlierReport, RecallState, round_of
from prompts.loader import render
from retrieval.spelling import respelt, spelt_out
from runs.lifecycle import check_question
from runs.place import owned
from storage.engine import close

STAGES = {
    "plan": "Looking through memory",
    "search": "Reading",
    "integrate": "Noting",
    "check": "Judging whether it is enough",
}
"""What is done while a node works."""


LONGEST = 480
"""How many characters of a page are shown, some five lines."""


class Extract(NamedTuple):
    """Words of a page that the notes rest on, under the id by which the notes name the page."""

    source: str
    page: str
    title: str
    location: str
    text: str


class Recalled(NamedTuple):
    """What memory knows of a question."""

    question: str
    notes: str
    extracts: list[Extract]
    pages: list[str]
    reports: list[EarlierReport]
    """Earlier reports on the question; they are no sources."""
    rounds: int
    spelling: dict[str, str]
    """The words of the question that were searched for in another spelling."""


def main(*, question: str, within: str, whole: bool, project: str, as_json: bool) -> int:
    """Print notes, and the words they rest on; return the exit status."""
    question = check_question(given(question))
    chosen = Context(project=project, memory=_named(project, within))
    progress = Progress(Console(stderr=True))
    state, recalled = asyncio.run(_recalled(question, chosen, progress, whole=whole))
    if as_json:
        print_json(_plain(recalled))
    else:
        _print(recalled, state, whole=whole)
    return 0 if recalled.notes else EXIT["failed"]


def _named(project: str, name: str) -> list[str]:
    """Return what a namespace is called by those who search it."""
    kinds, groups = asyncio.run(_inside(owned(settings().user, project), name))
    return [*(kinds or []), *(groups or [])]


async def _inside(owner: str, name: str) -> Scope:
    try:
        return await within_named(owner, name)
    finally:
        await close()


async def _recalled(
    question: str, chosen: Context, progress: Progress, *, whole: bool
) -> tuple[RecallState, Recalled]:
    """Let the memory researcher work in a thread of its own."""
    owner = owned(settings().user, chosen.project)
    async with session(f"recall-{secrets.token_hex(6)}", make_recall) as opened:
        with progress:
            await check_models(chosen, progress)
            changed = await spelling(owner, question, *scope(chosen.memory))
            asked = respelt(question, changed)
            state: Any = (await opened.begin(asked, chosen, _watch(progress))).state
        passages = await output(owner, state, whole=whole)
    return state, _gathered(state, passages, changed)


def _gathered(state: RecallState, passages: Sequence[Passage], changed: dict[str, str]) -> Recalled:
    extracts = []
    for one in passages:
        source = state["sources"][one["source"]]
        named = (source["id"], source["page"], source["title"], source["location"])
        extracts.append(Extract(*named, one["text"]))
    rounds = round_of(state) + 1
    return Recalled(
        state["question"],
        state["notes"],
        extracts,
        state["pages"],
        state["reports"],
        rounds,
        changed,
    )


def _plain(recalled: Recalled) -> dict[str, Any]:
    return {
        **recalled._asdict(),
        "extracts": [one._asdict() for one in recalled.extracts],
        "status": "succeeded" if recalled.notes else "insufficient_evidence",
    }


def _watch(progress: Progress) -> Callable[[dict[str, Any]], None]:
    nodes = list(STAGES)
    following = dict(zip(nodes, [*nodes[1:], "plan"], strict=True))

    def watch(event: dict[str, Any]) -> None:
        """Say what comes next when a node has ended."""
        if event.get("node") in following:
            progress.doing(STAGES[following[event["node"]]])

    progress.doing(STAGES["plan"])
    return watch


def _print(recalled: Recalled, state: RecallState, *, whole: bool) -> None:
    if recalled.spelling:
        words = spelt_out(recalled.spelling)
        _show(render("notice_spelling", language=state["language"], words=words), Markdown)
    _show(answer(state), Markdown)
    by_page = sorted(recalled.extracts, key=lambda one: int(one.source[1:]))
    for source, extracts in groupby(by_page, key=lambda one: one.source):
        said = list(extracts)
        title, location = (one_line(one) for one in (said[0].title, said[0].location))
        _show(
            f"\n[{source}] {title}  {location or GONE}",
            partial(Text, style="bold", overflow="fold"),
        )
        text = "\n[…]\n".join(one.text for one in said)
        _show(text if whole else _passage(text, recalled, source), _beside)


def _passage(text: str, recalled: Recalled, source: str) -> str:
    """Return the part of a page that the notes rest on, or else that the question is about."""
    if len(text) <= LONGEST:
        return text
    noted = " ".join(line for line in recalled.notes.splitlines() if f"[{source}]" in line)
    part = snippet(text, noted or recalled.question, LONGEST).strip("…")
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
