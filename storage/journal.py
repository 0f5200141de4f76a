"""Commit what many branches write at the same moment with one wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Executable

from config.errors import Problem
from storage.engine import write

Statement = tuple[Executable, Any]
"""A statement, and the values or the list of values it is executed with, or `None`."""


class Entry(NamedTuple):
    """Statements that belong together, and who waits for them."""

    statements: Sequence[Statement]
    done: asyncio.Future[None]


class Journal:
    """The writes of one event loop: while one batch is committed, the next one gathers.

    This is group commit as databases do it (DeWitt et al. 1984, section 3.2): many transactions
    share one forced write of the log.
    """

    def __init__(self) -> None:
        self.waiting: list[Entry] = []
        self.worker: asyncio.Task[None] | None = None

    async def commit(self, statements: Sequence[Statement]) -> None:
        """Execute the statements, all or none; they are on the disk when this returns.

        Raises:
            Problem: If the database fails (`storage.engine.plain`).
            SQLAlchemyError: If one of them fails; none of them has an effect then.
        """
        entry = Entry(statements, asyncio.get_running_loop().create_future())
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
    """Execute statements through the journal of this event loop (see `Journal.commit`)."""
    await _journals.setdefault(asyncio.get_running_loop(), Journal()).commit(statements)


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
            for statement, values in entry.statements:
                connection.execute(statement, values)

    await write(execute)


def _settle(entry: Entry, failure: BaseException | None) -> None:
    if entry.done.cancelled():
        return
    if failure:
        entry.done.set_exception(failure)
    else:
        entry.done.set_result(None)
