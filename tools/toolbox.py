"""The tools a model may call, by role."""

from __future__ import annotations

from langchain_core.tools import BaseTool, tool

from graph.context import Context
from prompts.marks import pages_block
from runs.place import Here
from tools.evidence import Evidence, gather


def research_tools(here: Here, context: Context, found: list[Evidence]) -> list[BaseTool]:
    """Return the tools of a researcher; what they find is added to `found`."""

    @tool
    async def search(query: str) -> str:
        """Search the files and the web for passages about one query."""
        evidence = await gather(here, context, [query], about=query)
        found.append(evidence)
        return pages_block(evidence.passages, evidence.sources) or "Nothing was found."

    return [search]
