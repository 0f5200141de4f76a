"""The checkpoints on PostgreSQL: LangGraph's saver, with what the one of SQLite does here, too.

Its tables are LangGraph's own, so another server of LangGraph reads and writes the same threads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncConnection, AsyncCursor, Error
from psycopg.conninfo import make_conninfo
from psycopg.errors import UndefinedTable
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from config.errors import ErrorCode, Problem
from config.resources import LoopResource, Resource
from config.settings import settings
from runs.checkpoint_store import SavedPlace, advance_checkpoint_ids, plan_compaction
from runs.masking import mask_channel, mask_config, mask_metadata
from runs.thread_saver import (
    ThreadSaver,
    check_whole,
    checkpoints_place,
    make_strict_serializer,
    translate_damage,
)
from storage.connect import NO_JIT, connection_arguments
from storage.fencing import FENCE_QUERY, check_holder, fence_values, find_lease

Cursor = AsyncCursor[DictRow]
Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

_PATIENCE = 30.0
"""The seconds to wait for a free connection."""

_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")

_SETUP_LOCK = "SELECT pg_advisory_xact_lock(hashtext('dossier checkpoints'))"

_NEWEST = "SELECT max(checkpoint_id) AS newest FROM checkpoints WHERE thread_id = %s"

_HAS_BRANCHES = "SELECT 1 FROM checkpoints WHERE thread_id = %s AND checkpoint_ns > '' LIMIT 1"

_PLACES = (
    "SELECT checkpoint_id, parent_checkpoint_id, metadata ->> 'source' AS source, "
    "(metadata ->> 'cut')::int AS cut FROM checkpoints "
    "WHERE thread_id = %s AND checkpoint_ns = '' ORDER BY checkpoint_id"
)

_ADOPT = (
    "UPDATE checkpoints SET parent_checkpoint_id = %s, "
    "metadata = jsonb_set(metadata, '{cut}', '1') "
    "WHERE thread_id = %s AND checkpoint_ns = '' AND checkpoint_id = %s"
)

_DELETE_INNER = (
    "DELETE FROM checkpoints WHERE thread_id = %s AND checkpoint_ns = '' "
    "AND checkpoint_id = ANY(%s)",
    "DELETE FROM checkpoint_writes WHERE thread_id = %s AND checkpoint_ns = '' "
    "AND checkpoint_id = ANY(%s)",
)

_DELETE_BRANCHES = (
    "DELETE FROM checkpoints WHERE thread_id = %s AND checkpoint_ns > '' AND checkpoint_id < %s",
    "DELETE FROM checkpoint_writes WHERE thread_id = %s AND checkpoint_ns > '' "
    "AND checkpoint_id < %s",
)
"""Delete what the branches of a thread saved before a checkpoint of the whole graph."""

_SWEEP = (
    "DELETE FROM checkpoint_blobs AS b WHERE b.thread_id = %s AND NOT EXISTS (SELECT 1 FROM "
    "checkpoints AS c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = b.checkpoint_ns "
    "AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version)"
)
"""Delete the values of a thread that no checkpoint holds any more."""

_THREADS_OF_RUNS = (
    "SELECT DISTINCT thread_id FROM checkpoints WHERE metadata ->> 'run_id' = ANY(%s)"
)

_DELETE_RUNS = (
    "DELETE FROM checkpoint_writes AS w USING checkpoints AS c WHERE c.thread_id = w.thread_id "
    "AND c.checkpoint_ns = w.checkpoint_ns AND c.checkpoint_id = w.checkpoint_id "
    "AND c.metadata ->> 'run_id' = ANY(%s)",
    "DELETE FROM checkpoints WHERE metadata ->> 'run_id' = ANY(%s)",
)

_COPY = (
    "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
    "checkpoint, metadata) SELECT %s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
    "checkpoint, metadata FROM checkpoints WHERE thread_id = %s ON CONFLICT DO NOTHING",
    "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob) "
    "SELECT %s, checkpoint_ns, channel, version, type, blob FROM checkpoint_blobs "
    "WHERE thread_id = %s ON CONFLICT DO NOTHING",
    "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, "
    "idx, channel, type, blob) SELECT %s, checkpoint_ns, checkpoint_id, task_id, task_path, idx, "
    "channel, type, blob FROM checkpoint_writes WHERE thread_id = %s ON CONFLICT DO NOTHING",
)


_IMPORT = (
    "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
    "checkpoint, metadata) VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)


class PostgresCheckpointSaver(AsyncPostgresSaver, ThreadSaver):
    """The saver of PostgreSQL that masks secrets and keeps one checkpoint of a finished turn.

    What it writes of a thread is refused when another process has taken the thread over.
    """

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, serde=make_strict_serializer())
        self.pool = pool

    async def setup(self) -> None:
        """Create the tables, or upgrade them; others wait meanwhile."""
        async with self._changing() as cursor:
            await cursor.execute(_SETUP_LOCK)
            await cursor.execute(self.MIGRATIONS[0])
            await cursor.execute("SELECT max(v) AS version FROM checkpoint_migrations")
            row = await cursor.fetchone()
            done = -1 if row is None or row["version"] is None else row["version"]
            for version, migration in [*enumerate(self.MIGRATIONS)][done + 1 :]:
                # No transaction may build an index beside writers.
                await cursor.execute(migration.replace(" CONCURRENTLY", ""))
                await cursor.execute("INSERT INTO checkpoint_migrations (v) VALUES (%s)", [version])

    async def is_set_up(self) -> bool:
        """Tell whether the tables are there in the version of this program."""
        try:
            async with self._cursor() as cursor:
                await cursor.execute("SELECT max(v) AS version FROM checkpoint_migrations")
                row = await cursor.fetchone()
        except UndefinedTable:
            return False
        return row is not None and row["version"] == len(self.MIGRATIONS) - 1

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, or the newest one of a thread.

        A thread is always read before it is saved, so ids made from here on are greater.

        Raises:
            Problem: `storage_corrupt` or `storage_unavailable`.
        """
        with _translate_failure(), translate_damage():
            found = await super().aget_tuple(config)
            async with self._cursor() as cursor:
                await cursor.execute(_NEWEST, [config["configurable"]["thread_id"]])
                row = await cursor.fetchone()
            advance_checkpoint_ids((row and row["newest"]) or "")
            return check_whole(found)

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
            Problem: `storage_corrupt` or `storage_unavailable`.
        """
        with _translate_failure(), translate_damage():
            # As on SQLite, a limit below zero is none.
            most = None if limit is None or limit < 0 else limit
            listed = super().alist(config, filter=filter, before=before, limit=most)
            # A caller who stops early would keep the connection.
            found = [one async for one in listed]
        for one in found:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint without secrets; return where it is.

        When a step of the whole graph is saved, all of its branches have ended, and their results
        are in it; the checkpoints of the branches are deleted.

        Raises:
            Problem: `run_taken_over` or `storage_unavailable`.
        """
        configurable = config["configurable"]
        thread, space = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        plain, blobs = await asyncio.to_thread(
            self._split_values, thread, space, checkpoint["channel_values"], new_versions
        )
        about = get_serializable_checkpoint_metadata(mask_config(config), mask_metadata(metadata))
        frame, parent = {**checkpoint, "channel_values": plain}, configurable.get("checkpoint_id")
        row = [thread, space, checkpoint["id"], parent, Jsonb(frame), Jsonb(_storable(about))]
        with _translate_failure():
            async with self._changing(thread) as cursor:
                if blobs:
                    await cursor.executemany(self.UPSERT_CHECKPOINT_BLOBS_SQL, blobs)
                await cursor.execute(self.UPSERT_CHECKPOINTS_SQL, row)
                if not space:
                    await _clean(cursor, thread, checkpoint["id"], metadata.get("source"))
        place = {"thread_id": thread, "checkpoint_ns": space, "checkpoint_id": checkpoint["id"]}
        return {"configurable": place}

    def _split_values(
        self, thread: str, space: str, values: Mapping[str, Any], versions: ChannelVersions
    ) -> tuple[dict[str, Any], list[Any]]:
        """Return the values that stand in a checkpoint itself, and rows of the new other ones."""
        plain = {name: value for name, value in values.items() if _is_plain(value)}
        new = versions.keys() & values.keys() - plain.keys()
        safe = {name: mask_channel(name, values[name], root=not space) for name in new}
        rows = self._dump_blobs(thread, space, safe, {name: versions[name] for name in new})
        root = not space
        return {name: mask_channel(name, value, root=root) for name, value in plain.items()}, rows

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task, or a caller, wrote after a checkpoint, without secrets.

        Raises:
            Problem: `run_taken_over` or `storage_unavailable`.
        """
        configurable = config["configurable"]
        thread, space = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        is_special = all(name in WRITES_IDX_MAP for name, _ in writes)
        statement = (
            self.UPSERT_CHECKPOINT_WRITES_SQL if is_special else self.INSERT_CHECKPOINT_WRITES_SQL
        )

        def serialized() -> list[Any]:
            safe = [(name, mask_channel(name, value, root=not space)) for name, value in writes]
            place = (thread, space, configurable["checkpoint_id"], task_id, task_path)
            return self._dump_writes(*place, safe)

        rows = await asyncio.to_thread(serialized)
        with _translate_failure():
            async with self._changing(thread) as cursor:
                await cursor.executemany(statement, rows)

    async def import_checkpoint(self, found: CheckpointTuple) -> None:
        """Save a checkpoint of another saver with what was written after it, unless it is there.

        Raises:
            Problem: `storage_unavailable`.
        """
        place, checkpoint = found.config["configurable"], found.checkpoint
        where = (str(place["thread_id"]), place.get("checkpoint_ns", ""), checkpoint["id"])
        plain, blobs = await asyncio.to_thread(
            self._split_values,
            *where[:2],
            checkpoint["channel_values"],
            checkpoint["channel_versions"],
        )
        parent = (found.parent_config or {"configurable": {}})["configurable"].get("checkpoint_id")
        frame = Jsonb({**checkpoint, "channel_values": plain})
        by_task: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in found.pending_writes or ():
            by_task.setdefault(task, []).append((channel, value))
        written = [
            row
            for task, writes in by_task.items()
            for row in self._dump_writes(*where, task, "", writes)
        ]
        with _translate_failure():
            async with self._changing() as cursor:
                about = Jsonb(_storable(found.metadata))
                await cursor.execute(_IMPORT, [*where, parent, frame, about])
                if not cursor.rowcount:
                    return
                await cursor.executemany(self.UPSERT_CHECKPOINT_BLOBS_SQL, blobs)
                await cursor.executemany(self.INSERT_CHECKPOINT_WRITES_SQL, written)

    async def has_branches(self, thread: str) -> bool:
        """Tell whether a thread has saved branches that have not ended."""
        with _translate_failure():
            async with self._cursor() as cursor:
                await cursor.execute(_HAS_BRANCHES, [thread])
                return await cursor.fetchone() is not None

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete everything that is saved of a thread."""
        await self.aprune([thread_id], strategy="delete")

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs of a server saved."""
        ids = [*run_ids]
        with _translate_failure():
            async with self._changing() as cursor:
                await cursor.execute(_THREADS_OF_RUNS, [ids])
                threads = [row["thread_id"] for row in await cursor.fetchall()]
                for statement in _DELETE_RUNS:
                    await cursor.execute(statement, [ids])
                for thread in threads:
                    await cursor.execute(_SWEEP, [thread])

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy everything that is saved of one thread to another."""
        with _translate_failure():
            async with self._changing(target_thread_id) as cursor:
                for statement in _COPY:
                    await cursor.execute(statement, [target_thread_id, source_thread_id])

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete threads, or all of them but their newest checkpoints."""
        with _translate_failure():
            await super().aprune(thread_ids, strategy=strategy)

    async def compact(self) -> None:
        """Let PostgreSQL use the space of deleted data again."""
        with _translate_failure():
            async with self._cursor() as cursor:
                await cursor.execute(f"VACUUM {', '.join(_TABLES)}")

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[Cursor]:
        """Lend a cursor whose statements are transactions of their own."""
        del pipeline
        async with (
            self.pool.connection() as connection,
            connection.cursor(binary=True, row_factory=dict_row) as cursor,
        ):
            yield cursor

    @asynccontextmanager
    async def _changing(self, thread: str = "") -> AsyncIterator[Cursor]:
        """Lend a cursor of one transaction, which changes a thread only if nobody took it over."""
        async with self._cursor() as cursor, cursor.connection.transaction():
            if lease := find_lease(thread):
                await cursor.execute(FENCE_QUERY, fence_values(lease))
                row = await cursor.fetchone()
                check_holder(lease, row["holder"] if row else None)
            yield cursor


async def _clean(cursor: Cursor, thread: str, id: str, source: str | None) -> None:
    """Delete what is no longer needed after a step, or after a question."""
    if source == "loop":
        await cursor.execute(_DELETE_BRANCHES[0], [thread, id])
        if cursor.rowcount:
            await cursor.execute(_DELETE_BRANCHES[1], [thread, id])
            await cursor.execute(_SWEEP, [thread])
    if source == "input":
        await cursor.execute(_PLACES, [thread])
        every = [SavedPlace(*row.values()) for row in await cursor.fetchall()]
        gone, adopted = plan_compaction(every)
        for child, parent in adopted.items():
            await cursor.execute(_ADOPT, [parent, thread, child])
        for statement in _DELETE_INNER if gone else ():
            await cursor.execute(statement, [thread, gone])
        if gone:
            await cursor.execute(_SWEEP, [thread])


def _is_plain(value: Any) -> bool:
    """Tell whether a value stands in a checkpoint itself: one of a few kinds that JSON holds."""
    if isinstance(value, str):
        return bool(value == _storable(value))
    return value is None or isinstance(value, int | float | bool)


def _storable(value: Any) -> Any:
    """Return a value without the characters that PostgreSQL's JSON cannot hold."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "ignore").decode()
    if isinstance(value, dict):
        return {_storable(name): _storable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_storable, value)]
    return value


@contextmanager
def _translate_failure() -> Iterator[None]:
    """Tell what fails in PostgreSQL in one way.

    Raises:
        Problem: `storage_busy` when no connection is free, else `storage_unavailable`.
    """
    try:
        yield
    except PoolTimeout as error:
        what, hint = "no connection to the database is free", "see DOSSIER_DATABASE_CONNECTIONS"
        where = checkpoints_place()
        raise Problem(ErrorCode.STORAGE_BUSY, what, where=where, hint=hint) from error
    except Error as error:
        hint = "is the server up? what was saved before is kept"
        what, where = f"it fails: {error}", checkpoints_place()
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=where, hint=hint) from error


class _SharedPool:
    """The connections of one event loop to one database, open while anybody uses them."""

    def __init__(self, url: str) -> None:
        self.url, self.users, self.changing = url, 0, asyncio.Lock()
        self.pool: Pool | None = None

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Pool]:
        """Lend the pool; the last user closes it."""
        async with self.changing:
            pool = self.pool = self.pool or await _open_pool(self.url)
            self.users += 1
        try:
            yield pool
        finally:
            self.users -= 1
            await asyncio.shield(self._close_unused())

    async def _close_unused(self) -> None:
        async with self.changing:
            if not self.users and self.pool:
                pool, self.pool = self.pool, None
                await pool.close()


_pools: LoopResource[dict[str, _SharedPool]] = LoopResource(dict)

_set_up = Resource(set[str])
"""The databases whose tables this process has found or made."""


async def _open_pool(url: str) -> Pool:
    # The pool logs what is raised anyway.
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
    address = make_conninfo(**connection_arguments(url))
    # A pool tries for long to reach a server that is not there.
    await (await AsyncConnection.connect(address)).close()
    pool: Pool = AsyncConnectionPool(
        address,
        min_size=1,
        max_size=settings().checkpoint_connections,
        kwargs={"autocommit": True, "row_factory": dict_row},
        configure=_configure,
        check=AsyncConnectionPool.check_connection,
        open=False,
        timeout=_PATIENCE,
    )
    try:
        await pool.open(wait=True, timeout=_PATIENCE)
    except BaseException:
        await asyncio.shield(pool.close())
        raise
    return pool


async def _configure(connection: AsyncConnection[Any]) -> None:
    await connection.execute(NO_JIT)


@asynccontextmanager
async def open_postgres_checkpointer(
    kind: type[PostgresCheckpointSaver],
) -> AsyncIterator[PostgresCheckpointSaver]:
    """Open a saver of a class; all savers of an event loop share connections.

    Raises:
        Problem: `storage_unavailable`.
    """
    url = settings().database
    pools = _pools.get()
    shared = pools.setdefault(url, _SharedPool(url))
    entered = shared.use()
    with _translate_failure():
        pool = await entered.__aenter__()
    try:
        saver = kind(pool)
        if url not in _set_up.get():
            with _translate_failure():
                if not await saver.is_set_up():
                    await saver.setup()
            _set_up.get().add(url)
        yield saver
    finally:
        await entered.__aexit__(None, None, None)
