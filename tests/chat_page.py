"""What a chat page shows of a stream: LangGraph's `useStream`, which agent-chat-ui is made with.

It takes the state of every graph that is streamed for the state of the thread, and puts each
message that is streamed behind those it shows, or in the place that one of its id has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.messages import BaseMessage

Shown = list[tuple[str, str]]
"""Messages, each with its type and its text."""


class ChatPage:
    """The screen of a chat page, and every screen there was."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.chunks: dict[str, tuple[str, int]] = {}
        self.interrupts: list[Any] = []
        self.screens: list[Shown] = []

    def take(self, event: str, data: Any) -> None:
        """Take one event of a stream."""
        name = event.partition("|")[0]
        if name == "values" and "__interrupt__" in data:
            self.interrupts = list(data["__interrupt__"])
        elif name == "values":
            self.messages = [_plain(one) for one in data.get("messages", [])]
        elif name == "messages":
            self._add(_plain(data[0]))
        self.screens.append([(one["type"], one["text"]) for one in self.messages])

    def _add(self, message: dict[str, Any]) -> None:
        before, place = self.chunks.get(message["id"], ("", len(self.messages)))
        self.chunks[message["id"]] = (before + message["text"], place)
        whole = {**message, "text": before + message["text"]}
        # A page leaves a gap where a message has gone; nothing is put over another one.
        self.messages[place : place + 1] = [whole]

    @property
    def seen(self) -> str:
        """Everything that was on the screen at some moment."""
        return "\n".join(text for screen in self.screens for _, text in screen)


async def watched(stream: AsyncIterator[Any]) -> ChatPage:
    """Return what a page has shown of the stream of a graph, as a server sends it on."""
    page = ChatPage()
    async for namespace, mode, data in stream:
        page.take("|".join([mode, *namespace]), data)
    return page


def _plain(message: Any) -> dict[str, Any]:
    if isinstance(message, BaseMessage):
        kind = message.type.removesuffix("MessageChunk").lower()
        return {"id": message.id, "type": kind, "text": str(message.text)}
    content = message["content"]
    text = content if isinstance(content, str) else "".join(one.get("text", "") for one in content)
    kind = message["type"].removesuffix("MessageChunk").lower()
    return {"id": message["id"], "type": kind, "text": text}
