"""Bring the checkpoints of a backup into a database of the other kind: SQLite or PostgreSQL."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata

from runs.checkpoint_store import BLOBS_TABLE
from runs.checkpointer import CheckpointSaver
from runs.thread_saver import ThreadSaver, make_strict_serializer
from storage.backup_archive import ArchiveReader, ColumnEntry, TableEntry

WRITES = {"sqlite": "writes", "postgresql": "checkpoint_writes"}
"""The table of what tasks wrote after a checkpoint, by the kind of database."""

_VALUE = {"sqlite": "value", "postgresql": "blob"}
"""The column in it that is called otherwise."""

_BLOB = (
    "SELECT type, blob FROM checkpoint_blobs "
    "WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?"
)


class SavedCheckpoint(NamedTuple):
    """A checkpoint of either database, and where it belongs."""

    thread: str
    space: str
    parent: str | None
    checkpoint: Checkpoint
    metadata: CheckpointMetadata

    @property
    def before(self) -> RunnableConfig:
        """Return the place of its parent, as a saver takes it."""
        place = {"thread_id": self.thread, "checkpoint_ns": self.space}
        return {"configurable": {**place, "checkpoint_id": self.parent} if self.parent else place}


async def transfer_checkpoints(archive: ArchiveReader, saver: ThreadSaver) -> list[str]:
    """Save all checkpoints of a backup, oldest first; return their threads.

    What tasks wrote after them is not among it (`adapt_writes`). If it fails, nothing stays.
    """
    read = {"sqlite": _read_sqlite, "postgresql": _read_postgresql}[archive.manifest.database]
    threads: dict[str, None] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="dossier-restore-") as folder:
            for one in read(archive, Path(folder) / "checkpoints.db"):
                threads[one.thread] = None
                versions = one.checkpoint["channel_versions"]
                await saver.aput(one.before, one.checkpoint, one.metadata, versions)
    except BaseException:
        for thread in threads:
            await saver.adelete_thread(thread)
        raise
    return [*threads]


def adapt_writes(table: TableEntry, kind: str) -> tuple[str, list[ColumnEntry]]:
    """Return how the table of writes and its columns are called in the other kind of database."""
    (source,) = [one for one in WRITES if WRITES[one] == table.name]
    renamed = {_VALUE[source]: _VALUE[kind]}
    columns = [ColumnEntry(name=renamed.get(one.name, one.name), type="") for one in table.columns]
    return WRITES[kind], columns


@contextmanager
def _filled(archive: ArchiveReader, file: Path, prepare: Sequence[str]) -> Iterator[Any]:
    """Lend an SQLite file with the tables of checkpoints of a backup."""
    with closing(sqlite3.connect(file, check_same_thread=False)) as opened:
        for statement in prepare:
            opened.execute(statement)
        for table in archive.manifest.checkpoints:
            names = ", ".join(f'"{one.name}"' for one in table.columns)
            marks = ", ".join("?" for _ in table.columns)
            opened.execute(f'CREATE TABLE IF NOT EXISTS "{table.name}" ({names})')
            insert = f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})'  # noqa: S608 - known names
            opened.executemany(insert, archive.read_rows("checkpoints", table))
        opened.commit()
        yield opened


def _read_sqlite(archive: ArchiveReader, file: Path) -> Iterator[SavedCheckpoint]:
    with ThreadPoolExecutor(1) as unused, closing(sqlite3.connect(file)) as empty:
        CheckpointSaver(empty, unused).setup()
        with _filled(archive, file, [BLOBS_TABLE]) as opened:
            saver = CheckpointSaver(opened, unused)
            for (thread,) in opened.execute(
                "SELECT DISTINCT thread_id FROM checkpoints"
            ).fetchall():
                found = [*saver.list({"configurable": {"thread_id": thread}})]
                for one in reversed(found):
                    parent = one.parent_config and one.parent_config["configurable"]
                    yield SavedCheckpoint(
                        thread,
                        one.config["configurable"]["checkpoint_ns"],
                        parent["checkpoint_id"] if parent else None,
                        one.checkpoint,
                        one.metadata,
                    )


def _read_postgresql(archive: ArchiveReader, file: Path) -> Iterator[SavedCheckpoint]:
    load = make_strict_serializer().loads_typed
    with _filled(archive, file, []) as opened:
        opened.execute("CREATE INDEX of_thread ON checkpoint_blobs (thread_id, channel, version)")
        rows = opened.execute(
            "SELECT thread_id, checkpoint_ns, parent_checkpoint_id, checkpoint, metadata "
            "FROM checkpoints ORDER BY thread_id, checkpoint_id"
        )
        for thread, space, parent, written, about in rows:
            checkpoint = json.loads(written)
            values = checkpoint.get("channel_values") or {}
            for channel, version in checkpoint["channel_versions"].items():
                place = (thread, space, channel, version)
                blob = opened.execute(_BLOB, place).fetchone()
                if blob and blob[0] != "empty":
                    values[channel] = load(blob)
            whole = cast("Checkpoint", {**checkpoint, "channel_values": values})
            yield SavedCheckpoint(thread, space, parent, whole, json.loads(about))
