"""Open the checkpoints: one SQLite file that every thread is saved in at every step."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiosqlite
import anyio
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_fixed

from config.settings import settings

OF_RUNS = (
    "DELETE FROM writes WHERE (thread_id, checkpoint_ns, checkpoint_id) IN (SELECT thread_id, "
    "checkpoint_ns, checkpoint_id FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), "
    "'$.run_id') IN (SELECT value FROM json_each(?)))",
    "DELETE FROM checkpoints WHERE json_extract(CAST(metadata AS TEXT), '$.run_id') "
    "IN (SELECT value FROM json_each(?))",
)

COPY = (
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) SELECT ?, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints WHERE thread_id = ?",
    "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value) SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, value FROM writes WHERE thread_id = ?",
)

PRUNE = (
    "DELETE FROM checkpoints WHERE thread_id = ?1 AND checkpoint_id NOT IN (SELECT "
    "MAX(newest.checkpoint_id) FROM checkpoints AS newest WHERE newest.thread_id = ?1 "
    "AND newest.checkpoint_ns = checkpoints.checkpoint_ns)",
    "DELETE FROM writes WHERE thread_id = ?1 AND NOT EXISTS (SELECT 1 FROM checkpoints AS kept "
    "WHERE kept.thread_id = ?1 AND kept.checkpoint_ns = writes.checkpoint_ns "
    "AND kept.checkpoint_id = writes.checkpoint_id)",
)


class Checkpoints(AsyncSqliteSaver):
    """The SQLite saver, with the three methods a server needs that it comes without."""

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs of a server saved."""
        ids = json.dumps(list(run_ids))
        await self._change([(delete, (ids,)) for delete in OF_RUNS])

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy everything that is saved of one thread to another."""
        await self._change([(copy, (target_thread_id, source_thread_id)) for copy in COPY])

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or all of them but their newest checkpoints."""
        for thread in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread)
            else:
                await self._change([(prune, (thread,)) for prune in PRUNE])

    async def _change(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        await self.setup()
        async with self.lock, self.conn.cursor() as cursor:
            for statement, values in statements:
                await cursor.execute(statement, values)
            await self.conn.commit()


# SQLite does not wait by itself when two processes make a new file log ahead at the same time.
@retry(
    retry=retry_if_exception_message(match=".*locked"),
    stop=stop_after_delay(5),
    wait=wait_fixed(0.05),
    reraise=True,
)
async def _log_ahead(connection: aiosqlite.Connection) -> None:
    await connection.execute("PRAGMA journal_mode=WAL")


@asynccontextmanager
async def checkpoints() -> AsyncIterator[Checkpoints]:
    """Open the saver; a server calls this once and keeps it open.

    Only plain data and messages are read back: a forged checkpoint cannot name code to run.
    """
    file = settings().checkpoints
    await anyio.Path(file.parent).mkdir(parents=True, exist_ok=True)
    async with aiosqlite.connect(file) as connection:
        # NORMAL survives a killed process. After a power cut the last steps may be done again,
        # and the ledger, which is FULL, answers for what they paid.
        for pragma in ("busy_timeout=5000", "synchronous=NORMAL"):
            await connection.execute(f"PRAGMA {pragma}")
        await _log_ahead(connection)
        saver = Checkpoints(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        await saver.setup()
        yield saver
