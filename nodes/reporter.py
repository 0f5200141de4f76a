"""Write the report, and keep only statements that its sources support."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import cast
from uuid import uuid4

from langgraph.runtime import Runtime

from calls.attempts import FailedRole, list_failed_roles
from calls.run_progress import show_progress
from calls.streaming import show_text
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.records import DoubtedSentence, Report, RunStatus, Source, TurnAnswer
from graph.state import State
from memory.learning.question_text import get_last_question
from models.chat_models import model_for_role
from models.faults import raise_if_fatal
from nodes.checker import SecondReading, run_second_reader, verify_draft
from nodes.conversation import has_masked_secret
from nodes.earlier_answer import list_refresh_notices
from nodes.human_feedback import remove_plan_messages
from nodes.notices import (
    assumption_notices,
    failure_notices,
    keyword_only_notices,
    missing_price_notices,
    respelling_notices,
    unattended_notices,
    unread_file_notices,
)
from nodes.recomputation import recompute_cited
from nodes.report_correction import Conversation, correct_once
from nodes.report_draft import ReportDraft, write_at_once
from nodes.report_request import build_request, choose_size, list_open_points
from nodes.report_sections import write_in_sections
from nodes.revision import get_root_question, get_version_title
from prompts.loader import render_prompt
from report import findings
from report.checks.attribution import CheckedText
from report.checks.sections import list_inferred_statements
from report.document import (
    find_reached_limit,
    has_gaps,
    is_left_open,
    list_report_gaps,
    list_unknown,
    shorten_title,
)
from report.labels import describe_missing_words, describe_reason, get_label
from report.rendering.markdown_report import render_plain_text
from report.versions import get_previous_version
from runs.call_site import call_site
from runs.incomplete import RESUME_NODES, list_failed_findings
from text.question_types import classify_unquotable
from tools.source_checks import (
    SourceJudge,
    preparing_checks,
    record_text_checks,
)

UNFINISHED = {
    *("cut", "capped_text", "sections", "no_model", "budget", "capped", "composed", "open"),
    "unsure",
}
"""Notices of a report that is incomplete or uncertain."""

REPLIED = (ErrorCode.ANSWER_INVALID, ErrorCode.MODEL_REFUSED)
"""The problems of a model that replied, but not usably."""

UNQUOTABLE = {"drawing", "judging", "counting"}
"""Notices of a question that quotations cannot answer (`text/question_types.py`)."""

LAST = 10.0
"""Seconds that the checks of the fallback report may take after the time limit of the run."""

NOTHING = CheckedText("", [], [], [], [])
"""The result for a text that there was no time to check."""


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`, `answers`; writes `report`,
    `answers`, `status`, and removes the plan from `messages`. Without evidence no model is called,
    and the report says what was searched.

    Raises:
        Problem: Why the model did not write, if there is nothing else to show.
    """
    sources = {name: state["sources"][name] for name in findings.list_evidence_ids(state)}
    conversation: Conversation = ("", "")
    draft = _open_draft(state)
    show_progress(state, "writing")
    if sources:
        async with preparing_checks(
            call_site(state, runtime), runtime.context, "reporter", sources
        ):
            mark = render_prompt("draft_mark", language=state["language"])
            show_text(f"{mark}\n\n", draft.id)
            conversation = await _write(draft, state, runtime, sources)
    judge = SourceJudge(call_site(state, runtime), runtime.context, sources)
    reading = await _check(draft, state, runtime, judge, conversation)
    checked, recomputed = await recompute_cited(state, runtime, reading.checked, sources)
    reading = reading._replace(checked=checked)
    if draft.problem and not checked.cited:
        raise draft.problem
    if not checked.cited and not draft.limit:
        draft.failed_role = await _first_failed_role(call_site(state, runtime).run)
    if _leaves_part_open(draft, state["question"], checked):
        draft.add_notice("open")
    _note_unquotable(draft, state, model_for_role("reporter", runtime.context), checked)
    await record_text_checks(call_site(state, runtime), "reporter", checked)
    status = _status(state, checked, draft)
    report = await _report(draft, state, runtime, reading, judge)
    if recomputed:
        report["recomputed"] = recomputed
    return State(
        report=report,
        status=status,
        answers={str(state["turn"]): _answer(state, report, draft.id)},
        messages=remove_plan_messages(state),
    )


def _open_draft(state: State) -> ReportDraft:
    """Return an empty draft with the notices that do not depend on what is written."""
    draft = ReportDraft(limit=find_reached_limit(state), id=_message_id(state) or str(uuid4()))
    if draft.limit:
        draft.add_notice("capped")
    if has_masked_secret(state):
        draft.add_notice("secret")
    return draft


def _answer(state: State, report: Report, message: str) -> TurnAnswer:
    """Return what later turns are told of a report, which was streamed as a message."""
    return TurnAnswer(
        question=get_root_question(state),
        title=report["title"],
        run=state["run"],
        text=report["body"],
        sources=report["cited"],
        open=list_open_points(state, report["body"]),
        gaps=list_report_gaps(state, report["body"]),
        unknown=list_unknown(state),
        message=message,
    )


def _leaves_part_open(draft: ReportDraft, question: str, checked: CheckedText) -> bool:
    """Tell whether a report answers only a part, and no other notice says how far it answers."""
    told = not checked.cited or "unsure" in draft.notices
    return not told and is_left_open(question, checked.body)


def _error(draft: ReportDraft) -> dict[str, str]:
    """Return the problem of the reporter or of the failed role as plain data."""
    if draft.failed_role:
        role = draft.failed_role.role
        code = ErrorCode.parse(draft.failed_role.status)
        hint = code.hint or "resume the run, which asks the model again"
        problem = Problem(code, f"the model failed as {role}", hint=hint)
        return {**problem.as_dict(), "role": role}
    return draft.problem.as_dict() if draft.problem else {}


def _message_id(state: State) -> str:
    """Return the message id of an earlier report of this turn, which this one replaces, or ""."""
    answer = (state.get("answers") or {}).get(str(state["turn"]))
    return answer.get("message", "") if answer else ""


async def _report(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    reading: SecondReading,
    judge: SourceJudge,
) -> Report:
    """Return the record of a checked report."""
    checked = reading.checked
    report = Report(
        title=get_version_title(state)
        or shorten_title(state["plan"]["title"] or state["question"]),
        # A text that cites no source is not a report.
        body=checked.body if checked.cited else "",
        cited=checked.cited,
        quotes=checked.quotes,
        removed=checked.removed,
        doubted=[_as_plain_text(doubt) for doubt in checked.doubted],
        notices=await _list_notices(draft, state, runtime),
        language=state["language"],
        second_reader=reading.second_reader,
        asked=get_last_question(state["messages"]),
    )
    inferred = list_inferred_statements(report["body"], state["question"])
    report |= {"inferred": [*map(render_plain_text, inferred)]} if inferred else {}
    report |= {"limit": draft.limit} if draft.limit else {}
    if report["body"]:
        told = await judge.judge(checked)
        report |= cast("Report", {name: value for name, value in told.items() if value})
    return report | {"error": error} if (error := _error(draft)) else report


async def _list_notices(draft: ReportDraft, state: State, runtime: Runtime[Context]) -> list[str]:
    """Return what a reader is told of a report as a whole, in the order in which it is shown."""
    nothing_found = draft.failed_role is not None
    return [
        *await failure_notices(state, runtime, draft.problem, nothing_found=nothing_found),
        *list_refresh_notices(state),
        *_notices(draft, state["language"]),
        *assumption_notices(state),
        *unattended_notices(state),
        *await respelling_notices(state, runtime),
        *await unread_file_notices(state, runtime),
        *await keyword_only_notices(state, runtime),
        *await missing_price_notices(state, runtime),
    ]


async def _first_failed_role(run: str) -> FailedRole | None:
    """Return the first role, in the order of the graph, that got no answer from its model."""
    failed = await list_failed_roles(run)
    return next((entry for role in RESUME_NODES for entry in failed if entry.role == role), None)


async def _write(
    draft: ReportDraft, state: State, runtime: Runtime[Context], sources: dict[str, Source]
) -> Conversation:
    """Let the model write, in sections where the report becomes long; return what it was asked."""
    system, request = await build_request(state, runtime, sources)
    size = choose_size(state, runtime.context)
    try:
        written = size and await write_in_sections(draft, state, runtime, sources, size)
    except Problem as problem:
        raise_if_fatal(problem)
        draft.note_problem(problem)
        return system, request
    if not written:
        await write_at_once(draft, state, runtime, system, request)
    return system, request


def _note_unquotable(draft: ReportDraft, state: State, model: str, checked: CheckedText) -> None:
    """Add a notice if the question asks for something that quotations alone cannot give."""
    if not (is_extractive(model) or draft.quotes):
        return
    notice = classify_unquotable(state["question"], checked.body)
    computed = findings.needs_no_research(state) or findings.has_table_results(state)
    # What rules compute over a table may be what was to be drawn, but it is not drawn. A model that
    # failed could have drawn it.
    is_told = is_extractive(model) if notice == "drawing" else not computed
    if notice and is_told:
        draft.add_notice(notice)


async def _check(
    draft: ReportDraft,
    state: State,
    runtime: Runtime[Context],
    judge: SourceJudge,
    conversation: Conversation,
) -> SecondReading:
    """Return the checked draft, corrected once where something was taken out of it.

    If nothing of it is left, the checked fallback report is returned.
    """
    sources = judge.sources
    checked = await _verify(draft, draft.text, state, runtime, sources)
    if checked is None:
        draft.text, draft.notices, checked = "", ["budget"], NOTHING
    meanwhile = partial(judge.judge, checked)
    reading = await run_second_reader(state, runtime, draft.text, checked, sources, meanwhile)
    if reading.second_reader == "failed":
        draft.second_reader_error = reading.problem
        draft.add_notice("not_usable" if reading.problem in REPLIED else "not_compared")
    if reading.unread_count:
        draft.unread_count = reading.unread_count
        draft.add_notice("partly_compared")
    reading = await correct_once(draft, state, runtime, sources, reading, conversation)
    # Without findings of steps, a model that finds no answer in the passages is believed.
    kept = findings.list_findings(state) or get_previous_version(state)
    if reading.checked.cited or (draft.text and not kept):
        return reading
    if draft.text:
        draft.add_notice("composed")
    composed = findings.fallback_report(state)
    verified = await _verify(draft, composed, state, runtime, sources, least=LAST)
    return SecondReading(verified or NOTHING, reading.second_reader)


async def _verify(
    draft: ReportDraft,
    text: str,
    state: State,
    runtime: Runtime[Context],
    sources: Mapping[str, Source],
    least: float = 0.0,
) -> CheckedText | None:
    """Return the verified text; if the time is used up, record the limit and return None."""
    try:
        return await verify_draft(state, runtime, text, sources, least=least)
    except Problem as problem:
        if problem.code != ErrorCode.BUDGET_SPENT:
            raise
        draft.limit = problem.where
        return None


def _as_plain_text(doubt: DoubtedSentence) -> DoubtedSentence:
    """Return a doubt with its sentence as readers see it, without Markdown."""
    plain: DoubtedSentence = {**doubt, "text": render_plain_text(doubt["text"])}
    return plain | {"part": render_plain_text(doubt["part"])} if "part" in doubt else plain


def _status(state: State, checked: CheckedText, draft: ReportDraft) -> RunStatus:
    """Return the outcome of the run: partial if anything is missing, as the report then says."""
    if not checked.cited:
        return (
            "partial" if draft.limit else "failed" if draft.failed_role else "insufficient_evidence"
        )
    failed = draft.problem or list_failed_findings(state)
    unfinished = set(draft.notices) & (UNFINISHED | UNQUOTABLE)
    return "partial" if failed or unfinished or has_gaps(state, checked.body) else "succeeded"


def _notices(draft: ReportDraft, language: str) -> list[str]:
    """Return the texts of the notices; "unsure", which says how far to trust the text, is first."""
    values = {
        "limit": draft.limit,
        "missing": describe_missing_words(draft.uncertainty, language),
        "why": describe_reason(draft.second_reader_error, "failed", language),
        "count": str(draft.unread_count),
        "parts": get_label("comma", language).join(draft.missing_parts),
    }
    names = sorted(draft.notices, key=lambda name: name != "unsure")
    return [render_prompt(f"notice_{name}", language=language, **values).strip() for name in names]
