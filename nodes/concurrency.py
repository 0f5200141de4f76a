"""Let work go on side by side within a node."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Result = TypeVar("Result")
Other = TypeVar("Other")


async def together(one: Awaitable[Result], other: Awaitable[Other]) -> tuple[Result, Other]:
    """Return what two works come to; both of them have ended by then, whatever happens.

    Raises:
        BaseException: What the first of them that failed has raised.
    """
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second
