"""The research tools for an agent of another program, over the same library."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast
from uuid import uuid4

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from calls.call_context import CallContext
from calls.run_budget import RunBudget
from graph.context import Context
from library.scope import parse_scope
from memory.sync import run_sync
from models.extractive.model import ExtractiveChatModel
from runs.call_site import CallSite
from tools.computing_tools import compute_tool
from tools.evidence import Evidence, recall_evidence, searches_web
from tools.research_tools import RESEARCH_TOOLS, WEB_TOOLS, describe_tool


class _Recalled(NamedTuple):
    """What memory has on a question, without the notes that only a model writes."""

    evidence: Evidence
    notes: str = ""


def make_research_tools(
    owner: str = "local/", files: Sequence[str] = (), *, web: bool = True
) -> list[BaseTool]:
    """Return the research tools for an agent, as for `create_agent(tools=…)`.

    They are `search`, `outline`, `read`, `recall`, `compute` (plain arithmetic, exactly), and with
    the web `links` and `open`. Each can be called with and without an event loop. No model is asked
    and nothing is learnt. One list serves one conversation: what its tools have shown, they do not
    show again.

    Args:
        owner: Whose library is searched, as `user/project`.
        files: The folders, already read in (`dossier ingest`), that `search` looks through; without
            any, and without the web, all that was read.
        web: Whether the web may be searched and pages of it opened, with the keys of the
            environment.
    """
    thread = f"agent-{uuid4().hex[:12]}"
    choices = Context(files=[*files])
    around = CallContext(
        choices=choices,
        site=CallSite(owner, thread, f"{thread}-1", "", "0"),
        role="researcher",
        budget=RunBudget(choices),
        model=ExtractiveChatModel(),
        system="",
        allow_web=web,
    )
    around = _with_recall(around)
    shown: list[ToolMessage] = []
    on_web = web and searches_web(choices)
    return [
        _adapt(cast("StructuredTool", tool), around, shown, on_web=on_web)
        for tool in (*RESEARCH_TOOLS, compute_tool)
        if web or tool.name not in WEB_TOOLS
    ]


def _with_recall(around: CallContext) -> CallContext:
    """Return a context whose memory is searched without a model."""

    async def recall(question: str) -> _Recalled:
        """Search all parts of the memory."""
        found = await recall_evidence(
            around.site, around.choices, [question], about=question, part=parse_scope([])
        )
        return _Recalled(found)

    return CallContext(**{**vars(around), "recall": recall})


def _adapt(
    tool: StructuredTool, around: CallContext, shown: list[ToolMessage], *, on_web: bool
) -> BaseTool:
    """Return a tool that brings its own context, and knows by itself what was shown."""
    answer = cast("Callable[..., Awaitable[str]]", tool.coroutine)

    async def use(**arguments: Any) -> str:
        """Return the answer of the tool; later answers leave out what it shows."""
        runtime = SimpleNamespace(context=around, state={"messages": shown}, tool_call_id=None)
        text = await answer(**arguments, runtime=runtime)
        shown.append(ToolMessage(text, tool_call_id=str(len(shown))))
        return text

    def use_now(**arguments: Any) -> str:
        return run_sync(use(**arguments))

    return StructuredTool(
        name=tool.name,
        description=describe_tool(tool.name, "en", searches_web=on_web),
        args_schema=tool.tool_call_schema,
        func=use_now,
        coroutine=use,
    )
