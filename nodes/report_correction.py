"""Show the writer of a report once what the checks took out of it, and have it corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.gateway import work
from calls.run_progress import show_progress
from config.errors import Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.records import RemovedSentence, Source
from graph.state import State
from models.chat_models import model_for_role
from nodes.checker import SecondReading, verify_draft
from nodes.report_draft import CORRECTION_PART, ReportDraft, site_of_part
from prompts.data_blocks import join_prompt_blocks, render_cited_block, wrap_blocks
from prompts.loader import render_prompt
from report.checks.sections import has_recommendation
from report.corrections import correct_report, is_improvement, list_correctable
from report.labels import describe_removal
from runs.call_site import call_site
from text.question_types import asks_recommendation
from tools.source_checks import load_source_texts

Conversation = tuple[str, str]
"""The instructions and the request for which a report was written."""


async def correct_once(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    sources: Mapping[str, Source],
    reading: SecondReading,
    conversation: Conversation,
) -> SecondReading:
    """Return the reading of a report that its writer has corrected, or the one there was.

    The writer is asked only if sentences were removed, or if a recommendation that was asked for is
    missing; and only once. The corrected text is checked again, without another second reader, and
    what one has ruled stands. Whatever goes wrong, the report is as good as it was.

    Args:
        draft: The report as it was written.
        state: The state of the node.
        runtime: The runtime of the node.
        sources: The sources that it may cite, by id.
        reading: The report after the checks and the second reader.
        conversation: What it was written for.
    """
    shown = list_correctable(reading.checked.removed)
    recommends = asks_recommendation(state["question"])
    missing = recommends and not has_recommendation(reading.checked.body)
    if not (shown or missing) or not _can_be_corrected(draft, runtime.context):
        return reading
    show_progress(state, "correcting")
    try:
        answer = await _ask_for_corrections(draft, state, runtime, conversation, shown, missing)
        if not answer:
            return reading
        texts = await load_source_texts(call_site(state, runtime).owner, sources)
        text = correct_report(draft.text, answer, shown, texts)
        if text == draft.text:
            return reading
        checked = await verify_draft(state, runtime, text, sources, reading.ruling)
    except Problem:
        return reading
    if not is_improvement(checked, reading.checked, recommends=recommends):
        return reading
    return reading._replace(checked=checked)


def _can_be_corrected(draft: ReportDraft, context: Context) -> bool:
    """Tell whether a model wrote the whole text, and the run has reached no limit."""
    quotes = draft.quotes or is_extractive(model_for_role("reporter", context))
    return bool(draft.text) and not (quotes or draft.problem or draft.limit or draft.cut_by)


async def _ask_for_corrections(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    conversation: Conversation,
    shown: Sequence[RemovedSentence],
    missing: bool,
) -> str:
    """Return what the writer answers, in the conversation in which it wrote; "" if it is not whole.

    Raises:
        Problem: What `work` raises.
    """
    system, request = conversation
    wanted = render_correction_request(state["language"], shown, missing=missing)
    messages: list[AnyMessage] = [
        HumanMessage(request),
        AIMessage(draft.text),
        HumanMessage(wanted),
    ]
    at: dict[str, Any] = site_of_part(state, CORRECTION_PART)
    written = await work(at, runtime, "reporter", system, messages)
    whole = written.complete and not is_extractive(written.model)
    return written.text if whole else ""


def render_correction_request(
    language: str, shown: Sequence[RemovedSentence], *, missing: bool = False
) -> str:
    """Return the request to correct removed sentences, to add a recommendation, or both.

    Args:
        language: The language of the prompts.
        shown: The removed sentences.
        missing: Whether a recommendation that was asked for is missing.
    """
    marked = (
        render_cited_block(
            "sentence", one["text"], id=number, reason=describe_removal(one["reason"], language)
        )
        for number, one in enumerate(shown, start=1)
    )
    return join_prompt_blocks(
        render_prompt("report_correction", language=language).strip() if shown else "",
        wrap_blocks("removed", marked),
        render_prompt("report_recommendation", language=language).strip() if missing else "",
    )
