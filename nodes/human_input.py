"""Ask the person what steps want of them: answers to questions, and leave to use tools.

All steps that wait are shown at once, as one request of LangChain's human-in-the-loop.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from calls import ledger
from calls.run_budget import end_session
from calls.run_progress import show_progress
from calls.tool_requests import describe_call, write_arguments
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.pauses import (
    ASK_USER,
    Consultation,
    NumberedRequest,
    Pause,
    ToolDecision,
    key_consultations,
    list_open_pauses,
    list_pending_requests,
)
from graph.plan_questions import LONGEST_ANSWER, choose_option, split_answers
from graph.state import State
from memory.experience.utterances import PERSON_SPEAKER
from nodes.human_feedback import ASKED_ID_PREFIX, parse_decision
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site
from runs.lifecycle import check_thread_owner, set_run_status
from text.regex import regex
from text.secret_masking import mask_secrets_within

EXAMPLE = '{"answers": {"q1": "Austria"}}, or a decision for each request in its order'

ANSWER = "answer"
"""The kind of the person's answers to steps."""

ALWAYS = frozenset(["always", "总是", "總是", "一直可以", "都可以"])
"""The words that approve all calls of a tool in a run."""

_TICKS = regex("`+")

_Words = Annotated[str, StringConstraints(max_length=LONGEST_ANSWER)]


class ApproveCall(BaseModel):
    """Use the tool as it is asked for; for a question, what is assumed is right."""

    type: Literal["approve"]
    for_run: bool = Field(default=False, description="so all further calls of the tool in the run")


class ToolAction(BaseModel):
    """The call with arguments of the person's own; for a question, `answer` is among them."""

    name: str
    args: dict[str, Any]


class EditCall(BaseModel):
    """Use the tool with these arguments; for a question, take this answer."""

    type: Literal["edit"]
    edited_action: ToolAction


class RejectCall(BaseModel):
    """Do not use the tool; for a question, the words are the answer, and there may be none."""

    type: Literal["reject"]
    message: _Words = ""


class Answer(BaseModel):
    """Answer the question; of a tool, tell the model this in the place of a result."""

    type: Literal["respond"]
    message: _Words


class HumanInputResponse(BaseModel):
    """What a person may answer: LangChain's human-in-the-loop response.

    The decisions are in the order of the requests that are shown; null or a missing one leaves its
    request open. `answers` are by the id of a request: words, the number of an option, yes, no, or
    always, which approves all calls of the tool in the run.
    """

    decisions: list[ApproveCall | EditCall | RejectCall | Answer | None] = []
    answers: dict[str, _Words] = Field(default={}, description="by the id of a request: q1, q2")

    @model_validator(mode="before")
    @classmethod
    def _parse_words(cls, answer: Any) -> Any:
        return _parse_response(answer)


def _parse_response(answer: Any) -> Any:
    """Parse an answer in plain words or JSON; return any other value unchanged."""
    if not isinstance(answer, str):
        return answer
    if answer.lstrip().startswith("{"):
        try:
            return json.loads(answer)
        except ValueError:
            return None
    answers, rest = split_answers(answer)
    return {"answers": {**answers, **({"": rest} if rest else {})}}


async def human_input(state: State, runtime: Runtime[Context]) -> State:
    """Pause for what steps ask, and record what the person decides.

    Reads `pauses`, `consulted`, `note`; writes `pauses`, `consulted`, `note`, `status`. What is not
    decided waits on. On resume this runs again from its first line, so nothing above `interrupt`
    may have an effect.
    """
    pauses = list_open_pauses(state)
    pending = list_pending_requests(pauses)
    try:
        answer = interrupt(_make_request(state, pending), response_schema=HumanInputResponse)
        given = HumanInputResponse.model_validate(answer).model_dump()
        response = HumanInputResponse.model_validate(mask_secrets_within(given))
        decided = _match(pending, response)
    except ValidationError:
        what, hint = "the answer holds no decision", f"send {EXAMPLE}"
        return State(note=str(Problem(ErrorCode.BAD_FEEDBACK, what, hint=hint)))
    except Problem as problem:
        return State(note=str(problem))
    place = call_site(state, runtime)
    await check_thread_owner(place.owner, place.thread)
    await _record(place, pending, decided)
    pauses = _with_decisions(pauses, pending, decided)
    noted = [one for request in pending if (one := _consultation(request, decided))]
    noted += [
        Consultation(step=one.pause["step"], outcome="allowed", question=name, answer="")
        for name, one in _list_allowed(pending, decided).items()
    ]
    update = State(
        pauses=pauses,
        consulted=key_consultations(state["turn"], state.get("consulted") or {}, noted),
    )
    if still := list_pending_requests(pauses):
        ids = ", ".join(one.id for one in still)
        return update | State(note=_say("asked_more", state, ids=ids))
    await set_run_status(place.owner, place.run, "running")
    return update | State(note="", status="running")


async def ask_person(state: State, place: CallSite) -> State:
    """Return the update with which a run begins to wait: the requests as a message.

    Chat pages show requests only below a message of the assistant.
    """
    show_progress(state, "steps_wait", count=len(list_pending_requests(list_open_pauses(state))))
    end_session(place)
    await set_run_status(place.owner, place.run, "waiting_review")
    return State(messages=[_asking_message(state)], status="waiting_review", note="")


def _asking_message(state: State) -> AnyMessage:
    pending = list_pending_requests(list_open_pauses(state))
    told = [part for one in pending for part in (_describe(state, one), *_show_arguments(one))]
    name = f"{ASKED_ID_PREFIX}-{state['turn']}.{state.get('fork', 1)}"
    return AIMessage("\n\n".join([*told, _say("asked_how", state)]), id=name)


def _show_arguments(one: NumberedRequest) -> list[str]:
    """Return what a tool would be called with, as code; a question has nothing more to show."""
    if one.request["name"] == ASK_USER:
        return []
    written = write_arguments(one.request["args"])
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(written)), default=0))
    return [f"{fence}json\n{written}\n{fence}"]


def _make_request(state: State, pending: Sequence[NumberedRequest]) -> dict[str, Any]:
    """Return LangChain's human-in-the-loop request, with the questions beside it by their ids."""
    note = state.get("note", "")
    names = dict.fromkeys(one.request["name"] for one in pending)
    actions = [
        {
            "name": one.request["name"],
            "args": one.request["args"],
            "description": "\n\n".join(filter(None, (note, _describe(state, one)))),
        }
        for one in pending
    ]
    return {
        "action_requests": actions,
        "review_configs": [
            {"action_name": name, "allowed_decisions": _allowed_decisions(name)} for name in names
        ],
        "requests": [{"id": one.id, "step": one.pause["step"]} for one in pending],
        "note": note,
    }


def _allowed_decisions(name: str) -> list[str]:
    return ["approve", "edit", "reject", *(["respond"] if name == ASK_USER else [])]


def _describe(state: State, one: NumberedRequest) -> str:
    """Return what a person is told of a request; a step's words stand between the program's own."""
    args, title = one.request["args"], one.pause["title"]
    if one.request["name"] != ASK_USER:
        call = describe_call(one.request["name"], args)
        by = _say("asked_tool_by", state, title=title, about=one.request.get("about", ""))
        return f"{_say('asked_tool', state, id=one.id, call=call)}\n\n{by}"
    options = " ".join(f"({at}) {text}" for at, text in enumerate(args["options"], start=1))
    values = {"id": one.id, "question": args["question"], "options": options}
    line = _say("asked_question", state, **values, assumed=args["answer"])
    return f"{' '.join(line.split())}\n\n{_say('asked_by', state, title=title)}"


def _say(name: str, state: State, **values: str) -> str:
    return render_prompt(name, language=state["language"], **values).strip()


def _match(
    pending: Sequence[NumberedRequest], response: HumanInputResponse
) -> dict[str, ToolDecision]:
    """Return the decisions by the ids of the requests that they are on.

    Raises:
        Problem: `bad_feedback` for a decision on what is not asked, or for none at all.
    """
    if len(response.decisions) > len(pending):
        what = f"there are {len(response.decisions)} decisions for {len(pending)} requests"
        raise Problem(ErrorCode.BAD_FEEDBACK, what, hint=f"send {EXAMPLE}")
    decided: dict[str, ToolDecision] = {}
    for one, decision in zip(pending, response.decisions, strict=False):
        if decision is not None:
            decided[one.id] = _to_tool_decision(one, decision)
    for name, words in response.answers.items():
        one = _find_request(pending, name)
        if words.strip():
            decided[one.id] = _parse_answer(one, words.strip())
    if not decided:
        hint = f"send {EXAMPLE}"
        raise Problem(ErrorCode.BAD_FEEDBACK, "the answer holds no decision", hint=hint)
    allowed = _list_allowed(pending, decided)
    its = [one.id for one in pending if one.request["name"] in allowed]
    return {**dict.fromkeys(its, ToolDecision(type="approve")), **decided}


def _list_allowed(
    pending: Sequence[NumberedRequest], decided: Mapping[str, ToolDecision]
) -> dict[str, NumberedRequest]:
    """Return the tools that were allowed for the run, each with the first request that says so."""
    found = [one for one in pending if one.id in decided and decided[one.id].get("for_run")]
    return {one.request["name"]: one for one in reversed(found)}


def _find_request(pending: Sequence[NumberedRequest], name: str) -> NumberedRequest:
    """Return the request of an id; words without one answer the only request.

    Raises:
        Problem: `bad_feedback`.
    """
    found = [one for one in pending if one.id == name.lower() or (not name and len(pending) == 1)]
    if found:
        return found[0]
    ids = ", ".join(one.id for one in pending)
    what = f"there is no question {name!r}" if name else "it is not said which question is answered"
    raise Problem(ErrorCode.BAD_FEEDBACK, what, hint=f"one of {ids}, as in “{pending[0].id}: yes”")


def _to_tool_decision(
    one: NumberedRequest, decision: ApproveCall | EditCall | RejectCall | Answer
) -> ToolDecision:
    """Return a decision as the step is told it.

    Raises:
        Problem: `bad_feedback` for an edit that names another tool.
    """
    name = one.request["name"]
    if isinstance(decision, EditCall):
        if decision.edited_action.name != name:
            what = f"the edit is of {decision.edited_action.name!r}, and asked is {name!r}"
            raise Problem(ErrorCode.BAD_FEEDBACK, what, hint="keep the name of the action")
        args = decision.edited_action.args
        if name == ASK_USER:
            return _answered(one, str(args.get("answer", "")))
        return ToolDecision(type="edit", args=args)
    said = "" if isinstance(decision, ApproveCall) else decision.message.strip()
    if name == ASK_USER:
        return _answered(
            one, one.request["args"]["answer"] if isinstance(decision, ApproveCall) else said
        )
    if isinstance(decision, ApproveCall):
        return _approved(for_run=decision.for_run)
    return ToolDecision(type="reject", message=said)


def _approved(*, for_run: bool) -> ToolDecision:
    return ToolDecision(type="approve", for_run=True) if for_run else ToolDecision(type="approve")


def _answered(one: NumberedRequest, said: str) -> ToolDecision:
    """Return an answer to a question; without words it is rejected, and what is assumed holds."""
    words = choose_option(one.request["args"]["options"], said)
    return ToolDecision(type="respond", message=words) if words else ToolDecision(type="reject")


def _parse_answer(one: NumberedRequest, words: str) -> ToolDecision:
    """Return the decision that plain words are: an answer, yes or no, or arguments as JSON.

    Raises:
        Problem: `bad_feedback` for arguments that cannot be read.
    """
    if one.request["name"] == ASK_USER:
        return _answered(one, words)
    if words.startswith("{"):
        try:
            return ToolDecision(type="edit", args=dict(json.loads(words)))
        except ValueError as error:
            what = f"the arguments for {one.id} are not valid JSON"
            raise Problem(ErrorCode.BAD_FEEDBACK, what, hint=str(error)) from error
    if words.rstrip(".!。！").lower() in ALWAYS:
        return _approved(for_run=True)
    (decision,) = parse_decision(words)["decisions"]
    if decision["type"] == "approve":
        return ToolDecision(type="approve")
    return ToolDecision(type="reject", message=decision["message"])


def _with_decisions(
    pauses: Mapping[str, Pause],
    pending: Sequence[NumberedRequest],
    decided: Mapping[str, ToolDecision],
) -> dict[str, Pause]:
    """Return pauses with what was decided in them."""
    by_call = {
        (one.key, one.request["call"]): decided[one.id] for one in pending if one.id in decided
    }
    return {
        key: {
            **pause,
            "requests": [
                {**one, "decision": by_call[key, one["call"]]}
                if (key, one["call"]) in by_call
                else one
                for one in pause["requests"]
            ],
        }
        for key, pause in pauses.items()
    }


def _consultation(one: NumberedRequest, decided: Mapping[str, ToolDecision]) -> Consultation | None:
    """Return what came of a question; what comes of a tool is noted where it is used."""
    if one.request["name"] != ASK_USER or one.id not in decided:
        return None
    args, said = one.request["args"], decided[one.id].get("message", "")
    return Consultation(
        step=one.pause["step"],
        outcome="answered" if said else "assumed",
        question=args["question"],
        answer=said or args["answer"],
    )


async def _record(
    place: CallSite, pending: Sequence[NumberedRequest], decided: Mapping[str, ToolDecision]
) -> None:
    """Record the person's own words; an option that was offered to them is none of these."""
    actions = [
        ledger.ActionRecord(said, step=one.pause["step"])
        for one in pending
        if one.id in decided and (said := _own_words(one, decided[one.id]))
    ]
    await ledger.record_actions(place, PERSON_SPEAKER, ANSWER, actions)


def _own_words(one: NumberedRequest, decision: ToolDecision) -> str:
    """Return what a person typed themselves."""
    args = one.request["args"]
    if one.request["name"] == ASK_USER:
        offered = (*args["options"], args["answer"])
        return "" if (said := decision.get("message", "")) in offered else said
    if decision["type"] == "edit":
        changed = {key: value for key, value in decision["args"].items() if args.get(key) != value}
        return json.dumps(changed, ensure_ascii=False) if changed else ""
    return decision.get("message", "")
