"""Write the report, and let nothing into it that its sources do not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.attempts import FailedRole, list_failed_roles
from calls.gateway import work
from calls.streaming import show_progress
from config.errors import PROBLEM_HINTS, ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context
from graph.plan import render_plan
from graph.records import DoubtedSentence, Report, RunStatus, Source, TurnAnswer
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
from tools.source_checks import record_text_checks, verify_text

UNFINISHED = {"cut", "capped_text", "no_model", "budget", "capped", "composed", "open", "unsure"}
"""Notices of a report that is not what it was meant to be."""

REPLIED = (ErrorCode.ANSWER_INVALID, ErrorCode.MODEL_REFUSED)
"""The problems of a model that was asked, and whose reply is of no use."""

UNQUOTABLE = {"judging", "counting"}
"""Notices of a question that quotes do not answer (`text/question_types.py`)."""

LAST = 10.0
"""How many seconds the checks of what was found may take when the minutes of a run are used up."""

NOTHING = CheckedText("", [], [], [], [])
"""What the checks leave of a text that nobody had the time to check."""

CONTINUATIONS = 3
"""How often a report that was cut off is continued."""


_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
"""How a text ends behind which no space is put: with a Chinese character or mark."""


@dataclass
class _ReportDraft:
    """What the model wrote, what a reader must be told about it, and the id it was streamed with.

    The finished report takes that id, so that it replaces what was streamed.
    """

    text: str = ""
    notices: list[str] = field(default_factory=list)
    limit: str = ""
    """The limit of the run that was reached, if one was."""
    cut_by: str = ""
    """The limit of the run that cut the text off; "" for the model's own limit."""
    uncertainty: str = ""
    """What is missing for it to be an answer, if it is not certain to be one."""
    problem: Problem | None = None
    """Why the model did not write it, or not all of it."""
    second_reader_error: str = ""
    """The code of the problem because of which the second reader did not read it."""
    unread_count: int = 0
    """How many of its sentences the second reader was not shown."""
    failed_role: FailedRole | None = None
    """The role whose failure may be why nothing was found."""
    quotes: bool = False
    """Whether it consists of quotations, which answer fewer questions."""
    id: str = field(default_factory=lambda: str(uuid4()))

    def append_text(self, text: str) -> None:
        """Go on with another part; a heading or a list starts on a line of its own."""
        between = "\n\n" if text.startswith(("#", "-", "|", "*", "1.")) else " "
        between = "" if _UNSPACED.search(self.text) and between == " " else between
        self.text = f"{self.text}{between}{text}".strip()

    def add_notice(self, notice: str) -> None:
        """Have the reader be told something, once."""
        self.notices += [] if notice in self.notices else [notice]


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`, `answers`; writes `report`,
    `answers`, `status`, and takes the plan out of `messages`. Without evidence no model is asked,
    and the report says what was searched.

    Raises:
        Problem: Why the model did not write, if nothing can be shown without it.
    """
    sources = {name: state["sources"][name] for name in findings.list_evidence_ids(state)}
    draft = _ReportDraft(limit=find_reached_limit(state), id=_message_of(state) or str(uuid4()))
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
    again = await _checked(draft, state, runtime, sources)
    checked = again.checked
    if draft.problem and not checked.cited:
        raise draft.problem
    if not checked.cited and not draft.limit:
        draft.failed_role = await _failed_role(call_site(state, runtime).run)
    if is_left_open(state["question"], checked.body):
        draft.add_notice("open")
    _tell_unquotable(draft, state, model_for_role("reporter", runtime.context), checked)
    await record_text_checks(call_site(state, runtime), "reporter", checked)
    status = _status(state, checked, draft)
    report = await _report(draft, state, runtime, again)
    answer = TurnAnswer(
        question=state["question"],
        text=report["body"],
        sources=report["cited"],
        open=_open(state, report["body"]),
        message=draft.id,
    )
    return State(
        report=report,
        status=status,
        answers={str(state["turn"]): answer},
        messages=remove_plan_messages(state),
    )


def _error(draft: _ReportDraft) -> dict[str, str]:
    """Return why the model did not write, or a role found nothing, as plain data."""
    if draft.failed_role:
        what = f"the model failed as {draft.failed_role.role}"
        error = ErrorCode.parse(draft.failed_role.status)
        hint = PROBLEM_HINTS.get(error, "resume the run, which asks the model again")
        failed = Problem(error, what, hint=hint)
        return {**failed.as_dict(), "role": draft.failed_role.role}
    return draft.problem.as_dict() if draft.problem else {}


def _message_of(state: State) -> str:
    """Return the id of the message with a report of this turn that is now written again."""
    answer = (state.get("answers") or {}).get(str(state["turn"]))
    return answer.get("message", "") if answer else ""


async def _report(
    draft: _ReportDraft, state: State, runtime: Runtime[Context], again: SecondReading
) -> Report:
    """Return the record of a report that was checked."""
    checked = again.checked
    report = Report(
        title=shorten_title(state["plan"]["title"] or state["question"]),
        # Words without a single source are no report, whatever they say.
        body=checked.body if checked.cited else "",
        cited=checked.cited,
        quotes=checked.quotes,
        removed=checked.removed,
        doubted=[_shown(one) for one in checked.doubted],
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
        second_reader=again.second_reader,
        asked=get_last_question(state["messages"]),
    )
    report |= {"limit": draft.limit} if draft.limit else {}
    return report | {"error": error} if (error := _error(draft)) else report


async def _failed_role(run: str) -> FailedRole | None:
    """Return the first role of a run, in the order of the graph, that got no answer."""
    failed = await list_failed_roles(run)
    return next((one for role in RESUME_NODES for one in failed if one.role == role), None)


async def _write(draft: _ReportDraft, state: State, runtime: Runtime[Context]) -> None:
    """Have the model write, going on where it was cut off."""
    tongue = render_prompt(
        f"tongue_{runtime.context.language or 'own'}", language=state["language"]
    )
    style = {"style": mask_secrets(runtime.context.style).text, "tongue": tongue.strip()}
    system = render_prompt("reporter", language=state["language"], **style)
    wanted = model_for_role("reporter", runtime.context)
    said: list[AnyMessage] = [HumanMessage(_request(state))]
    try:
        for _ in range(1 + CONTINUATIONS):
            made = await work(state, runtime, "reporter", system, said, message_id=draft.id)
            text = made.text if made.complete else _whole(made.text)
            draft.append_text(text)
            if is_extractive(made.model):
                draft.quotes = True
            if is_extractive(wanted):
                draft.add_notice("extractive")
            draft.problem = made.fallback_reason or draft.problem
            if made.uncertainty is not None:
                draft.uncertainty = made.uncertainty
                draft.add_notice("unsure")
            if made.complete:
                break
            draft.cut_by = made.cap
            said += [
                AIMessage(text),
                HumanMessage(render_prompt("continue", language=state["language"])),
            ]
        else:
            _cut(draft)
    except Problem as problem:
        raise_if_fatal(problem)
        _stopped(draft, problem)


def _stopped(draft: _ReportDraft, problem: Problem) -> None:
    """Note what kept the model from writing, or from writing on."""
    spent = problem.where if problem.code == ErrorCode.BUDGET_SPENT else ""
    draft.cut_by = draft.cut_by or spent
    if draft.text:
        _cut(draft)
    elif spent:
        draft.limit, draft.notices = spent, ["budget"]
    else:
        draft.add_notice("no_model")
    draft.problem = None if spent else problem


def _cut(draft: _ReportDraft) -> None:
    """Note what cut a text off: a limit of the run, or the model's own."""
    draft.limit = draft.cut_by or draft.limit
    draft.add_notice("capped_text" if draft.cut_by else "cut")


def _tell_unquotable(draft: _ReportDraft, state: State, wanted: str, checked: CheckedText) -> None:
    """Note what the question asks for that quotes alone do not give."""
    quoting = is_extractive(wanted) or draft.quotes
    asked = classify_unquotable(state["question"], checked.body) if quoting else ""
    if asked and not (findings.needs_no_research(state) or findings.has_table_results(state)):
        draft.add_notice(asked)


async def _checked(
    draft: _ReportDraft, state: State, runtime: Runtime[Context], sources: dict[str, Source]
) -> SecondReading:
    """Return what the checks left of the draft, or where nothing is left, what was found."""
    checked = await _borne_out(draft, draft.text, state, runtime, sources)
    if checked is None:
        draft.text, draft.notices, checked = "", ["budget"], NOTHING
    again = await run_second_reader(state, runtime, draft.text, checked, sources)
    if again.second_reader == "failed":
        draft.second_reader_error = again.problem
        draft.add_notice("not_usable" if again.problem in REPLIED else "not_compared")
    if again.unread_count:
        draft.unread_count = again.unread_count
        draft.add_notice("partly_compared")
    # A model that finds no answer on pages that were only searched is believed.
    if again.checked.cited or (draft.text and not findings.list_findings(state)):
        return again
    if draft.text:
        draft.add_notice("composed")
    composed = findings.fallback_report(state)
    whole = await _borne_out(draft, composed, state, runtime, sources, least=LAST)
    return SecondReading(whole or NOTHING, again.second_reader)


async def _borne_out(
    draft: _ReportDraft,
    text: str,
    state: State,
    runtime: Runtime[Context],
    sources: dict[str, Source],
    least: float = 0.0,
) -> CheckedText | None:
    """Return what the checks leave of a text; nothing where no time is left, which is noted."""
    place, asked = call_site(state, runtime), state["question"]
    try:
        return await verify_text(
            place, runtime.context, "reporter", text, sources, asked, least=least
        )
    except Problem as problem:
        if problem.code != ErrorCode.BUDGET_SPENT:
            raise
        draft.limit = problem.where
        return None


def _shown(one: DoubtedSentence) -> DoubtedSentence:
    """Return a doubt in a sentence as the sentence is shown."""
    shown: DoubtedSentence = {**one, "text": render_plain_text(one["text"])}
    return shown | {"part": render_plain_text(one["part"])} if "part" in one else shown


def _request(state: State) -> str:
    found = findings.list_findings(state)
    told, before = _open(state), select_earlier_findings(state, state["question"])
    pages = [*findings.list_background_passages(state), *state["knowledge"]]
    return join_prompt_blocks(
        render_block("question", state["question"]),
        render_block("plan", render_plan(state["plan"])) if found else "",
        render_sources_block([*found, *before], state.get("sources", {})),
        render_findings_block(found),
        render_pages_block(pages, state.get("sources", {})),
        render_earlier_block(before),
        render_block("gaps", "\n".join(told)),
    )


def _open(state: State, body: str = "") -> list[str]:
    """Return what could not be found out, each with the reason in words."""
    language = state["language"]
    missing = [(gap["title"], gap["reason"], gap["status"]) for gap in list_gaps(state, body)]
    return [f"{title}: {describe_reason(why, status, language)}" for title, why, status in missing]


def _status(state: State, checked: CheckedText, draft: _ReportDraft) -> RunStatus:
    """Return how the run came out: in part where anything is missing, as the report then says."""
    if not checked.cited:
        return (
            "partial" if draft.limit else "failed" if draft.failed_role else "insufficient_evidence"
        )
    failed = draft.problem or list_failed_findings(state)
    in_part = (
        failed or has_gaps(state, checked.body) or set(draft.notices) & (UNFINISHED | UNQUOTABLE)
    )
    return "partial" if in_part else "succeeded"


def _notices(draft: _ReportDraft, language: str) -> list[str]:
    told = {"limit": draft.limit, "missing": describe_missing_words(draft.uncertainty, language)}
    told |= {
        "why": describe_reason(draft.second_reader_error, "failed", language),
        "count": str(draft.unread_count),
    }
    names = (f"notice_{name}" for name in _first(draft.notices))
    return [render_prompt(name, language=language, **told).strip() for name in names]


def _first(notices: Sequence[str]) -> list[str]:
    """Return notices in their order, but first the one that says how far to trust the text."""
    return sorted(notices, key=lambda name: name != "unsure")


def _whole(text: str) -> str:
    """Return a text that was cut off up to the end of its last whole sentence."""
    ends = max(text.rfind(mark) for mark in (". ", "? ", "! ", "。", "！", "？", "\n", "]"))
    return text[: ends + 1].rstrip() if ends > 0 else text
