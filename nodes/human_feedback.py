"""Show the plan to a person, and carry out their decision.

The plan is shown as a message of the conversation and as a request for review.
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage
from langgraph.runtime import Runtime
from langgraph.types import interrupt
from pydantic import BaseModel, Field, ValidationError, model_validator

from calls import ledger
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.plan import parse_steps, render_steps, validate_plan
from graph.records import Plan
from graph.state import State
from memory.experience.utterances import PERSON_SPEAKER, PLAN_EDIT
from prompts.loader import render_prompt
from runs.call_site import CallSite, call_site
from runs.lifecycle import check_thread_owner, set_run_status
from text.normalization import is_blank
from text.regex import regex
from text.script import CJK
from text.secret_masking import mask_secrets_within

PLAN_ID_PREFIX = "plan"
"""The prefix of the ids of messages that show a plan."""


def plan_message(state: State, plan: Plan) -> AnyMessage:
    """Return the message that shows the plan of a turn; a later plan of the turn replaces it.

    Chat pages show a review only below a message of the assistant.
    """
    asked = render_prompt("plan_shown", language=state["language"]).strip()
    turn, fork = state["turn"], state.get("fork", 1)
    return AIMessage(f"{_plan_outline(plan)}\n\n{asked}", id=f"{PLAN_ID_PREFIX}-{turn}.{fork}")


def remove_plan_messages(state: State) -> list[Any]:
    """Return the updates that remove every shown plan from the conversation."""
    ids = [message.id or "" for message in state.get("messages", []) if message.type == "ai"]
    return [RemoveMessage(id=name) for name in ids if name.startswith(f"{PLAN_ID_PREFIX}-")]


def _plan_outline(plan: Plan) -> str:
    """Render a plan as text for a person."""
    lines = [plan["title"], *([plan["thought"]] if plan["thought"] else []), ""]
    numbers = {step["id"]: str(number) for number, step in enumerate(plan["steps"], start=1)}
    for step in plan["steps"]:
        needs = ", ".join(numbers.get(need, need) for need in step["needs"])
        suffix = f" (after {needs})" if needs else ""
        lines.append(f"{numbers[step['id']]}. {step['title']}{suffix}")
        if step["description"].casefold() not in ("", step["title"].casefold()):
            lines.append(f"   {step['description']}")
    return "\n".join(lines).strip()


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


class Approve(BaseModel):
    """Research this plan."""

    type: Literal["approve"]


class PlanAction(BaseModel):
    """The action with a plan of the person's own."""

    name: Literal["research_plan"] = "research_plan"
    args: dict[str, Any]


class Edit(BaseModel):
    """Research my plan instead; `args` is the plan, its steps as lines of text or as a list."""

    type: Literal["edit"]
    edited_action: PlanAction


class Reject(BaseModel):
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
    """Pause for a decision on the plan, and record it.

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
    if isinstance(decision, Reject):
        return await _reject(state, runtime, decision.message)
    if isinstance(decision, Approve):
        return await _accept(place, State(decision="approve"))
    try:
        plan = _edited_plan(state["plan"], decision.edited_action.args)
    except Problem as problem:
        return State(note=str(problem))
    added = _added_words(state["plan"], plan)
    await ledger.record_actions(place, PERSON_SPEAKER, PLAN_EDIT, added)
    messages = [plan_message(state, plan)]
    return await _accept(place, State(decision="edit", plan=plan, messages=messages))


def _added_words(old: Plan, new: Plan) -> list[ledger.ActionRecord]:
    """Return the words that a person added to a plan, which its searches may use."""
    before, after = (_TOKEN.findall(json.dumps(plan, ensure_ascii=False)) for plan in (old, new))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    added = (" ".join(after[first:last]) for kind, _, _, first, last in blocks if kind != "equal")
    return [ledger.ActionRecord(words) for words in added if words]


def parse_decision(answer: Any) -> Any:
    """Parse a decision in plain words or JSON; return any other value unchanged.

    Words approve a plan only if all of them agree. Any other words reject it, and are its feedback.
    """
    if not isinstance(answer, str) or is_blank(answer):
        return answer
    if answer.lstrip().startswith("{"):
        return _as_json(answer)
    words = [] if ASKS.search(answer) else WORD.findall(answer.lower())
    if words and AGREE.intersection(words) and all(word in AGREE | FILL for word in words):
        return {"decisions": [{"type": "approve"}]}
    return {"decisions": [{"type": "reject", "message": REFUSAL.sub("", answer.strip(), count=1)}]}


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
    wishes = [words.strip()] if words.strip() else []
    actions = [ledger.ActionRecord(wish) for wish in wishes]
    await ledger.record_actions(place, PERSON_SPEAKER, "review", actions)
    wishes = [*state.get("wishes", []), *wishes]
    if state["revisions"] >= limit:
        note = render_prompt("no_more_plans", language=state["language"], limit=limit)
        return State(note=note, wishes=wishes)
    await set_run_status(place.owner, place.run, "running")
    return State(
        feedback=words,
        wishes=wishes,
        note="",
        revisions=state["revisions"] + 1,
        decision="reject",
        status="running",
    )


def _edited_plan(plan: Plan, args: dict[str, Any]) -> Plan:
    """Return a plan with the changes of a person; keys that they left out stay.

    The steps may be lines of text, as they are shown, or JSON, as a list or as text.

    Raises:
        Problem: If the plan is invalid (`graph/plan.py`).
    """
    steps = args.get("steps", plan["steps"])
    if isinstance(steps, str):
        unchanged = steps.strip() == render_steps(plan["steps"]).strip()
        steps = plan["steps"] if unchanged else parse_steps(steps)
    return validate_plan({**plan, **args, "steps": steps})


def _revision_note(state: State) -> str:
    """Return a note that quotes the feedback to which a plan responds, or ""."""
    words = " ".join(state["feedback"].split())
    if not words:
        return ""
    return render_prompt("plan_after", language=state["language"], words=words).strip()


def _review_request(state: State, limit: int) -> dict[str, Any]:
    """Return LangChain's human-in-the-loop request, with the plan beside it."""
    note = state["note"] or _revision_note(state)
    description = "\n\n".join(filter(None, (note, _plan_outline(state["plan"]))))
    args = {"title": state["plan"]["title"], "steps": render_steps(state["plan"]["steps"])}
    request = {"name": ACTION, "args": args, "description": description}
    allowed = ["approve", "edit", *(["reject"] if state["revisions"] < limit else [])]
    return {
        "action_requests": [request],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": allowed}],
        "plan": state["plan"],
        "revision": state["revisions"],
        "note": note,
    }
