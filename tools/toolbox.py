"""The tools a model may call, by role."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool
from langchain_core.tools import BaseTool

from prompts.marks import blocks, cited, pages_block, unseen
from runs.around import Around
from tools.edit_memory import edit_memory_file
from tools.evidence import Evidence, gather
from tools.web_search import notice

SEEN = "Nothing was found that is not shown above already."


@tool
async def search(query: str, runtime: ToolRuntime[Around]) -> str:
    """Search the files and the web for passages about one query."""
    around = runtime.context
    evidence = await gather(around.here, around.choices, [query], about=query, web=around.web)
    around.found.append(evidence)
    shown = _shown(evidence, runtime) or SEEN if evidence.passages else "Nothing was found."
    return blocks(notice(evidence.sent), shown)


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
    return blocks(cited("notes", recalled.notes), _shown(evidence, runtime)) or SEEN


def _shown(evidence: Evidence, runtime: ToolRuntime[Around]) -> str:
    """Mark the passages of evidence that the conversation, as the model sees it, does not show."""
    short, said = runtime.context.shortened, runtime.state["messages"]
    talk = [str(one.text) for one in [*short.messages, *said[short.upto :]]]
    return pages_block(unseen(evidence.passages, talk), evidence.sources)


TOOLS: dict[str, list[BaseTool]] = {"researcher": [search, recall, edit_memory_file]}
"""What each role may use; a role that is not named has no tools."""
