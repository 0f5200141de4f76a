"""The tools a model may call, by role."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool
from langchain_core.tools import BaseTool

from prompts.marks import block, blocks, pages_block
from runs.around import Around
from tools.edit_memory import edit_memory_file
from tools.evidence import gather


@tool
async def search(query: str, runtime: ToolRuntime[Around]) -> str:
    """Search the files and the web for passages about one query."""
    around = runtime.context
    evidence = await gather(around.here, around.choices, [query], about=query, web=around.web)
    around.found.append(evidence)
    return pages_block(evidence.passages, evidence.sources) or "Nothing was found."


@tool
async def recall(question: str, runtime: ToolRuntime[Around]) -> str:
    """Ask the memory of earlier research and chats a whole question; it may take several searches.

    What was read, reported or said before is not found by `search`.
    """
    around = runtime.context
    recalled = await around.recall(question) if around.recall else None
    if recalled is None or not recalled.evidence.passages:
        return "Nothing is remembered about this."
    around.found.append(recalled.evidence)
    evidence = recalled.evidence
    pages = pages_block(evidence.passages, evidence.sources)
    return blocks(block("notes", recalled.notes), pages)


TOOLS: dict[str, list[BaseTool]] = {"researcher": [search, recall, edit_memory_file]}
"""What each role may use; a role that is not named has no tools."""
