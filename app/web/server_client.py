"""Call LangGraph's server on behalf of the person who uses the console.

The console asks it as any client does, by its own address and with the login of the request, so
its queue, its authentication and its threads are those of all other clients.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from langgraph_sdk.client import LangGraphClient
from starlette.requests import Request

from app.auth.login_kind import LoginKind, find_login_kind
from app.server_token import load_server_token
from config.errors import ErrorCode, Problem
from config.resources import process_cached

_LOGIN_HEADERS = ("x-api-key", "authorization", "cookie")
_SECONDS = 60.0


@asynccontextmanager
async def open_server_client(request: Request) -> AsyncIterator[LangGraphClient]:
    """Open a client of the server that a request came to.

    Raises:
        Problem: `server_missing` where the server has no address.
    """
    async with httpx.AsyncClient(
        base_url=_own_address(request),
        headers=await _login(request),
        verify=await asyncio.to_thread(_ssl_context),
        timeout=httpx.Timeout(_SECONDS, read=300),
        trust_env=False,
    ) as http:
        yield LangGraphClient(http)


def _own_address(request: Request) -> str:
    """Return the address at which this process has accepted a request."""
    host, port = request.scope.get("server") or ("", None)
    if not host or port is None:
        what, hint = "this process listens at no port", "open the console at the server"
        raise Problem(ErrorCode.SERVER_MISSING, what, hint=hint)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def _login(request: Request) -> dict[str, str]:
    if find_login_kind() is LoginKind.TOKEN:
        return {"x-api-key": await asyncio.to_thread(load_server_token)}
    return {name: request.headers[name] for name in _LOGIN_HEADERS if name in request.headers}


@process_cached
def _ssl_context() -> ssl.SSLContext:
    return ssl.create_default_context()
