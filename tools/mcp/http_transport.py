"""Speak to a server over streamable HTTP, with bounds on what it may send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

import httpx

from config.errors import ErrorCode
from tools.mcp.server_config import McpServer, expand_variables
from tools.mcp.stdio_transport import Allowance


class BoundedStream(httpx.AsyncByteStream):
    """The body of a response, as far as the server may send it."""

    def __init__(self, stream: httpx.AsyncByteStream, allowance: Allowance) -> None:
        self.stream, self.allowance = stream, allowance

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the parts of the body.

        Raises:
            Problem: `mcp_too_large`.
        """
        async for part in self.stream:
            self.allowance.spend(len(part))
            for _ in range(part.count(b"\nevent:")):
                self.allowance.count_message()
            yield part

    async def aclose(self) -> None:
        """Close the body."""
        await self.stream.aclose()


class BoundedTransport(httpx.AsyncHTTPTransport):
    """A transport that stops a server which sends too much, and that opens no stream for news."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__()
        self.allowance = allowance

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the stream of what a server tells unasked counts as not offered.

        Raises:
            Problem: `mcp_invalid` for an answer that was packed.
        """
        if request.method == "GET" and "last-event-id" not in request.headers:
            return httpx.Response(405, request=request)
        # What is packed may be larger by far than what is counted.
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise self.allowance.fail(ErrorCode.MCP_INVALID, "it packed its answer unasked")
        body = cast("httpx.AsyncByteStream", response.stream)
        response.stream = BoundedStream(body, self.allowance)
        return response


def describe_connection(server: McpServer, allowance: Allowance) -> dict[str, Any]:
    """Return how `langchain_mcp_adapters` connects to a server.

    Raises:
        Problem: `mcp_env_denied`.
    """

    def make_client(
        headers: Mapping[str, str] | None = None,
        timeout: httpx.Timeout | None = None,
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        """Return a client that follows no redirect and reads no proxy from the environment."""
        return httpx.AsyncClient(
            headers=headers,
            timeout=timeout or httpx.Timeout(server.timeout),
            auth=auth,
            transport=BoundedTransport(allowance),
            trust_env=False,
            follow_redirects=False,
        )

    return {
        "transport": "streamable_http",
        "url": expand_variables(server, server.url),
        "headers": {
            name: expand_variables(server, value) for name, value in server.headers.items()
        },
        "timeout": server.timeout,
        "sse_read_timeout": server.timeout,
        "httpx_client_factory": make_client,
    }
