"""Furnish homes for hostile trials, spoil their traces, and tell how a trial ended."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import forks
from benchmarks.damage import QUESTION, furnish
from benchmarks.forks import SECONDS, judge_end, make_environment


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


def try_all(whole: Path, trial: Trial) -> str:
    """Make a trial on a copy of a home; return what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder, symlinks=True)
        trial.spoil(folder)
        status = forks.run_in_fork(folder, trial.words, log, trial.more, trial.closed)
        said = log.read_text("utf-8", errors="replace")
    end = judge_end(status, said)
    told = re.findall(r"^error\[.*$", said, re.MULTILINE)
    bare = bool(told) and " — " not in told[-1]
    silent = "2" in trial.closed and status >= 0
    return f"{end} {said[-400:]!r}" if (end.wrong or bare) and not silent else ""


KILLED = 9
"""The exit status of a process that dies in the middle of its work."""

DYING = f"""
import os
from app.cli.start import main
from runs.checkpointer import CheckpointSaver

put = CheckpointSaver.put

def last(self, config, checkpoint, metadata, versions):
    branch = config["configurable"].get("checkpoint_ns", "")
    if {{moment}}:
        os._exit({KILLED})
    return put(self, config, checkpoint, metadata, versions)

CheckpointSaver.put = last
main()
"""
"""A program that runs a command of dossier, and dies before a certain checkpoint is saved."""

MOMENTS = {
    "killed": 'branch and metadata["step"] == 2',
    "written": 'branch and metadata["step"] == 1',
    "joined": 'not branch and checkpoint["channel_values"].get("findings")',
}
"""When a run dies, by the thread that it leaves: in a branch that has researched, before what a
branch has written is in its state, and before what the branches hand over is in that of the run."""


def furnish_homes(folder: Path) -> None:
    """Make a home, and beside it files of the kinds that no command should be given."""
    furnish(folder, lambda words: forks.run_in_fork(folder, words, folder.with_suffix(".err")))
    for thread in MOMENTS:
        kill_at_moment(folder, thread)
    (folder / "empty").touch()
    (folder / "zeros").write_bytes(bytes(5_000))
    (folder / "loop").symlink_to("loop")
    (folder / "words.json").write_text('{"id": "1", "text": "bees"}\n')
    (folder / "words.env").write_text("DOSSIER_LEARN_SECONDS=3\n")


def kill_at_moment(folder: Path, thread: str) -> None:
    """Leave a thread whose run was killed at one of the moments.

    Raises:
        RuntimeError: When the run came to its end.
    """
    words = ["ask", QUESTION, "--docs", "bees", "--thread", thread, "--yes"]
    made = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", DYING.format(moment=MOMENTS[thread]), *words],
        cwd=folder,
        env={**make_environment(folder), "DOSSIER_EMBEDDINGS": "none"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    if made.returncode != KILLED:
        raise RuntimeError(made.stderr.decode(errors="replace"))


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
