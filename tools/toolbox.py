"""The tools that a model may call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache, partial
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.tools import ToolRuntime, tool
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.types import Command

from calls.call_context import CallContext
from calls.stack import Toolbox
from config.errors import Problem
from graph.pauses import ASK_USER
from memory.agents_md.backends import StateFiles, merge_files
from memory.agents_md.edits import EditRequester, FileEdit, ReadHistory, load_read_history
from memory.agents_md.file_sources import FileSource, FileSources, disk_sources
from memory.agents_md.memory import INSTRUCTIONS
from memory.protocol import Query
from memory.sync import run_sync
from prompts.loader import render_prompt
from tools.ask_user import ask_user_tool
from tools.computing_tools import COMPUTING_TOOLS, compute_tool
from tools.evidence import searches_web
from tools.mcp.mcp_tools import load_mcp_tools, needs_approval
from tools.research_tools import RESEARCH_TOOLS, WEB_TOOLS, describe_tool


@tool
async def edit_memory_file(
    new: str, why: str, runtime: ToolRuntime[CallContext], old: str = "", path: str = ""
) -> str:
    """Propose a change to AGENTS.md."""
    around, here = runtime.context, runtime.context.site
    query = Query(here.owner, around.role, "", files=tuple(around.choices.files))
    sources = await disk_sources(query)
    read = await load_read_history(here.owner, here.thread, here.run)
    read = read._replace(texts=[*read.texts, *_tool_outputs(runtime.state["messages"])])
    asker, edit = EditRequester(here.owner, here.run, here.step), FileEdit(new, why, old, path)
    return await _submit_edit(asker, sources, edit, read, around.language)


class FilesState(AgentState[Any]):
    """The state of an agent that has files, for `create_agent(state_schema=…)`."""

    files: NotRequired[Annotated[dict[str, Any], merge_files]]


def edit_memory_tool(owner: str = "local/", sources: FileSources = disk_sources) -> BaseTool:
    """Return the tool for an agent to which `MemoryMiddleware` gives the same files.

    Args:
        owner: Whose files.
        sources: The files; the same as for `AgentsMdMemory`.
    """

    async def edit_memory_file(
        new: str, why: str, runtime: ToolRuntime[Any], old: str = "", path: str = ""
    ) -> Any:
        query = Query(owner, "", "", state=runtime.state, store=runtime.store)
        places = await sources(query)
        talk = runtime.state["messages"]
        said = [str(one.text) for one in talk if one.type == "human"]
        read = ReadHistory(_tool_outputs(talk), user_messages=said)
        edit = FileEdit(new, why, old, path)
        answer = await _submit_edit(EditRequester(owner), places, edit, read)
        update: dict[str, Any] = {}
        for one in places:
            update |= one.files.update if isinstance(one.files, StateFiles) else {}
        if not update:
            return answer
        message = ToolMessage(answer, tool_call_id=runtime.tool_call_id)
        return Command(update={**update, "messages": [message]})

    def edit_now(
        new: str, why: str, runtime: ToolRuntime[Any], old: str = "", path: str = ""
    ) -> Any:
        return run_sync(edit_memory_file(new, why, runtime, old, path))

    name = edit_memory_file.__name__
    described = describe_tool(name, "en", searches_web=False)
    return StructuredTool.from_function(edit_now, edit_memory_file, name, described)


async def _submit_edit(
    asker: EditRequester,
    sources: Sequence[FileSource],
    edit: FileEdit,
    read: ReadHistory,
    language: str = "en",
) -> str:
    """Propose an edit, and return the answer for the model."""
    try:
        proposal = await INSTRUCTIONS.record(
            asker.owner, edit, run=asker.run, step=asker.step, sources=sources, read=read
        )
    except Problem as problem:
        hint = f" ({problem.hint})" if problem.hint else ""
        return render_prompt("tool_refused", language=language, why=f"{problem.what}{hint}")
    if proposal.status == "allowed":
        return render_prompt("edit_written", language=language)
    return render_prompt("edit_proposed", language=language, id=proposal.id)


def _tool_outputs(messages: Sequence[AnyMessage]) -> list[str]:
    """Return the answers of tools in a conversation."""
    return [str(message.text) for message in messages if isinstance(message, ToolMessage)]


_TOOLS = (*RESEARCH_TOOLS, compute_tool, ask_user_tool, edit_memory_file)


def offer_tools(around: CallContext) -> Sequence[BaseTool]:
    """Return the tools that a call can use, described in the language of its prompt."""
    provided = searches_web(around.choices)
    tools = _tools_in_words(
        around.language, around.bases, allow_web=around.allow_web, provided=provided
    )
    return _without_asking(around, tools)


def _without_asking(around: CallContext, tools: Sequence[BaseTool]) -> Sequence[BaseTool]:
    """Return tools without the one that asks the person, where a call may not."""
    asks = around.human is not None and around.human.asks
    return [tool for tool in tools if asks or tool.name != ASK_USER]


@lru_cache(maxsize=256)
def _tools_in_words(
    language: str, bases: tuple[str, ...], *, allow_web: bool, provided: bool
) -> tuple[BaseTool, ...]:
    described = partial(
        describe_tool, language=language, searches_web=allow_web and provided, bases=bases
    )
    return tuple(
        tool.model_copy(update={"description": described(tool.name)})
        for tool in _TOOLS
        if allow_web or tool.name not in WEB_TOOLS
    )


async def load_server_tools(around: CallContext) -> Sequence[BaseTool]:
    """Return the tools of MCP servers that a call may use."""
    return await load_mcp_tools(around, [tool.name for tool in (*_TOOLS, *COMPUTING_TOOLS)])


def _needs_approval(_: CallContext, tool: BaseTool) -> bool:
    """Tell whether a person has to approve each call of a tool."""
    return needs_approval(tool)


RESEARCHER_TOOLS = Toolbox(_TOOLS, offer_tools, load_server_tools, _needs_approval)
"""What a researcher may use while it writes."""


_CODER_TOOLS = (*COMPUTING_TOOLS, ask_user_tool)


@cache
def _computing_tools_in_words(language: str) -> tuple[BaseTool, ...]:
    described = partial(describe_tool, language=language, searches_web=False)
    return tuple(
        tool.model_copy(update={"description": described(tool.name)}) for tool in _CODER_TOOLS
    )


def offer_computing_tools(around: CallContext) -> Sequence[BaseTool]:
    """Return the tools of a call that computes, described in the language of its prompt."""
    return _without_asking(around, _computing_tools_in_words(around.language))


CODER_TOOLS = Toolbox(_CODER_TOOLS, offer_computing_tools, load_server_tools, _needs_approval)
"""What a coder may use while it writes."""
