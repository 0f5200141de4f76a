"""Process text outside the event loop, in threads that can be abandoned."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from config.errors import ErrorCode, Problem

Result = TypeVar("Result")

TEXT_SECONDS = 60.0
"""How long the texts of one search or one report may be processed."""


async def run_abandonable(
    work: Callable[..., Result], *values: Any, seconds: float = TEXT_SECONDS
) -> Result:
    """Return the result of a function that is called in its own thread.

    If the caller is cancelled, the thread goes on, but neither the event loop nor the program
    waits for it at its end, as they do for `asyncio.to_thread`.

    Raises:
        Problem: `text_timeout`, if it takes more than `seconds`.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    call = partial(copy_context().run, work, *values)
    threading.Thread(target=_work, args=(call, loop, done), daemon=True, name="aside").start()
    try:
        async with asyncio.timeout(None if math.isinf(seconds) else seconds):
            return await done
    except TimeoutError as error:
        if not done.cancelled():
            raise
        what = f"the texts could not be read through in {seconds:g} seconds"
        hint = "use fewer or shorter documents"
        raise Problem(ErrorCode.TEXT_TIMEOUT, what, hint=hint) from error


def _work(
    call: Callable[[], Result], loop: asyncio.AbstractEventLoop, done: asyncio.Future[Result]
) -> None:
    try:
        tell = partial(done.set_result, call())
    except BaseException as error:  # noqa: BLE001 - passed on to whoever waits
        tell = partial(done.set_exception, error)
    # The loop may be closed if nobody waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, done, tell)


def _settle(done: asyncio.Future[Result], tell: Callable[[], None]) -> None:
    if not done.done():
        tell()
