"""Which role may use which tools; every call of a tool is held against it.

A model may name any tool, and one that obeys a page will. What it was not offered is refused, be it
a tool of another role, one that this step has no use for, or one that does not exist.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command

from prompts.loader import render_prompt

if TYPE_CHECKING:
    from calls.call_context import CallContext

ROLE_TOOLS: Mapping[str, frozenset[str]] = {
    "researcher": frozenset(
        [
            *("search", "outline", "read", "links", "open", "recall", "compute"),
            *("ask_user", "edit_memory_file"),
        ]
    ),
    "coder": frozenset(["run_python", "compute", "ask_user"]),
}
"""The tools of each role; a role that is missing has none. None of them writes a file or a memory:
`edit_memory_file` proposes, `run_python` runs apart from this machine."""

SERVER_ROLES = frozenset(["researcher", "coder"])
"""The roles that may have tools of MCP servers, as far as `mcp.json` gives them any."""

Offer = Callable[["CallContext"], Sequence[BaseTool]]
"""Returns the tools that a call is offered."""


class ToolRightsMiddleware(AgentMiddleware[Any, "CallContext", Any]):
    """Refuse the call of a tool that its role may not use, or that the call was not offered."""

    def __init__(self, tools: Sequence[BaseTool], offer: Offer | None) -> None:
        super().__init__()
        self.own = frozenset(tool.name for tool in tools)
        self.offer = offer

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """Use the tool if it was offered."""
        around, call = cast("CallContext", request.runtime.context), request.tool_call
        if call["name"] in self.list_offered(around):
            return await handler(request)
        said = render_prompt("tool_not_offered", language=around.language, tool=call["name"][:64])
        called = {"tool_call_id": call["id"] or "", "name": call["name"]}
        return ToolMessage(said, **called, status="error")

    def list_offered(self, around: CallContext) -> frozenset[str]:
        """Return the names of the tools that a call may use."""
        offered = {tool.name for tool in self.offer(around)} if self.offer else self.own
        servers = around.loaded if around.role in SERVER_ROLES else {}
        return ROLE_TOOLS.get(around.role, frozenset()) & offered | servers.keys()
