"""Give threads from before a server had users to the person who created them."""

from __future__ import annotations

import os
from itertools import count

from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from app.auth.access_handlers import OWNER
from config.settings import settings

_PAGE = 500


async def assign_ownerless_threads(client: LangGraphClient | None = None) -> int:
    """Set the owner of the development server's threads that have none.

    Without an owner nobody would see them. The server has all of them in memory, so this is fast.

    Args:
        client: A client that sees every thread; by default one within the server.

    Returns:
        The number of such threads.
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
