"""What the reporter is asked: the instructions, the findings, and the passages that they cite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from langgraph.runtime import Runtime

from calls.compaction import WINDOW_SHARE
from calls.context_window import input_window
from calls.run_budget import run_within_budget
from config.errors import Problem
from config.model_table import is_extractive, token_prices
from graph.context import Context
from graph.plan import render_plan
from graph.records import Finding, Source
from graph.state import State
from models.chat_models import load_role_model, model_for_role
from nodes.program_blocks import render_figures_block, select_computed_sources
from nodes.revision import get_version_language, render_version_blocks
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_contradictions_block,
    render_findings_block,
    render_pages_block,
    render_sources_block,
)
from prompts.loader import render_prompt
from report import findings
from report.cited_passages import MAX_EVIDENCE_TOKENS, list_cited_passages
from report.document import list_gaps
from report.findings import render_earlier_block, select_earlier_findings
from report.labels import describe_reason
from report.versions import list_previous_sources
from runs.call_site import call_site
from text.secret_masking import mask_secrets
from text.tokens import estimate_tokens
from tools.computations import load_computations
from tools.source_checks import find_source_contradictions, load_source_texts

CAP_SHARE = 0.1
"""The share of a cap that the passages of one request may use."""

INSTRUCTION_TOKENS = 2_500
"""About how many tokens the instructions of a reporter have."""

MANY_FINDINGS = 6
"""From so many findings on, a deep run writes its report in sections."""


class ReportSize(NamedTuple):
    """How long a report in sections becomes, and of how many sections."""

    words: int
    most_sections: int


LONG = ReportSize(words=3_600, most_sections=8)
FULL = ReportSize(words=2_000, most_sections=6)


def choose_size(state: State, context: Context) -> ReportSize | None:
    """Return the size of a report that is written in sections, or None for one that is not.

    The extractive model quotes findings in one answer, and what was computed belongs to no section.
    A version is written from the report before it, which sections would not see.
    """
    if state.get("revision"):
        return None
    count = len(findings.list_findings(state))
    pages = [*findings.list_background_passages(state), *state["knowledge"]]
    if is_extractive(model_for_role("reporter", context)) or count < 2 or pages:
        return None
    if context.length == "long":
        return LONG
    many = context.depth == "deep" and count >= MANY_FINDINGS
    return FULL if many and context.length != "brief" else None


def render_style(state: State, context: Context) -> dict[str, str]:
    """Return the wishes for the style of a report, and its language, as prompts have them."""
    chosen = get_version_language(state) or context.language
    tongue = render_prompt(f"tongue_{chosen or 'own'}", language=state["language"])
    return {"style": mask_secrets(context.style).text, "tongue": tongue}


def _render_system(state: State, context: Context, *, has_figures: bool) -> str:
    """Return the instructions for a report in one answer, about figures only if it has some."""
    language = state["language"]
    length = render_prompt(f"length_{context.length}", language=language)
    values = {"length": length, "rules": render_rules(language, has_figures=has_figures)}
    values |= render_style(state, context)
    return render_prompt("reporter", language=language, today=datetime.now(UTC).date(), **values)


def render_rules(language: str, *, has_figures: bool = False) -> str:
    """Return the rules for sentences, tables and figures that hold for every part of a report."""
    rules = render_prompt("report_rules", language=language)
    told = render_prompt("report_figures", language=language) if has_figures else ""
    return f"{rules}\n{told}" if told else rules


async def render_report_figures(
    state: State,
    runtime: Runtime[Context],
    sources: Mapping[str, Source],
    cited: Sequence[str],
) -> str:
    """Mark the figures of the programs among some sources.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        sources: The sources that the report may cite, by id.
        cited: The ids of the sources that are meant.
    """
    computed = select_computed_sources(sources, cited)
    owner = call_site(state, runtime).owner
    return render_figures_block(await load_computations(owner, computed)) if computed else ""


async def build_request(
    state: State, runtime: Runtime[Context], sources: Mapping[str, Source]
) -> tuple[str, str]:
    """Return the instructions and the request for the whole report.

    Args:
        state: The state of the node.
        runtime: The runtime of the node.
        sources: The sources that the report may cite, by id.
    """
    found = findings.list_findings(state)
    earlier = select_earlier_findings(state, state["question"])
    pages = [*findings.list_background_passages(state), *state["knowledge"]]
    previous = list_previous_sources(state)
    cited = [name for one in [*found, *earlier] for name in one["sources"]]
    figures = await render_report_figures(state, runtime, sources, [*cited, *previous])
    before = join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("plan", render_plan(state["plan"])) if found else "",
        render_sources_block([*found, *earlier, {"sources": previous}], state.get("sources", {})),
        render_version_blocks(state),
        render_findings_block(found),
        await render_contradictions(state, runtime, found),
        figures,
    )
    after = join_prompt_blocks(
        render_pages_block(pages, state.get("sources", {})),
        render_earlier_block(earlier),
        render_block("gaps", "\n".join(list_open_points(state))),
    )
    evidence = EvidenceRequest([*found, *earlier], sources, estimate_tokens(before + after))
    request = join_prompt_blocks(before, await render_evidence(state, runtime, evidence), after)
    return _render_system(state, runtime.context, has_figures=bool(figures)), request


async def render_contradictions(
    state: State, runtime: Runtime[Context], found: Sequence[Finding]
) -> str:
    """Mark where sources contradict each other in what findings, or the first passages, say."""
    used = found or findings.list_background_passages(state)
    text = "\n".join(one["text"] for one in used)
    sources = {name: state["sources"][name] for name in findings.list_evidence_ids(state)}
    place = call_site(state, runtime)
    return render_contradictions_block(
        await find_source_contradictions(place, runtime.context, "reporter", text, sources)
    )


class EvidenceRequest(NamedTuple):
    """What evidence is wanted for, and beside what it stands."""

    found: Sequence[Finding]
    """The findings whose citations are wanted."""
    sources: Mapping[str, Source]
    """The sources that the report may cite, by id."""
    beside_tokens: int
    """The tokens of the rest of the request."""
    share: float = 1.0
    """The share of the usual limit that the passages may have."""


async def render_evidence(state: State, runtime: Runtime[Context], wanted: EvidenceRequest) -> str:
    """Return the passages that findings cite as a block, which a cap or the model may keep small.

    It is empty for the extractive model, which quotes what findings quote, and where there is no
    time to choose passages: the findings can do without them.
    """
    most = await _max_evidence_tokens(runtime.context, wanted)
    if not wanted.found or most <= 0:
        return ""
    place = call_site(state, runtime)
    texts = await load_source_texts(place.owner, wanted.sources)
    computed = {name for name, one in wanted.sources.items() if one["kind"] == "computed"}
    select = partial(list_cited_passages, wanted.found, texts, most, whole=computed)
    size = sum(map(len, texts.values()))
    try:
        passages = await run_within_budget(
            place, runtime.context, "reporter", select, characters=size
        )
    except Problem:
        return ""
    return render_pages_block(passages, wanted.sources, "evidence")


async def _max_evidence_tokens(context: Context, wanted: EvidenceRequest) -> int:
    """Return the limit of passages by the window of the model and the caps of the run.

    It does not depend on what is spent, so that a resumed run makes the same request.
    """
    name = model_for_role("reporter", context)
    if is_extractive(name):
        return 0
    window = int(WINDOW_SHARE * input_window(await load_role_model("reporter", context)))
    price, _ = token_prices(name)
    limits = [CAP_SHARE * context.limits.max_tokens]
    limits += [CAP_SHARE * context.limits.max_cost / price] if price else []
    room = window - INSTRUCTION_TOKENS - wanted.beside_tokens
    return int(min(wanted.share * MAX_EVIDENCE_TOKENS, room, *limits))


def list_open_points(state: State, body: str = "") -> list[str]:
    """Return what the research left open, each with the reason in words."""
    language = state["language"]
    return [
        f"{gap['title']}: {describe_reason(gap['reason'], gap['status'], language)}"
        for gap in list_gaps(state, body)
    ]
