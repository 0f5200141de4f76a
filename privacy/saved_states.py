"""The saved states of runs.

In checkpoints, which are opened to erase, and of pruned runs what their reports are drawn from.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any, NamedTuple

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
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
    visit_texts,
)
from privacy.retention import ExpiredThread
from runs.checkpoint_store import BLOBS_TABLE, join_entries, load_entries
from runs.lifecycle import RunRecord, find_run, list_report_dirs
from runs.tables import runs
from storage.engine import run_read, run_write
from storage.events import Event, log_event, parse_event
from storage.permissions import is_read_only, read_only_problem
from storage.tables import events

SAVED_TABLES = {
    "checkpoints": ("''", "type", "checkpoint", "metadata"),
    "writes": ("channel", "type", "value"),
    "blobs": ("''", "type", "value"),
}
"""The tables of LangGraph's saver, and that of the entries which its checkpoints hold.

What a blob is the value of, how it is written, the blob, and what is JSON beside it.
"""

PAGE_ID_PATTERN = re.compile(rb"(?<![0-9a-f])[0-9a-f]{24}")
"""The id of a page, as it stands in a blob."""

NEWEST_FIRST = (
    "SELECT type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
    " ORDER BY checkpoint_id DESC"
)


class ReportState(NamedTuple):
    """The state in which a run left its report, as it is and as it will be."""

    run: str
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def is_changed(self) -> bool:
        """Whether the report will be another one."""
        return _visible_parts(self.before) != _visible_parts(self.after)


class SavedCheckpoints:
    """The checkpoints of all threads, opened to forget."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def find_page_references(
        self, threads: Iterable[str], pages: Iterable[str]
    ) -> dict[str, set[str]]:
        """Return which of some pages the checkpoints of some threads name; nothing of others."""
        asked = {page.encode() for page in pages}
        found: dict[str, set[str]] = {}
        for thread in threads if asked else ():
            saved = self._rows("checkpoints", thread, ("checkpoint",))
            saved += self._rows("blobs", thread, ("value",))
            named = asked & {id for (blob,) in saved for id in PAGE_ID_PATTERN.findall(blob)}
            if named:
                found[thread] = {page.decode() for page in named}
        return found

    def list_threads(self) -> list[str]:
        """Return all conversations that are saved."""
        return [thread for (thread,) in self._all("SELECT DISTINCT thread_id FROM checkpoints", ())]

    def visit_thread_texts(self, thread: str, see: Callable[[str], None]) -> None:
        """Show every text that is saved of a thread."""
        for table, (_, kind, blob, *_) in SAVED_TABLES.items():
            for its, data in self._rows(table, thread, (kind, blob)):
                if its == "msgpack":
                    visit_msgpack_texts(data, see)

    def would_change(self, thread: str, erasure: Erasure) -> bool:
        """Say whether anything of a thread would change."""
        return any(True for _ in self._changes(thread, erasure))

    def erase_in_thread(self, thread: str, erasure: Erasure) -> None:
        """Write what is left of a thread, all of it or nothing."""
        with self.connection:
            for table, row, values in list(self._changes(thread, erasure)):
                named = ", ".join(f"{name} = ?" for name in values)
                change = f"UPDATE {table} SET {named} WHERE rowid = ?"  # noqa: S608 - our own names
                self.connection.execute(change, (*values.values(), row))

    def iter_report_states(self, thread: str) -> Iterator[tuple[str, dict[str, Any], str, bytes]]:
        """Yield the newest state of each run of a thread that has a report, and how it is saved."""
        serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        known: set[str] = set()
        kept = load_entries(self.connection.cursor(), thread)
        for typed in self._all(NEWEST_FIRST, (thread,)):
            checkpoint = serde.loads_typed(typed)
            run = checkpoint["channel_values"].get("run")
            if run in known or not checkpoint["channel_values"].get("report", {}).get("title"):
                continue
            if run:
                known.add(run)
                join_entries(checkpoint, serde.loads_typed, kept)
                yield run, checkpoint["channel_values"], *serde.dumps_typed(checkpoint)

    def list_affected_reports(self, thread: str, erasure: Erasure) -> list[ReportState]:
        """Return the newest state of each run of a thread of whose report something goes, or went.

        What went already may still stand in its files.
        """
        serde = JsonPlusSerializer(allowed_msgpack_modules=None)
        told: list[ReportState] = []
        for run, before, kind, data in self.iter_report_states(thread):
            rest = redact_msgpack(data, erasure) if kind == "msgpack" else data
            told.append(ReportState(run, before, serde.loads_typed((kind, rest))["channel_values"]))
        return [
            one
            for one in told
            if one.is_changed or FORGOTTEN_MARK in str(_visible_parts(one.after))
        ]

    def scrub(self) -> None:
        """Leave no free page and no log with what was there before.

        Raises:
            Problem: `storage_busy` while another process reads.
        """
        self.connection.execute("VACUUM")
        _check_truncated(self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())

    def _changes(
        self, thread: str, erasure: Erasure
    ) -> Iterator[tuple[str, int, dict[str, object]]]:
        for table, (name, kind, blob, *more) in SAVED_TABLES.items():
            columns = ("rowid", name, kind, blob, *more)
            for row, key, its, data, *rest in self._rows(table, thread, columns):
                values: dict[str, object] = {}
                if its == "msgpack" and (new := redact_msgpack(data, erasure, key)) != data:
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


def _visible_parts(state: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a state that a reader of its report is shown."""
    sources, cited = state.get("sources", {}), state["report"].get("cited", [])
    tables = [
        entries_of_turn(state.get(name), state["turn"]) for name in ("findings", "background")
    ]
    return [state["question"], state["report"], [sources.get(one) for one in cited], *tables]


def _check_truncated(result: Sequence[int]) -> None:
    """Make sure that the write-ahead log is empty.

    Raises:
        Problem: `storage_busy` while another process reads.
    """
    if result[0]:
        hint = (
            "stop other Dossier processes and run the command again; nothing can be found any more"
        )
        raise Problem(ErrorCode.STORAGE_BUSY, "another process keeps the old log alive", hint=hint)


@contextmanager
def open_checkpoints() -> Iterator[SavedCheckpoints]:
    """Open the checkpoints; there are none before the first run.

    Raises:
        Problem: `home_read_only`, `storage_busy`, `storage_full` or `storage_unavailable`.
    """
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


def _json(data: bytes | str, erasure: Erasure) -> bytes | str:
    text = data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
    rest = redact_json(text, erasure)
    return rest if isinstance(data, str) else rest.encode("utf-8", "surrogateescape")


REPORT_STATE_EVENT = "report.kept"
"""The event that holds the state in which a pruned run left its report."""

DRAWN = ("run", "turn", "question", "language", "status", "report")
"""What a report is drawn from, beside the sources and what was found in its turn."""

FOUND = ("findings", "background", "unsearched")
"""What was found, by turn and step or query."""


class PrunedRun(NamedTuple):
    """A run that is pruned, or about to be, and the state in which it left its report."""

    run: RunRecord
    state: dict[str, Any]

    def list_cited_ids(self, pages: Collection[str]) -> dict[str, str]:
        """Return those of some pages that are among its sources, by the ids it cites them by."""
        its = self.state["sources"].items()
        return {id: source["page"] for id, source in its if source["page"] in pages}

    def list_texts(self) -> list[str]:
        """Return every text of its report and findings."""
        said: list[str] = []
        visit_texts(self.state, said.append)
        return said

    def to_report_state(self, erasure: Erasure) -> ReportState | None:
        """Return its state as it is and as it will be, where something goes of it, or went."""
        rest = redact_data(self.state, erasure) if erasure else self.state
        told = ReportState(self.run.id, self.state, rest)
        return told if told.is_changed or FORGOTTEN_MARK in str(_visible_parts(rest)) else None


async def save_report_state(owner: str, old: ExpiredThread) -> None:
    """Write down what the reports of a thread that is about to be pruned are drawn from.

    Those without files need nothing: what they said stays as a page.
    """
    with open_checkpoints() as saved:
        states = {run: state for run, state, *_ in saved.iter_report_states(old.thread)}
    for name in old.runs:
        run = await find_run(owner, name)
        if name in states and await list_report_dirs(run):
            event = Event(
                owner,
                REPORT_STATE_EVENT,
                name,
                None,
                _report_state_data(run, states[name]),
                "tool",
                run=name,
            )
            await run_write(partial(log_event, event=event))


async def find_pruned_run(owner: str, run: str) -> RunRecord | None:
    """Return a pruned run of which the report's state is kept."""
    every = await run_read(lambda connection: _latest_pruned_runs(connection, owner))
    return every[run].run if run in every else None


def list_pruned_runs(
    connection: Connection, owner: str, saved: SavedCheckpoints
) -> list[PrunedRun]:
    """Return the runs of an owner of whose reports nothing else is left to draw them from."""
    every = _latest_pruned_runs(connection, owner)
    wanted = select(runs.c.id, runs.c.thread).where(runs.c.id.in_(every))
    there = {row.id: row.thread for row in connection.execute(wanted)} if every else {}
    threads = set(saved.list_threads()) if there else set()
    return [one for run, one in every.items() if there.get(run) not in threads]


def _latest_pruned_runs(connection: Connection, owner: str) -> dict[str, PrunedRun]:
    wanted = select(events).where(events.c.owner == owner, events.c.name == REPORT_STATE_EVENT)
    rows = connection.execute(wanted.order_by(events.c.id)).all()
    told = (parse_event(row).event.after for row in rows)
    return {
        one["run"]["id"]: PrunedRun(RunRecord(**one["run"]), one["state"]) for one in told if one
    }


def _report_state_data(run: RunRecord, state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report is drawn from; passages are read again from the pages."""
    cited = set(state["report"].get("cited", ()))
    sources = {id: one for id, one in state.get("sources", {}).items() if id in cited}
    parts = {name: entries_of_turn(state.get(name), state["turn"]) for name in FOUND}
    turn = f"{state['turn']}/"
    drawn = {
        name: {f"{turn}{key}": _bare(one) for key, one in parts[name].items()} for name in FOUND
    }
    its = {name: state[name] for name in DRAWN if name in state}
    # What was chosen may hold the person's words, and a report is not drawn from it.
    plain = run._replace(context={})._asdict()
    return {"run": plain, "state": {**its, **drawn, "sources": sources}}


def _bare(found: Any) -> Any:
    if not isinstance(found, dict) or not found.get("passages"):
        return found
    return {**found, "passages": [{"source": one["source"]} for one in found["passages"]]}
