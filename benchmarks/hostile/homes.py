"""Furnish homes for hostile trials, and spoil what is stored in them."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from benchmarks import forks
from benchmarks.damage import COMMANDS, QUESTION, furnish
from runs.checkpointer import CheckpointSaver


class Trial(NamedTuple):
    """One command on one state of a home."""

    about: str
    words: list[str]
    spoil: Callable[[Path], None]
    more: dict[str, str]
    closed: str = ""
    """Which of the streams are closed, or `full`."""


def restore_home(folder: Path) -> None:
    """Leave everything as it is."""


KILLED = 9
"""The exit status of a process that dies in the middle of its work."""

_Moment = Callable[[str, Mapping[str, Any], Mapping[str, Any]], object]
"""Whether a checkpoint is a certain one, by the branch, the checkpoint and its metadata."""

MOMENTS: dict[str, _Moment] = {
    "killed": lambda branch, _, metadata: branch and metadata["step"] == 2,
    "written": lambda branch, _, metadata: branch and metadata["step"] == 1,
    "joined": lambda branch, saved, _: not branch and saved["channel_values"].get("findings"),
}
"""When a run dies, by the thread that it leaves: in a branch that has researched, before what a
branch has written is in its state, and before what the branches hand over is in that of the run."""


def die_at(thread: str) -> None:
    """Let this process die at the moment of a thread, before that checkpoint is saved."""
    put, is_moment = CheckpointSaver.put, MOMENTS[thread]

    def save_or_die(
        self: CheckpointSaver, config: Any, checkpoint: Any, metadata: Any, versions: Any
    ) -> Any:
        if is_moment(config["configurable"].get("checkpoint_ns", ""), checkpoint, metadata):
            os._exit(KILLED)
        return put(self, config, checkpoint, metadata, versions)

    CheckpointSaver.put = save_or_die  # type: ignore[method-assign, assignment]


def ask_in(thread: str) -> list[str]:
    """Return the command whose run dies at the moment of a thread."""
    # The home has an answer to the same question.
    return ["ask", QUESTION, "--again", "new", "--docs", "bees", "--thread", thread, "--yes"]


def furnish_homes(folder: Path) -> None:
    """Make a home, and beside it files of the kinds that no command should be given."""
    furnish(folder, lambda words: forks.run_in_fork(folder, words, folder.with_suffix(".err")))
    for thread in MOMENTS:
        log = folder.with_suffix(".err")
        status = forks.run_in_fork(folder, ask_in(thread), log, begin=partial(die_at, thread))
        if status != KILLED:
            raise RuntimeError(log.read_text("utf-8", errors="replace"))
    (folder / "empty").touch()
    (folder / "zeros").write_bytes(bytes(5_000))
    (folder / "loop").symlink_to("loop")
    (folder / "words.json").write_text('{"id": "1", "text": "bees"}\n')
    (folder / "words.env").write_text("DOSSIER_LEARN_SECONDS=3\n")


FORGED: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63 - 1,
    1.5e308,
    float("nan"),
    "",
    "x" * 10_000,
    "\x00\u202e",
    b"\xff",
    [],
    [None],
    [[[[1]]]],
    {},
    {"": None},
    {"id": 1, "steps": "none", "title": []},
)
"""What is put in the place of a value of a checkpoint."""


LINES: tuple[Any, ...] = (
    *FORGED[:9],
    *FORGED[10:],
    {"kind": 1},
    {"kind": "model", "role": "a", "step": "", "status": "ok", "at": "x"},
)
"""What stands on a line of a trace, and in the place of each of its fields."""


def trace_trials() -> Iterator[Trial]:
    """Spoil the lines of a trace, one field at a time."""
    names = ("at", "run", "kind", "role", "step", "status", "seconds", "dollars", "injected", "why")
    for value in LINES:
        for name in (None, *names):
            for words in (["runs", "show", "over-1"], ["memory", "why", "over-1"]):
                spoil = with_lines(name, value)
                yield Trial(f"trace {name}={value!r:.40}", words, spoil, {})


def with_lines(name: str | None, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into every line of a trace, or in the place of each."""

    def spoil(folder: Path) -> None:
        """Put a value into each line, or in its place."""
        file = folder / "home/traces/over-1.jsonl"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        kept = next(iter(value), "") if isinstance(value, bytes) else value
        new = [kept if name is None else {**line, name: kept} for line in lines]
        file.write_text("".join(json.dumps(line) + "\n" for line in new), "utf-8")

    return spoil


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
