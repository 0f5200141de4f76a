"""The graded support check of `dossier verify`: its model, its cost, and what it prints."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence

from rich.text import Text

from app.cli.output import one_line, print_notice
from config.errors import ErrorCode, Problem
from graph.context import Context
from models.chat_models import built_in, check_model_prices, load_role_model, model_for_role
from nodes.support_check import (
    FAILING,
    ROLE,
    ClaimStatus,
    GradedClaim,
    SupportCheck,
    SupportEstimate,
    find_check_language,
    grade_claims,
    plan_support_calls,
)
from report.verify.all_checks import VerifiedFile
from report.verify.given_documents import GivenDocument
from report.verify.supported_claims import list_cited_claims
from text.pluralization import pluralize
from tools.web.urls import canonicalise_url

_WORDS: dict[ClaimStatus, str] = {
    "supported": "supported",
    "partly": "supported in part",
    "unsupported": "not supported",
    "contradicted": "contradicted",
    "cannot_tell": "cannot be told",
    "not_verified": "not verified",
    "not_given": "without a document",
}
_MOST_CLAIMS = 40


class SupportGrading:
    """Grades the claims of a report, by a model that a person names or has set up.

    Args:
        project: The project of the command.
        model: The model, as provider:name; that of the role `checker` if empty.
        most: The most dollars that may be spent; that of a run if `None`.

    Raises:
        Problem: `model_key_missing` if only the built-in model is there, which cannot judge;
            `model_without_price` where a cap was set; `unknown_model` and the like.
    """

    def __init__(self, project: str, model: str, most: float | None) -> None:
        models = {ROLE: model} if model else {}
        caps = {} if most is None else {"max_cost": most}
        self.context = Context(project=project, models=models, **caps)  # type: ignore[arg-type]
        if built_in(ROLE, self.context):
            what = "the built-in model only quotes, and cannot judge whether a claim is supported"
            hint = "set the key of a model, or name one: --model openai:gpt-5-mini"
            raise Problem(ErrorCode.MODEL_KEY_MISSING, what, hint=hint)
        if most is not None:
            check_model_prices(self.context, [model_for_role(ROLE, self.context)])

    async def run(self, file: VerifiedFile, documents: Sequence[GivenDocument]) -> SupportCheck:
        """Let the model grade the claims of a report, after its cost was told."""
        await load_role_model(ROLE, self.context)
        found = await asyncio.to_thread(list_cited_claims, file, documents, canonicalise_url)
        language = find_check_language(found)
        estimate = await asyncio.to_thread(plan_support_calls, found, self.context, language)
        print_notice(_describe_estimate(estimate, self.context.limits.max_cost))
        thread = f"verify-{secrets.token_hex(6)}"
        return await grade_claims(found, self.context, thread, language)

    def list_parts(self, check: SupportCheck) -> Iterator[Text]:
        """Yield the claims that are not supported, the share of those that are, and the cost."""
        told = [one for one in check.claims if one.status not in ("supported", "not_given")]
        yield Text("")
        yield Text(f"Support by {check.model}", "bold")
        yield from map(_render_claim, told[:_MOST_CLAIMS])
        if len(told) > _MOST_CLAIMS:
            yield Text(f"{len(told) - _MOST_CLAIMS} more with --json")
        yield Text(_summarize_support(check))


def _describe_estimate(estimate: SupportEstimate, most: float) -> str:
    dollars = "an unknown price" if estimate.dollars is None else f"${estimate.dollars:.4f}"
    counts = f"{pluralize(estimate.claims, 'claim')} in {pluralize(estimate.calls, 'call')}"
    tokens = f"about {estimate.tokens_in:,} tokens read, {estimate.tokens_out:,} written"
    return f"Support check by {estimate.model}: {counts}, {tokens}, {dollars}; at most ${most}"


def _render_claim(claim: GradedClaim) -> Text:
    colour = "red" if claim.status in FAILING else "yellow"
    why = f" ({claim.reason})" if claim.reason else ""
    says = f" – the source: “{one_line(claim.words)}”" if claim.words else ""
    return Text.assemble(
        (f"{claim.line:>5}  ", "dim"),
        (f"{_WORDS[claim.status]}{why}", colour),
        f"{says}\n       {one_line(claim.text)}",
    )


def _summarize_support(check: SupportCheck) -> str:
    counts = check.counts
    told = ", ".join(f"{counts[name]} {word}" for name, word in _WORDS.items() if counts[name])
    share = f"{check.share:.0%} of {pluralize(len(check.claims), 'cited claim')} supported"
    used = f"{check.tokens_in:,} tokens read, {check.tokens_out:,} written, ${check.dollars:.4f}"
    listed = f" ({told})" if told else ""
    return f"{share}{listed}; {pluralize(check.calls, 'call')}, {used}."
