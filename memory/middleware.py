"""Put what is remembered in front of every model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import SystemMessage

from memory.base import Note, Query
from memory.registry import MEMORIES
from prompts.loader import render
from prompts.marks import block, wrap
from runs.around import Around


class MemoryMiddleware(AgentMiddleware[Any, Around, Any]):
    """Append the notes of all memories to the system message of each call.

    The notes are not written to the conversation, so a change in a memory shows in the next call.
    """

    async def awrap_model_call(
        self,
        request: ModelRequest[Around],
        handler: Callable[[ModelRequest[Around]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Pass the request on with the notes that fit its newest message."""
        around = request.runtime.context
        query = Query(around.here.owner, around.role, str(request.messages[-1].text))
        notes = [note for memory in MEMORIES for note in await memory.recall(query)]
        if not notes:
            return await handler(request)
        system = str(request.system_message.text) if request.system_message else ""
        return await handler(
            request.override(system_message=SystemMessage(f"{system}\n\n{_block(notes)}"))
        )


def _block(notes: list[Note]) -> str:
    told = [block("note", note.text, title=note.title) for note in notes]
    return f"{render('memory')}\n{wrap('memory', told)}"
