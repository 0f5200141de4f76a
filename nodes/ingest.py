"""Read a chat into memory, its sessions with abstracts by a model where one is configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

from graph.context import Context
from graph.state import Place
from memory.pages.memorizer import Abstracter
from memory.pages.store import NewPage
from models.load import built_in
from nodes.agent import ask
from nodes.typed import Shown
from prompts.loader import render
from prompts.marks import block, blocks, wrap
from retrieval.text import language
from runs.budget import pause
from runs.place import here, owner
from tools.chat import Conversation, ingest_chat

ROLE = "memorizer"


class Abstract(BaseModel):
    """What a page is about."""

    abstract: Shown = Field(description="one paragraph")


class IngestState(Place, total=False):
    """A chat that is to be read."""

    file: str
    """Its path. Written by the caller."""
    conversation: dict[str, Any]
    """What is known of it afterwards, as `tools.chat.Conversation`. Written by ingest."""


async def ingest(state: IngestState, runtime: Runtime[Context]) -> IngestState:
    """Read a chat; every session that is done is told as an event.

    Reads `file`; writes `conversation`.
    """

    def progress(name: str) -> None:
        runtime.stream_writer({"event": "memorized", "session": name})

    writer = abstracter(state, runtime)
    done = await ingest_chat(owner(runtime), Path(state["file"]), progress, writer)
    pause(here(state, runtime))
    return IngestState(conversation=_plain(done))


def abstracter(state: Mapping[str, Any], runtime: Runtime[Context]) -> Abstracter | None:
    """Return what asks the memorizer for abstracts; nothing where no model is configured."""
    if built_in(ROLE, runtime.context):
        return None

    async def write(page: NewPage, earlier: Sequence[str]) -> str:
        shown = wrap("pages", [block("page", page["text"], id="P1", title=page["title"])])
        data = blocks(shown, wrap("earlier", [block("abstract", one) for one in earlier]))
        system = render("memorize", language=language(page["text"]))
        said, none = [HumanMessage(data)], Abstract(abstract="")
        answer = await ask(state, runtime, ROLE, system, said, Abstract, otherwise=none, repairs=1)
        return answer.abstract

    return write


@cache
def make_ingest() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that reads a chat; in one thread nothing is paid for twice."""
    graph = StateGraph(IngestState, context_schema=Context)
    graph.add_node(ingest)
    graph.add_edge(START, "ingest")
    graph.add_edge("ingest", END)
    return graph.compile(name="ingest")


def _plain(done: Conversation) -> dict[str, Any]:
    return {**done._asdict(), "skipped": [one._asdict() for one in done.skipped]}
