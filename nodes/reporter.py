"""Write the report, and keep only statements that its sources support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.attempts import FailedRole, list_failed_roles
from calls.gateway import work
from calls.streaming import show_progress
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.plan import render_plan
from graph.records import (
    DoubtedSentence,
    Report,
    RunStatus,
    Source,
    SourceContradiction,
    TurnAnswer,
)
from graph.state import State
from memory.learning.question_text import get_last_question
from models.chat_models import model_for_role
from models.faults import raise_if_fatal
from nodes.checker import SecondReading, run_second_reader
from nodes.conversation import has_masked_secret
from nodes.human_feedback import remove_plan_messages
from nodes.notices import (
    failure_notices,
    keyword_only_notices,
    missing_price_notices,
    respelling_notices,
    unread_file_notices,
)
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
from report.checks.attribution import CheckedText
from report.document import (
    find_reached_limit,
    has_gaps,
    is_left_open,
    list_gaps,
    shorten_title,
)
from report.findings import render_earlier_block, select_earlier_findings
from report.labels import describe_missing_words, describe_reason
from report.rendering.markdown_report import render_plain_text
from runs.call_site import call_site
from runs.incomplete import RESUME_NODES, list_failed_findings
from text.question_types import classify_unquotable
from text.regex import regex
from text.script import CJK
from text.secret_masking import mask_secrets
from tools.evidence import preparing_checks
from tools.source_checks import (
    find_source_contradictions,
    judge_report_sources,
    record_text_checks,
    verify_text,
)

UNFINISHED = {"cut", "capped_text", "no_model", "budget", "capped", "composed", "open", "unsure"}
"""Notices of a report that is incomplete or uncertain."""

REPLIED = (ErrorCode.ANSWER_INVALID, ErrorCode.MODEL_REFUSED)
"""The problems of a model that replied, but not usably."""

UNQUOTABLE = {"judging", "counting"}
"""Notices of a question that quotations cannot answer (`text/question_types.py`)."""

LAST = 10.0
"""Seconds that the checks of the fallback report may take after the time limit of the run."""

NOTHING = CheckedText("", [], [], [], [])
"""The result for a text that there was no time to check."""

CONTINUATIONS = 3
"""How often a report that was cut off is continued."""

_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
"""The end of a text that takes no space after it: a Chinese character or punctuation mark."""


@dataclass
class _ReportDraft:
    """The text of the model, the notices for its readers, and the id it was streamed with.

    The finished report takes that id, so that it replaces the streamed text.
    """

    text: str = ""
    notices: list[str] = field(default_factory=list)
    limit: str = ""
    """The limit of the run that was reached, or ""."""
    cut_by: str = ""
    """The limit of the run that cut the text off; "" for the limit of the model."""
    uncertainty: str = ""
    """What an uncertain answer lacks."""
    problem: Problem | None = None
    """Why the model did not write the text, or only a part of it."""
    second_reader_error: str = ""
    """The code of the problem that kept the second reader from reading it."""
    unread_count: int = 0
    """How many of its sentences were not shown to the second reader."""
    failed_role: FailedRole | None = None
    """The role whose failure may be why nothing was found."""
    quotes: bool = False
    """Whether it consists of quotations, which answer fewer questions."""
    id: str = field(default_factory=lambda: str(uuid4()))

    def append_text(self, text: str) -> None:
        """Append another part; a heading or a list starts a new paragraph."""
        starts_block = text.startswith(("#", "-", "|", "*", "1."))
        separator = "\n\n" if starts_block else "" if _UNSPACED.search(self.text) else " "
        self.text = f"{self.text}{separator}{text}".strip()

    def add_notice(self, notice: str) -> None:
        """Add a notice unless it is there already."""
        if notice not in self.notices:
            self.notices.append(notice)


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`, `answers`; writes `report`,
    `answers`, `status`, and removes the plan from `messages`. Without evidence no model is called,
    and the report says what was searched.

    Raises:
        Problem: Why the model did not write, if there is nothing else to show.
    """
    sources = {name: state["sources"][name] for name in findings.list_evidence_ids(state)}
    draft = _ReportDraft(limit=find_reached_limit(state), id=_message_id(state) or str(uuid4()))
    if draft.limit:
        draft.add_notice("capped")
    if has_masked_secret(state):
        draft.add_notice("secret")
    show_progress(state, "writing")
    if sources:
        async with preparing_checks(
            call_site(state, runtime), runtime.context, "reporter", sources
        ):
            await _write(draft, state, runtime)
    reading = await _check(draft, state, runtime, sources)
    checked = reading.checked
    if draft.problem and not checked.cited:
        raise draft.problem
    if not checked.cited and not draft.limit:
        draft.failed_role = await _first_failed_role(call_site(state, runtime).run)
    if is_left_open(state["question"], checked.body):
        draft.add_notice("open")
    _note_unquotable(draft, state, model_for_role("reporter", runtime.context), checked)
    await record_text_checks(call_site(state, runtime), "reporter", checked)
    status = _status(state, checked, draft)
    report = await _report(draft, state, runtime, reading)
    answer = TurnAnswer(
        question=state["question"],
        text=report["body"],
        sources=report["cited"],
        open=_open_points(state, report["body"]),
        message=draft.id,
    )
    return State(
        report=report,
        status=status,
        answers={str(state["turn"]): answer},
        messages=remove_plan_messages(state),
    )


def _error(draft: _ReportDraft) -> dict[str, str]:
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
    draft: _ReportDraft, state: State, runtime: Runtime[Context], reading: SecondReading
) -> Report:
    """Return the record of a checked report."""
    checked = reading.checked
    report = Report(
        title=shorten_title(state["plan"]["title"] or state["question"]),
        # A text that cites no source is not a report.
        body=checked.body if checked.cited else "",
        cited=checked.cited,
        quotes=checked.quotes,
        removed=checked.removed,
        doubted=[_as_plain_text(doubt) for doubt in checked.doubted],
        notices=[
            *await failure_notices(
                state, runtime, draft.problem, nothing_found=draft.failed_role is not None
            ),
            *_notices(draft, state["language"]),
            *await respelling_notices(state, runtime),
            *await unread_file_notices(state, runtime),
            *await keyword_only_notices(state, runtime),
            *await missing_price_notices(state, runtime),
        ],
        language=state["language"],
        second_reader=reading.second_reader,
        asked=get_last_question(state["messages"]),
    )
    report |= {"limit": draft.limit} if draft.limit else {}
    report |= await _judge_sources(state, runtime, report)
    return report | {"error": error} if (error := _error(draft)) else report


async def _judge_sources(state: State, runtime: Runtime[Context], report: Report) -> Report:
    """Return what readers are told of the sources of a report, as far as there is anything."""
    names = findings.list_evidence_ids(state) if report["body"] else []
    if not names:
        return cast("Report", {})
    sources = {name: state["sources"][name] for name in names}
    place, cited = call_site(state, runtime), report["cited"]
    told = await judge_report_sources(place, runtime.context, report["body"], cited, sources)
    return cast("Report", {name: value for name, value in told.items() if value})


async def _first_failed_role(run: str) -> FailedRole | None:
    """Return the first role, in the order of the graph, that got no answer from its model."""
    failed = await list_failed_roles(run)
    return next((entry for role in RESUME_NODES for entry in failed if entry.role == role), None)


async def _write(draft: _ReportDraft, state: State, runtime: Runtime[Context]) -> None:
    """Let the model write, and continue a text that was cut off."""
    tongue = render_prompt(
        f"tongue_{runtime.context.language or 'own'}", language=state["language"]
    )
    style = {"style": mask_secrets(runtime.context.style).text, "tongue": tongue.strip()}
    system = render_prompt("reporter", language=state["language"], **style)
    model = model_for_role("reporter", runtime.context)
    contradictions = await _find_contradictions(state, runtime)
    messages: list[AnyMessage] = [HumanMessage(_request(state, contradictions))]
    try:
        for _ in range(1 + CONTINUATIONS):
            written = await work(state, runtime, "reporter", system, messages, message_id=draft.id)
            text = written.text if written.complete else _clip_to_sentence(written.text)
            draft.append_text(text)
            if is_extractive(written.model):
                draft.quotes = True
            if is_extractive(model):
                draft.add_notice("extractive")
            draft.problem = written.fallback_reason or draft.problem
            if written.uncertainty is not None:
                draft.uncertainty = written.uncertainty
                draft.add_notice("unsure")
            if written.complete:
                break
            draft.cut_by = written.cap
            messages += [
                AIMessage(text),
                HumanMessage(render_prompt("continue", language=state["language"])),
            ]
        else:
            _note_cut(draft)
    except Problem as problem:
        raise_if_fatal(problem)
        _note_problem(draft, problem)


def _note_problem(draft: _ReportDraft, problem: Problem) -> None:
    """Record the problem that kept the model from writing or continuing the text."""
    spent = problem.where if problem.code == ErrorCode.BUDGET_SPENT else ""
    draft.cut_by = draft.cut_by or spent
    if draft.text:
        _note_cut(draft)
    elif spent:
        draft.limit, draft.notices = spent, ["budget"]
    else:
        draft.add_notice("no_model")
    draft.problem = None if spent else problem


def _note_cut(draft: _ReportDraft) -> None:
    """Record which limit cut the text off: one of the run, or that of the model."""
    draft.limit = draft.cut_by or draft.limit
    draft.add_notice("capped_text" if draft.cut_by else "cut")


def _note_unquotable(draft: _ReportDraft, state: State, model: str, checked: CheckedText) -> None:
    """Add a notice if the question asks for something that quotations alone cannot give."""
    quoting = is_extractive(model) or draft.quotes
    notice = classify_unquotable(state["question"], checked.body) if quoting else ""
    if notice and not (findings.needs_no_research(state) or findings.has_table_results(state)):
        draft.add_notice(notice)


async def _check(
    draft: _ReportDraft, state: State, runtime: Runtime[Context], sources: dict[str, Source]
) -> SecondReading:
    """Return the checked draft; if nothing of it is left, the checked fallback report."""
    checked = await _verify(draft, draft.text, state, runtime, sources)
    if checked is None:
        draft.text, draft.notices, checked = "", ["budget"], NOTHING
    reading = await run_second_reader(state, runtime, draft.text, checked, sources)
    if reading.second_reader == "failed":
        draft.second_reader_error = reading.problem
        draft.add_notice("not_usable" if reading.problem in REPLIED else "not_compared")
    if reading.unread_count:
        draft.unread_count = reading.unread_count
        draft.add_notice("partly_compared")
    # Without findings of steps, a model that finds no answer in the passages is believed.
    if reading.checked.cited or (draft.text and not findings.list_findings(state)):
        return reading
    if draft.text:
        draft.add_notice("composed")
    composed = findings.fallback_report(state)
    verified = await _verify(draft, composed, state, runtime, sources, least=LAST)
    return SecondReading(verified or NOTHING, reading.second_reader)


async def _verify(
    draft: _ReportDraft,
    text: str,
    state: State,
    runtime: Runtime[Context],
    sources: dict[str, Source],
    least: float = 0.0,
) -> CheckedText | None:
    """Return the verified text; if the time is used up, record the limit and return None."""
    place, question = call_site(state, runtime), state["question"]
    try:
        return await verify_text(
            place, runtime.context, "reporter", text, sources, question, least=least
        )
    except Problem as problem:
        if problem.code != ErrorCode.BUDGET_SPENT:
            raise
        draft.limit = problem.where
        return None


def _as_plain_text(doubt: DoubtedSentence) -> DoubtedSentence:
    """Return a doubt with its sentence as readers see it, without Markdown."""
    plain: DoubtedSentence = {**doubt, "text": render_plain_text(doubt["text"])}
    return plain | {"part": render_plain_text(doubt["part"])} if "part" in doubt else plain


async def _find_contradictions(
    state: State, runtime: Runtime[Context]
) -> list[SourceContradiction]:
    """Return where the sources of the findings, or of the first passages, contradict each other."""
    found = findings.list_findings(state)
    used = found or findings.list_background_passages(state)
    text = "\n".join(one["text"] for one in used)
    names = findings.list_evidence_ids(state)
    sources = {name: state["sources"][name] for name in names}
    place = call_site(state, runtime)
    return await find_source_contradictions(place, runtime.context, "reporter", text, sources)


def _request(state: State, contradictions: Sequence[SourceContradiction] = ()) -> str:
    found = findings.list_findings(state)
    earlier = select_earlier_findings(state, state["question"])
    pages = [*findings.list_background_passages(state), *state["knowledge"]]
    return join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("plan", render_plan(state["plan"])) if found else "",
        render_sources_block([*found, *earlier], state.get("sources", {})),
        render_findings_block(found),
        render_contradictions_block(contradictions),
        render_pages_block(pages, state.get("sources", {})),
        render_earlier_block(earlier),
        render_block("gaps", "\n".join(_open_points(state))),
    )


def _open_points(state: State, body: str = "") -> list[str]:
    """Return what the research left open, each with the reason in words."""
    language = state["language"]
    return [
        f"{gap['title']}: {describe_reason(gap['reason'], gap['status'], language)}"
        for gap in list_gaps(state, body)
    ]


def _status(state: State, checked: CheckedText, draft: _ReportDraft) -> RunStatus:
    """Return the outcome of the run: partial if anything is missing, as the report then says."""
    if not checked.cited:
        return (
            "partial" if draft.limit else "failed" if draft.failed_role else "insufficient_evidence"
        )
    failed = draft.problem or list_failed_findings(state)
    unfinished = set(draft.notices) & (UNFINISHED | UNQUOTABLE)
    return "partial" if failed or unfinished or has_gaps(state, checked.body) else "succeeded"


def _notices(draft: _ReportDraft, language: str) -> list[str]:
    """Return the texts of the notices; "unsure", which says how far to trust the text, is first."""
    values = {
        "limit": draft.limit,
        "missing": describe_missing_words(draft.uncertainty, language),
        "why": describe_reason(draft.second_reader_error, "failed", language),
        "count": str(draft.unread_count),
    }
    names = sorted(draft.notices, key=lambda name: name != "unsure")
    return [render_prompt(f"notice_{name}", language=language, **values).strip() for name in names]


def _clip_to_sentence(text: str) -> str:
    """Cut an incomplete text after its last whole sentence."""
    ends = max(text.rfind(mark) for mark in (". ", "? ", "! ", "。", "！", "？", "\n", "]"))
    return text[: ends + 1].rstrip() if ends > 0 else text
