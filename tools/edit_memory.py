"""The tool with which a role proposes a change to a memory file."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool

from memory.base import Query
from memory.files.lineage import read_by
from memory.files.proposing import Asker, Edit
from memory.files.sources import on_disk
from memory.files.tool import WHAT, edited, results
from runs.around import Around


@tool(description=WHAT)
async def edit_memory_file(
    new: str, why: str, runtime: ToolRuntime[Around], old: str = "", path: str = ""
) -> str:
    """Propose a change to AGENTS.md."""
    around, here = runtime.context, runtime.context.here
    query = Query(here.owner, around.role, "", files=tuple(around.choices.files))
    sources = await on_disk(query)
    read = await read_by(here.owner, here.thread, here.run)
    read = read._replace(texts=[*read.texts, *results(runtime.state["messages"])])
    return await edited(
        Asker(here.owner, here.run, here.step), sources, Edit(new, why, old, path), read
    )
