"""Write the report, and let nothing into it that its sources do not say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from config.errors import HINTS, Problem
from graph.context import Context
from graph.plan_text import written
from graph.records import Answer, Doubted, Report, RunStatus, Source
from graph.state import State
from memory.learning.questions import in_own_words
from models.extractive.unquotable import unquotable
from models.load import model_name
from nodes.agent import work
from nodes.checker import Reread, read_again
from nodes.conversation import holds_secret
from nodes.notices import failures, no_price, respelt, unread_files, words_alone
from nodes.shown_plan import plans_away
from nodes.streaming import tell
from prompts.loader import render
from prompts.marks import block, blocks, findings_block, pages_block, sources_block
from report import material
from report.document import document, gaps, headline, lacks, leaves_open, limit_reached
from report.earlier import accepted, earlier_block
from report.render import plain, to_markdown
from report.support import Proven
from report.undone import ROLES, undone
from report.wording import lacking, reason
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.secrets import masked
from runs.attempts import Failing, failing
from runs.faults import bear
from runs.place import here, owner
from tools.evidence import note_checked, preparing, texts, verified

UNFINISHED = {"cut", "capped_text", "no_model", "budget", "capped", "composed", "open", "unsure"}
"""Notices of a report that is not what it was meant to be."""

REPLIED = ("answer_invalid", "model_refused")
"""The problems of a model that was asked, and whose reply is of no use."""

UNQUOTABLE = {"judging", "counting"}
"""Notices of a question that quotes do not answer (`models/extractive/unquotable.py`)."""

LAST = 10.0
"""How many seconds the checks of what was found may take when the minutes of a run are used up."""

NOTHING = Proven("", [], [], [], [])
"""What the checks leave of a text that nobody had the time to check."""

CONTINUATIONS = 3
"""How often a report that was cut off is continued."""


_UNSPACED = regex(f"[{CJK}\u3000-\u303f\uff00-\uffef]$")
"""How a text ends behind which no space is put: with a Chinese character or mark."""


@dataclass
class Draft:
    """What the model wrote, what a reader must be told about it, and the id it was streamed with.

    The finished report takes that id, so that it replaces what was streamed.
    """

    text: str = ""
    notices: list[str] = field(default_factory=list)
    limit: str = ""
    """The limit of the run that was reached, if one was."""
    cut_by: str = ""
    """The limit of the run that cut the text off; "" for the model's own limit."""
    unsure: str = ""
    """What is missing for it to be an answer, if it is not certain to be one."""
    problem: Problem | None = None
    """Why the model did not write it, or not all of it."""
    unread: str = ""
    """The code of the problem because of which the second reader did not read it."""
    passed_over: int = 0
    """How many of its sentences the second reader was not shown."""
    lost: Failing | None = None
    """The role whose failure may be why nothing was found."""
    quotes: bool = False
    """Whether it consists of quotations, which answer fewer questions."""
    id: str = field(default_factory=lambda: str(uuid4()))

    def add(self, text: str) -> None:
        """Go on with another part; a heading or a list starts on a line of its own."""
        between = "\n\n" if text.startswith(("#", "-", "|", "*", "1.")) else " "
        between = "" if _UNSPACED.search(self.text) and between == " " else between
        self.text = f"{self.text}{between}{text}".strip()

    def tell(self, notice: str) -> None:
        """Have the reader be told something, once."""
        self.notices += [] if notice in self.notices else [notice]


async def reporter(state: State, runtime: Runtime[Context]) -> State:
    """Write the report of this turn.

    Reads `question`, `plan`, `findings`, `background`, `sources`, `answers`; writes `report`,
    `answers`, `messages`, `status`. Without evidence no model is asked, and the report says what
    was searched.

    Raises:
        Problem: Why the model did not write, if nothing can be shown without it.
    """
    sources = {name: state["sources"][name] for name in material.named(state)}
    draft = Draft(limit=limit_reached(state), id=_message_of(state) or str(uuid4()))
    if draft.limit:
        draft.tell("capped")
    if holds_secret(state):
        draft.tell("secret")
    tell(state, "writing")
    if sources:
        async with preparing(here(state, runtime), runtime.context, "reporter", sources):
            await _write(draft, state, runtime)
    again = await _checked(draft, state, runtime, sources)
    checked = again.checked
    if draft.problem and not checked.cited:
        raise draft.problem
    lost = [] if checked.cited or draft.limit else await failing(here(state, runtime).run)
    draft.lost = next((one for role in ROLES for one in lost if one.role == role), None)
    if leaves_open(state["question"], checked.body):
        draft.tell("open")
    _tell_unquotable(draft, state, model_name("reporter", runtime.context), checked)
    await note_checked(here(state, runtime), "reporter", checked)
    status = _status(state, checked, draft)
    report = await _report(draft, state, runtime, again)
    today = datetime.now(UTC).date().isoformat()
    pages = await texts(owner(runtime), {name: sources[name] for name in report["cited"]})
    shown = to_markdown(document(state, report, status, today, pages))
    asked, body, cited = state["question"], report["body"], report["cited"]
    message = AIMessage(shown, id=draft.id)
    answer = Answer(
        question=asked, text=body, sources=cited, open=_open(state, body), message=draft.id
    )
    update = State(report=report, status=status, answers={str(state["turn"]): answer})
    return State(**update, messages=[*plans_away(state), message])


def _error(draft: Draft) -> dict[str, str]:
    """Return why the model did not write, or a role found nothing, as plain data."""
    if draft.lost:
        what = f"the model failed as {draft.lost.role}"
        hint = HINTS.get(draft.lost.status, "resume the run, which asks the model again")
        failed = Problem(draft.lost.status, what, hint=hint)
        return {**failed.as_dict(), "role": draft.lost.role}
    return draft.problem.as_dict() if draft.problem else {}


def _message_of(state: State) -> str:
    """Return the id of the message with a report of this turn that is now written again."""
    answer = (state.get("answers") or {}).get(str(state["turn"]))
    return answer.get("message", "") if answer else ""


async def _report(draft: Draft, state: State, runtime: Runtime[Context], again: Reread) -> Report:
    """Return the record of a report that was checked."""
    checked = again.checked
    report = Report(
        title=headline(state["plan"]["title"] or state["question"]),
        # Words without a single source are no report, whatever they say.
        body=checked.body if checked.cited else "",
        cited=checked.cited,
        quotes=checked.quotes,
        removed=checked.removed,
        doubted=[_shown(one) for one in checked.doubted],
        notices=[
            *await failures(state, runtime, draft.problem, nothing_found=draft.lost is not None),
            *_notices(draft, state["language"]),
            *await respelt(state, runtime),
            *await unread_files(state, runtime),
            *await words_alone(state, runtime),
            *await no_price(state, runtime),
        ],
        language=state["language"],
        second_reader=again.second_reader,
        asked=in_own_words(state["messages"]),
    )
    report |= {"limit": draft.limit} if draft.limit else {}
    return report | {"error": error} if (error := _error(draft)) else report


async def _write(draft: Draft, state: State, runtime: Runtime[Context]) -> None:
    """Have the model write, going on where it was cut off."""
    tongue = render(f"tongue_{runtime.context.language or 'own'}", language=state["language"])
    style = {"style": masked(runtime.context.style).text, "tongue": tongue.strip()}
    system = render("reporter", language=state["language"], **style)
    wanted = model_name("reporter", runtime.context)
    said: list[AnyMessage] = [HumanMessage(_request(state))]
    try:
        for _ in range(1 + CONTINUATIONS):
            made = await work(state, runtime, "reporter", system, said, watched=draft.id)
            text = made.text if made.complete else _whole(made.text)
            draft.add(text)
            if made.model.startswith("extractive:"):
                draft.quotes = True
            if wanted.startswith("extractive:"):
                draft.tell("extractive")
            draft.problem = made.stood_in or draft.problem
            if made.unsure is not None:
                draft.unsure = made.unsure
                draft.tell("unsure")
            if made.complete:
                break
            draft.cut_by = made.capped
            said += [AIMessage(text), HumanMessage(render("continue", language=state["language"]))]
        else:
            _cut(draft)
    except Problem as problem:
        bear(problem)
        _stopped(draft, problem)


def _stopped(draft: Draft, problem: Problem) -> None:
    """Note what kept the model from writing, or from writing on."""
    spent = problem.where if problem.code == "budget_spent" else ""
    draft.cut_by = draft.cut_by or spent
    if draft.text:
        _cut(draft)
    elif spent:
        draft.limit, draft.notices = spent, ["budget"]
    else:
        draft.tell("no_model")
    draft.problem = None if spent else problem


def _cut(draft: Draft) -> None:
    """Note what cut a text off: a limit of the run, or the model's own."""
    draft.limit = draft.cut_by or draft.limit
    draft.tell("capped_text" if draft.cut_by else "cut")


def _tell_unquotable(draft: Draft, state: State, wanted: str, checked: Proven) -> None:
    """Note what the question asks for that quotes alone do not give."""
    quoting = wanted.startswith("extractive:") or draft.quotes
    asked = unquotable(state["question"], checked.body) if quoting else ""
    if asked and not (material.settled(state) or material.of_tables(state)):
        draft.tell(asked)


async def _checked(
    draft: Draft, state: State, runtime: Runtime[Context], sources: dict[str, Source]
) -> Reread:
    """Return what the checks left of the draft, or where nothing is left, what was found."""
    checked = await _borne_out(draft, draft.text, state, runtime, sources)
    if checked is None:
        draft.text, draft.notices, checked = "", ["budget"], NOTHING
    again = await read_again(state, runtime, draft.text, checked, sources)
    if again.second_reader == "failed":
        draft.unread = again.problem
        draft.tell("not_usable" if again.problem in REPLIED else "not_compared")
    if again.unread:
        draft.passed_over = again.unread
        draft.tell("partly_compared")
    # A model that finds no answer on pages that were only searched is believed.
    if again.checked.cited or (draft.text and not material.findings(state)):
        return again
    if draft.text:
        draft.tell("composed")
    composed = material.composed(state)
    whole = await _borne_out(draft, composed, state, runtime, sources, least=LAST)
    return Reread(whole or NOTHING, again.second_reader)


async def _borne_out(
    draft: Draft,
    text: str,
    state: State,
    runtime: Runtime[Context],
    sources: dict[str, Source],
    least: float = 0.0,
) -> Proven | None:
    """Return what the checks leave of a text; nothing where no time is left, which is noted."""
    place, asked = here(state, runtime), state["question"]
    try:
        return await verified(place, runtime.context, "reporter", text, sources, asked, least=least)
    except Problem as problem:
        if problem.code != "budget_spent":
            raise
        draft.limit = problem.where
        return None


def _shown(one: Doubted) -> Doubted:
    """Return a doubt in a sentence as the sentence is shown."""
    shown: Doubted = {**one, "text": plain(one["text"])}
    return shown | {"part": plain(one["part"])} if "part" in one else shown


def _request(state: State) -> str:
    found = material.findings(state)
    told, before = _open(state), accepted(state, state["question"])
    pages = [*material.passages(state), *state["knowledge"]]
    return blocks(
        block("question", state["question"]),
        block("plan", written(state["plan"])) if found else "",
        sources_block([*found, *before], state.get("sources", {})),
        findings_block(found),
        pages_block(pages, state.get("sources", {})),
        earlier_block(before),
        block("gaps", "\n".join(told)),
    )


def _open(state: State, body: str = "") -> list[str]:
    """Return what could not be found out, each with the reason in words."""
    language = state["language"]
    missing = [(gap["title"], gap["reason"], gap["status"]) for gap in gaps(state, body)]
    return [f"{title}: {reason(why, status, language)}" for title, why, status in missing]


def _status(state: State, checked: Proven, draft: Draft) -> RunStatus:
    """Return how the run came out: in part where anything is missing, as the report then says."""
    if not checked.cited:
        return "partial" if draft.limit else "failed" if draft.lost else "insufficient_evidence"
    failed = draft.problem or undone(state)
    in_part = failed or lacks(state, checked.body) or set(draft.notices) & (UNFINISHED | UNQUOTABLE)
    return "partial" if in_part else "succeeded"


def _notices(draft: Draft, language: str) -> list[str]:
    told = {"limit": draft.limit, "missing": lacking(draft.unsure, language)}
    told |= {"why": reason(draft.unread, "failed", language), "count": str(draft.passed_over)}
    names = (f"notice_{name}" for name in _first(draft.notices))
    return [render(name, language=language, **told).strip() for name in names]


def _first(notices: Sequence[str]) -> list[str]:
    """Return notices in their order, but first the one that says how far to trust the text."""
    return sorted(notices, key=lambda name: name != "unsure")


def _whole(text: str) -> str:
    """Return a text that was cut off up to the end of its last whole sentence."""
    ends = max(text.rfind(mark) for mark in (". ", "? ", "! ", "。", "！", "？", "\n", "]"))
    return text[: ends + 1].rstrip() if ends > 0 else text
