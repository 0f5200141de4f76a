"""Review a finding: pass it, or send the step back with feedback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from pydantic import BaseModel

from calls.gateway import ask
from calls.replies import SearchTexts, VisibleText
from calls.run_budget import run_within_budget
from calls.run_progress import show_step_progress
from config.errors import Problem
from graph.context import Context
from graph.pauses import list_wishes
from graph.records import DoubtedSentence, Finding, Objection, Passage, turn_key
from graph.state import StepState, redo_count
from models.chat_models import built_in
from models.extractive.finding_review import review_finding
from models.extractive.schema_answers import extractive_answer
from nodes.finding_correction import correct_finding
from nodes.program_blocks import (
    render_figures_block,
    render_programs_block,
    select_computed_sources,
)
from nodes.step_finding import (
    apply_checks,
    load_read_passages,
    subject_of_step,
    upheld_ruling,
)
from prompts.data_blocks import (
    join_prompt_blocks,
    render_block,
    render_cited_block,
    render_findings_block,
    render_pages_block,
    render_step_block,
)
from prompts.loader import render_prompt
from report.checks.claims import list_dangling_statements
from report.checks.second_reader import find_draft_passages
from report.findings import (
    drop_doubted,
    list_finding_sources,
    list_rejected_statements,
    list_unchanged_rejections,
    render_earlier_block,
    render_open_block,
)
from report.labels import describe_reason, render_check_results
from report.markdown.markers import list_cited_ids
from report.rendering.markdown_report import render_plain_text
from runs.call_site import call_site
from runs.incomplete import UNUSABLE_ANSWER
from text.words import search_words
from tools.computations import load_computations
from tools.reading_choice import list_spans
from tools.source_checks import load_source_texts, record_text_checks, verify_text


@extractive_answer(review_finding)
class Verdict(BaseModel):
    """Whether a finding does what its step asked for."""

    passed: bool
    feedback: VisibleText = ""
    wrong: list[str] = []
    queries: SearchTexts = []
    right: list[int] = []
    open: list[VisibleText] = []


async def reflection(state: StepState, runtime: Runtime[Context]) -> StepState:
    """Let a finding pass, or send its step back with feedback.

    After the last attempt no model is asked: statements that the earlier review rejected and that
    are still there are removed or doubted. The built-in model costs nothing and is asked anyway.

    Reads `question`, `step`, `others`, `finding`, `read`, `earlier`, `draft`, `removed`,
    `doubted`, `objection`; writes `findings`, or `feedback`, `objection`, `more_queries`, `redo`
    and its checked version of what it read. If the judge fails, the finding is `unverified`.
    """
    finding = state["finding"]
    last = redo_count(state) >= runtime.context.max_reflections
    unusable = finding["reason"].startswith(UNUSABLE_ANSWER)
    if not finding["text"] and unusable and not last:
        return _redo(state, describe_reason(UNUSABLE_ANSWER, "failed", state["language"]))
    if not finding["text"] and (last or finding["reason"] != "no_evidence"):
        return _done(state, _without_silence(state, finding))
    if last and not built_in("reflector", runtime.context):
        return _done(state, _apply_objection(state, finding))
    if state["step"]["kind"] == "compute" and built_in("reflector", runtime.context):
        # It compares words, which says nothing of a computation.
        return _done(state, finding | {"review": "passed" if finding["text"] else ""})
    show_step_progress(state, "checking")
    try:
        passages = await _cited_passages(state, runtime)
        verdict = await _verdict(state, runtime, passages)
        checked = await _uphold(state, runtime, verdict.right)
    except Problem:
        return _done(state, finding | {"review": "unverified"})
    finding = _with_open(checked["finding"], verdict.open)
    # A draft that lost all its text to the checks deserves another attempt with the reasons.
    if verdict.passed and (finding["text"] or not state.get("removed")):
        finding = await correct_finding(state | checked, runtime, finding)
        return _done(state, finding | {"review": "passed"})
    if last:
        rejected = list_rejected_statements(finding["text"], verdict.wrong, verdict.feedback)
        return _done(state, _reject(state, finding, verdict.wrong, verdict.feedback, rejected))
    text, feedback = finding["text"], verdict.feedback
    missing = bool(verdict.queries) and not verdict.wrong
    # The feedback may name what only its reviewer was shown.
    shown = list_spans(passages, state.get("sources", {}))
    objection = Objection(
        text=text, wrong=verdict.wrong, feedback=feedback, missing=missing, shown=shown
    )
    checked |= StepState(finding=finding, objection=objection)
    return checked | _redo(state, feedback or finding["reason"], verdict.queries)


def _redo(state: StepState, feedback: str, queries: Sequence[str] = ()) -> StepState:
    """Send the step back with feedback and further queries."""
    return StepState(feedback=feedback, more_queries=[*queries], redo=redo_count(state) + 1)


def _apply_objection(state: StepState, finding: Finding) -> Finding:
    """Apply the objection to the previous attempt to the last one, if it still holds."""
    objection = state.get("objection")
    if objection is None:
        return finding
    stays = list_unchanged_rejections(finding["text"], objection)
    unchanged = finding["text"] == objection["text"]
    if unchanged or (stays and not objection.get("missing")):
        return _reject(state, finding, objection["wrong"], objection["feedback"], stays)
    return finding


def _with_open(finding: Finding, points: Sequence[str]) -> Finding:
    """Return a finding with the points of the question that its review leaves open, if any."""
    points = [point for point in points if point.strip()]
    return finding | {"open": points} if points else finding


def _without_silence(state: StepState, finding: Finding) -> Finding:
    """Return a finding that does not report missing evidence if claims were removed instead."""
    removed = finding["reason"] == "no_evidence" and state.get("removed")
    return finding | {"reason": "failed"} if removed else finding


async def _verdict(
    state: StepState, runtime: Runtime[Context], passages: Sequence[Passage]
) -> Verdict:
    finding = render_findings_block([state["finding"] | {"doubted": ""}])
    contested = "\n".join(_numbered(_contested(state)))
    data = join_prompt_blocks(
        render_block("question", state["question"]),
        render_step_block(state["step"]),
        finding,
        render_pages_block(passages, state.get("sources", {})),
        *await _render_computations(state, runtime),
        render_block("others", "\n".join(state.get("others", []))),
        render_open_block(state.get("needed", [])),
        render_cited_block("contested", contested),
        render_earlier_block(_given_findings(state)),
    )
    system = render_prompt("reflection", language=state["language"])
    return await ask(state, runtime, "reflector", system, [HumanMessage(data)], Verdict)


async def _render_computations(state: StepState, runtime: Runtime[Context]) -> list[str]:
    """Return the blocks of the programs whose results the finding cites, and of their figures."""
    cited = list_cited_ids(f"{state.get('draft', '')}\n{state['finding']['text']}")
    computed = select_computed_sources(state.get("sources", {}), cited)
    if not computed:
        return []
    computations = await load_computations(call_site(state, runtime).owner, computed)
    return [render_programs_block(computations), render_figures_block(computations)]


async def _cited_passages(state: StepState, runtime: Runtime[Context]) -> list[Passage]:
    """Return the passages that the draft rests on; for the built-in model, all that were read."""
    place, sources = call_site(state, runtime), state.get("sources", {})
    if built_in("reflector", runtime.context):
        return await load_read_passages(place.owner, state)
    differing = "\n\n".join(state["finding"].get("disagreements", []))
    draft, text = state.get("draft", ""), f"{state['finding']['text']}\n\n{differing}"
    rests = f"{draft}\n\n{differing}" if draft else text
    cited = [name for name in list_cited_ids(f"{draft}\n{text}") if name in sources]
    pages = await load_source_texts(place.owner, {name: sources[name] for name in cited})
    contested = state.get("removed", []), state.get("doubted", [])
    work = partial(find_draft_passages, rests, *contested, pages)
    size = len(draft) + sum(map(len, pages.values()))
    return await run_within_budget(place, runtime.context, "reflector", work, characters=size)


def _given_findings(state: StepState) -> list[Finding]:
    """Return what the step was handed, which its finding may cite."""
    given = [*state.get("needed", []), *state.get("earlier", [])]
    return [finding for finding in given if finding["text"]]


def _numbered(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with their numbers; omit a reason that is the same as in the line above."""
    above = ""
    for number, line in enumerate(lines, start=1):
        text = " ".join(line.removeprefix("- ").split())
        reason = text.partition("“")[0]
        yield f"{number}. {text.removeprefix(above) if reason == above else text}"
        above = reason


def _contested(state: StepState) -> list[str]:
    """Return the removed and the doubted sentences of the draft, each with the reason."""
    language = state["language"]
    removed, doubted = state.get("removed", []), state.get("doubted", [])
    lines = [render_check_results([sentence], [], language) for sentence in removed]
    return lines + [render_check_results([], [sentence], language) for sentence in doubted]


async def _uphold(state: StepState, runtime: Runtime[Context], right: Sequence[int]) -> StepState:
    """Check the draft again without objections to the sentences numbered as right."""
    finding, draft = state["finding"], state.get("draft", "")
    removed, doubted = state.get("removed", []), state.get("doubted", [])
    texts = [sentence["text"] for sentence in [*removed, *doubted]]
    right_texts = [texts[number - 1] for number in right if 0 < number <= len(texts)]
    upheld = StepState(upheld=[*state.get("upheld", []), *right_texts])
    if right_texts and draft and finding["text"]:
        place, subject = call_site(state, runtime), subject_of_step(state)
        sources, ruling = state["sources"], upheld_ruling(state | upheld)
        checked = await verify_text(
            place,
            runtime.context,
            "researcher",
            draft,
            sources,
            subject,
            ruling,
            told=list_wishes(state),
        )
        await record_text_checks(place, "researcher", checked, again=True)
        finding = apply_checks(state, finding, checked)
        removed, doubted = checked.removed, checked.doubted
    return upheld | StepState(finding=finding, removed=removed, doubted=doubted)


def _reject(
    state: StepState,
    finding: Finding,
    wrong: Sequence[str],
    feedback: str,
    rejected: Sequence[str],
) -> Finding:
    """Return a finding that failed its review, without the sentences that the review rejects.

    They stay and are doubted if other sentences refer to them, or if only the feedback names them.

    Args:
        state: The state of the step.
        finding: The finding.
        wrong: The sentences that the review copied.
        feedback: What the review said.
        rejected: The statements of the finding that it rejects.
    """
    finding = finding | {"review": "failed", "objection": feedback}
    stay = list_dangling_statements(finding["text"], rejected) or not wrong
    text = finding["text"] if stay else drop_doubted(finding["text"], rejected)
    if not list_cited_ids(text):
        return finding | {"text": "", "status": "failed", "reason": finding["reason"] or "failed"}
    if not (rejected or search_words(feedback)):
        return finding | {"reason": finding["reason"] or "failed"}
    kept = map(render_plain_text, rejected if stay else [])
    doubts = [DoubtedSentence(text=sentence, reason="not_said") for sentence in kept]
    doubts += [DoubtedSentence(text=feedback, reason="review")] if feedback else []
    lines = [finding.get("doubted", ""), render_check_results([], doubts, state["language"])]
    return finding | {
        "text": text,
        "sources": list_finding_sources(finding | {"text": text}),
        "doubted": "\n".join(filter(None, lines)),
        "status": "partial",
        "reason": finding["reason"] or ("set_right" if rejected else "objected"),
    }


def _done(state: StepState, finding: Finding) -> StepState:
    show_step_progress(state, "step_done", status=finding["status"])
    return StepState(findings={turn_key(state["turn"], finding["step"]): finding})
