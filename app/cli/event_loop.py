"""Run the asynchronous work of a command in an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from storage.engine import close_database

Result = TypeVar("Result")


def run_and_close(work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of some work with the database, which is closed afterwards."""

    async def closing() -> Result:
        try:
            return await work
        finally:
            await close_database()

    return asyncio.run(closing())
