"""What was said in a thread lately, and a summary of what was said before."""

from __future__ import annotations

import re
from functools import partial
from html import unescape

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from calls.compaction import (
    SUMMARY_WORDS,
    compact_conversation,
    count_message_tokens,
    message_bytes_fit,
    messages_fit,
    summary_of_message,
)
from calls.gateway import work
from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.records import Summary, TurnAnswer
from graph.state import State
from memory.learning.own_words import is_first_person
from memory.learning.question_text import strip_self_descriptions
from models.chat_models import load_role_model
from models.faults import raise_if_fatal
from prompts.data_blocks import render_block
from prompts.loader import render_prompt
from report.markdown.markers import QUOTE
from report.markdown.sanitizer import sanitize_text
from text.question_parts import is_context_dependent
from text.regex import regex
from text.secret_masking import list_removed_kinds
from text.sentences import split_sentences
from tools.message_uploads import list_message_uploads

LONGEST = 1_500
"""Character limit of a shown message; of a longer one, its beginning and end are shown."""

WHOLE = 4_000
"""Token limit of a shown conversation; the older part of a longer one is summarised."""

_CODE = regex(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)

NONE = Summary(text="", until="")


def stored_summary(state: State) -> Summary:
    """Return the summary of the older part of a thread; threads of older versions have none."""
    return state.get("summary") or NONE


def max_shown_tokens() -> int:
    """Return how many tokens of a conversation are shown: at most a quarter of the window."""
    return min(WHOLE, settings().context_tokens // 4)


async def load_conversation(
    state: State, runtime: Runtime[Context]
) -> tuple[list[AnyMessage], Summary]:
    """Return the shown messages of a thread, and the summary of the others, renewed if necessary.

    The messages of the thread do not change. If the summary fails, only the newest are shown.

    Raises:
        Problem: A problem that every other call would meet too.
    """
    known, whole = stored_summary(state), _whole(state)
    most = max_shown_tokens()
    if not await messages_fit(whole, most):
        model = await load_role_model("coordinator", runtime.context)
        try:
            shorter = await compact_conversation(
                model, whole, most, partial(_summarised, state, runtime)
            )
        except Problem as problem:
            raise_if_fatal(problem)
            shorter = whole
        if shorter is not whole:
            last = _said(state)[-len(shorter)]
            known = Summary(text=summary_of_message(shorter[0]), until=str(last.id or ""))
    return recent_messages(State(**{**state, "summary": known})), known


def recent_messages(state: State) -> list[AnyMessage]:
    """Return the newest messages that fit, oldest first, after the summary of older ones.

    A report is shown as its checked text with the ids of its sources, a long text shortened.
    """
    whole = _whole(state)
    if message_bytes_fit(whole, max_shown_tokens()):
        return whole
    before = [message for message in whole[:1] if summary_of_message(message)]
    shown: list[AnyMessage] = []
    room = max_shown_tokens() - count_message_tokens(before)
    for message in reversed(whole[len(before) :]):
        room -= count_message_tokens([message])
        if shown and room < 0:
            break
        shown.insert(0, message)
    return [*before, *shown]


def has_masked_secret(state: State) -> bool:
    """Tell whether a secret was masked in the last message of the person."""
    said = [str(one.text) for one in state["messages"] if one.type == "human"][-1:]
    return any(map(list_removed_kinds, [*said, state["feedback"]]))


def _whole(state: State) -> list[AnyMessage]:
    # An answer of an older version does not name its message.
    given = (state.get("answers") or {}).values()
    answers = {one["message"]: one for one in given if "message" in one}
    summary = stored_summary(state)["text"]
    whole: list[AnyMessage] = [_before(summary)] if summary else []
    said = _said(state)
    alone = [*map(_without_telling, said[:-1]), *said[-1:]]
    return [*whole, *(_shown(message, answers, state.get("language", "en")) for message in alone)]


def _said(state: State) -> list[AnyMessage]:
    """Return the messages that the summary does not cover."""
    said: list[AnyMessage] = [one for one in state["messages"] if one.type in ("human", "ai")]
    until = stored_summary(state)["until"]
    at = next((at for at, one in enumerate(said, start=1) if until and one.id == until), 0)
    return said[at:][-settings().keep_messages :]


def _shown(message: AnyMessage, answers: dict[str, TurnAnswer], language: str) -> AnyMessage:
    text = str(message.text)
    answer = answers.get(message.id or "")
    if answer and (answer["text"] or answer["open"]):
        said = [_cut(_spoken(answer["text"])), *(f"Open: {gap}" for gap in answer["open"])]
        return AIMessage("\n".join(filter(None, said)), id=message.id)
    if message.type != "human":
        return AIMessage(_cut(text))
    names = ", ".join(one.name for one in list_message_uploads(message))
    with_files = render_prompt("attached", language=language, files=names).strip() if names else ""
    return HumanMessage("\n".join(filter(None, [_cut(text), with_files])))


def _without_telling(message: AnyMessage) -> AnyMessage:
    """Return an earlier message without the self-description of the person beside their question.

    Queries are made from it and may be sent to the web. The description stays if the question
    needs it: "I keep bees. How do they dance?" and "I am in Rome. What should I see?"
    """
    alone = strip_self_descriptions(str(message.text)) if message.type == "human" else ""
    if not alone or is_context_dependent(alone) or is_first_person(alone):
        return message
    return HumanMessage(alone, id=message.id)


def _before(summary: str) -> HumanMessage:
    said = render_block("summary", summary)
    return HumanMessage(said, additional_kwargs={"lc_source": "summarization"})


async def _summarised(state: State, runtime: Runtime[Context], talk: str) -> str:
    system = render_prompt("summary", language=state["language"], words=SUMMARY_WORDS)
    asked = [HumanMessage(render_block("talk", talk))]
    return sanitize_text((await work(state, runtime, "memorizer", system, asked)).text)


def _spoken(text: str) -> str:
    """Return a checked text as speech: quotations in quotation marks, and no code."""
    return _CODE.sub("[…]", QUOTE.sub(_quoted, text))


def _quoted(quote: re.Match[str]) -> str:
    marker = f" [{quote[1]}]"
    told = quote.string.startswith(marker, quote.end())
    return f"“{unescape(quote[2])}”{'' if told else marker}"


def _cut(text: str) -> str:
    """Shorten a long text to its first and last sentences."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    spans = split_sentences(text)
    end = max((one.end for one in spans if one.end <= half), default=half)
    start = min((one.start for one in spans if one.start >= len(text) - half), default=-half)
    return f"{text[:end]} […] {text[start:]}"
