"""Have a model grade how far the documents of a report support its claims, claim by claim.

Whatever is not clearly answered is not verified: a failed call, an answer that cannot be read, a
claim that it leaves out, and words of a document that are not in what the model was shown.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from langchain_core.messages import HumanMessage
from langgraph.runtime import ExecutionInfo, Runtime
from pydantic import BaseModel

from calls.attempts import list_attempts
from calls.gateway import ask
from config.errors import Problem
from config.model_table import call_price
from graph.context import Context
from models.chat_models import list_unpriced_models, model_for_role
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_pages_block,
    wrap_blocks,
)
from prompts.loader import render_prompt
from report.verify.supported_claims import CitedClaim, CitedClaims
from runs.call_site import run_id
from text.script import detect_language
from text.tokens import estimate_tokens

ROLE = "checker"
"""The role that grades: it gets no memories, and the built-in model never stands in."""

SupportLevel = Literal["supported", "partly", "unsupported", "contradicted", "cannot_tell"]

ClaimStatus = SupportLevel | Literal["not_verified", "not_given"]
"""`not_verified`: the model gave no usable answer; `not_given`: no document that it cites was."""

SEVERITY: tuple[SupportLevel, ...] = (
    "supported",
    "partly",
    "cannot_tell",
    "unsupported",
    "contradicted",
)
"""The grades from the mildest on; of two for one claim the worse counts."""

FAILING: frozenset[ClaimStatus] = frozenset(["unsupported", "contradicted", "not_verified"])
"""With one of these a report fails."""

QUOTING: frozenset[SupportLevel] = frozenset(["supported", "partly", "contradicted"])
"""Grades for which the model has to name the words of a document."""

CLAIMS_PER_CALL = 10
CHARS_PER_CALL = 16_000
CALLS_AT_ONCE = 4
TOKENS_PER_GRADE = 60


class ClaimGrade(BaseModel):
    """The grade of one claim."""

    claim: int
    grade: SupportLevel
    words: str = ""


class SupportGrades(BaseModel):
    """The grades of all claims that were shown."""

    grades: list[ClaimGrade]


@dataclass(frozen=True)
class GradedClaim:
    """A claim with what became of it."""

    line: int
    text: str
    cited: tuple[str, ...]
    status: ClaimStatus
    words: str = ""
    """The words of a document on which the grade rests."""
    reason: str = ""
    """Why it is not verified."""


class SupportEstimate(NamedTuple):
    """What a check will use."""

    model: str
    claims: int
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None
    """`None` for a model without a price."""


@dataclass(frozen=True)
class SupportCheck:
    """The grades of a report."""

    model: str
    claims: list[GradedClaim]
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float

    @property
    def counts(self) -> Counter[ClaimStatus]:
        """How many claims have each status."""
        return Counter(one.status for one in self.claims)

    @property
    def share(self) -> float:
        """The share of supported claims among all that cite something, from 0 to 1."""
        return self.counts["supported"] / len(self.claims) if self.claims else 0.0

    @property
    def failed(self) -> bool:
        """Whether a claim is not supported, contradicted or not verified."""
        return any(one.status in FAILING for one in self.claims)

    def as_dict(self) -> dict[str, Any]:
        """Return the grades as plain data."""
        head = {"failed": self.failed, "share": round(self.share, 4), "counts": dict(self.counts)}
        return {**head, **asdict(self)}


class _Request(NamedTuple):
    """The claims of one call, and what the model is shown."""

    claims: list[CitedClaim]
    pages: str
    text: str


def plan_support_calls(found: CitedClaims, context: Context, language: str) -> SupportEstimate:
    """Return what grading will use, before anything is sent."""
    requests = _list_requests(found)
    system = estimate_tokens(render_prompt("support", language=language))
    read = sum(system + estimate_tokens(one.text) for one in requests)
    count = sum(len(one.claims) for one in requests)
    written = TOKENS_PER_GRADE * count
    model = model_for_role(ROLE, context)
    unpriced = list_unpriced_models([model])
    dollars = None if unpriced else call_price(model, read, written)
    return SupportEstimate(model, count, len(requests), read, written, dollars)


async def grade_claims(
    found: CitedClaims, context: Context, thread: str, language: str
) -> SupportCheck:
    """Return the claims of a report with their grades; no problem of a call is raised.

    Args:
        found: The claims.
        context: The model of the role `checker`, and the caps.
        thread: Names the place of the calls in the ledger.
        language: The language of the prompts.
    """
    gate = asyncio.Semaphore(CALLS_AT_ONCE)

    async def grade(request: _Request) -> dict[int, GradedClaim]:
        async with gate:
            return await _grade_request(request, context, thread, language)

    graded: dict[int, GradedClaim] = {}
    for some in await asyncio.gather(*map(grade, _list_requests(found))):
        graded |= some
    made = await list_attempts(run_id(thread, 1))
    return SupportCheck(
        model_for_role(ROLE, context),
        [graded.get(one.number) or _to_graded(one, "not_given") for one in found.claims],
        len(made),
        sum(one.tokens_in for one in made),
        sum(one.tokens_out for one in made),
        sum(one.cost for one in made),
    )


async def _grade_request(
    request: _Request, context: Context, thread: str, language: str
) -> dict[int, GradedClaim]:
    place = ExecutionInfo(checkpoint_id="", checkpoint_ns="", task_id="", thread_id=thread)
    runtime = Runtime(context=context, execution_info=place)
    system = render_prompt("support", language=language)
    said = [HumanMessage(request.text)]
    state = {"turn": 1, "language": language}
    try:
        answer = await ask(state, runtime, ROLE, system, said, SupportGrades, fallback=False)
    except Problem as problem:
        return {
            one.number: _to_graded(one, "not_verified", reason=problem.code)
            for one in request.claims
        }
    return {one.number: _read_grade(one, answer, request.pages) for one in request.claims}


def _read_grade(claim: CitedClaim, answer: SupportGrades, pages: str) -> GradedClaim:
    """Return what an answer says of a claim; what it leaves out or makes up is not verified."""
    grades = [one for one in answer.grades if one.claim == claim.number]
    if not grades:
        return _to_graded(claim, "not_verified", reason="not_answered")
    worst = max(grades, key=lambda one: SEVERITY.index(one.grade))
    words = _squeeze(worst.words)
    if worst.grade in QUOTING and not (words and words in _squeeze(pages)):
        return _to_graded(claim, "not_verified", reason="words_not_found")
    return _to_graded(claim, worst.grade, worst.words if worst.grade in QUOTING else "")


def _to_graded(
    claim: CitedClaim, status: ClaimStatus, words: str = "", reason: str = ""
) -> GradedClaim:
    return GradedClaim(claim.line, claim.text, claim.labels, status, words, reason)


def _squeeze(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _list_requests(found: CitedClaims) -> list[_Request]:
    """Return the calls for all claims with a passage, neighbouring ones together."""
    batches: list[list[CitedClaim]] = []
    size = 0
    for claim in (one for one in found.claims if one.passages):
        chars = sum(len(one.text) for one in claim.passages)
        full = not batches or len(batches[-1]) == CLAIMS_PER_CALL or size + chars > CHARS_PER_CALL
        if full:
            batches.append([])
            size = 0
        batches[-1].append(claim)
        size += chars
    return [_build_request(batch, found) for batch in batches]


def _build_request(claims: list[CitedClaim], found: CitedClaims) -> _Request:
    passages = sorted({one for claim in claims for one in claim.passages}, key=_order)
    shown = [{"source": one.source, "text": one.text} for one in passages]
    pages = render_pages_block(shown, found.sources)
    text = join_prompt_blocks(wrap_blocks("sentences", _render_claims(claims)), pages)
    return _Request(claims, pages, text)


def _order(passage: tuple[str, int, str]) -> tuple[str, int]:
    return passage[0], passage[1]


def _render_claims(claims: Sequence[CitedClaim]) -> Iterable[str]:
    for one in claims:
        yield render_block("sentence", one.text, number=one.number, cites=" ".join(one.cited))


def find_check_language(found: CitedClaims) -> str:
    """Return the language of the claims, in which the model is asked."""
    return detect_language("\n".join(one.text for one in found.claims))
