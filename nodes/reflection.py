"""Judge a finding: pass it, or send the step back with what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.streaming import show_step_progress
from config.errors import Problem
from graph.context import Context
from graph.records import DoubtedSentence, Finding, Objection, turn_key
from graph.state import StepState, redo_count
from models.chat_models import built_in
from models.extractive.finding_review import review_finding
from models.extractive.schema_answers import extractive_answer
from nodes.researcher import apply_checks, subject_of_step, upheld_ruling
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_findings_block,
    render_step_blocks,
)
from prompts.loader import render_prompt
from report.checks.claims import list_dangling_statements
from report.findings import drop_doubted, list_rejected_statements, render_earlier_block
from report.labels import describe_reason, render_check_results
from report.markdown.markers import list_cited_ids
from report.rendering.markdown_report import render_plain_text
from runs.call_site import call_site
from runs.incomplete import UNUSABLE_ANSWER
from text.words import search_words
from tools.source_checks import record_text_checks, verify_text


@extractive_answer(review_finding)
class Verdict(BaseModel):
    """Whether a finding does what its step asked for."""

    passed: bool
    feedback: VisibleText = ""
    wrong: list[str] = Field(
        default=[], description="the wrong sentences of the finding, word for word"
    )
    queries: SearchTexts = []
    right: list[int] = Field(default=[], description="numbers of contested sentences")
    open: list[VisibleText] = Field(
        default=[], description="what no step looks for of what the question needs"
    )


async def reflection(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Let a finding pass, or have the step done again with the feedback.

    Where the step cannot be done again, no model is asked: what the review before has rejected, and
    still stands, is taken out or doubted. The built-in model costs nothing, and is asked.

    Reads `question`, `step`, `others`, `finding`, `passages`, `earlier`, `draft`, `removed`,
    `doubted`, `objection`; writes `findings`, or `feedback`, `objection`, `more_queries`, `redo`
    and what it read of the finding, as it stands then. A judge that fails leaves the finding
    `unverified`.
    """
    finding = state["finding"]
    last = redo_count(state) >= runtime.context.max_reflections
    unusable = finding["reason"].startswith(UNUSABLE_ANSWER)
    if not finding["text"] and unusable and not last:
        return _again(state, describe_reason(UNUSABLE_ANSWER, "failed", state["language"]))
    hopeless = not finding["text"] and (last or finding["reason"] != "no_evidence")
    if hopeless:
        return _done(state, _unconfirmed(state, finding))
    if last and not built_in("reflector", runtime.context):
        return _done(state, _done_again(state, finding))
    show_step_progress(state, "checking")
    try:
        verdict = await _verdict(state, runtime)
        checked = await _upheld(state, runtime, verdict.right)
    except Problem:
        return _done(state, finding | {"review": "unverified"})
    finding = _with_open(checked["finding"], verdict.open)
    # Where the checks left nothing of a draft, it is worth another try that is told why.
    if verdict.passed and (finding["text"] or not state.get("removed")):
        return _done(state, finding | {"review": "passed"})
    if last:
        return _done(state, _rejected(state, finding, verdict.wrong, verdict.feedback))
    text, feedback = finding["text"], verdict.feedback
    held = Objection(text=text, wrong=verdict.wrong, feedback=feedback)
    checked |= StepState(finding=finding, objection=held)
    return checked | _again(state, feedback or finding["reason"], verdict.queries)


def _again(state: StepState, feedback: str, queries: Sequence[str] = ()) -> StepState:
    """Have the step done once more."""
    return StepState(feedback=feedback, more_queries=[*queries], redo=redo_count(state) + 1)


def _done_again(state: StepState, finding: Finding) -> Finding:
    """Return the finding of a last attempt, held to what the review of the one before says."""
    held = state.get("objection")
    if held is None:
        return finding
    wrong, feedback = held["wrong"], held["feedback"]
    stays = finding["text"] == held["text"] or list_rejected_statements(
        finding["text"], wrong, feedback
    )
    return _rejected(state, finding, wrong, feedback) if stays else finding


def _with_open(finding: Finding, left: Sequence[str]) -> Finding:
    """Return a finding with what its review leaves open for the question, if anything."""
    told = [one for one in left if one.strip()]
    return finding | {"open": told} if told else finding


def _unconfirmed(state: StepState, finding: Finding) -> Finding:
    """Return a finding that does not call the sources silent where claims were removed."""
    removed = finding["reason"] == "no_evidence" and state.get("removed")
    return finding | {"reason": "failed"} if removed else finding


async def _verdict(state: StepState, runtime: Runtime[Context]) -> Verdict:
    found = render_findings_block([state["finding"] | {"doubted": ""}])
    data = render_step_blocks(
        state["question"], state["step"], found, state["passages"], state.get("sources", {})
    )
    contested = "\n".join(_numbered(_contested(state)))
    data = join_prompt_blocks(
        data,
        render_block("others", "\n".join(state.get("others", []))),
        render_cited_block("contested", contested),
        render_earlier_block(state.get("earlier", [])),
    )
    system = render_prompt("reflection", language=state["language"])
    return await ask(state, runtime, "reflector", system, [HumanMessage(data)], Verdict)


def _numbered(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with their numbers; a reason that is the same as above is not told again."""
    above = ""
    for number, line in enumerate(lines, start=1):
        told = " ".join(line.removeprefix("- ").split())
        reason = told.partition("“")[0]
        yield f"{number}. {told.removeprefix(above) if reason == above else told}"
        above = reason


def _contested(state: StepState) -> list[str]:
    """Return what was removed from the draft or is doubted in it, each with the reason."""
    language = state["language"]
    removed = [render_check_results([one], [], language) for one in state.get("removed", [])]
    return [
        *removed,
        *(render_check_results([], [one], language) for one in state.get("doubted", [])),
    ]


async def _upheld(state: StepState, runtime: Runtime[Context], right: Sequence[int]) -> StepState:
    """Return the finding, what was removed and what is doubted, once some of that is upheld."""
    finding, draft = state["finding"], state.get("draft", "")
    removed, doubted = state.get("removed", []), state.get("doubted", [])
    texts = [one["text"] for one in [*removed, *doubted]]
    named = [texts[at - 1] for at in right if 0 < at <= len(texts)]
    upheld = StepState(upheld=[*state.get("upheld", []), *named])
    if named and draft and finding["text"]:
        place, asked = call_site(state, runtime), subject_of_step(state)
        sources, ruling = state["sources"], upheld_ruling(state | upheld)
        checked = await verify_text(
            place, runtime.context, "researcher", draft, sources, asked, ruling
        )
        await record_text_checks(place, "researcher", checked, again=True)
        finding = apply_checks(state, finding, checked)
        removed, doubted = checked.removed, checked.doubted
    return upheld | StepState(finding=finding, removed=removed, doubted=doubted)


def _rejected(state: StepState, finding: Finding, wrong: Sequence[str], feedback: str) -> Finding:
    """Return a finding that was not mended, without the sentences that the review copies as wrong.

    Where others refer to them, or it only speaks of them, they stay and are doubted.
    """
    finding = finding | {"review": "failed", "objection": feedback}
    named = list_rejected_statements(finding["text"], wrong, feedback)
    stay = list_dangling_statements(finding["text"], named) or not wrong
    text = finding["text"] if stay else drop_doubted(finding["text"], named)
    if not list_cited_ids(text):
        return finding | {"text": "", "status": "failed", "reason": finding["reason"] or "failed"}
    if not (named or search_words(feedback)):
        return finding | {"reason": finding["reason"] or "failed"}
    held = [
        DoubtedSentence(text=render_plain_text(one), reason="not_said") for one in named if stay
    ]
    held += [DoubtedSentence(text=feedback, reason="review")] if feedback else []
    lines = [finding.get("doubted", ""), render_check_results([], held, state["language"])]
    return finding | {
        "text": text,
        "sources": list(dict.fromkeys(list_cited_ids(text))),
        "doubted": "\n".join(filter(None, lines)),
        "status": "partial",
        "reason": finding["reason"] or ("set_right" if named else "objected"),
    }


def _done(state: StepState, finding: Finding) -> StepState:
    return StepState(findings={turn_key(state["turn"], finding["step"]): finding})
