"""Put what is remembered in front of every model call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from config.settings import settings
from memory.profile.memory import drop_repeated_facts
from memory.protocol import Memory, Query
from memory.registry import MEMORIES
from memory.sync import run_sync
from memory.token_budget import NoteGroup, fit_notes, render_notes
from storage.events import read_revision
from text.script import detect_language
from text.tokens import load_vocabulary

TURNS = 3
"""How many turns of a conversation say what it is about."""

BEGINNING = 100
"""How many characters of a system message show its language."""

Request = ModelRequest[Any]
Response = ModelResponse[Any]

NoteWatcher = Callable[[Request, Sequence[NoteGroup], str], Awaitable[None]]
"""Is told what a call was given, and in which words."""


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Append what fits of all memories to the system message of each call.

    The notes are in no message of the conversation, so they are never saved with it, and a change
    in a memory shows in the next call of every thread. It serves any agent of LangChain:

        from langchain.agents import create_agent
        from langgraph.checkpoint.memory import InMemorySaver

        from memory.middleware import MemoryMiddleware

        agent = create_agent(
            "openai:gpt-4o",
            tools=[],
            middleware=[MemoryMiddleware("ann/", budget=2_000)],
            checkpointer=InMemorySaver(),
        )
        said = {"messages": [("user", "How far is it to the sun?")]}
        print(agent.invoke(said, {"configurable": {"thread_id": "1"}})["messages"][-1].text)
    """

    def __init__(
        self,
        owner: str = "local/",
        *,
        role: str = "assistant",
        budget: int | None = None,
        memories: Sequence[Memory] = MEMORIES,
        query: Callable[[Request], Query] | None = None,
        watch: NoteWatcher | None = None,
    ) -> None:
        """Say for whom it remembers.

        Args:
            owner: Whose memories: `runs.call_site.join_owner` joins a user and a project.
            role: Who is told, for memories that are not for all.
            budget: How many tokens the notes may have, their frame included; what the operator has
                set (`DOSSIER_MEMORY_TOKENS`) when it is left out.
            memories: Which, in the order in which they are told: what changes least comes first.
            query: Says what a call is about; the conversation does when it is left out.
            watch: Is told what each call was given.
        """
        super().__init__()
        self.owner, self.role, self.budget, self.memories = owner, role, budget, memories
        self.query, self.watch = query or self._query, watch

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Response]) -> Response:
        """Do the same for an agent that is called synchronously."""
        return handler(run_sync(self.add_notes(request)))

    async def awrap_model_call(
        self, request: Request, handler: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        """Pass the request on with the notes that fit it."""
        return await handler(await self.add_notes(request))

    async def add_notes(self, request: Request) -> Request:
        """Return a request with the notes that fit it."""
        tongue = _tongue(request.system_message)
        budget = settings().memory_tokens if self.budget is None else self.budget
        parts = await recall_notes(self.query(request), self.memories, budget, tongue)
        if not parts:
            return request
        notes = render_notes(parts, tongue)
        if self.watch:
            await self.watch(request, parts, notes)
        return request.override(system_message=_with(request.system_message, notes))

    def _query(self, request: Request) -> Query:
        turns = last_turns(request.messages)
        state, store = request.state or {}, request.runtime.store if request.runtime else None
        return Query(self.owner, self.role, turns[-1] if turns else "", turns, 0, state, store)


async def recall_notes(
    query: Query, memories: Sequence[Memory], budget: int, tongue: str = "en"
) -> list[NoteGroup]:
    """Return what all memories tell of a query, chosen so that it keeps within the budget.

    Raises:
        Problem: What a memory cannot be read for.
    """
    await load_vocabulary()
    query = query._replace(revision=query.revision or await read_revision(query.owner))
    memories = [one for one in memories if one.name not in query.excluded]
    notes = await asyncio.gather(*(memory.recall(query, budget) for memory in memories))
    parts = [
        NoteGroup(memory.name, memory.share, some)
        for memory, some in zip(memories, notes, strict=True)
    ]
    return [_in_order(part) for part in drop_repeated_facts(fit_notes(parts, budget, tongue))]


def last_turns(messages: Sequence[AnyMessage], turns: int = TURNS) -> tuple[str, ...]:
    """Return what was said in the last turns: by people, and as final answers; no tool traffic."""
    said: list[str] = []
    for message in reversed(messages):
        answer = isinstance(message, AIMessage) and not message.tool_calls
        if (answer or isinstance(message, HumanMessage)) and (text := str(message.text).strip()):
            said.insert(0, text)
            turns -= isinstance(message, HumanMessage)
        if turns == 0:
            break
    return tuple(said)


def _tongue(system: SystemMessage | None) -> str:
    """Return the language of a system message, which its beginning shows."""
    return detect_language(str(system.text)[:BEGINNING]) if system else "en"


def _with(system: SystemMessage | None, notes: str) -> SystemMessage:
    """Return a system message with notes behind it; whatever else it holds stays as it is."""
    if system is None:
        return SystemMessage(notes)
    if isinstance(system.content, str):
        both = "\n\n".join(text for text in (system.content, notes) if text)
        return system.model_copy(update={"content": both})
    block = {"type": "text", "text": f"\n\n{notes}"}
    return system.model_copy(update={"content": [*system.content, block]})


def _in_order(part: NoteGroup) -> NoteGroup:
    """Put notes into the order in which they came about: a new one then changes no earlier word."""
    return part._replace(notes=sorted(part.notes, key=lambda note: note.revision))
