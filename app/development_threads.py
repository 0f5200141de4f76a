"""Delete threads of the development server one after the other.

Its list of threads is searched for the place of a thread, which is removed from that place only
when its checkpoints are gone. Another deletion in between moves the places, and somebody else's
thread is removed.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from typing import Any
from uuid import UUID

from config.resources import LoopResource

Delete = Callable[..., Awaitable[AsyncIterator[UUID]]]

_turn = LoopResource(asyncio.Lock)


def delete_in_turn() -> None:
    """Let the development server delete one thread at a time, if it runs in this process."""
    threads = getattr(sys.modules.get("langgraph_runtime_inmem.ops"), "Threads", None)
    if threads is not None and not hasattr(threads.delete, "__wrapped__"):
        threads.delete = staticmethod(_in_turn(threads.delete))


def _in_turn(delete: Delete) -> Delete:
    @wraps(delete)
    async def wait(*values: Any, **named: Any) -> AsyncIterator[UUID]:
        async with _turn.get():
            return await delete(*values, **named)

    return wait
