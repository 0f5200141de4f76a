"""What was said in a thread lately, and a summary of what was said before."""

from __future__ import annotations

import re
from functools import partial
from html import unescape

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from config.errors import Problem
from config.settings import settings
from graph.context import Context
from graph.records import Answer, Summary
from graph.state import State
from memory.learning.questions import asked_alone
from memory.learning.voice import in_person
from models.extractive.followups import points_back
from models.load import playing
from nodes.agent import work
from prompts.loader import render
from prompts.marks import block
from report.marks import QUOTE
from report.markup import shown
from retrieval.regex import regex
from retrieval.secrets import removed
from retrieval.text import sentences
from retrieval.tokens import warm
from runs.compacting import WORDS, shortened, summary_in, tokens
from runs.faults import bear
from tools.uploads import uploads

LONGEST = 1_500
"""How many characters of a message are shown: its beginning and its end."""

WHOLE = 4_000
"""How many tokens of a conversation are shown at most; the older part of more is summarised."""

_CODE = regex(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)

NONE = Summary(text="", until="")


def summary_of(state: State) -> Summary:
    """Return what stands for the older part of a thread; a thread of an older version has none."""
    return state.get("summary") or NONE


def most_shown() -> int:
    """Return how many tokens of a conversation are shown: a quarter of a small window."""
    return min(WHOLE, settings().context_tokens // 4)


async def conversation(state: State, runtime: Runtime[Context]) -> tuple[list[AnyMessage], Summary]:
    """Return what is shown of a thread, and the summary of what is not, made anew if it has to be.

    The messages of the thread stay what they are. Where nobody can summarise, the newest are shown.

    Raises:
        Problem: Whatever every other call would meet too.
    """
    await warm()
    known, whole = summary_of(state), _whole(state)
    most = most_shown()
    if tokens(whole) > most:
        model = await playing("coordinator", runtime.context)
        try:
            shorter = await shortened(model, whole, most, partial(_summarised, state, runtime))
        except Problem as problem:
            bear(problem)
            shorter = whole
        if shorter is not whole:
            last = _said(state)[-len(shorter)]
            known = Summary(text=summary_in(shorter[0]), until=str(last.id or ""))
    return recent(State(**{**state, "summary": known})), known


def recent(state: State) -> list[AnyMessage]:
    """Return the newest messages that may be shown, oldest first, behind the summary of older ones.

    A report is shown as its checked text with the ids of its sources, and a long text in part.
    """
    whole = _whole(state)
    before = [message for message in whole[:1] if summary_in(message)]
    shown: list[AnyMessage] = []
    room = most_shown() - tokens(before)
    for message in reversed(whole[len(before) :]):
        room -= tokens([message])
        if shown and room < 0:
            break
        shown.insert(0, message)
    return [*before, *shown]


def holds_secret(state: State) -> bool:
    """Tell whether a secret was taken out of what the person said last."""
    said = [str(one.text) for one in state["messages"] if one.type == "human"][-1:]
    return any(map(removed, [*said, state["feedback"]]))


def _whole(state: State) -> list[AnyMessage]:
    # An answer of an older version does not name its message.
    given = (state.get("answers") or {}).values()
    answers = {one["message"]: one for one in given if "message" in one}
    summary = summary_of(state)["text"]
    whole: list[AnyMessage] = [_before(summary)] if summary else []
    said = _said(state)
    alone = [*map(_without_telling, said[:-1]), *said[-1:]]
    return [*whole, *(_shown(message, answers, state.get("language", "en")) for message in alone)]


def _said(state: State) -> list[AnyMessage]:
    """Return the messages that no summary stands for."""
    said: list[AnyMessage] = [one for one in state["messages"] if one.type in ("human", "ai")]
    until = summary_of(state)["until"]
    at = next((at for at, one in enumerate(said, start=1) if until and one.id == until), 0)
    return said[at:][-settings().keep_messages :]


def _shown(message: AnyMessage, answers: dict[str, Answer], language: str) -> AnyMessage:
    text = str(message.text)
    answer = answers.get(message.id or "")
    if answer and (answer["text"] or answer["open"]):
        said = [_cut(_spoken(answer["text"])), *(f"Open: {gap}" for gap in answer["open"])]
        return AIMessage("\n".join(filter(None, said)), id=message.id)
    if message.type != "human":
        return AIMessage(_cut(text))
    names = ", ".join(one.name for one in uploads(message))
    with_files = render("attached", language=language, files=names).strip() if names else ""
    return HumanMessage("\n".join(filter(None, [_cut(text), with_files])))


def _without_telling(message: AnyMessage) -> AnyMessage:
    """Return an earlier message without what a person told of themselves beside their question.

    What is searched for is made of it, and may go out to the web. It stays where the question
    needs it: "I keep bees. How do they dance?" and "I am in Rome. What should I see?"
    """
    alone = asked_alone(str(message.text)) if message.type == "human" else ""
    if not alone or points_back(alone) or in_person(alone):
        return message
    return HumanMessage(alone, id=message.id)


def _before(summary: str) -> HumanMessage:
    said = block("summary", summary)
    return HumanMessage(said, additional_kwargs={"lc_source": "summarization"})


async def _summarised(state: State, runtime: Runtime[Context], talk: str) -> str:
    system = render("summary", language=state["language"], words=WORDS)
    asked = [HumanMessage(block("talk", talk))]
    return shown((await work(state, runtime, "memorizer", system, asked)).text)


def _spoken(text: str) -> str:
    """Return a checked text as one says it: quotations in quotation marks, and no code."""
    return _CODE.sub("[…]", QUOTE.sub(_quoted, text))


def _quoted(quote: re.Match[str]) -> str:
    marker = f" [{quote[1]}]"
    told = quote.string.startswith(marker, quote.end())
    return f"“{unescape(quote[2])}”{'' if told else marker}"


def _cut(text: str) -> str:
    """Return a text, or of a long one the sentences that it begins and ends with."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    spans = sentences(text)
    end = max((one.end for one in spans if one.end <= half), default=half)
    start = min((one.start for one in spans if one.start >= len(text) - half), default=-half)
    return f"{text[:end]} […] {text[start:]}"
