"""Threads of a server from before it had users: they become those of the person who made them."""

from __future__ import annotations

import os
from itertools import count

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from app.auth.access_handlers import OWNER
from config.settings import settings

_PAGE = 500


async def assign_ownerless_threads(client: LangGraphClient | None = None) -> int:
    """Write into the threads of the development server that have no owner whose they are.

    Without an owner nobody would see them. The server has them all in memory, so this takes no
    time.

    Args:
        client: The server's own client, to which it shows every thread.

    Returns:
        How many there were.
    """
    variant = os.environ.get("LANGSMITH_LANGGRAPH_API_VARIANT")
    if not settings().has_users or variant != "local_dev":
        return 0
    server = client or get_client()
    found: list[str] = []
    for offset in count(0, _PAGE):
        page = await server.threads.search(
            limit=_PAGE, offset=offset, sort_by="thread_id", select=["thread_id", "metadata"]
        )
        found += [one["thread_id"] for one in page if OWNER not in (one.get("metadata") or {})]
        if len(page) < _PAGE:
            break
    for thread in found:
        await server.threads.update(thread, metadata={OWNER: settings().user})
    return len(found)
