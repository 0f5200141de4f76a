"""The tool with which a step asks the person what only they know."""

from __future__ import annotations

from collections.abc import Sequence

from langchain.tools import ToolRuntime, tool

from calls.call_context import CallContext
from calls.tool_requests import HumanInput, to_person_line, tool_answer_key
from graph.pauses import (
    ASK_USER,
    LONGEST_QUESTION,
    MOST_ANSWERS,
    MOST_ASKED,
    Consultation,
    ToolDecision,
)
from prompts.data_blocks import render_block
from prompts.loader import render_prompt
from text.pattern_files import PatternFile

_PATTERNS = PatternFile("tools", "ask_user.toml")


@tool(ASK_USER)
async def ask_user_tool(
    question: str,
    default: str,
    runtime: ToolRuntime[CallContext],
    options: Sequence[str] = (),
) -> str:
    """Ask the person what only they can know."""
    around, human = runtime.context, runtime.context.human
    asked, assumed = (to_person_line(one, LONGEST_QUESTION) for one in (question, default))
    if human is None or not human.asks:
        return _say("ask_nobody", around, default=assumed)
    if _PATTERNS.secret.search(f"{question}\n{' '.join(options)}"):
        return _say("ask_secret", around)
    if not asked or not assumed:
        return _say("ask_incomplete", around)
    key = tool_answer_key(runtime.state["messages"], runtime.tool_call_id)
    if decision := human.decisions.get(key):
        return _tell_decision(around, decision, assumed)
    if known := _find_known(human, asked):
        return _tell(around, known["answer"], answered=known["outcome"] == "answered")
    count = sum(one["step"] == human.step for one in human.list_known()) + len(human.requests)
    if not human.reachable or count >= MOST_ASKED:
        human.note("assumed", asked, assumed)
        name = "ask_often" if human.reachable else "ask_nobody"
        return _say(name, around, default=assumed)
    offered = list(dict.fromkeys(to_person_line(one, LONGEST_QUESTION) for one in options))
    args = {"question": asked, "options": [*filter(None, offered)][:MOST_ANSWERS]}
    human.request(runtime.tool_call_id or "", ASK_USER, {**args, "answer": assumed})
    return ""


def _tell_decision(around: CallContext, decision: ToolDecision, default: str) -> str:
    """Return what the person answered; the node that asked them has noted it."""
    said = decision.get("message", "")
    return _tell(around, said or default, answered=decision["type"] == "respond" and bool(said))


def _find_known(human: HumanInput, question: str) -> Consultation | None:
    """Return what came of the same question when a step asked it before in this turn."""
    wanted = question.casefold()
    return next(
        (
            one
            for one in human.list_known()
            if one["question"].casefold() == wanted and one["outcome"] in ("answered", "assumed")
        ),
        None,
    )


def _tell(around: CallContext, answer: str, *, answered: bool) -> str:
    """Return an answer as the model is told it, or what is assumed without one."""
    if not answered:
        return _say("ask_unanswered", around, default=answer)
    return f"{_say('ask_answered', around)}\n{render_block('answer', answer)}"


def _say(name: str, around: CallContext, **values: str) -> str:
    return render_prompt(name, language=around.language, **values)
