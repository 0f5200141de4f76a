"""Have a second reader compare what was written with its sources."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.compaction import WINDOW_SHARE
from calls.context_window import input_window
from calls.gateway import ask
from calls.run_budget import run_within_budget
from calls.run_progress import show_progress
from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.pauses import list_wishes
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
    NO_RULING,
    ClaimVerdict,
    ReviewClaim,
    Ruling,
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
from tools.source_checks import load_source_texts, name_sources, verify_text

BY_SEVERITY: tuple[VerdictGrade, ...] = ("own", "supported", "not_said", "contradicted")
"""The verdicts from the mildest to the most severe."""


class SentenceVerdict(BaseModel):
    """The verdict on one sentence."""

    sentence: int
    verdict: VerdictGrade
    source: str = ""
    says: str = ""
    part: str = ""


class Checks(BaseModel):
    """The verdicts on the sentences of a text; those that need none are left out."""

    verdicts: list[SentenceVerdict]


class SecondReading(NamedTuple):
    """A checked text, and whether a second reader compared it with its sources."""

    checked: CheckedText
    second_reader: SecondReaderStatus
    problem: str = ""
    """The code of the problem that kept the second reader from answering."""
    unread_count: int = 0
    """How many sentences did not fit into one request."""
    ruling: Ruling = NO_RULING
    """What the second reader ruled."""


async def verify_draft(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    sources: Mapping[str, Source],
    ruling: Ruling = NO_RULING,
    least: float = 0.0,
) -> CheckedText:
    """Return the text of a report without what its sources and the person's answers do not say.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        text: Markdown as a model wrote it.
        sources: The sources that it may cite, by id.
        ruling: What a second reader has ruled.
        least: How many seconds the checks may take when the minutes of the run are used up.

    Raises:
        Problem: What `verify_text` raises.
    """
    return await verify_text(
        call_site(state, runtime),
        runtime.context,
        "reporter",
        text,
        sources,
        state["question"],
        ruling,
        least=least,
        told=list_wishes(state),
    )


async def run_second_reader(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: CheckedText,
    sources: Mapping[str, Source],
    meanwhile: Callable[[], Awaitable[object]],
) -> SecondReading:
    """Let a model compare the sentences of a text with their sources, and apply its verdicts.

    Checks of words cannot tell a remark of the writer from a claim, nor a paraphrase from an error.
    So the model may overrule them on a sentence, except on quotations and ids, and may object to
    sentences that they passed. If it is switched off or fails, the result of the checks remains.
    The extractive model only quotes and is not called.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        text: Markdown as a model wrote it.
        checked: The result of the checks of this text.
        sources: The sources that it may cite, by id.
        meanwhile: What is done while the model reads.
    """
    if built_in("checker", runtime.context):
        return SecondReading(checked, "no_model")
    if not (runtime.context.second_reader and settings().second_reader):
        await trace(call_site(state, runtime), "status", "checker", "off")
        return SecondReading(checked, "off")
    try:
        return await _compare(state, runtime, text, checked, sources, meanwhile)
    except Problem as problem:
        return SecondReading(checked, "failed", problem.code)


async def _compare(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    text: str,
    checked: CheckedText,
    sources: Mapping[str, Source],
    meanwhile: Callable[[], Awaitable[object]],
) -> SecondReading:
    """Ask the model, and verify the text again with its verdicts.

    Raises:
        Problem: What `load_role_model`, `ask` and `verify_draft` raise.
    """
    place = call_site(state, runtime)
    pages = await load_source_texts(resolve_owner(runtime), sources)
    limit = await _token_limit(state, runtime)
    select = partial(_select_claims, text, checked, pages, name_sources(sources), limit)
    claims, shown = await run_within_budget(place, runtime.context, "checker", select)
    if not claims:
        return SecondReading(checked, "not_needed")
    if not shown:
        return SecondReading(checked, "failed", "model_context")
    unread = len(claims) - len(shown)
    async with _doing(meanwhile):
        verdicts = await _ask_verdicts(state, runtime, shown, pages, sources)
    if verdicts is None:
        return SecondReading(checked, "asked", unread_count=unread)
    ruling = derive_ruling(shown, verdicts, pages)
    checked = await verify_draft(state, runtime, text, sources, ruling)
    return SecondReading(checked, "asked", unread_count=unread, ruling=ruling)


@asynccontextmanager
async def _doing(work: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Do some work beside a block; whoever needs its result meets its problem."""
    task = asyncio.ensure_future(work())
    try:
        yield
    finally:
        await asyncio.gather(task, return_exceptions=True)


def _select_claims(
    text: str,
    checked: CheckedText,
    pages: Mapping[str, str],
    names: Mapping[str, str],
    max_tokens: int,
) -> tuple[list[ReviewClaim], list[ReviewClaim]]:
    """Return all claims of a text, and those that fit into one request."""
    claims = list_claims(text, checked.removed, checked.doubted, pages, checked.body, names)
    return claims, select_fitting_claims(claims, pages, max_tokens)


async def _token_limit(state: Mapping[str, Any], runtime: Runtime[Context]) -> int:
    """Return how many tokens of sentences and pages fit into one request to the model."""
    model = await load_role_model("checker", runtime.context)
    fixed = f"{render_prompt('checker', language=state['language'])}\n{state['question']}"
    return int(WINDOW_SHARE * input_window(model)) - estimate_tokens(fixed)


async def _ask_verdicts(
    state: Mapping[str, Any],
    runtime: Runtime[Context],
    shown: Sequence[ReviewClaim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> dict[int, ClaimVerdict] | None:
    """Return the verdicts of the model by sentence number; None if it gives none.

    Raises:
        Problem: What `ask` raises.
    """
    show_progress(state, "comparing")
    data = render_comparison(state["question"], state["language"], shown, pages, sources)
    system = render_prompt("checker", language=state["language"])
    checks = await ask(state, runtime, "checker", system, [HumanMessage(data)], Checks)
    return collect_judgements(checks, shown, pages) if checks.verdicts else None


def render_comparison(
    question: str,
    language: str,
    shown: Sequence[ReviewClaim],
    pages: Mapping[str, str],
    sources: Mapping[str, Source],
) -> str:
    """Render the request to a second reader: the sentences, and the passages that they cite."""
    return join_prompt_blocks(
        render_block("question", question),
        wrap_blocks("sentences", (_render_claim(claim, language) for claim in shown)),
        render_pages_block(list_claim_passages(shown, pages), sources),
    )


def collect_judgements(
    checks: Checks, shown: Sequence[ReviewClaim], pages: Mapping[str, str]
) -> dict[int, ClaimVerdict]:
    """Return the valid verdicts on the sentences shown, by their numbers.

    Of two verdicts on one sentence the more severe one counts.
    """
    claims = {claim.number: claim for claim in shown}
    ranked = sorted(checks.verdicts, key=lambda verdict: BY_SEVERITY.index(verdict.verdict))
    validated = {
        verdict.sentence: validate_verdict(_claim_verdict(verdict), claims[verdict.sentence], pages)
        for verdict in ranked
        if verdict.sentence in claims
    }
    return {number: verdict for number, verdict in validated.items() if verdict}


def _render_claim(claim: ReviewClaim, language: str) -> str:
    """Render a sentence with its number and the doubt of the checks."""
    named = {"doubt": describe_doubt(claim.reason, language)} if claim.reason else {}
    named |= {"kind": "inference"} if claim.inferred else {}
    text = f"{claim.head}\n{claim.text}" if claim.head else claim.text
    return render_cited_block("sentence", text, id=claim.number, **named)


def _claim_verdict(verdict: SentenceVerdict) -> ClaimVerdict:
    return ClaimVerdict(verdict.verdict, verdict.source.strip("[] "), verdict.says, verdict.part)
