"""Show the plan to a person, and carry out their decision.

The plan is shown as a message of the conversation and as a request for review.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from calls import ledger
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.plan import (
    is_plan_without_web,
    is_without_web,
    parse_steps,
    refuse_compute_steps,
    render_base_names,
    render_steps,
    validate_plan,
)
from graph.plan_fields import (
    is_plan_field,
    name_question_field,
    read_answer_fields,
    read_step_fields,
    render_plan_fields,
)
from graph.plan_questions import (
    LONGEST_ANSWER,
    answer_questions,
    list_answers,
    list_own_answers,
    list_questions,
    render_perspectives,
    split_answers,
)
from graph.records import Plan, PlanQuestion
from graph.state import State
from memory.experience.utterances import PERSON_SPEAKER, PLAN_EDIT
from prompts.loader import render_prompt
from report.labels import get_label
from runs.call_site import CallSite, call_site
from runs.lifecycle import check_thread_owner, set_run_status
from text.normalization import is_blank
from text.regex import regex
from text.script import CJK
from text.secret_masking import mask_secrets_within
from tools.computations import can_run_code
from tools.knowledge.catalog import check_base_names

PLAN_ID_PREFIX = "plan"
"""The prefix of the ids of messages that show a plan."""

ASKED_ID_PREFIX = "asked"
"""The prefix of the ids of messages that show what steps ask."""


def plan_message(state: State, plan: Plan) -> AnyMessage:
    """Return the message that shows the plan of a turn; a later plan of the turn replaces it.

    Chat pages show a review only below a message of the assistant.
    """
    language = state["language"]
    asked = render_prompt("plan_shown", language=language).strip()
    turn, fork = state["turn"], state.get("fork", 1)
    outline = _plan_outline(plan, language)
    return AIMessage(f"{outline}\n\n{asked}", id=f"{PLAN_ID_PREFIX}-{turn}.{fork}")


def remove_plan_messages(state: State) -> list[Any]:
    """Return the updates that remove plans, and what steps asked, from the conversation."""
    shown = (f"{PLAN_ID_PREFIX}-", f"{ASKED_ID_PREFIX}-")
    ids = [message.id or "" for message in state.get("messages", []) if message.type == "ai"]
    return [RemoveMessage(id=name) for name in ids if name.startswith(shown)]


def _plan_outline(plan: Plan, language: str) -> str:
    """Render a plan and its questions as Markdown for a person."""
    views = render_perspectives(plan)
    seen = render_prompt("plan_views", language=language, views=views).strip() if views else ""
    searching = not is_plan_without_web(plan)
    bare = "" if searching else render_prompt("plan_no_step_web", language=language).strip()
    title = f"**{plan['title']}**" if plan["title"] else ""
    about = (title, plan["thought"], seen, _bases_line(plan, language), bare)
    lines = [line for part in about if part for line in (part, "")]
    numbers = {step["id"]: str(number) for number, step in enumerate(plan["steps"], start=1)}
    comma = get_label("comma", language)
    no_web = render_prompt("plan_step_no_web", language=language)
    for step in plan["steps"]:
        needs = comma.join(numbers.get(need, need) for need in step["needs"])
        after = render_prompt("plan_step_after", language=language, steps=needs) if needs else ""
        web = no_web if searching and is_without_web(step) else ""
        told = step["description"].casefold() not in ("", step["title"].casefold())
        # Two spaces at the end of a line break it in Markdown.
        end = "  " if told else ""
        lines.append(f"{numbers[step['id']]}. {step['title']}{after}{web}{end}")
        lines += [f"   {step['description']}"] * told
    return "\n".join([*lines, *_question_lines(list_questions(plan), language)]).strip()


def _bases_line(plan: Plan, language: str) -> str:
    """Return which knowledge bases are searched, where there are any to choose from."""
    if "knowledge" not in plan:
        return ""
    named = get_label("comma", language).join(plan["knowledge"])
    name = "plan_bases" if named else "plan_no_bases"
    return render_prompt(name, language=language, bases=named).strip()


def _question_lines(questions: Sequence[PlanQuestion], language: str) -> list[str]:
    """Return the questions of a plan for a person, below a line that says how to answer."""
    if not questions:
        return []
    lines = ["", render_prompt("plan_questions", language=language).strip(), ""]
    for one in questions:
        options = " ".join(f"({at}) {text}" for at, text in enumerate(one["options"], start=1))
        values = {"id": one["id"], "question": one["question"], "options": options}
        values |= {"assumed": one.get("answer") or one["assumed"]}
        line = render_prompt("plan_question", language=language, **values)
        lines.append(f"- {' '.join(line.split())}")
    return lines


def _question_fields(plan: Plan, language: str) -> dict[str, str]:
    """Return a field for each question of a plan, in which its answer is written below it."""
    return {
        name_question_field(one["id"]): render_prompt(
            "plan_question_field",
            language=language,
            question=one["question"],
            options="".join(f"\n({at}) {text}" for at, text in enumerate(one["options"], start=1)),
            assumed=one["assumed"],
            answer=one.get("answer", ""),
        ).strip()
        + " "
        for one in list_questions(plan)
    }


ACTION = "research_plan"
"""The name of the action that a person approves, edits or rejects."""

EXAMPLE = '{"decisions": [{"type": "approve"}]}, or "edit" or "reject"; or plain words'

WORD = regex(r"[a-z']+|[^\W\da-z_]+")

_AGREE = """
yes y yep yeah ok okay approve approved accept accepted agree agreed go proceed continue start lgtm
sure perfect good fine great right do 批准 同意 可以 好 好的 行 继续 繼續 开始 開始 没问题 沒問題
是 是的 通过 通過 确认 確認 就这样 就這樣 赞成 贊成 开始吧 開始吧 继续吧 可以的
"""
AGREE = frozenset(_AGREE.split())
"""Words that approve a plan."""

_FILL = """
please the this that plan it i is a with ahead on looks look sounds all thanks thank you now and
very to me for research 请 請 谢谢 謝謝 计划 計劃 这个计划 此计划 吧
"""
FILL = frozenset(_FILL.split())
"""Words that an approval may also contain."""

_TOKEN = regex(rf"[{CJK}]+|[^\W{CJK}]+(?:[-.@'][^\W{CJK}]+)*")

ASKS = regex(r"[?？吗嗎]")
"""The marks of a question, which approves nothing."""

REFUSAL = regex(
    r"(?:no|nope|reject(?:ed)?|不行|不同意|不可以|不好|拒绝|拒絕|否)(?![\w'])[\s,.:;!，。：；！-]*",
    re.IGNORECASE,
)
"""A bare refusal at the start of an objection, which tells the planner nothing."""


Answers = dict[str, Annotated[str, StringConstraints(max_length=LONGEST_ANSWER)]]


class _Decision(BaseModel):
    """What every decision may bring."""

    answers: Answers = Field(
        default={}, description="by the id of a question of the plan: an option, or its number"
    )


class Approve(_Decision):
    """Research this plan."""

    type: Literal["approve"]


class PlanAction(BaseModel):
    """The action with a plan of the person's own."""

    name: Literal["research_plan"] = "research_plan"
    args: dict[str, Any]


class Edit(_Decision):
    """Research my plan instead: `args` has its fields as shown, or `steps` as lines or a list."""

    type: Literal["edit"]
    edited_action: PlanAction


class Reject(_Decision):
    """Think again, with these words in mind."""

    type: Literal["reject"]
    message: str = Field(default="", max_length=20_000)


class Review(BaseModel):
    """What a person may answer: LangChain's human-in-the-loop response, with one decision."""

    decisions: list[Approve | Edit | Reject] = Field(min_length=1, max_length=1)

    @model_validator(mode="before")
    @classmethod
    def _parse_words(cls, answer: Any) -> Any:
        return parse_decision(answer)


async def human_feedback(state: State, runtime: Runtime[Context]) -> State:
    """Pause for a decision on the plan, and record it with the answers to the plan's questions.

    Reads `plan`, `revisions`; writes `decision`, `plan`, `feedback`, `wishes`, `note`, `revisions`,
    `status`, and `messages` after an edit. On resume this runs again from its first line, so
    nothing above `interrupt` may have an effect.
    """
    if runtime.context.auto_accept:
        return State(decision="approve")
    limit = runtime.context.max_revisions
    try:
        answer = interrupt(_review_request(state, limit), response_schema=Review)
        review = Review.model_validate(answer).model_dump()
        decision = Review.model_validate(mask_secrets_within(review)).decisions[0]
    except ValidationError:
        invalid = Problem(
            ErrorCode.BAD_FEEDBACK, "the answer holds no decision", hint=f"send {EXAMPLE}"
        )
        return State(note=str(invalid))
    place = call_site(state, runtime)
    await check_thread_owner(place.owner, place.thread)
    try:
        answered = answer_questions(state["plan"], _answers(state, decision))
        plan = _edited_plan(answered, decision)
        await _check_changes(place, answered, plan)
    except Problem as problem:
        return State(note=str(problem))
    await _record_added(place, [*list_own_answers(answered), *_added_words(answered, plan)])
    update = State() if plan == state["plan"] else State(plan=plan)
    if said := list_answers(answered):
        update["wishes"] = _add_wishes(state, said)
    if isinstance(decision, Reject):
        return update | await _reject(state | update, runtime, decision.message)
    if plan == answered and (isinstance(decision, Approve) or _has_answer_fields(decision)):
        return await _accept(place, update | State(decision="approve"))
    messages = [plan_message(state, plan)]
    return await _accept(place, update | State(decision="edit", messages=messages))


async def _check_changes(place: CallSite, old: Plan, new: Plan) -> None:
    """Refuse what a person changed a plan to and this run cannot do.

    Raises:
        Problem: `knowledge_unknown` for a knowledge base that there is not, or `plan_field`.
    """
    if (names := new.get("knowledge", [])) != old.get("knowledge", []):
        await check_base_names(place.owner, names)
    if new != old and not await can_run_code():
        refuse_compute_steps(new["steps"])


def _arguments(decision: _Decision) -> dict[str, Any]:
    """Return the plan of an edit as the person sent it; nothing for another decision."""
    return decision.edited_action.args if isinstance(decision, Edit) else {}


def _has_answer_fields(decision: _Decision) -> bool:
    """Tell whether an edit has fields for answers, which may be all that was changed in it."""
    return any(name == "answers" or name.startswith("question_") for name in _arguments(decision))


def _answers(state: State, decision: _Decision) -> dict[str, str]:
    """Return the answers to the questions of a plan, which a chat page has among its fields."""
    args = _arguments(decision)
    field = args.get("answers") or {}
    answers = split_answers(field)[0] if isinstance(field, str) else dict(field)
    shown = _question_fields(state["plan"], state["language"])
    return {**read_answer_fields(state["plan"], args, shown), **answers, **decision.answers}


def _add_wishes(state: State, words: Sequence[str]) -> list[str]:
    """Return all that a person has said about the plans of this turn, oldest first."""
    return list(dict.fromkeys([*state.get("wishes", []), *words]))


async def _record_added(place: CallSite, words: Sequence[str]) -> None:
    """Record the words that a person added to a plan, which its searches may use."""
    if words:
        actions = [ledger.ActionRecord(one) for one in words]
        await ledger.record_actions(place, PERSON_SPEAKER, PLAN_EDIT, actions)


def _added_words(old: Plan, new: Plan) -> list[str]:
    """Return the words that one plan has and another has not."""
    before, after = (_TOKEN.findall(json.dumps(plan, ensure_ascii=False)) for plan in (old, new))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    added = (" ".join(after[first:last]) for kind, _, _, first, last in blocks if kind != "equal")
    return [words for words in added if words]


def parse_decision(answer: Any) -> Any:
    """Parse a decision in plain words or JSON; return any other value unchanged.

    Words approve a plan only if all of them agree. Any other words reject it, and are its feedback.
    Answers to its questions (`q1: Austria`) stand beside them, and approve it where they are alone.
    """
    if not isinstance(answer, str) or is_blank(answer):
        return answer
    if answer.lstrip().startswith("{"):
        return _as_json(answer)
    answers, said = split_answers(answer)
    with_answers = {"answers": answers} if answers else {}
    words = [] if ASKS.search(said) else WORD.findall(said.lower())
    agrees = bool(AGREE.intersection(words)) and all(word in AGREE | FILL for word in words)
    if agrees or (answers and not said):
        return {"decisions": [{"type": "approve", **with_answers}]}
    message = REFUSAL.sub("", said, count=1)
    return {"decisions": [{"type": "reject", "message": message, **with_answers}]}


def _as_json(answer: str) -> Any:
    try:
        return json.loads(answer)
    except ValueError:
        return None


async def _accept(place: CallSite, update: State) -> State:
    await set_run_status(place.owner, place.run, "running")
    return update | State(feedback="", note="", status="running")


async def _reject(state: State, runtime: Runtime[Context], words: str) -> State:
    """Return to the planner, or keep waiting when no revision is left; never go on to research.

    The words apply to the rest of the run either way.
    """
    place, limit = call_site(state, runtime), runtime.context.max_revisions
    said = [words.strip()] if words.strip() else []
    actions = [ledger.ActionRecord(wish) for wish in said]
    await ledger.record_actions(place, PERSON_SPEAKER, "review", actions)
    wishes = [*state.get("wishes", []), *said]
    if state["revisions"] >= limit:
        note = render_prompt("no_more_plans", language=state["language"], limit=limit)
        return State(note=note, wishes=wishes)
    await set_run_status(place.owner, place.run, "running")
    return State(
        feedback="\n".join([*list_answers(state["plan"]), *said]),
        wishes=wishes,
        note="",
        revisions=state["revisions"] + 1,
        decision="reject",
        status="running",
    )


def _edited_plan(plan: Plan, decision: _Decision) -> Plan:
    """Return a plan with the changes of a person, if any; keys that they left out stay.

    The steps are fields with a line each, as they are shown, or stand all in `steps`: as lines of
    text, or as JSON, as a list or as text.

    Raises:
        Problem: If the plan is invalid (`graph/plan.py`).
    """
    args = _arguments(decision)
    if not args:
        return plan
    steps = args["steps"] if "steps" in args else read_step_fields(plan["steps"], args)
    if isinstance(steps, str):
        unchanged = steps.strip() == render_steps(plan["steps"]).strip()
        steps = plan["steps"] if unchanged else parse_steps(steps)
    others = (name for name in args if name not in ("answers", "questions"))
    changes = {name: args[name] for name in others if not is_plan_field(name)}
    return validate_plan({**plan, **changes, "steps": steps})


def _revision_note(state: State) -> str:
    """Return a note that quotes the feedback to which a plan responds, or ""."""
    words = " ".join(state["feedback"].split())
    if not words:
        return ""
    return render_prompt("plan_after", language=state["language"], words=words).strip()


def _review_request(state: State, limit: int) -> dict[str, Any]:
    """Return LangChain's human-in-the-loop request, with the plan and its questions beside it."""
    plan = state["plan"]
    note = state["note"] or _revision_note(state)
    description = "\n\n".join(filter(None, (note, _plan_outline(plan, state["language"]))))
    questions = list_questions(plan)
    args = render_plan_fields(plan) | _question_fields(plan, state["language"])
    if "knowledge" in plan:
        args["knowledge"] = render_base_names(plan)
    request = {"name": ACTION, "args": args, "description": description}
    allowed = ["approve", "edit", *(["reject"] if state["revisions"] < limit else [])]
    shown = {
        "action_requests": [request],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": allowed}],
        "plan": plan,
        "revision": state["revisions"],
        "note": note,
    }
    return shown | ({"questions": questions} if questions else {})
