"""Await concurrent work within a node."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Result = TypeVar("Result")
Other = TypeVar("Other")


async def gather_both(one: Awaitable[Result], other: Awaitable[Other]) -> tuple[Result, Other]:
    """Return the results of two awaitables after both have ended, even if one fails.

    Raises:
        BaseException: The exception of `one`, or else that of `other`.
    """
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second
