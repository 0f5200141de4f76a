"""Let synchronous code wait for asynchronous work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_sync(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return the result of a coroutine; if an event loop is running, run it in another thread.

    The running loop is blocked meanwhile, as it is by any synchronous call.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(copy_context().run, asyncio.run, work).result()
