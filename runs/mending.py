"""Give every tool call of a conversation its result, for a model refuses one without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from prompts.loader import render


def mended(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Return a conversation in which the results of tool calls stand right behind them.

    A call without a result, as a run leaves it that is cancelled or killed while a tool works, gets
    one that says so; a result that no call asked for is left out.
    """
    results = [message for message in messages if isinstance(message, ToolMessage)]
    mended: list[AnyMessage] = []
    for message in messages:
        if isinstance(message, AIMessage):
            mended += [message, *(_result(call, results) for call in _calls(message))]
        elif not isinstance(message, ToolMessage):
            mended.append(message)
    return mended


def _calls(message: AIMessage) -> Iterator[dict[str, Any]]:
    """Yield the calls of a message, also those whose arguments could not be read."""
    yield from ({**call} for call in message.tool_calls)
    yield from ({**call} for call in message.invalid_tool_calls)


def _result(call: dict[str, Any], results: list[ToolMessage]) -> ToolMessage:
    """Take the first result of a call, for some servers give later calls the same id again."""
    for at, result in enumerate(results):
        if result.tool_call_id == call["id"]:
            return results.pop(at)
    name = call["name"] or ""
    said = render("cut_off", tool=name).strip()
    return ToolMessage(said, tool_call_id=call["id"] or "", name=name, status="error")
