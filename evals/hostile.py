"""Give every command hostile words, settings and stored data, and see how each ends.

`python -m evals.hostile` tries six things: every argument and option of every command with values
of every wrong kind (`words`), every setting (`settings`), traces with lines of every form
(`traces`), checkpoints in which a value was replaced by one of another kind (`checkpoints`), the
same for branches, for what was written and for what is kept apart (`rows`), and streams that are
closed or full (`streams`).

Every command must end in a named error or in its result; `internal`, a traceback, a signal, a hang
and an error without a hint are wrong, are printed, and make the exit status 1. `--only` takes some
of the six, `--share` a part of the trials, which `--seed` chooses.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import typer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from config.settings import PREFIX, Settings, settings
from evals.damage import COMMANDS, QUESTION, environment, furnish, judged

SECONDS = 60
"""How long a command may take before it counts as hanging."""

KILLED = 9
"""The exit status of the process that dies in the middle of a branch."""

DYING = f"""
import os
import graph.step
graph.step.reflection = lambda state, runtime: os._exit({KILLED})
from app.cli.start import main
main()
"""
"""A program that runs a command of dossier, and dies when a step has been researched."""

COMMAND_MODULES = (
    "ask experience feedback forget ingest memories memory_files memory_log memory_moves "
    "memory_why pages prune recall resume runs search token doctor"
)
"""What is imported before all trials, so that a trial takes a tenth of a second."""

USUAL: dict[str, list[str]] = {
    "ask": [QUESTION],
    "resume": ["waits-1"],
    "feedback": ["over-1", "up"],
    "runs show": ["over-1"],
    "ingest": ["bees"],
    "search": ["waggle dance"],
    "recall": [QUESTION],
    "pages show": ["f23a9f3a8e44dda121b4234e"],
    "pages search": ["waggle"],
    "pages remove": ["f23a9f3a8e44dda121b4234e"],
    "pages forget": ["f23a9f3a8e44dda121b4234e", "--dry-run"],
    "memory show": ["profile"],
    "memory search": ["bees"],
    "memory add": ["Keeps bees in Oslo"],
    "memory edit": ["1f0c9a2b", "Keeps goats"],
    "memory forget": ["1f0c9a2b", "--dry-run"],
    "memory why": ["over-1"],
    "memory diff": ["1"],
    "memory undo": ["1"],
    "memory export": ["out.json"],
    "memory import": ["words.json"],
    "memory import-runs": ["words.json"],
    "memory approve": ["3c1d"],
    "memory reject": ["3c1d"],
    "settings import": ["words.env"],
    "trust": ["bees"],
    "eval retrieval": ["--corpus", "words.json", "--queries", "words.json"],
    "eval locomo": ["words.json"],
}
"""The arguments that a command needs."""

LEFT_OUT = ("serve",)
"""What becomes another program."""

VALUES = (
    "",
    " ",
    "-",
    "--",
    "-1",
    "0",
    "1.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    str(2**31),
    str(2**63),
    "9" * 5_000,
    "\u0663",
    "\u200b\u200d",
    "\u3164",
    "a\u0000b".replace("\u0000", "\x01"),
    "\x1b[2J\x1b]0;x\x07",
    "\u202etxt.exe",
    os.fsdecode(b"\xff\xfe"),
    "\U0001f41d" * 40,
    "x" * 100_000,
    "a\nb",
    "%s%n{}{0}",
    "'; DROP TABLE runs; --",
    "../../../../etc/passwd",
    "/",
    ".",
    "bees",
    "bees/dance.md",
    "bees/dance.md/below",
    "nowhere/at/all",
    "empty",
    "zeros",
    "loop",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/urandom",
    "name=value",
    "max_steps=" + "9" * 400,
    "max_cost=nan",
    '{"a": ' * 2_000,
)
"""What is given in the place of every argument and option."""

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


class Trial(NamedTuple):
    """One command on one state of a home."""

    about: str
    words: list[str]
    spoil: Callable[[Path], None]
    more: dict[str, str]
    closed: str = ""
    """Which of the streams are closed, or `full`."""


def _unspoilt(folder: Path) -> None:
    """Leave everything as it is."""


def _of_words() -> Iterator[Trial]:
    """Give every argument and every option of every command every value."""
    for name, command in _commands(typer.main.get_command(_program().app)):
        usual = USUAL.get(name, [])
        for at in range(len([one for one in usual if not one.startswith("--")])):
            for value in VALUES:
                words = [*name.split(), *usual[:at], value, *usual[at + 1 :]]
                yield Trial(f"{name} #{at}", words, _unspoilt, {})
        for option in command.params:
            for value in VALUES if not getattr(option, "is_flag", True) else ():
                words = [*name.split(), *usual, option.opts[0], value]
                yield Trial(f"{name} {option.opts[0]}", words, _unspoilt, {})


def _program() -> Any:
    """Return the program, which is tried from outside and no part of what measures it."""
    return importlib.import_module("app.cli.main")


def _commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", {})
    if path and not below and path not in LEFT_OUT:
        yield path, command
    for name, one in below.items():
        yield from _commands(one, f"{path} {name}".strip())


def _of_settings() -> Iterator[Trial]:
    """Give every setting every value."""
    for one in fields(Settings):
        name = PREFIX + one.name.upper()
        for value in VALUES:
            if one.name != "home" and len(value) < 10_000:
                for command in ("runs", "search"):
                    yield Trial(name, COMMANDS[command], _unspoilt, {name: value})


def _of_traces() -> Iterator[Trial]:
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


def _of_checkpoints(whole: Path) -> Iterator[Trial]:
    """Replace every value of the newest checkpoints by values of other kinds."""
    ways = {"waits": ["resume", "waits-1", "--approve"], "over": COMMANDS["follow"]}
    for thread, words in ways.items():
        state = _newest(whole, thread)["channel_values"]
        for name in (None, *state):
            for value in FORGED:
                spoil = forged(thread, name, value)
                yield Trial(f"{thread} {name}={value!r:.40}", words, spoil, {})
                inner = state.get(name) if name else None
                for key in inner if isinstance(inner, dict) else ():
                    spoil = forged(thread, name, {**(inner or {}), key: value})
                    yield Trial(f"{thread} {name}.{key}={value!r:.30}", words, spoil, {})


def _of_rows(whole: Path) -> Iterator[Trial]:
    """Replace what is saved beside the newest states: branches, what was written, and entries."""
    ways = {"waits": ["resume", "waits-1", "--approve"], "over": COMMANDS["follow"]}
    for thread, words in {**ways, "killed": ["resume", "killed-1"]}.items():
        for table, (column, _) in COLUMNS.items():
            for row, kept in rows(whole, table, thread):
                for value in FORGED:
                    spoil = with_row(table, row, value)
                    yield Trial(f"{thread} {table}.{column} {row}={value!r:.30}", words, spoil, {})
                    for name, forgery in forged_parts(kept, value):
                        about = f"{thread} {table} {row} {name}={value!r:.30}"
                        yield Trial(about, words, with_row(table, row, forgery), {})


def forged_parts(kept: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a row holds with a value in the place of each of its parts."""
    for name in kept if isinstance(kept, dict) else ():
        yield name, {**kept, name: value}
    inner = kept.get("channel_values", {}) if isinstance(kept, dict) else {}
    for name in inner:
        yield name, {**kept, "channel_values": {**inner, name: value}}


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


def rows(folder: Path, table: str, thread: str) -> list[tuple[int, Any]]:
    """Return the rows of a thread that are taken up again, and what each holds."""
    column, more = COLUMNS[table]
    wanted = f"SELECT rowid, type, {column} FROM {table} WHERE thread_id = ? AND {more}"  # noqa: S608
    with contextlib.closing(sqlite3.connect(folder / "home/checkpoints.db")) as saved:
        rows = saved.execute(wanted, [thread]).fetchall()
    return [(row, JsonPlusSerializer().loads_typed((kind, data))) for row, kind, data in rows]


def with_row(table: str, row: int, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into a row of the file of checkpoints."""

    def spoil(folder: Path) -> None:
        """Forge a row."""
        packed = JsonPlusSerializer().dumps_typed(value)
        change = f"UPDATE {table} SET type = ?, {COLUMNS[table][0]} = ? WHERE rowid = ?"  # noqa: S608
        with contextlib.closing(sqlite3.connect(folder / "home/checkpoints.db")) as saved, saved:
            saved.execute(change, [*packed, row])

    return spoil


NEWEST = (
    "SELECT checkpoint_id, type, checkpoint FROM checkpoints WHERE thread_id = ? "
    "AND checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1"
)


def _newest(folder: Path, thread: str) -> dict[str, Any]:
    with contextlib.closing(sqlite3.connect(folder / "home/checkpoints.db")) as saved:
        _, kind, data = saved.execute(NEWEST, [thread]).fetchone()
    found: dict[str, Any] = JsonPlusSerializer().loads_typed((kind, data))
    return found


def forged(thread: str, name: str | None, value: Any) -> Callable[[Path], None]:
    """Return what puts a value into the newest checkpoint of a thread, or in place of its state."""

    def spoil(folder: Path) -> None:
        """Forge the newest checkpoint of a thread."""
        newest = _newest(folder, thread)
        if name is None:
            newest["channel_values"] = value
        else:
            newest["channel_values"][name] = value
        with contextlib.closing(sqlite3.connect(folder / "home/checkpoints.db")) as saved, saved:
            its = saved.execute(NEWEST, [thread]).fetchone()[0]
            packed = JsonPlusSerializer().dumps_typed(newest)
            change = "UPDATE checkpoints SET type = ?, checkpoint = ? WHERE checkpoint_id = ?"
            saved.execute(change, [*packed, its])

    return spoil


def _of_streams() -> Iterator[Trial]:
    """Close the streams of every command, or let them be full."""
    for words in (*COMMANDS.values(), ["memory", "export"], ["ask", "-"], ["pages", "list"]):
        for closed in ("0", "1", "2", "01", "02", "12", "012", "full"):
            for more in ([], ["--json"]):
                yield Trial(f"streams {closed}", [*words, *more], _unspoilt, {}, closed)


def _be(folder: Path, trial: Trial, log: Path) -> None:
    """Be the command in a process of its own, to its end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(SECONDS)
    os.chdir(folder)
    own = {**environment(folder), "DOSSIER_EMBEDDINGS": "none"}
    os.environ.clear()
    os.environ.update({**own, **trial.more})
    settings.cache_clear()
    out = "/dev/full" if trial.closed == "full" else str(log.with_suffix(".out"))
    for number, name in enumerate((os.devnull, out, str(log))):
        at = os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(at, number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        gone = str(number) in trial.closed
        mode = "w" if number else "r"
        setattr(sys, name, None if gone else open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        if gone:
            os.close(number)
    sys.argv = ["dossier", *trial.words]
    status = 1
    try:
        _program().main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:  # noqa: BLE001 - as Python itself would tell it
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(Exception):
            sys.stderr.flush()
        os._exit(status)


def tried(whole: Path, trial: Trial) -> str:
    """Make a trial on a copy of a home; return what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder, symlinks=True)
        trial.spoil(folder)
        log.touch()
        child = os.fork()
        if not child:
            _be(folder, trial, log)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = log.read_text("utf-8", errors="replace")
    end = judged(status, said)
    told = re.findall(r"^error\[.*$", said, re.MULTILINE)
    bare = bool(told) and " — " not in told[-1]
    silent = "2" in trial.closed and status >= 0
    return f"{end} {said[-400:]!r}" if (end.wrong or bare) and not silent else ""


def _furnished(folder: Path) -> None:
    """Make a home, and beside it files of the kinds that no command should be given."""
    furnish(folder, lambda words: tried_in(folder, words))
    killed(folder)
    (folder / "empty").touch()
    (folder / "zeros").write_bytes(bytes(5_000))
    (folder / "loop").symlink_to("loop")
    (folder / "words.json").write_text('{"id": "1", "text": "bees"}\n')
    (folder / "words.env").write_text("DOSSIER_LEARN_SECONDS=3\n")


def killed(folder: Path) -> None:
    """Leave a thread whose run was killed in the middle of a branch.

    Raises:
        RuntimeError: When the run came to its end.
    """
    words = ["ask", QUESTION, "--docs", "bees", "--thread", "killed", "--yes"]
    environ = {**environment(folder), "DOSSIER_EMBEDDINGS": "none"}
    made = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", DYING, *words],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    if made.returncode != KILLED:
        raise RuntimeError(made.stderr.decode(errors="replace"))


def tried_in(folder: Path, words: Sequence[str]) -> None:
    """Run a command in a folder as it is."""
    log = folder.with_suffix(".err")
    child = os.fork()
    if not child:
        _be(folder, Trial("", list(words), _unspoilt, {}), log)
    os.waitpid(child, 0)


def trials(whole: Path, kind: str) -> list[Trial]:
    """Return all trials of a kind."""
    if kind in ("checkpoints", "rows"):
        return list((_of_checkpoints if kind == "checkpoints" else _of_rows)(whole))
    every = {
        "words": _of_words,
        "settings": _of_settings,
        "traces": _of_traces,
        "streams": _of_streams,
    }
    return list(every[kind]())


KINDS = ("words", "settings", "traces", "checkpoints", "rows", "streams")


def main_of_trials() -> int:
    """Print what ended as it must not; return 1 if anything did."""
    parser = argparse.ArgumentParser(description="Give every command what nobody should.")
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    for name in COMMAND_MODULES.split():
        importlib.import_module(f"app.cli.{name}")
    dice, wrong = random.Random(asked.seed), 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        whole = Path(name, "whole")
        _furnished(whole)
        for kind in asked.only:
            every = trials(whole, kind)
            chosen = dice.sample(every, max(1, round(len(every) * asked.share)))
            faults = 0
            for one in chosen:
                if fault := tried(whole, one):
                    faults += 1
                    print(f"  {one.about}: {' '.join(one.words)!r:.120} → {fault}", flush=True)
            print(f"{kind:12} {len(chosen):6} trials, {faults} ended as they must not", flush=True)
            wrong += faults
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main_of_trials())
