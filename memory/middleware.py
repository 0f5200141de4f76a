"""Add notes of all memories to every model call."""

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
from memory.token_budget import MemoryBlock, NoteGroup, build_block, build_whole_block
from storage.events import read_revision
from text.script import detect_language
from text.tokens import load_vocabulary

TURNS = 3
"""How many of the last turns a query has."""

BEGINNING = 100
"""How many characters of a system message show its language."""

Request = ModelRequest[Any]
Response = ModelResponse[Any]

BlockWatcher = Callable[[Request, MemoryBlock], Awaitable[None]]
"""Is called with the block that a call is given."""


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Append the notes that fit a call to its system message.

    The notes are in no message of the conversation, so they are never saved with it, and a change
    of a memory shows in the next call of every thread. It serves any agent of LangChain:

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
        watch: BlockWatcher | None = None,
    ) -> None:
        """Set for whom it remembers.

        Args:
            owner: Whose memories: `runs.call_site.join_owner` joins a user and a project.
            role: The role of the agent, for memories that are not for all roles.
            budget: The most tokens of the notes, their frame included; `DOSSIER_MEMORY_TOKENS` by
                default.
            memories: Which memories, in the order of their notes: what changes least comes first.
            query: Makes the query of a call; the conversation does by default.
            watch: Is called with the block that each call is given.
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
        budget = settings().memory_tokens if self.budget is None else self.budget
        language = _language(request.system_message)
        block = await recall_block(self.query(request), self.memories, budget, language)
        if not block.text:
            return request
        if self.watch:
            await self.watch(request, block)
        return request.override(system_message=_append(request.system_message, block.text))

    def _query(self, request: Request) -> Query:
        turns = last_turns(request.messages)
        state, store = request.state or {}, request.runtime.store if request.runtime else None
        return Query(self.owner, self.role, turns[-1] if turns else "", turns, 0, state, store)


async def recall_block(
    query: Query, memories: Sequence[Memory], budget: int, language: str = "en"
) -> MemoryBlock:
    """Return the notes of all memories for a query, as many as fit into the budget.

    Raises:
        Problem: Why a memory cannot be read.
    """
    revision = query.revision or await read_revision(query.owner)
    query = query._replace(revision=revision, language=language)
    asked = [one for one in memories if one.name not in query.excluded]
    notes = await asyncio.gather(*(memory.recall(query, budget) for memory in asked))
    groups = [
        NoteGroup(memory.name, memory.share, some)
        for memory, some in zip(asked, notes, strict=True)
    ]
    if not any(notes):
        return MemoryBlock()
    whole = build_whole_block(groups, budget, language, _arrange)
    if whole is not None:
        return whole
    await load_vocabulary()
    return build_block(groups, budget, language, _arrange)


def _arrange(groups: Sequence[NoteGroup]) -> list[NoteGroup]:
    """Leave out repeated facts, and order notes by age: a new one then changes no earlier word."""
    return [
        group._replace(notes=sorted(group.notes, key=lambda note: note.revision))
        for group in drop_repeated_facts(groups)
    ]


def last_turns(messages: Sequence[AnyMessage], turns: int = TURNS) -> tuple[str, ...]:
    """Return the messages of people and the final answers of the last turns; no tool traffic."""
    texts: list[str] = []
    for message in reversed(messages):
        is_answer = isinstance(message, AIMessage) and not message.tool_calls
        is_person = isinstance(message, HumanMessage)
        if (is_answer or is_person) and (text := str(message.text).strip()):
            texts.insert(0, text)
            turns -= is_person
        if turns == 0:
            break
    return tuple(texts)


def _language(system: SystemMessage | None) -> str:
    return detect_language(str(system.text)[:BEGINNING]) if system else "en"


def _append(system: SystemMessage | None, notes: str) -> SystemMessage:
    """Return a system message with notes at its end; its other content stays as it is."""
    if system is None:
        return SystemMessage(notes)
    if isinstance(system.content, str):
        both = "\n\n".join(text for text in (system.content, notes) if text)
        return system.model_copy(update={"content": both})
    block = {"type": "text", "text": f"\n\n{notes}"}
    return system.model_copy(update={"content": [*system.content, block]})
