"""Check every watch that is due, one after another, and send the notices."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from app.watching.check import Tell, run_check
from app.watching.delivery import send_notices
from config.errors import ErrorCode, Problem
from runs.watches import Watch, WatchCheck, list_due_watches

POLL_SECONDS = 30.0
"""How often a loop looks for watches that are due; any process may add one."""


class Round(NamedTuple):
    """The checks that were made, and how many notices could not be sent."""

    checks: list[tuple[Watch, WatchCheck]]
    unsent: int


async def run_round(owner: str, tell: Tell) -> Round:
    """Check the watches that are due, except those that another process is checking.

    Args:
        owner: The owner of the watches; everybody's if empty.
        tell: Receives lines of progress.
    """
    now, checks = time.time(), []
    for watch in await list_due_watches(now, owner):
        try:
            check = await run_check(watch, tell, due_by=now)
        except Problem as problem:
            if problem.error not in (ErrorCode.RUN_IN_PROGRESS, ErrorCode.WATCH_NOT_FOUND):
                raise
            continue
        if check:
            checks.append((watch, check))
    return Round(checks, await send_notices(owner, tell))


async def run_rounds(tell: Tell) -> None:
    """Check what is due until the process is stopped; failures are reported and tried again."""
    while True:
        try:
            await run_round("", tell)
        except Problem as problem:
            tell(str(problem))
        await asyncio.sleep(POLL_SECONDS)
