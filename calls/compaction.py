"""Keep a conversation well formed and within the window of its model."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from html import unescape
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from calls.call_context import CallContext, CallHandler
from calls.context_window import input_window
from prompts.data_blocks import join_prompt_blocks, render_block
from prompts.loader import render_prompt
from text.regex import regex
from text.script import detect_language
from text.tokens import bytes_fit, count_tokens, load_vocabulary


def repair_tool_calls(messages: Sequence[AnyMessage], language: str = "en") -> list[AnyMessage]:
    """Return a conversation in which the results of tool calls directly follow them.

    A call without a result, which a run leaves that is cancelled or killed while a tool works, gets
    one that says so in a language; a result without a call is removed.
    """
    results = [message for message in messages if isinstance(message, ToolMessage)]
    repaired: list[AnyMessage] = []
    for message in messages:
        if isinstance(message, AIMessage):
            repaired += [message, *(_result(call, results, language) for call in _calls(message))]
        elif not isinstance(message, ToolMessage):
            repaired.append(message)
    return repaired


def _calls(message: AIMessage) -> Iterator[dict[str, Any]]:
    """Yield the calls of a message, also those whose arguments could not be read."""
    yield from ({**call} for call in message.tool_calls)
    yield from ({**call} for call in message.invalid_tool_calls)


def _result(call: dict[str, Any], results: list[ToolMessage], language: str) -> ToolMessage:
    """Take the first result of a call: some servers reuse the id for later calls."""
    for at, result in enumerate(results):
        if result.tool_call_id == call["id"]:
            return results.pop(at)
    name = call["name"] or ""
    text = render_prompt("cut_off", language=language, tool=name)
    return ToolMessage(text, tool_call_id=call["id"] or "", name=name, status="error")


WINDOW_SHARE = 0.75
"""The share of its window that a conversation may fill before older messages are summarised."""

EACH = 4
"""How many tokens a message has beside its text."""

SUMMARY_WORDS = 400
"""The longest summary, in words."""

SUMMARY = regex(r"<summary>\n(.*?)\n</summary>", re.DOTALL)

Summarizer = Callable[[str], Awaitable[str]]
"""Summarises a conversation that is given as text."""


class CompactionMiddleware(AgentMiddleware[Any, CallContext, Any]):
    """Repair a conversation, and replace its older part by a summary if it is too long.

    The first question and the newest messages stay word for word. This layer is outside of the
    ledger: after a crash the same conversation is shortened at the same point, by a summary that
    the ledger has, and so has the same keys.
    """

    async def awrap_model_call(
        self, request: ModelRequest[CallContext], handler: CallHandler
    ) -> ModelResponse[Any]:
        """Pass the request on with a conversation that fits."""
        around, said = request.runtime.context, request.messages
        short = around.compacted
        talk = repair_tool_calls([*short.messages, *said[short.upto :]], around.language)
        system = str(request.system_message.text) if request.system_message else ""
        window = int(WINDOW_SHARE * input_window(request.model))
        if len(talk) > 1 and not await messages_fit(talk, window, system):
            most = window - count_tokens(system)
            summary = partial(_request_summary, request, handler)
            shorter = await compact_conversation(
                request.model, talk, most, summary, str(said[0].text)
            )
            if shorter is not talk:
                short.messages, short.upto = shorter, len(said)
                talk = shorter
        return await handler(request.override(messages=talk))


def count_message_tokens(messages: Iterable[Any]) -> int:
    """Return how many tokens messages have, with the tool calls in them."""
    return sum(EACH + count_tokens(_written(message)) for message in messages)


def message_bytes_fit(messages: Sequence[AnyMessage], most: int, system: str = "") -> bool:
    """Say whether messages and a system prompt have so few bytes that `most` tokens hold them."""
    return bytes_fit([system, *map(_written, messages)], most - EACH * len(messages))


async def messages_fit(messages: Sequence[AnyMessage], most: int, system: str = "") -> bool:
    """Say whether messages and a system prompt have at most `most` tokens together."""
    if message_bytes_fit(messages, most, system):
        return True
    await load_vocabulary()
    return count_tokens(system) + count_message_tokens(messages) <= most


async def compact_conversation(
    model: BaseChatModel, talk: list[AnyMessage], most: int, summary: Summarizer, first: str = ""
) -> list[AnyMessage]:
    """Return a conversation whose older part is a summary; the same object if nothing can be cut.

    Args:
        model: The model whose window it must fit.
        talk: The conversation.
        most: How many tokens it may have, half of them for the newest messages.
        summary: Writes the summary.
        first: The message of the older part that stays word for word.
    """
    made: list[str] = []

    async def written(older: list[AnyMessage]) -> str:
        """Return what replaces the older messages: the first one word for word, and a summary."""
        if text := _written_out(older, first):
            made.append(await summary(_cut_middle(text, int(WINDOW_SHARE * input_window(model)))))
        return join_prompt_blocks(first, render_block("summary", "".join(made)))

    library = SummarizationMiddleware(
        model,
        trigger=("tokens", max(most, 1)),
        keep=("tokens", max(most // 2, 1)),
        token_counter=count_message_tokens,
        trim_tokens_to_summarize=None,
        summarizer=written,
    )
    update = await library.abefore_model({"messages": talk}, cast("Any", None))
    return cast("list[AnyMessage]", update["messages"][1:]) if update and made else talk


def summary_of_message(message: AnyMessage) -> str:
    """Return the text of a message that is a summary; "" for any other."""
    if message.additional_kwargs.get("lc_source") != "summarization":
        return ""
    found = SUMMARY.findall(str(message.text))
    return unescape(found[-1]) if found else ""


async def _request_summary(
    request: ModelRequest[CallContext], handler: CallHandler, talk: str
) -> str:
    """Let the model of a call write a summary; it is billed like every other call."""
    system = render_prompt("summary", language=detect_language(talk), words=SUMMARY_WORDS)
    asked = request.override(
        messages=[HumanMessage(render_block("talk", talk))],
        system_message=SystemMessage(system),
        tools=[],
        tool_choice=None,
        model_settings={},
    )
    return str((await handler(asked)).result[-1].text)


def _written_out(messages: Sequence[AnyMessage], first: str) -> str:
    """Return messages as text, summaries among them verbatim; "" if there is nothing else."""
    rest = [message for message in messages if str(message.text) != first]
    if all(summary_of_message(message) for message in rest):
        return ""
    return "\n\n".join(summary_of_message(message) or _line(message) for message in rest)


def _line(message: AnyMessage) -> str:
    text = _written(message)
    if isinstance(message, ToolMessage):
        return f"{message.name or 'tool'} returned: {text}"
    return f"{'person' if isinstance(message, HumanMessage) else 'model'}: {text}"


def _written(message: AnyMessage) -> str:
    """Return the text of a message, and the tools it calls."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    called = [f"calls {call['name']}({json.dumps(call['args'])})" for call in calls]
    return "\n".join(part for part in (str(message.text), *called) if part)


def _cut_middle(text: str, most: int) -> str:
    """Return a text without its middle if it has more than `most` tokens."""
    size = count_tokens(text)
    half = len(text) * most // max(size, 1) // 2
    return text if size <= most else f"{text[:half]}\n…\n{text[-half:]}"
