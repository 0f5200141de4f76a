"""Join what was found to what was known."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from config.errors import Problem
from graph.context import Context
from nodes.agent import REPAIRS, ask
from nodes.recall.output import DOUBT
from nodes.recall.state import RecallState
from prompts.loader import render
from prompts.marks import block, blocks, cited, pages_block
from report.support import Proven
from runs.faults import bear
from runs.place import here
from tools.evidence import verified

ENDS = ".!?。！？"


class Fact(BaseModel):
    """One thing that the pages say, and the ids of the pages that say it."""

    text: str
    pages: list[str]


class Notes(BaseModel):
    """What is known about the question."""

    facts: list[Fact] = []


async def integrate(state: RecallState, runtime: Runtime[Context]) -> RecallState:
    """Write down what the passages say about the question, keeping only what they bear out.

    Reads `question`, `notes`, `passages`, `sources`; writes `notes`, `extracts`, `pages`, `fresh`.
    When nothing can be written, what was known stays, and the passages wait for the next round.
    """
    if not state["fresh"]:
        return RecallState()
    request = blocks(
        block("question", state["question"]),
        cited("notes", state["notes"]),
        pages_block(state["passages"], state["sources"]),
    )
    system = render("recall_integrate", language=state["language"])
    try:
        said = [HumanMessage(request)]
        written = await ask(state, runtime, "recall", system, said, Notes, repairs=_repairs(state))
    except Problem as problem:
        bear(problem)
        return RecallState()
    sources = state["sources"]
    facts = _joined(written.facts, sources)
    place, asked = here(state, runtime), state["question"]
    try:
        checked = await verified(place, runtime.context, "recall", facts, sources, asked)
    except Problem as problem:
        bear(problem)
        return RecallState()
    notes = _marked(checked)
    return RecallState(
        fresh=bool(notes.strip()),
        notes=notes,
        extracts=[one for one in state["passages"] if one["source"] in checked.cited],
        pages=[sources[one]["page"] for one in checked.cited],
    )


def _marked(checked: Proven) -> str:
    """Return the notes, those marked that their pages do not seem to say."""
    doubted = {one["text"].strip() for one in checked.doubted}
    lines = checked.body.split("\n")
    return "\n".join(
        f"{line} {DOUBT}" if line.removeprefix("- ").strip() in doubted else line for line in lines
    )


def _repairs(state: RecallState) -> int:
    """Return how often notes that cannot be read are asked for again: not where time is short."""
    return 0 if state.get("most") == 1 else REPAIRS


def _joined(facts: Iterable[Fact], known: Iterable[str]) -> str:
    """Return the facts as a list, each with the ids of its pages that are known."""
    lines = []
    for fact in facts:
        ids = [one for one in dict.fromkeys(fact.pages) if one in known]
        text = " ".join(fact.text.split())
        end = text[-1] if text and text[-1] in ENDS else ""
        if ids and text:
            markers = "".join(f"[{one}]" for one in ids)
            lines.append(f"- {text.removesuffix(end)} {markers}{end}")
    return "\n".join(lines)
