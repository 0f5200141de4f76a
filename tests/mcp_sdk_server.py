"""A server made with the SDK of MCP: `python -m tests.mcp_sdk_server TRANSPORT PORT`."""

from __future__ import annotations

import sys
from typing import Literal, cast

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("bees", host="127.0.0.1", port=int(sys.argv[2]), log_level="ERROR")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def lookup(bee: str) -> str:
    """Look up what is known of a bee."""
    return f"The {bee} bee carries 37 milligrams of nectar on each flight."


if __name__ == "__main__":
    server.run(transport=cast("Literal['stdio', 'streamable-http']", sys.argv[1]))
