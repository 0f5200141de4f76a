"""Read a chat into memory, with abstracts by a model if one is configured."""

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

from calls.gateway import ask
from calls.replies import VisibleText
from calls.run_budget import end_session
from graph.context import Context
from graph.state import CallSiteState
from library.memorizer import AbstractWriter
from library.page_rows import NewPage
from models.chat_models import built_in
from models.extractive.memory_tasks import abstract_page
from models.extractive.schema_answers import extractive_answer
from prompts.data_blocks import join_prompt_blocks, render_block, wrap_blocks
from prompts.loader import render_prompt
from runs.call_site import call_site, resolve_owner
from text.script import detect_language
from tools.chat_ingestion import IngestedChat, ingest_chat

ROLE = "memorizer"


@extractive_answer(abstract_page)
class Abstract(BaseModel):
    """What a page is about."""

    abstract: VisibleText = Field(description="one paragraph")


class IngestState(CallSiteState, total=False):
    """A chat to read."""

    file: str
    """Its path. Written by the caller."""
    conversation: dict[str, Any]
    """The result, as a `tools.chat_ingestion.IngestedChat`. Written by ingest."""


async def ingest(state: IngestState, runtime: Runtime[Context]) -> IngestState:
    """Read a chat, with an event for each session that is done.

    Reads `file`; writes `conversation`.
    """

    def progress(name: str) -> None:
        runtime.stream_writer({"event": "memorized", "session": name})

    writer = _abstracter(state, runtime)
    done = await ingest_chat(resolve_owner(runtime), Path(state["file"]), progress, writer)
    end_session(call_site(state, runtime))
    return IngestState(conversation=_plain(done))


def _abstracter(state: Mapping[str, Any], runtime: Runtime[Context]) -> AbstractWriter | None:
    """Return a function that asks the memorizer for abstracts; None without a model."""
    if built_in(ROLE, runtime.context):
        return None

    async def write(page: NewPage, earlier: Sequence[str]) -> str:
        pages = [render_block("page", page["text"], id="P1", title=page["title"])]
        abstracts = [render_block("abstract", abstract) for abstract in earlier]
        data = join_prompt_blocks(wrap_blocks("pages", pages), wrap_blocks("earlier", abstracts))
        system = render_prompt("memorize", language=detect_language(page["text"]))
        messages, default = [HumanMessage(data)], Abstract(abstract="")
        answer = await ask(
            state, runtime, ROLE, system, messages, Abstract, default=default, repairs=1
        )
        return answer.abstract

    return write


@cache
def make_ingest_graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    """Return the graph that reads a chat; repeated in the same thread, no call is paid twice."""
    graph = StateGraph(IngestState, context_schema=Context)
    graph.add_node(ingest)
    graph.add_edge(START, "ingest")
    graph.add_edge("ingest", END)
    return graph.compile(name="ingest")


def _plain(done: IngestedChat) -> dict[str, Any]:
    return {**done._asdict(), "skipped": [one._asdict() for one in done.skipped]}
