"""Keep a conversation within the window of its model."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from html import unescape
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from config.settings import settings
from prompts.loader import render
from prompts.marks import block, blocks
from retrieval.regex import regex
from retrieval.text import language
from retrieval.tokens import count
from runs.around import Around
from runs.budget import USUAL
from runs.mending import mended
from runs.middleware import Handler

FULL = 0.75
"""The part of its window that a model is given to read, before older messages are summarised."""

MEMORY = 3_000
"""How many tokens are left free for what is remembered, as far as a window has them."""

EACH = 4
"""How many tokens a message has beside its text."""

WORDS = 400
"""How long a summary may be."""

SUMMARY = regex(r"<summary>\n(.*?)\n</summary>", re.DOTALL)

Summary = Callable[[str], Awaitable[str]]
"""Writes the summary of a conversation that is written out."""


class Compact(AgentMiddleware[Any, Around, Any]):
    """Mend a conversation, and put a summary in the place of its older part when it is too long.

    What was asked at first stays word for word, and so do the newest messages. It stands around the
    ledger: after a crash the same conversation is shortened at the same point, by a summary that
    the ledger has, and so makes the same keys.
    """

    async def awrap_model_call(
        self, request: ModelRequest[Around], handler: Handler
    ) -> ModelResponse[Any]:
        """Pass the request on with a conversation that fits."""
        short, said = request.runtime.context.shortened, request.messages
        talk = mended([*short.messages, *said[short.upto :]])
        system = count(str(request.system_message.text)) if request.system_message else 0
        most = int(FULL * window(request.model)) - system
        if most < tokens(talk) and len(talk) > 1:
            summary = partial(_asked, request, handler)
            shorter = await shortened(request.model, talk, most, summary, str(said[0].text))
            if shorter is not talk:
                short.messages, short.upto = shorter, len(said)
                talk = shorter
        return await handler(request.override(messages=talk))


def window(model: BaseChatModel) -> int:
    """Return how many tokens a model can read, less what is remembered and what it answers."""
    known = (getattr(model, "profile", None) or {}).get("max_input_tokens")
    whole = known if isinstance(known, int) else settings().context_tokens
    return max(whole - MEMORY - USUAL, whole // 2)


def tokens(messages: Iterable[Any]) -> int:
    """Return how many tokens messages have, with the tool calls in them."""
    return sum(EACH + count(_written(message)) for message in messages)


async def shortened(
    model: BaseChatModel, talk: list[AnyMessage], most: int, summary: Summary, first: str = ""
) -> list[AnyMessage]:
    """Return a conversation whose older part is a summary; the very same if nothing can be spared.

    Args:
        model: Whose window it shall fit.
        talk: The conversation.
        most: How many tokens it may have; half of them are left to the newest messages.
        summary: Writes the summary.
        first: The message that is kept of the older part word for word.
    """
    made: list[str] = []

    async def written(older: list[AnyMessage]) -> str:
        if text := _written_out(older, first):
            made.append(await summary(_within(text, int(FULL * window(model)))))
        return blocks(first, block("summary", "".join(made)))

    library = SummarizationMiddleware(
        model,
        trigger=("tokens", max(most, 1)),
        keep=("tokens", max(most // 2, 1)),
        token_counter=tokens,
        trim_tokens_to_summarize=None,
        summarizer=written,
    )
    update = await library.abefore_model({"messages": talk}, cast("Any", None))
    return cast("list[AnyMessage]", update["messages"][1:]) if update and made else talk


def summary_in(message: AnyMessage) -> str:
    """Return the summary that a message is; nothing if it is none."""
    if message.additional_kwargs.get("lc_source") != "summarization":
        return ""
    found = SUMMARY.findall(str(message.text))
    return unescape(found[-1]) if found else ""


async def _asked(request: ModelRequest[Around], handler: Handler, talk: str) -> str:
    """Have the model of a call write a summary, paid for like every other call."""
    system = render("summary", language=language(talk), words=WORDS)
    asked = request.override(
        messages=[HumanMessage(block("talk", talk))],
        system_message=SystemMessage(system),
        tools=[],
        tool_choice=None,
        model_settings={},
    )
    return str((await handler(asked)).result[-1].text)


def _written_out(messages: Sequence[AnyMessage], first: str) -> str:
    """Return messages as text, a summary among them as it is; nothing if there is no more."""
    rest = [message for message in messages if str(message.text) != first]
    if all(summary_in(message) for message in rest):
        return ""
    return "\n\n".join(summary_in(message) or _line(message) for message in rest)


def _line(message: AnyMessage) -> str:
    text = _written(message)
    if isinstance(message, ToolMessage):
        return f"{message.name or 'tool'} returned: {text}"
    return f"{'person' if isinstance(message, HumanMessage) else 'model'}: {text}"


def _written(message: AnyMessage) -> str:
    """Return what a message says, and which tools it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [f"calls {call['name']}({json.dumps(call['args'])})" for call in calls]
    return "\n".join(part for part in (str(message.text), *called) if part)


def _within(text: str, most: int) -> str:
    """Return a text without its middle where it is longer than a model can read."""
    size = count(text)
    half = len(text) * most // max(size, 1) // 2
    return text if size <= most else f"{text[:half]}\n…\n{text[-half:]}"
