"""Commit what many branches write at the same moment with one wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Executable

from config.errors import Problem
from storage.engine import write

Statement = tuple[Executable, Any]
"""A statement, and the values or the list of values it is executed with, or `None`."""


Work = Callable[[Connection], object]
"""What executes its statements on the connection it is given; it may be called again."""


class Entry(NamedTuple):
    """Work that is done whole or not at all, and who waits for it."""

    work: Work
    done: asyncio.Future[None]


class Journal:
    """The writes of one event loop: while one batch is committed, the next one gathers.

    This is group commit as databases do it (DeWitt et al. 1984, section 3.2): many transactions
    share one forced write of the log.
    """

    def __init__(self) -> None:
        self.waiting: list[Entry] = []
        self.worker: asyncio.Task[None] | None = None

    async def perform(self, work: Work) -> None:
        """Let a function write, all or nothing; it is on the disk when this returns.

        Raises:
            Problem: If the database fails (`storage.engine.plain`).
            SQLAlchemyError: If a statement fails; none of them has an effect then.
        """
        entry = Entry(work, asyncio.get_running_loop().create_future())
        self.waiting.append(entry)
        if self.worker is None or self.worker.done():
            self.worker = asyncio.create_task(self._work())
        await asyncio.shield(entry.done)

    async def _work(self) -> None:
        while self.waiting:
            batch, self.waiting = self.waiting, []
            failure = await _failure(batch)
            # One bad entry must not harm the others, so each is then tried on its own.
            alone = failure is not None and not isinstance(failure, Problem)
            for entry in batch:
                _settle(entry, await _failure([entry]) if alone else failure)


async def commit(*statements: Statement) -> None:
    """Execute statements, all or none, through the journal of this event loop."""

    def execute(connection: Connection) -> None:
        for statement, values in statements:
            connection.execute(statement, values)

    await perform(execute)


async def perform(work: Work) -> None:
    """Let a function write through the journal of this event loop (see `Journal.perform`)."""
    await _journals.setdefault(asyncio.get_running_loop(), Journal()).perform(work)


_journals: WeakKeyDictionary[asyncio.AbstractEventLoop, Journal] = WeakKeyDictionary()


async def _failure(batch: Sequence[Entry]) -> BaseException | None:
    """Execute some entries in one transaction; return what went wrong, whatever it is.

    Nobody would ever wake those who wait for an entry if it were raised here.
    """
    (failure,) = await asyncio.gather(_execute(batch), return_exceptions=True)
    return failure


async def _execute(batch: Sequence[Entry]) -> None:
    def execute(connection: Connection) -> None:
        for entry in batch:
            entry.work(connection)

    await write(execute)


def _settle(entry: Entry, failure: BaseException | None) -> None:
    if entry.done.cancelled():
        return
    if failure:
        entry.done.set_exception(failure)
    else:
        entry.done.set_result(None)
