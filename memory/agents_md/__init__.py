"""AGENTS.md: what people write for their agents, and what agents may add once a person agrees.

It serves any agent of LangChain; here the file is in the state of the thread:

    from langchain.agents import create_agent

    from memory.agents_md import AgentsMdMemory, FilesState, edit_memory_tool, state_sources
    from memory.middleware import MemoryMiddleware

    sources = state_sources("/AGENTS.md")
    agent = create_agent(
        "openai:gpt-4o",
        tools=[edit_memory_tool("ann/", sources)],
        middleware=[MemoryMiddleware("ann/", memories=[AgentsMdMemory(sources)])],
        state_schema=FilesState,
    )
    said = {"messages": [("user", "How far is it to the sun?")], "files": {"/AGENTS.md": "In km."}}
    print(agent.invoke(said)["messages"][-1].text)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.agents_md.backends import DeepAgentsFiles, FileBackend, StateFiles, StoreFiles
    from memory.agents_md.disk import DISK
    from memory.agents_md.edit_tool import FilesState, edit_memory_tool
    from memory.agents_md.file_sources import (
        FileSource,
        FileSources,
        backend_sources,
        disk_sources,
        state_sources,
        store_sources,
    )
    from memory.agents_md.memory import AgentsMdMemory
    from memory.agents_md.proposals import approve_proposal, reject_proposal

__all__ = [
    "DISK",
    "AgentsMdMemory",
    "DeepAgentsFiles",
    "FileBackend",
    "FileSource",
    "FileSources",
    "FilesState",
    "StateFiles",
    "StoreFiles",
    "approve_proposal",
    "backend_sources",
    "disk_sources",
    "edit_memory_tool",
    "reject_proposal",
    "state_sources",
    "store_sources",
]

_MODULES = {
    "memory": ("AgentsMdMemory",),
    "disk": ("DISK",),
    "backends": ("DeepAgentsFiles", "FileBackend", "StateFiles", "StoreFiles"),
    "file_sources": (
        "FileSource",
        "FileSources",
        "backend_sources",
        "disk_sources",
        "state_sources",
        "store_sources",
    ),
    "edit_tool": ("FilesState", "edit_memory_tool"),
    "proposals": ("approve_proposal", "reject_proposal"),
}


def __getattr__(name: str) -> Any:
    """Import the module of a name when it is first used: tables are loaded without the rest."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"memory.agents_md.{module}"), name)
    raise AttributeError(name)
