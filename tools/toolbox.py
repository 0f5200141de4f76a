"""The tools that a model may call."""

from __future__ import annotations

from langchain.tools import ToolRuntime, tool

from calls.call_context import CallContext
from calls.stack import Toolbox
from memory.agents_md.edit_tool import EDIT_TOOL_DESCRIPTION, submit_edit, tool_outputs
from memory.agents_md.edits import EditRequester, FileEdit, load_read_history
from memory.agents_md.file_sources import disk_sources
from memory.protocol import Query
from prompts.data_blocks import (
    join_prompt_blocks,
    list_unseen_passages,
    render_cited_block,
    render_pages_block,
)
from tools.evidence import Evidence, gather_evidence
from tools.web.web_search import describe_redacted_queries


@tool(description=EDIT_TOOL_DESCRIPTION)
async def edit_memory_file(
    new: str, why: str, runtime: ToolRuntime[CallContext], old: str = "", path: str = ""
) -> str:
    """Propose a change to AGENTS.md."""
    around, here = runtime.context, runtime.context.site
    query = Query(here.owner, around.role, "", files=tuple(around.choices.files))
    sources = await disk_sources(query)
    read = await load_read_history(here.owner, here.thread, here.run)
    read = read._replace(texts=[*read.texts, *tool_outputs(runtime.state["messages"])])
    return await submit_edit(
        EditRequester(here.owner, here.run, here.step), sources, FileEdit(new, why, old, path), read
    )


SEEN = "Nothing was found that is not shown above already."


@tool("search")
async def search_tool(query: str, runtime: ToolRuntime[CallContext]) -> str:
    """Search the files and the web for passages about one query."""
    around = runtime.context
    evidence = await gather_evidence(
        around.site, around.choices, [query], about=query, web=around.allow_web
    )
    around.tool_results.append(evidence)
    shown = _shown(evidence, runtime) or SEEN if evidence.passages else "Nothing was found."
    return join_prompt_blocks(describe_redacted_queries(evidence.sent), shown)


@tool("recall")
async def recall_tool(question: str, runtime: ToolRuntime[CallContext]) -> str:
    """Ask the memory of earlier research and chats a whole question; it may take several searches.

    What was read, reported or said before is not found by `search_tool`.
    """
    around = runtime.context
    recalled = await around.recall(question) if around.recall else None
    if recalled is None or not recalled.evidence.passages:
        return "Nothing is remembered about this."
    around.tool_results.append(recalled.evidence)
    evidence = recalled.evidence
    return (
        join_prompt_blocks(render_cited_block("notes", recalled.notes), _shown(evidence, runtime))
        or SEEN
    )


def _shown(evidence: Evidence, runtime: ToolRuntime[CallContext]) -> str:
    """Mark the passages of evidence that the conversation, as the model sees it, does not show."""
    short, said = runtime.context.compacted, runtime.state["messages"]
    talk = [str(one.text) for one in [*short.messages, *said[short.upto :]]]
    return render_pages_block(list_unseen_passages(evidence.passages, talk), evidence.sources)


RESEARCHER_TOOLS = Toolbox((search_tool, recall_tool, edit_memory_file))
"""What a researcher may use while it writes."""
