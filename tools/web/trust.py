"""Which servers are who they say they are."""

from __future__ import annotations

import ssl
from functools import cache

import anyio.to_thread
import httpx


async def certificates() -> ssl.SSLContext:
    """Return the usual certificates; reading them takes as long as some searches, so once."""
    return await anyio.to_thread.run_sync(_read)


@cache
def _read() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
