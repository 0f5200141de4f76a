"""The tools a model may call, by role."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool
from langchain_core.tools import BaseTool

from prompts.marks import pages_block
from runs.around import Around
from tools.evidence import gather


@tool
async def search(query: str, runtime: ToolRuntime[Around]) -> str:
    """Search the files and the web for passages about one query."""
    around = runtime.context
    evidence = await gather(around.here, around.choices, [query], about=query, web=around.web)
    around.found.append(evidence)
    return pages_block(evidence.passages, evidence.sources) or "Nothing was found."


TOOLS: dict[str, list[BaseTool]] = {"researcher": [search]}
"""What each role may use; a role that is not named has no tools."""
