"""Forget what the checkpoints hold: messages, findings, reports, and what tasks have written."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from config.errors import Problem
from config.settings import settings
from graph.records import of_turn
from memory.forgetting.erasure import MARK, Erasure
from memory.forgetting.tree import left_of_json, left_of_msgpack, texts_of_msgpack
from runs.blobs import TABLE, joined, loaded
from storage.private import is_read_only, only_read

SAVED = {
    "checkpoints": ("''", "type", "checkpoint", "metadata"),
    "writes": ("channel", "type", "value"),
    "blobs": ("''", "type", "value"),
}
"""The tables of LangGraph's saver, and that of the entries which its checkpoints hold.

What a blob is the value of, how it is written, the blob, and what is JSON beside it.
"""

ID = re.compile(rb"(?<![0-9a-f])[0-9a-f]{24}")
"""The id of a page, as it stands in a blob."""

NEWEST_FIRST = (
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    " ORDER BY checkpoint_id DESC"
)


class Told(NamedTuple):
    """The state in which a run left its report, as it is and as it will be."""

    run: str
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def changed(self) -> bool:
        """Whether the report will be another one."""
        return shown(self.before) != shown(self.after)


class Saved:
    """The checkpoints of all threads, opened to forget."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def naming(self, threads: Iterable[str], pages: Iterable[str]) -> dict[str, set[str]]:
        """Return which of some pages the checkpoints of some threads name; nothing of others."""
        asked = {page.encode() for page in pages}
        found: dict[str, set[str]] = {}
        for thread in threads if asked else ():
            saved = self._rows("checkpoints", thread, ("checkpoint",))
            saved += self._rows("blobs", thread, ("value",))
            named = asked & {id for (blob,) in saved for id in ID.findall(blob)}
            if named:
                found[thread] = {page.decode() for page in named}
        return found

    def threads(self) -> list[str]:
        """Return all conversations that are saved."""
        return [thread for (thread,) in self._all("SELECT DISTINCT thread_id FROM checkpoints", ())]

    def texts(self, thread: str, see: Callable[[str], None]) -> None:
        """Show every text that is saved of a thread."""
        for table, (_, kind, blob, *_) in SAVED.items():
            for its, data in self._rows(table, thread, (kind, blob)):
                if its == "msgpack":
                    texts_of_msgpack(data, see)

    def forgets(self, thread: str, erasure: Erasure) -> bool:
        """Say whether anything of a thread would change."""
        return any(True for _ in self._changes(thread, erasure))

    def forget(self, thread: str, erasure: Erasure) -> None:
        """Write what is left of a thread, all of it or nothing."""
        with self.connection:
            for table, row, values in list(self._changes(thread, erasure)):
                named = ", ".join(f"{name} = ?" for name in values)
                change = f"UPDATE {table} SET {named} WHERE rowid = ?"  # noqa: S608 - our own names
                self.connection.execute(change, (*values.values(), row))

    def states(self, thread: str) -> Iterator[tuple[str, dict[str, Any], str, bytes]]:
        """Yield the newest state of each run of a thread that has a report, and how it is saved."""
        serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        known: set[str] = set()
        kept = loaded(self.connection.cursor(), thread)
        for typed in self._all(NEWEST_FIRST, (thread,)):
            checkpoint = serde.loads_typed(typed)
            run = checkpoint["channel_values"].get("run")
            if run in known or not checkpoint["channel_values"].get("report", {}).get("title"):
                continue
            if run:
                known.add(run)
                joined(checkpoint, serde.loads_typed, kept)
                yield run, checkpoint["channel_values"], *serde.dumps_typed(checkpoint)

    def reported(self, thread: str, erasure: Erasure) -> list[Told]:
        """Return the newest state of each run of a thread of whose report something goes, or went.

        What went already may still stand in its files.
        """
        serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        told: list[Told] = []
        for run, before, kind, data in self.states(thread):
            rest = left_of_msgpack(data, erasure) if kind == "msgpack" else data
            told.append(Told(run, before, serde.loads_typed((kind, rest))["channel_values"]))
        return [one for one in told if one.changed or MARK in str(shown(one.after))]

    def scrub(self) -> None:
        """Leave no free page and no log with what was there before.

        Raises:
            Problem: `storage_busy` while another process reads.
        """
        self.connection.execute("VACUUM")
        check_truncated(self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    def _changes(
        self, thread: str, erasure: Erasure
    ) -> Iterator[tuple[str, int, dict[str, object]]]:
        for table, (name, kind, blob, *more) in SAVED.items():
            columns = ("rowid", name, kind, blob, *more)
            for row, key, its, data, *rest in self._rows(table, thread, columns):
                values: dict[str, object] = {}
                if its == "msgpack" and (new := left_of_msgpack(data, erasure, key)) != data:
                    values[blob] = new
                texts = {name: one for name, one in zip(more, rest, strict=True) if one is not None}
                if its == "json":
                    texts[blob] = data
                for name, one in texts.items():
                    if (text := _json(one, erasure)) != one:
                        values[name] = text
                if values:
                    yield table, row, values | ({"erased": 1} if table == "blobs" else {})

    def _rows(self, table: str, thread: str, columns: Sequence[str]) -> list[Any]:
        named = ", ".join(columns)
        wanted = f"SELECT {named} FROM {table} WHERE thread_id = ?"  # noqa: S608 - our own names
        return self._all(wanted, (thread,))

    def _all(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        return self.connection.execute(statement, values).fetchall()


def shown(state: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a state that a reader of its report is shown."""
    sources, cited = state.get("sources", {}), state["report"].get("cited", [])
    tables = [of_turn(state.get(name), state["turn"]) for name in ("findings", "background")]
    return [state["question"], state["report"], [sources.get(one) for one in cited], *tables]


def check_truncated(result: Sequence[int]) -> None:
    """Make sure that the write-ahead log is empty.

    Raises:
        Problem: `storage_busy` while another process reads.
    """
    if result[0]:
        hint = (
            "stop other Dossier processes and run the command again; nothing can be found any more"
        )
        raise Problem("storage_busy", "another process keeps the old log alive", hint=hint)


@contextmanager
def opened() -> Iterator[Saved]:
    """Open the checkpoints; there are none before the first run.

    Raises:
        Problem: `home_read_only`, `storage_busy`, `storage_full` or `storage_unavailable`.
    """
    file = settings().checkpoints
    if is_read_only(file):
        raise only_read(file)
    place = file if file.exists() else ":memory:"
    try:
        with closing(sqlite3.connect(place, timeout=5, check_same_thread=False)) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            SqliteSaver(connection).setup()
            connection.execute(TABLE)
            yield Saved(connection)
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        busy = name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
        code = "storage_busy" if busy else "storage_unavailable"
        what = f"the checkpoints cannot be changed: {error}"
        raise Problem(code, what, where=str(file), hint="run the command again") from error


def _json(data: bytes | str, erasure: Erasure) -> bytes | str:
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    rest = left_of_json(text, erasure)
    return rest if isinstance(data, str) else rest.encode("utf-8", "surrogateescape")
