"""Commit what many branches write at the same moment with one wait for the disk."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from sqlalchemy import Executable
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from storage.engine import writing

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
            SQLAlchemyError: If one of them failed; none of them has an effect then.
        """
        entry = Entry(statements, asyncio.get_running_loop().create_future())
        self.waiting.append(entry)
        if self.worker is None or self.worker.done():
            self.worker = asyncio.create_task(self._work())
        await asyncio.shield(entry.done)

    async def _work(self) -> None:
        while self.waiting:
            batch, self.waiting = self.waiting, []
            failed: dict[int, SQLAlchemyError] = {}
            try:
                async with writing() as connection:
                    for number, entry in enumerate(batch):
                        if error := await _executed(connection, entry):
                            failed[number] = error
            except SQLAlchemyError as error:
                failed = dict.fromkeys(range(len(batch)), error)
            for number, entry in enumerate(batch):
                _settle(entry, failed.get(number))


async def commit(*statements: Statement) -> None:
    """Execute statements through the journal of this event loop (see `Journal.commit`)."""
    await _journals.setdefault(asyncio.get_running_loop(), Journal()).commit(statements)


_journals: WeakKeyDictionary[asyncio.AbstractEventLoop, Journal] = WeakKeyDictionary()


async def _executed(connection: AsyncConnection, entry: Entry) -> SQLAlchemyError | None:
    try:
        async with connection.begin_nested():
            for statement, values in entry.statements:
                await connection.execute(statement, values)
    except SQLAlchemyError as error:
        return error
    return None


def _settle(entry: Entry, error: SQLAlchemyError | None) -> None:
    if entry.done.cancelled():
        return
    if error:
        entry.done.set_exception(error)
    else:
        entry.done.set_result(None)
