"""Let synchronous code wait for asynchronous work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_sync(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Return what work comes to, also where an event loop is running: another thread does it then.

    The loop stands still meanwhile, as it does for whatever synchronous code is called in it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(copy_context().run, asyncio.run, work).result()
