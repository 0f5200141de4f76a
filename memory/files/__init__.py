"""AGENTS.md: what people write for their agents, and what agents may add once a person agrees.

It serves any agent of LangChain; here the file is in the state of the thread:

    from langchain.agents import create_agent

    from memory.files import AgentsFiles, FilesState, edit_memory_tool, in_state
    from memory.middleware import MemoryMiddleware

    sources = in_state("/AGENTS.md")
    agent = create_agent(
        "openai:gpt-4o",
        tools=[edit_memory_tool("ann/", sources)],
        middleware=[MemoryMiddleware("ann/", memories=[AgentsFiles(sources)])],
        state_schema=FilesState,
    )
    said = {"messages": [("user", "How far is it to the sun?")], "files": {"/AGENTS.md": "In km."}}
    print(agent.invoke(said)["messages"][-1].text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memory.files.backend import Backend
from memory.files.deciding import approve, reject
from memory.files.disk import DISK
from memory.files.foreign import Foreign
from memory.files.in_state import StateFiles
from memory.files.in_store import StoreFiles
from memory.files.memory import AgentsFiles
from memory.files.sources import Source, Sources, in_state, in_store, on_disk, within

if TYPE_CHECKING:
    from memory.files.tool import FilesState, edit_memory_tool

__all__ = [
    "DISK",
    "AgentsFiles",
    "Backend",
    "FilesState",
    "Foreign",
    "Source",
    "Sources",
    "StateFiles",
    "StoreFiles",
    "approve",
    "edit_memory_tool",
    "in_state",
    "in_store",
    "on_disk",
    "reject",
    "within",
]


def __getattr__(name: str) -> Any:
    """Return what is for agents of LangChain, which is imported only then."""
    if name in ("FilesState", "edit_memory_tool"):
        return getattr(import_module("memory.files.tool"), name)
    raise AttributeError(name)
