"""Have a second reader compare what was written with its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.records import SecondReader, Source
from models.load import built_in, playing
from nodes.agent import ask
from nodes.streaming import tell
from prompts.loader import render
from prompts.marks import block, blocks, cited, pages_block, wrap
from report.rulings import Claim, Grade, Judged, borne_out, claims, evidence, fitting, ruling
from report.support import Proven
from report.wording import doubt
from retrieval.tokens import count
from runs.budget import beside
from runs.compacting import FULL, window
from runs.place import here, owner
from runs.trace import trace
from tools.evidence import texts, verified

BY_SEVERITY: tuple[Grade, ...] = ("own", "supported", "not_said", "contradicted")
"""The verdicts from the mildest to the worst; of two on one sentence the worse one counts."""


class SentenceVerdict(BaseModel):
    """The verdict on one sentence."""

    sentence: int = Field(description="the number of the sentence")
    verdict: Grade
    source: str = Field(default="", description="the id of the source that says it")
    says: str = Field(
        default="", description="what the source says instead, a few words copied exactly"
    )
    part: str = Field(
        default="", description="where only a part is wrong, that part, copied exactly"
    )


class Checks(BaseModel):
    """The verdicts on the sentences of a text; those that need none are left out."""

    verdicts: list[SentenceVerdict]


class Reread(NamedTuple):
    """What is left of a text, and whether a second reader had a say in it."""

    checked: Proven
    second_reader: SecondReader
    problem: str = ""
    """The code of the problem, where it was asked in vain."""
    unread: int = 0
    """How many sentences were too much for one request."""


async def read_again(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: Proven,
    sources: Mapping[str, Source],
) -> Reread:
    """Return what is left of a text when a model has compared its sentences with their sources.

    Words alone do not tell a remark of the writer from a claim, nor a claim put in other words from
    a wrong one. So the model may lift what the checks hold against a sentence, except for
    quotations and ids, and name sentences that they passed. Where it cannot be asked, or is
    switched off, what the checks say stands. The extractive model only quotes; it is not asked.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        text: Markdown as a model wrote it.
        checked: What the checks left of it.
        sources: What it may cite, by id.
    """
    if built_in("checker", runtime.context):
        return Reread(checked, "no_model")
    if not (runtime.context.second_reader and settings().second_reader):
        await trace(here(state, runtime), "status", "checker", "off")
        return Reread(checked, "off")
    try:
        return await _reread(state, runtime, text, checked, sources)
    except Problem as problem:
        return Reread(checked, "failed", problem.code)


async def _reread(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: Proven,
    sources: Mapping[str, Source],
) -> Reread:
    """Ask the model, and prove the text again with what it says.

    Raises:
        Problem: What `playing`, `ask` and `verified` raise.
    """
    place, asked = here(state, runtime), state["question"]
    pages = await texts(owner(runtime), sources)
    chosen = partial(_shown, text, checked, pages, await _room(state, runtime))
    every, shown = await beside(place, runtime.context, "checker", chosen)
    if not every:
        return Reread(checked, "not_needed")
    if not shown:
        return Reread(checked, "failed", "model_context")
    left = len(every) - len(shown)
    given = await _verdicts(state, runtime, shown, pages, sources)
    if given is None:
        return Reread(checked, "asked", unread=left)
    ruled = ruling(shown, given)
    again = await verified(place, runtime.context, "reporter", text, sources, asked, ruled)
    return Reread(again, "asked", unread=left)


def _shown(
    text: str, checked: Proven, pages: Mapping[str, str], room: int
) -> tuple[list[Claim], list[Claim]]:
    """Return all claims of a text, and those that fit into one request."""
    every = claims(text, checked.removed, checked.doubted, pages, checked.body)
    return every, fitting(every, pages, room)


async def _room(state: Mapping[str, Any], runtime: Runtime[Context]) -> int:
    """Return how many tokens of sentences and pages one request to the model may hold."""
    model = await playing("checker", runtime.context)
    told = f"{render('checker', language=state['language'])}\n{state['question']}"
    return int(FULL * window(model)) - count(told)


async def _verdicts(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    shown: Sequence[Claim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> dict[int, Judged] | None:
    """Return what the model says of the sentences that it was shown; nothing if it names none.

    Raises:
        Problem: What `ask` raises.
    """
    tell(state, "comparing")
    data = comparison(state["question"], state["language"], shown, pages, sources)
    system = render("checker", language=state["language"])
    checks = await ask(state, runtime, "checker", system, [HumanMessage(data)], Checks)
    given = judgements(checks, shown, pages)
    return given if checks.verdicts else None


def comparison(
    question: str,
    language: str,
    shown: Sequence[Claim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> str:
    """Return what a second reader is shown: the sentences, and the passages they rest on."""
    return blocks(
        block("question", question),
        wrap("sentences", (_marked(claim, language) for claim in shown)),
        pages_block(evidence(shown, pages), sources),
    )


def judgements(
    checks: Checks, shown: Sequence[Claim], pages: Mapping[str, str]
) -> dict[int, Judged]:
    """Return the verdicts on sentences that the reader was shown, by their numbers.

    Of two verdicts on one sentence the worse one counts.
    """
    by_number = {claim.number: claim for claim in shown}
    ranked = sorted(checks.verdicts, key=lambda one: BY_SEVERITY.index(one.verdict))
    judged = {
        one.sentence: borne_out(_judged(one), by_number[one.sentence], pages)
        for one in ranked
        if one.sentence in by_number
    }
    return {number: one for number, one in judged.items() if one}


def _marked(claim: Claim, language: str) -> str:
    """Return a sentence with its number, and with what the checks hold against it."""
    why = {"doubt": doubt(claim.reason, language)} if claim.reason else {}
    said = f"{claim.head}\n{claim.text}" if claim.head else claim.text
    return cited("sentence", said, id=claim.number, **why)


def _judged(one: SentenceVerdict) -> Judged:
    return Judged(one.verdict, one.source.strip("[] "), one.says, one.part)
