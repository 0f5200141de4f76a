"""Offer an earlier answer to the same question, and carry out what the person chooses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, Field, ValidationError, model_validator

from calls.attempts import list_attempts
from calls.run_progress import show_progress, tell_plan
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from graph.context import Context, build_context
from graph.depth import DEPTHS
from graph.records import AnswerReuse, EarlierRun
from graph.state import State
from library.uploaded_files import list_uploaded_files
from library.uploads import is_upload_root
from memory.self_questions import parse_self_question
from models.chat_models import built_in
from nodes.earlier_answer import (
    deepen_answer,
    describe_reading,
    refresh_answer,
    reuse_answer,
)
from nodes.human_feedback import Approve, Reject, parse_decision
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site
from runs.earlier_runs import list_answered_runs, load_run_state
from runs.lifecycle import (
    REPORT_FILES,
    RunRecord,
    check_thread_owner,
    find_run,
    set_run_status,
)
from text.pattern_files import PatternFile
from text.question_matching import is_same_question
from text.question_parts import is_context_dependent
from text.revision_requests import parse_revision_request
from text.script import detect_language
from tools.overview import asks_overview
from tools.source_changes import list_source_times

ACTION = "answered_question"
"""The name of the action that a person approves, edits or rejects."""

EXAMPLE = (
    '{"decisions": [{"type": "edit", "edited_action": '
    '{"name": "answered_question", "args": {"choice": "reuse"}}}]}; '
    'or "approve" to refresh, or "reject"; or plain words'
)

OFFER_ID_PREFIX = "offer"
"""The prefix of the ids of messages that offer an earlier answer."""

WITH_WORDS: tuple[AnswerReuse, ...] = ("reuse", "deepen", "new", "refresh")
"""The choices in the order in which words are searched for them."""

MOST = 5
"""How many earlier runs are looked at, the newest first."""

_PATTERNS = PatternFile("nodes", "same_question.toml")


class ChoiceArguments(BaseModel):
    """What is to be done with the earlier answer."""

    choice: AnswerReuse


class ChoiceAction(BaseModel):
    """The action with the person's own choice."""

    name: Literal["answered_question"] = "answered_question"
    args: ChoiceArguments


class Choose(BaseModel):
    """Do this with the earlier answer."""

    type: Literal["edit"]
    edited_action: ChoiceAction


class AnswerChoice(BaseModel):
    """What a person may answer: LangChain's human-in-the-loop response, with one decision.

    An approval refreshes the answer; a rejection makes the question a new one.
    """

    decisions: list[Approve | Choose | Reject] = Field(min_length=1, max_length=1)

    @model_validator(mode="before")
    @classmethod
    def _parse_words(cls, answer: Any) -> Any:
        return parse_choice(answer)

    @property
    def choice(self) -> AnswerReuse:
        """Return what is to be done."""
        decision = self.decisions[0]
        if isinstance(decision, Choose):
            return decision.edited_action.args.choice
        return "refresh" if isinstance(decision, Approve) else "new"


async def same_question(state: State, runtime: Runtime[Context]) -> State:
    """Ask what to do with an earlier answer, unless that is chosen already, and do it.

    Reads `earlier_run`; writes `earlier_run`, `note`, `status`, and what the choice brings into
    the turn (`nodes/earlier_answer.py`). On resume this runs again from its first line, so nothing
    above `interrupt` may have an effect.
    """
    choice = preset_choice(runtime.context)
    if not choice:
        try:
            answer = interrupt(_request(state), response_schema=AnswerChoice)
            choice = AnswerChoice.model_validate(answer).choice
        except ValidationError:
            hint = f"send {EXAMPLE}"
            invalid = Problem(ErrorCode.BAD_FEEDBACK, "the answer holds no choice", hint=hint)
            return State(note=str(invalid))
        place = call_site(state, runtime)
        await check_thread_owner(place.owner, place.thread)
        await set_run_status(place.owner, place.run, "running")
    return await _carry_out(state, runtime, choice)


async def _carry_out(state: State, runtime: Runtime[Context], choice: AnswerReuse) -> State:
    """Return the update with what a choice brings into the turn."""
    record = cast("EarlierRun", state["earlier_run"])
    place = call_site(state, runtime)
    earlier = None
    if choice != "new":
        show_progress(state, "rereading" if choice == "refresh" else "remembering")
        earlier = await load_run_state(await find_run(place.owner, record["run"]))
    # An answer that was deleted while the person thought is none any more.
    choice = choice if earlier else "new"
    decided = State(
        earlier_run={**record, "choice": choice},
        note="",
        status="running",
        messages=remove_offers(state),
    )
    told = {"answered": record["answered"], "earlier": record["run"], "choice": choice}
    show_progress(state, "earlier_answer", **told)
    if earlier is None:
        return decided
    carry = {"reuse": reuse_answer, "refresh": refresh_answer, "deepen": deepen_answer}[choice]
    update = await carry(State(**{**state, **decided}), runtime, earlier)
    if update.get("decision") == "approve":
        tell_plan(state, update["plan"])
    return State(**{**decided, **update})


def preset_choice(context: Context) -> AnswerReuse | Literal[""]:
    """Return what is done without asking; a run that nobody reviews refreshes."""
    return context.again or ("refresh" if context.auto_accept else "")


def awaits_choice(state: State) -> bool:
    """Tell whether an earlier answer was found, and nothing is decided on it."""
    record = state.get("earlier_run")
    return bool(record) and "choice" not in cast("EarlierRun", record)


def offer_message(state: State) -> AnyMessage:
    """Return the message that offers the earlier answer, below which chat pages show a review."""
    name = f"{OFFER_ID_PREFIX}-{state['turn']}.{state.get('fork', 1)}"
    return AIMessage(_describe(state), id=name)


def remove_offers(state: State) -> list[Any]:
    """Return the updates that remove every offer from the conversation."""
    ids = [message.id or "" for message in state.get("messages", []) if message.type == "ai"]
    return [RemoveMessage(id=name) for name in ids if name.startswith(f"{OFFER_ID_PREFIX}-")]


def parse_choice(answer: Any) -> Any:
    """Parse a choice in plain words or JSON; return any other value unchanged.

    Words that agree refresh the answer; words that name no choice are none.
    """
    decision = parse_decision(answer)
    if not isinstance(answer, str) or decision is None or answer.lstrip().startswith("{"):
        return decision
    named = [name for name in WITH_WORDS if _PATTERNS.get(name).search(answer)]
    if len(named) == 1:
        action = {"name": ACTION, "args": {"choice": named[0]}}
        return {"decisions": [{"type": "edit", "edited_action": action}]}
    approved = isinstance(decision, dict) and decision["decisions"][0]["type"] == "approve"
    return decision if approved and not named else None


def _request(state: State) -> dict[str, Any]:
    """Return LangChain's human-in-the-loop request, with the earlier run beside it."""
    note = state.get("note", "")
    description = "\n\n".join(filter(None, (note, _describe(state))))
    request = {"name": ACTION, "args": {"choice": "refresh"}, "description": description}
    allowed = ["approve", "edit", "reject"]
    return {
        "action_requests": [request],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": allowed}],
        "earlier": state["earlier_run"],
        "note": note,
    }


def _describe(state: State) -> str:
    """Return what a person is told of the earlier answer."""
    record = cast("EarlierRun", state["earlier_run"])
    language = state["language"]
    where = render_prompt("same_question_where", language=language, **record).rstrip()
    read = describe_reading(record, language)
    told = {**record, **read, "where": where if record["file"] else ""}
    return render_prompt("same_question", language=language, **told).strip()


async def find_earlier_run(
    place: CallSite, question: str, language: str, context: Context
) -> EarlierRun | None:
    """Return the newest run that answered the same question under the same choices, if any.

    Another scope of files, language, style, length or a lower depth makes another question. What
    is computed, or known of the person, costs nothing to answer again.
    """
    if context.again == "new" or not _may_repeat(place, question):
        return None
    for run in await list_answered_runs(place.owner, question, place.run, MOST):
        if await _is_comparable(place, run, language, context):
            earlier = await load_run_state(run)
            if earlier and _is_answer(earlier, run):
                return await _describe_run(place, run, earlier)
    return None


def _may_repeat(place: CallSite, question: str) -> bool:
    """Tell whether a question stands alone and is researched."""
    if is_context_dependent(question) and not place.run.endswith("-1"):
        return False
    if parse_revision_request(question):
        return False
    return not (parse_self_question(question) or asks_overview(question))


async def _is_comparable(place: CallSite, run: RunRecord, language: str, context: Context) -> bool:
    """Tell whether a run was asked the same under the same choices."""
    try:
        before = build_context(run.context)
    except Problem:
        # It has choices of an older version.
        return False
    if DEPTHS.index(before.depth) < DEPTHS.index(context.depth):
        return False
    if (before.language or detect_language(run.question)) != language:
        return False
    names = ("style", "length")
    scopes = ("memory", "search")
    if any(getattr(before, name) != getattr(context, name) for name in names):
        return False
    if any(set(getattr(before, name)) != set(getattr(context, name)) for name in scopes):
        return False
    if not _has_same_files(place, run, before, context):
        return False
    return await _has_same_uploads(place, run) and not await _was_only_quoted(run, context)


def _has_same_files(place: CallSite, run: RunRecord, before: Context, context: Context) -> bool:
    """Tell whether the files are the same, or a refresh is asked for of uploads that have changed.

    A folder of uploads is the files that are in it, so each file that comes or goes changes it.
    """
    others = set(before.files) ^ set(context.files)
    refreshed = context.again == "refresh" and run.thread == place.thread
    return not others or (refreshed and all(is_upload_root(place.owner, one) for one in others))


async def _has_same_uploads(place: CallSite, run: RunRecord) -> bool:
    """Tell whether no file was uploaded that only one of the two runs could read."""
    if run.thread == place.thread:
        return True
    for thread in (run.thread, place.thread):
        if await list_uploaded_files(place.owner, thread):
            return False
    return True


async def _was_only_quoted(run: RunRecord, context: Context) -> bool:
    """Tell whether the built-in model wrote the answer and another one would now."""
    if built_in("reporter", context):
        return False
    wrote = [one.model for one in await list_attempts(run.id) if one.role == "reporter"]
    return bool(wrote) and all(map(is_extractive, wrote))


def _is_answer(earlier: State, run: RunRecord) -> bool:
    """Tell whether a state has an answer of its own, from sources, to the question as it stands."""
    report = earlier["report"]
    revision = earlier.get("revision")
    if report.get("reused") or not report["cited"]:
        return False
    if revision and revision["kind"] not in ("refresh", "deepen"):
        return False
    if run.turn > 1 and not is_same_question(earlier["question"], run.question):
        return False
    sources = earlier.get("sources", {})
    kinds = {sources[name]["kind"] for name in report["cited"] if name in sources}
    return "computed" not in kinds


async def _describe_run(place: CallSite, run: RunRecord, earlier: State) -> EarlierRun:
    """Return the record of an earlier run."""
    cited = [earlier["sources"][name]["page"] for name in earlier["report"]["cited"]]
    times = await list_source_times(place, cited) or [run.created]
    days = [datetime.fromtimestamp(time, UTC).date().isoformat() for time in sorted(times)]
    return EarlierRun(
        run=run.id,
        thread=run.thread,
        turn=run.turn,
        answered=str(earlier["report"]["created"]),
        sources=len(cited),
        oldest=days[0],
        newest=days[-1],
        file=f"{run.folder}/{REPORT_FILES['md']}" if run.folder else "",
    )
