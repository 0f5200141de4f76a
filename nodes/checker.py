"""Have a second reader compare what was written with its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from calls.compaction import WINDOW_SHARE, input_window
from calls.gateway import ask
from calls.run_budget import run_within_budget
from calls.streaming import show_progress
from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.records import SecondReaderStatus, Source
from models.chat_models import built_in, load_role_model
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_pages_block,
    wrap_blocks,
)
from prompts.loader import render_prompt
from report.checks.attribution import CheckedText
from report.checks.second_reader import (
    ClaimVerdict,
    ReviewClaim,
    VerdictGrade,
    derive_ruling,
    list_claim_passages,
    list_claims,
    select_fitting_claims,
    validate_verdict,
)
from report.labels import describe_doubt
from runs.call_site import call_site, resolve_owner
from runs.trace import trace
from text.tokens import estimate_tokens
from tools.source_checks import load_source_texts, verify_text

BY_SEVERITY: tuple[VerdictGrade, ...] = ("own", "supported", "not_said", "contradicted")
"""The verdicts from the mildest to the worst; of two on one sentence the worse one counts."""


class SentenceVerdict(BaseModel):
    """The verdict on one sentence."""

    sentence: int = Field(description="the number of the sentence")
    verdict: VerdictGrade
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


class SecondReading(NamedTuple):
    """What is left of a text, and whether a second reader had a say in it."""

    checked: CheckedText
    second_reader: SecondReaderStatus
    problem: str = ""
    """The code of the problem, where it was asked in vain."""
    unread_count: int = 0
    """How many sentences were too much for one request."""


async def run_second_reader(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: CheckedText,
    sources: Mapping[str, Source],
) -> SecondReading:
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
        return SecondReading(checked, "no_model")
    if not (runtime.context.second_reader and settings().second_reader):
        await trace(call_site(state, runtime), "status", "checker", "off")
        return SecondReading(checked, "off")
    try:
        return await _second_reading(state, runtime, text, checked, sources)
    except Problem as problem:
        return SecondReading(checked, "failed", problem.code)


async def _second_reading(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: CheckedText,
    sources: Mapping[str, Source],
) -> SecondReading:
    """Ask the model, and prove the text again with what it says.

    Raises:
        Problem: What `load_role_model`, `ask` and `verify_text` raise.
    """
    place, asked = call_site(state, runtime), state["question"]
    pages = await load_source_texts(resolve_owner(runtime), sources)
    chosen = partial(_shown, text, checked, pages, await _room(state, runtime))
    every, shown = await run_within_budget(place, runtime.context, "checker", chosen)
    if not every:
        return SecondReading(checked, "not_needed")
    if not shown:
        return SecondReading(checked, "failed", "model_context")
    left = len(every) - len(shown)
    given = await _verdicts(state, runtime, shown, pages, sources)
    if given is None:
        return SecondReading(checked, "asked", unread_count=left)
    ruled = derive_ruling(shown, given)
    again = await verify_text(place, runtime.context, "reporter", text, sources, asked, ruled)
    return SecondReading(again, "asked", unread_count=left)


def _shown(
    text: str, checked: CheckedText, pages: Mapping[str, str], room: int
) -> tuple[list[ReviewClaim], list[ReviewClaim]]:
    """Return all claims of a text, and those that fit into one request."""
    every = list_claims(text, checked.removed, checked.doubted, pages, checked.body)
    return every, select_fitting_claims(every, pages, room)


async def _room(state: Mapping[str, Any], runtime: Runtime[Context]) -> int:
    """Return how many tokens of sentences and pages one request to the model may hold."""
    model = await load_role_model("checker", runtime.context)
    told = f"{render_prompt('checker', language=state['language'])}\n{state['question']}"
    return int(WINDOW_SHARE * input_window(model)) - estimate_tokens(told)


async def _verdicts(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    shown: Sequence[ReviewClaim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> dict[int, ClaimVerdict] | None:
    """Return what the model says of the sentences that it was shown; nothing if it names none.

    Raises:
        Problem: What `ask` raises.
    """
    show_progress(state, "comparing")
    data = render_comparison(state["question"], state["language"], shown, pages, sources)
    system = render_prompt("checker", language=state["language"])
    checks = await ask(state, runtime, "checker", system, [HumanMessage(data)], Checks)
    given = collect_judgements(checks, shown, pages)
    return given if checks.verdicts else None


def render_comparison(
    question: str,
    language: str,
    shown: Sequence[ReviewClaim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> str:
    """Return what a second reader is shown: the sentences, and the passages they rest on."""
    return join_prompt_blocks(
        render_block("question", question),
        wrap_blocks("sentences", (_marked(claim, language) for claim in shown)),
        render_pages_block(list_claim_passages(shown, pages), sources),
    )


def collect_judgements(
    checks: Checks, shown: Sequence[ReviewClaim], pages: Mapping[str, str]
) -> dict[int, ClaimVerdict]:
    """Return the verdicts on sentences that the reader was shown, by their numbers.

    Of two verdicts on one sentence the worse one counts.
    """
    by_number = {claim.number: claim for claim in shown}
    ranked = sorted(checks.verdicts, key=lambda one: BY_SEVERITY.index(one.verdict))
    judged = {
        one.sentence: validate_verdict(_judged(one), by_number[one.sentence], pages)
        for one in ranked
        if one.sentence in by_number
    }
    return {number: one for number, one in judged.items() if one}


def _marked(claim: ReviewClaim, language: str) -> str:
    """Return a sentence with its number, and with what the checks hold against it."""
    why = {"doubt": describe_doubt(claim.reason, language)} if claim.reason else {}
    said = f"{claim.head}\n{claim.text}" if claim.head else claim.text
    return render_cited_block("sentence", said, id=claim.number, **why)


def _judged(one: SentenceVerdict) -> ClaimVerdict:
    return ClaimVerdict(one.verdict, one.source.strip("[] "), one.says, one.part)
