"""Show a researcher once what the checks took out of its finding, and have it corrected."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.gateway import work
from config.errors import Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.pauses import list_wishes
from graph.records import Finding, RemovedSentence
from graph.state import StepState
from models.chat_models import built_in
from nodes.report_correction import render_correction_request
from nodes.researcher import render_instructions, render_request
from nodes.step_finding import (
    apply_checks,
    load_read_passages,
    subject_of_step,
    upheld_ruling,
)
from report.corrections import correct_report, is_improvement, list_correctable
from runs.call_site import call_site
from tools.source_checks import load_source_texts, record_text_checks, verify_text


async def correct_finding(state: StepState, runtime: Runtime[Context], finding: Finding) -> Finding:
    """Return a finding that its researcher has corrected, or the one there was.

    The researcher is asked only if sentences are still removed after the review; a coder computes
    again what a review sends back. Whatever goes wrong, the finding is as good as it was.

    Args:
        state: The state of the step after its review.
        runtime: The runtime of the node.
        finding: The finding that passed its review.
    """
    draft, shown = state.get("draft", ""), list_correctable(state.get("removed", []))
    if not (shown and draft and finding["text"]) or built_in("researcher", runtime.context):
        return finding
    if state["step"]["kind"] == "compute":
        return finding
    place, context, sources = call_site(state, runtime), runtime.context, state["sources"]
    subject, ruling = subject_of_step(state), upheld_ruling(state)
    try:
        answer = await _ask_for_corrections(state, runtime, draft, shown)
        text = correct_report(draft, answer, shown, await load_source_texts(place.owner, sources))
        if not answer or text == draft:
            return finding
        before, checked = [
            await verify_text(
                place,
                context,
                "researcher",
                one,
                sources,
                subject,
                ruling,
                told=list_wishes(state),
            )
            for one in (draft, text)
        ]
    except Problem:
        return finding
    if not is_improvement(checked, before):
        return finding
    await record_text_checks(place, "researcher", checked, again=True)
    return apply_checks(state, finding, checked)


async def _ask_for_corrections(
    state: StepState, runtime: Runtime[Context], draft: str, shown: Sequence[RemovedSentence]
) -> str:
    """Return what the researcher answers in the conversation in which it wrote; "" if not whole.

    Raises:
        Problem: What `work` raises.
    """
    passages = await load_read_passages(call_site(state, runtime).owner, state)
    messages: list[AnyMessage] = [
        HumanMessage(render_request(state, runtime, passages)),
        AIMessage(draft),
        HumanMessage(render_correction_request(state["language"], shown)),
    ]
    system = render_instructions(state["language"], runtime.context)
    written = await work(state, runtime, "researcher", system, messages)
    whole = written.complete and not is_extractive(written.model)
    return written.text if whole else ""
