"""Saved states of runs in the tables of LangGraph's saver for PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, text

from privacy.erasure import (
    Erasure,
    redact_json,
    redact_msgpack,
    visit_msgpack_texts,
    visit_texts,
)
from privacy.saved_states import PAGE_ID_PATTERN, SavedCheckpoints

_VALUE_TABLES = ("checkpoint_blobs", "checkpoint_writes")
"""The tables that hold the value of a channel in each row."""

_ALL_TABLES = ("checkpoints", *_VALUE_TABLES)

_FRAMES = ("checkpoint", "metadata")
"""The columns of JSON of a checkpoint; short values of channels stand in the first."""

_EXISTS = text("SELECT to_regclass('checkpoints') IS NOT NULL")

_THREADS = text("SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id")

_NEWEST_FIRST = text(
    "SELECT checkpoint FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '' "
    "ORDER BY checkpoint_id DESC"
)

_VALUES = text(
    "SELECT channel, version, type, blob FROM checkpoint_blobs "
    "WHERE thread_id = :thread AND checkpoint_ns = ''"
)


def has_checkpoints(connection: Connection) -> bool:
    """Tell whether a run has been saved in a database yet."""
    return bool(connection.execute(_EXISTS).scalar())


class PostgresCheckpoints(SavedCheckpoints):
    """The checkpoints of all threads on PostgreSQL, opened for an erasure."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(None)
        self.database = connection

    def find_page_references(
        self, threads: Iterable[str], pages: Iterable[str]
    ) -> dict[str, set[str]]:
        """Return the given pages that the checkpoints of each thread mention, by thread."""
        wanted = {page.encode() for page in pages}
        found: dict[str, set[str]] = {}
        for thread in threads if wanted else ():
            saved = [frame.encode() for *_, frame in self._frames(thread)]
            saved += [data for *_, data in self._blobs("checkpoint_blobs", thread)]
            if ids := wanted & {id for data in saved for id in PAGE_ID_PATTERN.findall(data)}:
                found[thread] = {page.decode() for page in ids}
        return found

    def list_threads(self) -> list[str]:
        """Return all saved threads."""
        return list(self.database.execute(_THREADS).scalars())

    def visit_thread_texts(self, thread: str, see: Callable[[str], None]) -> None:
        """Call `see` with every saved text of a thread."""
        for table in _VALUE_TABLES:
            for _, _, encoding, data in self._blobs(table, thread):
                if encoding == "msgpack":
                    visit_msgpack_texts(data, see)
        wanted = text("SELECT checkpoint, metadata FROM checkpoints WHERE thread_id = :thread")
        for row in self.database.execute(wanted, {"thread": thread}):
            visit_texts(row.checkpoint, see)

    def would_change(self, thread: str, erasure: Erasure) -> bool:
        """Return whether an erasure would change anything of a thread."""
        return any(True for _ in self._changed_rows(thread, erasure))

    def erase_in_thread(self, thread: str, erasure: Erasure) -> None:
        """Erase in a thread, in one transaction."""
        self.database.rollback()
        with self.database.begin():
            for table, row, column, value in [*self._changed_rows(thread, erasure)]:
                value_of = "CAST(:value AS jsonb)" if column in _FRAMES else ":value"
                change = f"UPDATE {table} SET {column} = {value_of} WHERE ctid = CAST(:row AS tid)"  # noqa: S608
                self.database.execute(text(change), {"value": value, "row": row})

    def iter_report_states(self, thread: str) -> Iterator[tuple[str, dict[str, Any], str, bytes]]:
        """Yield the run, state, encoding and blob of the newest state of each run with a report."""
        known = set[str]()
        rows = self.database.execute(_VALUES, {"thread": thread})
        kept = {(row.channel, row.version): (row.type, bytes(row.blob or b"")) for row in rows}
        frames = self.database.execute(_NEWEST_FIRST, {"thread": thread}).scalars().all()
        for frame in frames:
            if frame["channel_values"].get("run") in known:
                continue
            stored = {
                name: self.serde.loads_typed(kept[name, version])
                for name, version in frame["channel_versions"].items()
                if kept.get((name, version), ("empty",))[0] != "empty"
            }
            values = {**frame["channel_values"], **stored}
            run = values.get("run")
            if run and run not in known and values.get("report", {}).get("title"):
                known.add(run)
                dumped = self.serde.dumps_typed({**frame, "channel_values": values})
                yield run, values, *dumped

    def scrub(self) -> None:
        """Rewrite the tables without deleted data."""
        self.database.rollback()
        plain = self.database.execution_options(isolation_level="AUTOCOMMIT")
        for table in _ALL_TABLES:
            plain.exec_driver_sql(f"VACUUM FULL {table}")

    def _changed_rows(
        self, thread: str, erasure: Erasure
    ) -> Iterator[tuple[str, str, str, bytes | str]]:
        """Yield table, row, column and new value of all that an erasure changes."""
        for table in _VALUE_TABLES:
            for row, channel, encoding, data in self._blobs(table, thread):
                redacted = redact_msgpack(data, erasure, channel) if encoding == "msgpack" else data
                if redacted != data:
                    yield table, row, "blob", redacted
        for row, column, frame in self._frames(thread):
            if (rest := redact_json(frame, erasure)) != frame:
                yield "checkpoints", row, column, rest

    def _frames(self, thread: str) -> list[tuple[str, str, str]]:
        """Return row, column and JSON of the checkpoints of a thread."""
        columns = "ctid::text AS row, checkpoint::text, metadata::text"
        wanted = text(f"SELECT {columns} FROM checkpoints WHERE thread_id = :thread")  # noqa: S608
        found = self.database.execute(wanted, {"thread": thread}).mappings().all()
        return [(row["row"], column, row[column]) for row in found for column in _FRAMES]

    def _blobs(self, table: str, thread: str) -> list[tuple[str, str, str, bytes]]:
        """Return row, channel, encoding and data of the values of a thread."""
        columns = "ctid::text AS row, channel, type, blob"
        wanted = text(f"SELECT {columns} FROM {table} WHERE thread_id = :thread")  # noqa: S608
        found = self.database.execute(wanted, {"thread": thread}).all()
        return [(one.row, one.channel, one.type, bytes(one.blob or b"")) for one in found]
