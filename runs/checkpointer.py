"""Open the checkpoints, in which every thread is saved at every step: a file, or PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Container, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite import SqliteSaver
from tenacity import retry, retry_if_exception_message, stop_after_delay, wait_fixed

from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.records import RunStatus
from runs.checkpoint_store import (
    BLOBS_KEY,
    BLOBS_TABLE,
    COPY_THREAD,
    DELETE_BRANCHES,
    DELETE_RUNS,
    DELETE_THREAD,
    HAS_BRANCHES,
    KNOWN_BLOBS,
    NEWEST_CHECKPOINT,
    PRUNE_THREAD,
    SAVE_CHECKPOINT,
    THREADS_OF_RUNS,
    UNREADABLE_ERRORS,
    advance_checkpoint_ids,
    compact_turns,
    delete_unused_entries,
    join_entries,
    load_entries,
    split_entries,
    store_entries,
)
from runs.masking import mask_channel, mask_config, mask_metadata
from runs.thread_saver import (
    ThreadSaver,
    check_whole,
    make_strict_serializer,
    translate_damage,
    unreadable_problem,
)
from storage.connect import is_database_shared
from storage.permissions import create_private_file, is_read_only, read_only_problem, secure_home

Answer = TypeVar("Answer")
Kind = TypeVar("Kind", bound=ThreadSaver)

NO_TEXT = "Could not decode"
"""SQLite's message for a value that is stored as text but is not text."""

SPARE = 1_000
"""How many free pages stay in the file for the next checkpoints."""

JOURNAL = 4_000_000
"""The size in bytes to which the log is truncated after a large write."""


class CheckpointSaver(SqliteSaver, ThreadSaver):
    """The SQLite saver for an event loop, with the three methods that it lacks for a server.

    All of its work is done in one thread of its own.
    """

    def __init__(self, connection: sqlite3.Connection, thread: Executor) -> None:
        super().__init__(connection, serde=make_strict_serializer())
        self.thread = thread

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        """Lend a cursor of one transaction."""
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

        When a step of the whole graph is saved, all of its branches have ended, and their results
        are in it; the checkpoints of the branches are deleted.
        """
        configurable = config["configurable"]
        thread, space = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        channels = checkpoint["channel_values"].items()
        values = {name: mask_channel(name, value, root=not space) for name, value in channels}
        about = get_checkpoint_metadata(mask_config(config), mask_metadata(metadata))
        data = json.dumps(about, ensure_ascii=False).encode("utf-8", "ignore")
        place = (thread, space, checkpoint["id"])
        with self.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            safe = {**checkpoint, "channel_values": values}
            if not space:
                safe |= self._parted(cursor, thread, values)
            row = (*place, configurable.get("checkpoint_id"), *self.serde.dumps_typed(safe), data)
            cursor.execute(SAVE_CHECKPOINT, row)
            if not space:
                self._clean(cursor, thread, checkpoint["id"], metadata.get("source"))
        if not space and metadata.get("source") == "input":
            self._shrink()
        named = zip(("thread_id", "checkpoint_ns", "checkpoint_id"), place, strict=True)
        return {"configurable": dict(named)}

    def _parted(
        self, cursor: sqlite3.Cursor, thread: str, values: dict[str, Any]
    ) -> dict[str, Any]:
        """Store the entries of growing channels separately; return their hashes in their place."""
        known = dict(cursor.execute(KNOWN_BLOBS, (thread,)).fetchall())
        erased = [digest for digest, changed in known.items() if changed]
        parts = split_entries(values, self.serde.dumps_typed, erased)
        store_entries(cursor, thread, parts.entries, known)
        return {"channel_values": parts.values, BLOBS_KEY: parts.split}

    def _clean(self, cursor: sqlite3.Cursor, thread: str, id: str, source: str | None) -> None:
        """Delete what is no longer needed after a step, or after a question."""
        if source == "loop" and cursor.execute(HAS_BRANCHES, (thread,)).fetchone():
            for delete in DELETE_BRANCHES:
                cursor.execute(delete, (thread, id))
        if source == "input" and compact_turns(cursor, thread):
            self._sweep(cursor, thread)

    def _shrink(self) -> None:
        """Return free space that the next turn does not need to the disk."""
        with self.lock:
            free = self.conn.execute("PRAGMA freelist_count").fetchone()[0] - SPARE
            if free > 0:
                # `execute` would stop after the first page.
                self.conn.executescript(f"PRAGMA incremental_vacuum({min(free, SPARE)})")

    def _sweep(self, cursor: sqlite3.Cursor, thread: str) -> None:
        # The contents of a damaged checkpoint are unknown, so no entry of its thread is deleted.
        with suppress(*UNREADABLE_ERRORS):
            delete_unused_entries(cursor, thread, self.serde.loads_typed)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, or the newest one of a thread."""
        found = super().get_tuple(config)
        if found:
            self._join([found])
        return found

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first."""
        found = [*super().list(config, filter=filter, before=before, limit=limit)]
        self._join(found)
        yield from found

    def _join(self, found: Sequence[CheckpointTuple]) -> None:
        of = [(str(one.config["configurable"]["thread_id"]), one.checkpoint) for one in found]
        threads = {thread for thread, one in of if BLOBS_KEY in one}
        with self.cursor() as cursor:
            kept = {thread: load_entries(cursor, thread) for thread in threads}
        for thread, one in of:
            join_entries(cast("dict[str, Any]", one), self.serde.loads_typed, kept.get(thread, {}))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task, or a caller, wrote after a checkpoint, without secrets."""
        root = not config["configurable"].get("checkpoint_ns")
        safe = [(name, mask_channel(name, value, root=root)) for name, value in writes]
        super().put_writes(config, safe, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, or the newest one of a thread.

        A thread is always read before it is saved, so ids made from here on are greater.

        Raises:
            Problem: `storage_corrupt`.
        """
        with _translate_damage():
            found, newest = await self._in_thread(self._found, config)
            advance_checkpoint_ids(newest)
            return check_whole(found)

    def _found(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, str]:
        found, thread = self.get_tuple(config), str(config["configurable"]["thread_id"])
        with self.cursor() as cursor:
            newest = cursor.execute(NEWEST_CHECKPOINT, (thread,)).fetchone()[0]
        return found, newest or ""

    async def list_threads(self) -> Sequence[str]:
        """Return all threads that are saved."""
        every = "SELECT DISTINCT thread_id FROM checkpoints"
        rows = await self._in_thread(lambda: self.conn.execute(every).fetchall())
        return [thread for (thread,) in rows]

    async def has_branches(self, thread: str) -> bool:
        """Tell whether a thread has saved branches that have not ended."""
        return await self._in_thread(self._has_branches, thread)

    def _has_branches(self, thread: str) -> bool:
        with self.cursor() as cursor:
            return bool(cursor.execute(HAS_BRANCHES, (thread,)).fetchone())

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
        read = partial(self.list, config, filter=filter, before=before, limit=limit)
        with _translate_damage():
            checkpoints = await self._in_thread(lambda: list(read()))
        for found in checkpoints:
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; return where it is."""
        return await self._in_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task wrote after a checkpoint."""
        await self._in_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete everything that is saved of a thread."""
        await self._in_thread(self._change, [(delete, (thread_id,)) for delete in DELETE_THREAD])

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs of a server saved."""
        ids = json.dumps([*run_ids])
        await self._in_thread(self._delete_runs, ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy everything that is saved of one thread to another."""
        names = (target_thread_id, source_thread_id)
        await self._in_thread(self._change, [(copy, names) for copy in COPY_THREAD])

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or all of them but their newest checkpoints."""
        less = DELETE_THREAD if strategy == "delete" else PRUNE_THREAD
        changes = [(change, (thread,)) for thread in thread_ids for change in less]
        await self._in_thread(self._change, changes, thread_ids)

    async def compact(self) -> None:
        """Return the space of deleted data to the disk, unless another process is reading."""
        await self._in_thread(self._compact)

    def _compact(self) -> None:
        with self.lock:
            self.conn.execute("PRAGMA auto_vacuum=INCREMENTAL")
            self.conn.execute("VACUUM")
            self.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _delete_runs(self, ids: str) -> None:
        with self.cursor() as cursor:
            threads = [thread for (thread,) in cursor.execute(THREADS_OF_RUNS, (ids,)).fetchall()]
        self._change([(delete, (ids,)) for delete in DELETE_RUNS], threads)

    def _change(
        self, statements: Sequence[tuple[str, tuple[Any, ...]]], threads: Sequence[str] = ()
    ) -> None:
        """Change what is saved, and delete entries of some threads that nothing refers to."""
        with self.cursor() as cursor:
            for statement, values in statements:
                cursor.execute(statement, values)
            for thread in threads:
                self._sweep(cursor, thread)

    async def _in_thread(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """Do some work in the thread; once begun it is completed even if nobody waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work, *given)


@contextmanager
def _translate_damage() -> Iterator[None]:
    """Translate the errors of reading a damaged checkpoint of SQLite."""
    try:
        with translate_damage():
            yield
    except sqlite3.OperationalError as error:
        if not str(error).startswith(NO_TEXT):
            raise
        raise unreadable_problem(error) from error


# SQLite does not wait by itself if two processes switch a new file to a write-ahead log at once.
@retry(
    retry=retry_if_exception_message(match=".*locked"),
    stop=stop_after_delay(5),
    wait=wait_fixed(0.05),
    reraise=True,
)
def _enable_write_ahead_log(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")


def _enable_vacuum(connection: sqlite3.Connection, file: Path) -> None:
    """Let a new file shrink; if another process is creating the file, that one does this."""
    if file.exists() and not file.stat().st_size:
        connection.execute("PRAGMA busy_timeout=0")
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA busy_timeout=5000")


@contextmanager
def _opened(file: Path, thread: Executor, kind: type[CheckpointSaver]) -> Iterator[CheckpointSaver]:
    if is_read_only(file):
        raise read_only_problem(file)
    secure_home()
    with suppress(OSError):  # SQLite reports why it cannot be made.
        create_private_file(file)
    with closing(sqlite3.connect(file, timeout=5, check_same_thread=False)) as connection:
        _enable_vacuum(connection, file)
        _enable_write_ahead_log(connection)
        # NORMAL survives a killed process. After a power cut the last steps may be repeated, with
        # the paid results from the ledger, which is FULL.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(f"PRAGMA journal_size_limit={JOURNAL}")
        saver = kind(connection, thread)
        saver.setup()
        connection.execute(BLOBS_TABLE)
        yield saver


@asynccontextmanager
async def open_checkpointer(
    extension: type[ThreadSaver] | None = None,
) -> AsyncIterator[ThreadSaver]:
    """Open the saver of the database; a server does this once and keeps it open.

    Args:
        extension: A class whose methods call those of the saver; a server has one that knows what
            else a thread leaves.

    Raises:
        Problem: `home_read_only`, or `storage_unavailable` on PostgreSQL.
    """
    if not is_database_shared():
        async with _open_file(_extended(extension, CheckpointSaver)) as saver:
            yield saver
        return
    with _translate_missing():
        # The package is installed with `dossier[postgres]`.
        from runs import postgres_checkpointer as postgres  # noqa: PLC0415
        from runs.checkpoint_move import move_checkpoints  # noqa: PLC0415
    kind = _extended(extension, postgres.PostgresCheckpointSaver)
    async with postgres.open_postgres_checkpointer(kind) as opened:
        await move_checkpoints(opened, partial(_open_file, CheckpointSaver))
        yield opened


def _extended(extension: type[ThreadSaver] | None, saver: type[Kind]) -> type[Kind]:
    if extension is None:
        return saver
    return cast("type[Kind]", type(extension.__name__, (extension, saver), {}))


@contextmanager
def _translate_missing() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        what, hint = f"{error.name} is missing", "install dossier[postgres]"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, hint=hint) from error


@asynccontextmanager
async def _open_file(kind: type[CheckpointSaver]) -> AsyncIterator[CheckpointSaver]:
    with ThreadPoolExecutor(1, "checkpoints") as thread:
        there = partial(asyncio.get_running_loop().run_in_executor, thread)
        opened = ExitStack()
        try:
            yield await there(opened.enter_context, _opened(settings().checkpoints, thread, kind))
        finally:
            # The current work of the thread is completed first.
            await asyncio.shield(there(opened.close))


async def save_run_status(
    thread: str, status: RunStatus, *, of: Container[str] = ("running",)
) -> None:
    """Write the status of a run into the newest state of its thread, in place.

    Args:
        thread: The thread.
        status: The status of its run.
        of: The former statuses; a state with another one is not changed.
    """
    place: RunnableConfig = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    async with open_checkpointer() as saver:
        saved = await saver.aget_tuple(place)
        if saved is None or saved.checkpoint["channel_values"].get("status") not in of:
            return
        values = {**saved.checkpoint["channel_values"], "status": status}
        changed: Checkpoint = {**saved.checkpoint, "channel_values": values}
        await saver.aput(saved.parent_config or place, changed, saved.metadata, {})
