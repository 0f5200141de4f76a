"""Open the checkpoints: one SQLite file that every thread is saved in at every step."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Container, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_fixed

from config.errors import Problem
from config.settings import settings
from graph.records import RunStatus
from runs.ids import ids_follow
from runs.masking import masked_channel, masked_config, masked_table
from storage.private import make_file, secure

Answer = TypeVar("Answer")

UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError)
"""What reading a damaged checkpoint raises; JSON and msgpack raise kinds of `ValueError`."""

CHECKPOINT = {"id", "ts", "channel_values", "channel_versions", "versions_seen"}
"""What LangGraph looks up in every checkpoint."""

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

FORGET = (
    "DELETE FROM checkpoints WHERE thread_id = ?",
    "DELETE FROM writes WHERE thread_id = ?",
)


BRANCHES = (
    "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
    "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns > '' AND checkpoint_id < ?",
)
"""Delete what the branches of a thread saved before a checkpoint of the whole graph."""

NEWEST = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ?"

HAS_BRANCHES = "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns > '' LIMIT 1"


class Checkpoints(SqliteSaver):
    """The SQLite saver for an event loop, with the three methods a server needs that it lacks.

    All that is asked of it is done in a thread of its own, one thing after the other.
    """

    def __init__(self, connection: sqlite3.Connection, thread: Executor) -> None:
        # Only plain data and messages are read back: a forged checkpoint cannot name code to run.
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        self.thread = thread

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Lend a cursor; what is written with it is kept whole or not at all."""
        del transaction
        with self.lock, self.conn, closing(self.conn.cursor()) as cursor:
            yield cursor

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint without secrets, which reach it before any node of a graph has run.

        When a step of the whole graph is saved, all of its branches have ended, and what they
        handed over is in it; what they had saved for themselves is deleted.
        """
        root = not config["configurable"].get("checkpoint_ns")
        held = checkpoint["channel_values"].items()
        values = {name: masked_channel(name, value, root=root) for name, value in held}
        safe = Checkpoint(**{**checkpoint, "channel_values": values})
        saved = super().put(masked_config(config), safe, masked_table(metadata), new_versions)
        if root and metadata.get("source") == "loop":
            self._delete_branches(config["configurable"]["thread_id"], checkpoint["id"])
        return saved

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task, or a caller, wrote after a checkpoint, without secrets."""
        root = not config["configurable"].get("checkpoint_ns")
        safe = [(name, masked_channel(name, value, root=root)) for name, value in writes]
        super().put_writes(config, safe, task_id, task_path)

    def _delete_branches(self, thread: str, before: str) -> None:
        with self.cursor() as cursor:
            if cursor.execute(HAS_BRANCHES, (thread,)).fetchone():
                for delete in BRANCHES:
                    cursor.execute(delete, (thread, before))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, or the newest one of a thread.

        Whoever saves in a thread has read it before, so what is saved from here on comes after it.

        Raises:
            Problem: `storage_corrupt`.
        """
        with _sound():
            found, newest = await self._there(self._found, config)
            ids_follow(newest)
            return _whole(found)

    def _found(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, str]:
        found, thread = self.get_tuple(config), str(config["configurable"]["thread_id"])
        with self.cursor() as cursor:
            newest = cursor.execute(NEWEST, (thread,)).fetchone()[0]
        return found, newest or ""

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, newest first.

        Raises:
            Problem: `storage_corrupt`.
        """
        asked = partial(self.list, config, filter=filter, before=before, limit=limit)
        with _sound():
            every = await self._there(lambda: list(asked()))
        for found in every:
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; return where it is."""
        return await self._there(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task wrote after a checkpoint."""
        await self._there(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete everything that is saved of a thread."""
        await self._there(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs of a server saved."""
        ids = json.dumps(list(run_ids))
        await self._there(self._change, [(delete, (ids,)) for delete in OF_RUNS])

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy everything that is saved of one thread to another."""
        names = (target_thread_id, source_thread_id)
        await self._there(self._change, [(copy, names) for copy in COPY])

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or all of them but their newest checkpoints."""
        less = FORGET if strategy == "delete" else PRUNE
        changes = [(change, (thread,)) for thread in thread_ids for change in less]
        await self._there(self._change, changes)

    async def compact(self) -> None:
        """Give the room of what was deleted back to the disk, as far as nobody else reads."""
        await self._there(self._compact)

    def _compact(self) -> None:
        with self.lock:
            self.conn.execute("VACUUM")
            self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _change(self, statements: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        with self.cursor() as cursor:
            for statement, values in statements:
                cursor.execute(statement, values)

    async def _there(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """Do something in the thread; what has begun there ends even if nobody waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, *given)


def _whole(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """Return a checkpoint that has everything which LangGraph looks up in it.

    Raises:
        KeyError: When something is missing.
    """
    missing = CHECKPOINT - found.checkpoint.keys() if found else ()
    if missing:
        raise KeyError(*missing)
    return found


@contextmanager
def _sound() -> Iterator[None]:
    """Tell of a checkpoint that can be taken from the file and says nothing that makes sense."""
    try:
        yield
    except UNREADABLE as error:
        hint = "restore it from a backup, or move it away: reports and memory are in the database"
        what = f"a checkpoint cannot be read: {type(error).__name__}"
        where = str(settings().checkpoints)
        raise Problem("storage_corrupt", what, where=where, hint=hint) from error


# SQLite does not wait by itself when two processes make a new file log ahead at the same time.
@retry(
    retry=retry_if_exception_message(match=".*locked"),
    stop=stop_after_delay(5),
    wait=wait_fixed(0.05),
    reraise=True,
)
def _log_ahead(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")


@contextmanager
def _opened(file: Path, thread: Executor, kind: type[Checkpoints]) -> Iterator[Checkpoints]:
    secure()
    with suppress(OSError):  # SQLite tells why it cannot be made.
        make_file(file)
    with closing(sqlite3.connect(file, timeout=5, check_same_thread=False)) as connection:
        _log_ahead(connection)
        # NORMAL survives a killed process. After a power cut the last steps may be done again,
        # and the ledger, which is FULL, answers for what they paid.
        connection.execute("PRAGMA synchronous=NORMAL")
        saver = kind(connection, thread)
        saver.setup()
        yield saver


@asynccontextmanager
async def checkpoints(kind: type[Checkpoints] = Checkpoints) -> AsyncIterator[Checkpoints]:
    """Open the saver; a server calls this once and keeps it open.

    Args:
        kind: The class of the saver; a server has one that knows what else a thread leaves.
    """
    with ThreadPoolExecutor(1, "checkpoints") as thread:
        there = partial(asyncio.get_running_loop().run_in_executor, thread)
        opened = ExitStack()
        try:
            yield await there(opened.enter_context, _opened(settings().checkpoints, thread, kind))
        finally:
            # What the thread is opening or writing at this moment comes to its end first.
            await asyncio.shield(there(opened.close))


async def restate(thread: str, status: RunStatus, *, of: Container[str] = ("running",)) -> None:
    """Write how a run stands into the newest state of its thread, which stays where it is.

    Args:
        thread: The thread.
        status: How its run stands.
        of: How it stood before; a state in which it stood otherwise is left alone.
    """
    place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    async with checkpoints() as saver:
        saved = await saver.aget_tuple(place)
        if saved is None or saved.checkpoint["channel_values"].get("status") not in of:
            return
        values = {**saved.checkpoint["channel_values"], "status": status}
        changed: Checkpoint = {**saved.checkpoint, "channel_values": values}
        await saver.aput(saved.parent_config or place, changed, saved.metadata, {})
