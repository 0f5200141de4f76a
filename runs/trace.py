"""Write down every call of a run as one line of JSON: in a file, or in a shared database."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from sqlalchemy import insert, select

from config.errors import ErrorCode, Problem
from config.resources import LoopResource
from config.settings import settings
from config.user_files import check_file_name
from graph.records import BaseSearches
from runs.call_site import CallSite
from runs.spans import record_line_span
from runs.tables import trace_lines
from storage.connect import is_database_shared
from storage.engine import read_rows, run_write_sync
from storage.fencing import working_on
from storage.permissions import FOLDER, open_private, secure_home
from text.pluralization import pluralize

NAMES = ("kind", "role", "step", "status")
NUMBERS = ("at", "seconds", "tokens_in", "tokens_out", "dollars")
"""The fields of a line that are texts, and those that are numbers; other lines are ignored."""

REDACTED, WITHHELD = "redacted", "query_withheld"
"""The statuses of web searches whose query lost private words, or was not sent."""

LARGEST = 1e11
"""The largest number on a line; as a time it is more than a thousand years away."""

GATHER = 0.2
"""The seconds for which lines gather before they are written, unless somebody waits for them."""

_writing = threading.Lock()


def trace_file(run: str) -> Path:
    """Return the file that holds the trace of a run, unless the database is a server.

    Raises:
        Problem: `bad_file_name`.
    """
    return settings().traces / f"{check_file_name(run)}.jsonl"


async def trace(site: CallSite, kind: str, role: str, status: str, **more: Any) -> None:
    """Append one line on a call, without waiting for the disk; it becomes a span, too.

    Args:
        site: The point of the run.
        kind: `model`, `memory`, `embed`, `search`, `knowledge`, `fetch`,
            `tool`, `check`, `sandbox`, `status`, or `session` for its beginning and end where
            spans are sent.
        role: Who called.
        status: `ok`, `recorded` for a result of the ledger, `stored` for a page that was read
            before, or the code of a failure.
        more: Seconds, tokens and other details; plain data, never a secret.
    """
    line = {
        "at": round(time.time(), 3),
        "run": site.run,
        "step": site.step,
        "attempt": site.repetition,
        "kind": kind,
        "role": role,
        "status": status,
        **more,
    }
    _writer.get().put(check_file_name(site.run), json.dumps(line, ensure_ascii=False))
    record_line_span(line, site)


def seconds_since(started: float) -> float:
    """Return the seconds since a moment of `time.monotonic`, as lines have them."""
    return round(time.monotonic() - started, 3)


async def flush_traces() -> None:
    """Wait until every line of this event loop is written.

    Raises:
        Problem: `storage_unavailable` when one could not be written.
    """
    await _writer.get().flushed()


async def read_trace(run: str) -> list[dict[str, Any]]:
    """Return the lines of a run's trace, oldest first; an empty list without a trace.

    Raises:
        Problem: `storage_unavailable` if its file exists and cannot be read, or what the database
            tells of.
    """
    await flush_traces()
    if is_database_shared():
        lines = select(trace_lines.c.line).where(trace_lines.c.run == run)
        texts = list((await read_rows(lines.order_by(trace_lines.c.id))).scalars())
    else:
        texts = (await _read_file(run)).split("\n")
    # A killed process may leave half a line, behind which the next process goes on.
    return [line for line in map(_read, texts) if line is not None]


async def _read_file(run: str) -> str:
    file = anyio.Path(trace_file(run))
    if not await file.exists():
        return ""
    try:
        return (await file.read_bytes()).decode(errors="replace")
    except OSError as error:
        what = f"the trace cannot be read: {error.strerror}"
        raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=str(file)) from error


def describe_shortened_searches(calls: Iterable[Mapping[str, Any]]) -> str:
    """Say how many web searches were shortened or not sent for private words; nothing for none.

    One that a resumed run tries again counts once.
    """
    shortened = (call for call in calls if call["status"] in (REDACTED, WITHHELD))
    searches = {(call["step"], call["status"], str(call.get("query"))) for call in shortened}
    count = pluralize(len(searches), "web search was", "web searches were")
    return f"{count} shortened or not sent because of private words" if searches else ""


def list_withheld(calls: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return what was sent of each query with private words, and the tool it was for, each once.

    Nothing was sent of one that was withheld; a web search is for no tool.
    """
    found: dict[tuple[str, str, str], tuple[str, str]] = {}
    for call in calls:
        if call["status"] in (REDACTED, WITHHELD):
            sent = str(call.get("query")) if call["status"] == REDACTED else ""
            to = "" if call["kind"] == "search" else str(call["role"])
            found[call["step"], to, str(call.get("query") or call.get("arguments"))] = sent, to
    return list(found.values())


def list_base_searches(calls: Iterable[Mapping[str, Any]]) -> dict[str, BaseSearches]:
    """Return what knowledge bases were searched for, by name; a repeated search counts once."""
    queries: dict[str, dict[str, None]] = {}
    found: dict[str, set[str]] = {}
    for call in calls:
        if (call["kind"], call["status"]) == ("knowledge", "ok"):
            name = str(call.get("base"))
            queries.setdefault(name, {}).update(dict.fromkeys(map(str, call.get("queries") or ())))
            found.setdefault(name, set()).update(map(str, call.get("pages") or ()))
    return {
        name: BaseSearches(queries=[*asked], passages=len(found[name]))
        for name, asked in queries.items()
    }


def _read(line: str) -> dict[str, Any] | None:
    """Return a line of a trace; `None` for one that is incomplete or of another form."""
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    named = isinstance(fields, dict) and all(isinstance(fields.get(name), str) for name in NAMES)
    valid = named and all(_is_number(fields.get(name, 0)) for name in NUMBERS)
    return fields if valid and "at" in fields else None


def _is_number(value: Any) -> bool:
    """Say whether a value is a time or an amount that can be shown."""
    return isinstance(value, (int, float)) and 0 <= value <= LARGEST


class TraceWriter:
    """Writes the lines of one event loop in the background, in batches."""

    def __init__(self) -> None:
        self.waiting: list[tuple[str, str]] = []
        self.work: asyncio.Task[None] | None = None
        self.hurry = asyncio.Event()

    def put(self, run: str, line: str) -> None:
        """Queue a line of the trace of a run.

        Raises:
            Problem: `storage_unavailable` if an earlier one could not be written.
        """
        self._check()
        self.waiting.append((run, line))
        if self.work is None:
            self.work = asyncio.create_task(self._write())

    async def flushed(self) -> None:
        """Wait until every line is written."""
        self.hurry.set()
        while self.work is not None and not self.work.done():
            await asyncio.wait([self.work])
        self.hurry.clear()
        self._check()

    def _check(self) -> None:
        if self.work is None or not self.work.done():
            return
        work, self.work = self.work, None
        work.result()

    async def _write(self) -> None:
        while self.waiting:
            with suppress(TimeoutError):
                async with asyncio.timeout(GATHER):
                    await self.hurry.wait()
            lines, self.waiting = self.waiting, []
            await anyio.to_thread.run_sync(_append_all, lines)


_writer = LoopResource(TraceWriter, TraceWriter.flushed)


def _append_all(lines: list[tuple[str, str]]) -> None:
    # A character that cannot be encoded becomes an escape, which JSON understands.
    written = [(run, line.encode("utf-8", errors="backslashreplace")) for run, line in lines]
    if is_database_shared():
        rows = [{"run": run, "line": line.decode()} for run, line in written]
        # The lines may be those of several threads.
        with working_on(""):
            run_write_sync(lambda connection: connection.execute(insert(trace_lines), rows))
        return
    files: dict[Path, list[bytes]] = {}
    for run, line in written:
        files.setdefault(trace_file(run), []).append(line + b"\n")
    for file, texts in files.items():
        try:
            _append(file, b"".join(texts))
        except OSError as error:
            what = f"the trace cannot be written: {error.strerror}"
            raise Problem(ErrorCode.STORAGE_UNAVAILABLE, what, where=str(file)) from error


def _append(file: Path, lines: bytes) -> None:
    secure_home()
    file.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    with _writing, open(file, "a+b", opener=open_private) as out:
        # A process that was killed may have left half a line.
        torn = out.tell() > 0 and out.seek(-1, os.SEEK_END) and out.read(1) != b"\n"
        out.write(b"\n" + lines if torn else lines)
