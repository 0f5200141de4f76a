"""Let work go on side by side within a node."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar, cast

Result = TypeVar("Result")


async def beside(main: Awaitable[Result], *others: Awaitable[object]) -> Result:
    """Return what the first of several works comes to; all of them have ended by then.

    Raises:
        BaseException: What the first of them that failed has raised.
    """
    results = await asyncio.gather(main, *others, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return cast("Result", results[0])
