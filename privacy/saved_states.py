"""Saved states of runs: in checkpoints, and for pruned runs in events of the log."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, closing, contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

from langgraph.checkpoint.sqlite import SqliteSaver
from sqlalchemy import Connection, select

from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.records import entries_of_turn
from privacy.erasure import (
    FORGOTTEN_MARK,
    Erasure,
    redact_data,
    redact_json,
    redact_msgpack,
    visit_msgpack_texts,
)
from privacy.retention import ExpiredThread
from runs.checkpoint_store import BLOBS_TABLE, join_entries, load_entries
from runs.lifecycle import RunRecord, find_run, list_report_dirs
from runs.tables import runs
from runs.thread_saver import make_strict_serializer
from storage.connect import is_database_shared
from storage.engine import lend_connection, run_read, run_write
from storage.events import Event, log_event, parse_event
from storage.permissions import is_read_only, read_only_problem
from storage.tables import events

SAVED_TABLES = {
    "checkpoints": ("''", "type", "checkpoint", "metadata"),
    "writes": ("channel", "type", "value"),
    "blobs": ("''", "type", "value"),
}
"""The tables of LangGraph's saver and of separately stored checkpoint entries.

For each the columns of the channel, the blob's encoding, the blob, and further JSON.
"""

PAGE_ID_PATTERN = re.compile(rb"(?<![0-9a-f])[0-9a-f]{24}")
"""The id of a page in a blob."""

NEWEST_FIRST = (
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    " ORDER BY checkpoint_id DESC"
)


class ReportState(NamedTuple):
    """The final state of a run with a report, before and after an erasure."""

    run: str
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def is_changed(self) -> bool:
        """Whether the erasure changes what a reader of the report sees."""
        return _visible_parts(self.before) != _visible_parts(self.after)

    @property
    def is_affected(self) -> bool:
        """Whether an erasure changes the report, or has changed it."""
        return self.is_changed or FORGOTTEN_MARK in str(_visible_parts(self.after))


class SavedCheckpoints:
    """The checkpoints of all threads, opened for an erasure."""

    def __init__(self, connection: sqlite3.Connection | None) -> None:
        self.file = connection
        self.serde = make_strict_serializer()

    @property
    def connection(self) -> sqlite3.Connection:
        """The file in which they are."""
        return cast("sqlite3.Connection", self.file)

    def find_page_references(
        self, threads: Iterable[str], pages: Iterable[str]
    ) -> dict[str, set[str]]:
        """Return the given pages that the checkpoints of each thread mention, by thread."""
        wanted = {page.encode() for page in pages}
        found: dict[str, set[str]] = {}
        for thread in threads if wanted else ():
            saved = self._rows("checkpoints", thread, ("checkpoint",))
            saved += self._rows("blobs", thread, ("value",))
            ids = wanted & {id for (blob,) in saved for id in PAGE_ID_PATTERN.findall(blob)}
            if ids:
                found[thread] = {page.decode() for page in ids}
        return found

    def list_threads(self) -> list[str]:
        """Return all saved threads."""
        return [thread for (thread,) in self._all("SELECT DISTINCT thread_id FROM checkpoints", ())]

    def visit_thread_texts(self, thread: str, see: Callable[[str], None]) -> None:
        """Call `see` with every saved text of a thread."""
        for table, (_, kind, blob, *_) in SAVED_TABLES.items():
            for encoding, data in self._rows(table, thread, (kind, blob)):
                if encoding == "msgpack":
                    visit_msgpack_texts(data, see)

    def would_change(self, thread: str, erasure: Erasure) -> bool:
        """Return whether an erasure would change anything of a thread."""
        return any(True for _ in self._changes(thread, erasure))

    def erase_in_thread(self, thread: str, erasure: Erasure) -> None:
        """Erase in a thread, in one transaction."""
        with self.connection:
            for table, row, values in list(self._changes(thread, erasure)):
                columns = ", ".join(f"{name} = ?" for name in values)
                change = f"UPDATE {table} SET {columns} WHERE rowid = ?"  # noqa: S608 - our own names
                self.connection.execute(change, (*values.values(), row))

    def iter_report_states(self, thread: str) -> Iterator[tuple[str, dict[str, Any], str, bytes]]:
        """Yield the run, state, encoding and blob of the newest state of each run with a report."""
        serde, known = self.serde, set[str]()
        entries = load_entries(self.connection.cursor(), thread)
        for typed in self._all(NEWEST_FIRST, (thread,)):
            checkpoint = serde.loads_typed(typed)
            run = checkpoint["channel_values"].get("run")
            if run in known or not checkpoint["channel_values"].get("report", {}).get("title"):
                continue
            if run:
                known.add(run)
                join_entries(checkpoint, serde.loads_typed, entries)
                yield run, checkpoint["channel_values"], *serde.dumps_typed(checkpoint)

    def list_affected_reports(self, thread: str, erasure: Erasure) -> list[ReportState]:
        """Return the newest state of each run whose report an erasure changes or has changed.

        The files of a report may still show what an interrupted erasure has removed.
        """
        reports = []
        for run, before, kind, data in self.iter_report_states(thread):
            redacted = redact_msgpack(data, erasure) if kind == "msgpack" else data
            after = self.serde.loads_typed((kind, redacted))["channel_values"]
            reports.append(ReportState(run, before, after))
        return [report for report in reports if report.is_affected]

    def scrub(self) -> None:
        """Purge deleted data from free database pages and the write-ahead log.

        Raises:
            Problem: `storage_busy` while another process reads.
        """
        self.connection.execute("VACUUM")
        busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            what = "another process keeps the old log alive"
            hint = "stop other Dossier processes and run the command again"
            hint = f"{hint}; nothing can be found any more"
            raise Problem(ErrorCode.STORAGE_BUSY, what, hint=hint)

    def _changes(
        self, thread: str, erasure: Erasure
    ) -> Iterator[tuple[str, int, dict[str, object]]]:
        for table, (name, kind, blob, *more) in SAVED_TABLES.items():
            columns = ("rowid", name, kind, blob, *more)
            for row, key, encoding, data, *rest in self._rows(table, thread, columns):
                values: dict[str, object] = {}
                if encoding == "msgpack" and (new := redact_msgpack(data, erasure, key)) != data:
                    values[blob] = new
                texts = dict(zip(more, rest, strict=True))
                if encoding == "json":
                    texts[blob] = data
                for name, old in texts.items():
                    if old is not None and (text := _redact_text(old, erasure)) != old:
                        values[name] = text
                if values:
                    yield table, row, values | ({"erased": 1} if table == "blobs" else {})

    def _rows(self, table: str, thread: str, columns: Sequence[str]) -> list[Any]:
        names = ", ".join(columns)
        wanted = f"SELECT {names} FROM {table} WHERE thread_id = ?"  # noqa: S608 - our own names
        return self._all(wanted, (thread,))

    def _all(self, statement: str, values: tuple[object, ...]) -> list[Any]:
        return self.connection.execute(statement, values).fetchall()


def _visible_parts(state: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a state that a reader of its report sees."""
    sources, cited = state.get("sources", {}), state["report"].get("cited", [])
    turn = state["turn"]
    found = [entries_of_turn(state.get(name), turn) for name in ("findings", "background")]
    return [state["question"], state["report"], [sources.get(id) for id in cited], *found]


@contextmanager
def open_checkpoints() -> Iterator[SavedCheckpoints]:
    """Open the checkpoints; before the first run they are empty.

    Raises:
        Problem: `home_read_only`, `storage_busy`, `storage_full` or `storage_unavailable`.
    """
    if is_database_shared():
        from privacy.postgres_states import PostgresCheckpoints, has_checkpoints  # noqa: PLC0415

        with lend_connection() as lent:
            if has_checkpoints(lent):
                yield PostgresCheckpoints(lent)
                return
    file = settings().checkpoints
    if is_read_only(file):
        raise read_only_problem(file)
    place = file if file.exists() else ":memory:"
    try:
        with closing(sqlite3.connect(place, timeout=5, check_same_thread=False)) as connection:
            connection.execute("PRAGMA secure_delete=ON")
            SqliteSaver(connection).setup()
            connection.execute(BLOBS_TABLE)
            yield SavedCheckpoints(connection)
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        busy = name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
        code = ErrorCode.STORAGE_BUSY if busy else ErrorCode.STORAGE_UNAVAILABLE
        what = f"the checkpoints cannot be changed: {error}"
        raise Problem(code, what, where=str(file), hint="run the command again") from error


@asynccontextmanager
async def use_checkpoints() -> AsyncIterator[SavedCheckpoints]:
    """Open the checkpoints as `open_checkpoints`; no event loop waits for the disk."""
    opened = open_checkpoints()
    saved = await asyncio.to_thread(opened.__enter__)
    try:
        yield saved
    except BaseException as error:
        if not await asyncio.to_thread(opened.__exit__, type(error), error, error.__traceback__):
            raise
    else:
        await asyncio.to_thread(opened.__exit__, None, None, None)


def _redact_text(data: bytes | str, erasure: Erasure) -> bytes | str:
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    redacted = redact_json(text, erasure)
    return redacted if isinstance(data, str) else redacted.encode("utf-8", "surrogateescape")


REPORT_STATE_EVENT = "report.kept"
"""The event that stores the final state of a pruned run with a report."""

DRAWN = ("run", "turn", "question", "language", "status", "report")
"""The fields of a state that a report is rendered from, besides sources and findings."""

FOUND = ("findings", "background", "unsearched")
"""The fields with findings, keyed by turn and step or query."""


class PrunedRun(NamedTuple):
    """A run that is or will be pruned, and its final state."""

    run: RunRecord
    state: dict[str, Any]

    def list_cited_ids(self, pages: Collection[str]) -> dict[str, str]:
        """Return the given pages that are among its sources, by source id."""
        sources = self.state["sources"].items()
        return {id: source["page"] for id, source in sources if source["page"] in pages}

    def to_report_state(self, erasure: Erasure) -> ReportState | None:
        """Return its state before and after an erasure, if that affects its report."""
        after = redact_data(self.state, erasure) if erasure else self.state
        report = ReportState(self.run.id, self.state, after)
        return report if report.is_affected else None


async def save_report_state(owner: str, old: ExpiredThread) -> None:
    """Log what the reports of a thread are rendered from, before it is pruned.

    Reports without files need no state: their text stays as a page.
    """
    with open_checkpoints() as saved:
        states = {run: state for run, state, *_ in saved.iter_report_states(old.thread)}
    for name in old.runs:
        run = await find_run(owner, name)
        if name in states and await list_report_dirs(run):
            data = _report_state_data(run, states[name])
            event = Event(owner, REPORT_STATE_EVENT, name, None, data, "tool", run=name)
            await run_write(partial(log_event, event=event))


async def find_pruned_run(owner: str, run: str) -> RunRecord | None:
    """Return a pruned run whose final state is stored."""
    pruned = await run_read(lambda connection: _latest_pruned_runs(connection, owner))
    return pruned[run].run if run in pruned else None


def list_pruned_runs(
    connection: Connection, owner: str, saved: SavedCheckpoints
) -> list[PrunedRun]:
    """Return the runs of an owner whose reports can be rendered from the log only."""
    pruned = _latest_pruned_runs(connection, owner)
    wanted = select(runs.c.id, runs.c.thread).where(runs.c.id.in_(pruned))
    thread_of = {row.id: row.thread for row in connection.execute(wanted)} if pruned else {}
    saved_threads = set(saved.list_threads()) if thread_of else set()
    return [state for run, state in pruned.items() if thread_of.get(run) not in saved_threads]


def _latest_pruned_runs(connection: Connection, owner: str) -> dict[str, PrunedRun]:
    wanted = select(events).filter_by(owner=owner, name=REPORT_STATE_EVENT)
    rows = connection.execute(wanted.order_by(events.c.id)).all()
    logged = filter(None, (parse_event(row).event.after for row in rows))
    pruned = [PrunedRun(RunRecord(**data["run"]), data["state"]) for data in logged]
    return {one.run.id: one for one in pruned}


def _report_state_data(run: RunRecord, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report is rendered from; passages are read again from the pages."""
    cited = set(state["report"].get("cited", ()))
    sources = {id: source for id, source in state.get("sources", {}).items() if id in cited}
    turn = state["turn"]
    findings = {
        name: {
            f"{turn}/{key}": _without_text(entry)
            for key, entry in entries_of_turn(state.get(name), turn).items()
        }
        for name in FOUND
    }
    fields = {name: state[name] for name in DRAWN if name in state}
    # A run's choices may quote the person, and no report is rendered from them.
    record = run._replace(context={})._asdict()
    return {"run": record, "state": {**fields, **findings, "sources": sources}}


def _without_text(entry: Any) -> Any:
    """Reduce the passages of a finding to their sources."""
    if not isinstance(entry, dict) or not entry.get("passages"):
        return entry
    return {**entry, "passages": [{"source": one["source"]} for one in entry["passages"]]}
