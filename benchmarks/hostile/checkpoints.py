"""Threads in which something that is saved was replaced."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from benchmarks.damage import COMMANDS
from benchmarks.hostile.homes import FORGED, MOMENTS, Trial

RESUMING = {
    "waits": ["resume", "waits-1", "--approve"],
    "over": COMMANDS["follow"],
    **{thread: ["resume", f"{thread}-1"] for thread in MOMENTS},
}
"""What goes on in each thread."""

BYTES = {
    "zeroed": "{column} = zeroblob(length({column}))",
    "cut": "{column} = substr({column}, 1, length({column}) / 2)",
    "null": "{column} = NULL",
    "text": "{column} = 'text'",
    "empty": "{column} = x''",
    "pickled": "type = 'pickle'",
    "untyped": "type = NULL",
}
"""What is done to the bytes of a row."""


def checkpoint_trials(whole: Path) -> Iterator[Trial]:
    """Replace every value of the newest checkpoints by values of other kinds."""
    for thread, words in [*RESUMING.items()][:2]:
        state = _newest(whole, thread)[1]["channel_values"]
        for name in (None, *state):
            for value in FORGED:
                spoil = forge_checkpoint(thread, name, value)
                yield Trial(f"{thread} {name}={value!r:.40}", words, spoil, {})
                inner = state.get(name) if name else None
                for key in inner if isinstance(inner, dict) else ():
                    spoil = forge_checkpoint(thread, name, {**(inner or {}), key: value})
                    yield Trial(f"{thread} {name}.{key}={value!r:.30}", words, spoil, {})


def row_trials(whole: Path) -> Iterator[Trial]:
    """Replace what is saved beside the newest states: branches, what was written, and entries."""
    for thread, words in RESUMING.items():
        for table, (column, _) in COLUMNS.items():
            for row, kept in list_rows(whole, table, thread):
                about = f"{thread} {table}.{column} {row}"
                for value in FORGED:
                    spoil = with_row(table, row, value)
                    yield Trial(f"{about}={value!r:.30}", words, spoil, {})
                    for name, forgery in forge_parts(kept, value):
                        told = f"{thread} {table} {row} {name}={value!r:.30}"
                        yield Trial(told, words, with_row(table, row, forgery), {})
                for how in BYTES:
                    yield Trial(f"{about} {how}", words, with_bytes(table, row, how), {})


def forge_parts(kept: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a row holds with a value in the place of each of its parts."""
    for name in kept if isinstance(kept, dict) else ():
        yield name, {**kept, name: value}
    inner = kept.get("channel_values", {}) if isinstance(kept, dict) else {}
    for name in inner:
        yield name, {**kept, "channel_values": {**inner, name: value}}


def _execute(folder: Path, statement: str, values: list[Any]) -> list[Any]:
    with contextlib.closing(sqlite3.connect(folder / "home/checkpoints.db")) as saved, saved:
        return saved.execute(statement, values).fetchall()


COLUMNS = {
    "checkpoints": ("checkpoint", "checkpoint_ns > ''"),
    "writes": (
        "value",
        "checkpoint_id = (SELECT MAX(checkpoint_id) FROM checkpoints AS newest WHERE "
        "newest.thread_id = writes.thread_id AND newest.checkpoint_ns = writes.checkpoint_ns)",
    ),
    "blobs": ("value", "1"),
}
"""The tables of a thread: where its values stand, and which rows no other trial replaces."""


def list_rows(folder: Path, table: str, thread: str) -> list[tuple[int, Any]]:
    """Return the rows of a thread that are taken up again, and what each holds."""
    column, more = COLUMNS[table]
    wanted = f"SELECT rowid, type, {column} FROM {table} WHERE thread_id = ? AND {more}"  # noqa: S608
    rows = _execute(folder, wanted, [thread])
    return [(row, JsonPlusSerializer().loads_typed((kind, data))) for row, kind, data in rows]


def with_row(table: str, row: int, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into a row of the file of checkpoints."""

    def spoil(folder: Path) -> None:
        """Forge a row."""
        packed = JsonPlusSerializer().dumps_typed(value)
        change = f"UPDATE {table} SET type = ?, {COLUMNS[table][0]} = ? WHERE rowid = ?"  # noqa: S608
        _execute(folder, change, [*packed, row])

    return spoil


def with_bytes(table: str, row: int, how: str) -> Callable[[Path], None]:
    """Return what damages the bytes of a row of the file of checkpoints."""

    def spoil(folder: Path) -> None:
        """Damage a row."""
        change = BYTES[how].format(column=COLUMNS[table][0])
        _execute(folder, f"UPDATE {table} SET {change} WHERE rowid = ?", [row])  # noqa: S608

    return spoil


NEWEST = (
    "SELECT rowid, type, checkpoint FROM checkpoints WHERE thread_id = ? "
    "AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1"
)


def _newest(folder: Path, thread: str) -> tuple[int, dict[str, Any]]:
    ((row, *typed),) = _execute(folder, NEWEST, [thread])
    return row, JsonPlusSerializer().loads_typed(tuple(typed))


def forge_checkpoint(thread: str, name: str | None, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into the newest checkpoint of a thread, or in place of its state."""

    def spoil(folder: Path) -> None:
        """Forge the newest checkpoint of a thread."""
        row, newest = _newest(folder, thread)
        if name is None:
            newest["channel_values"] = value
        else:
            newest["channel_values"][name] = value
        with_row("checkpoints", row, newest)(folder)

    return spoil
