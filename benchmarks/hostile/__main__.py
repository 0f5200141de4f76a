"""Give every command hostile words, settings and stored data, and see how each ends.

`python -m benchmarks.hostile` tries six things: every argument and option of every command with
values of every wrong kind (`words`), every setting (`settings`), traces with lines of every form
(`traces`), checkpoints in which a value was replaced by one of another kind (`checkpoints`), the
same for branches, for what was written and for what is kept apart (`rows`), and streams that are
closed or full (`streams`). Rows are also tried as bytes that are cut, zeroed or of another type.

Every command must end in a named error or in its result; `internal`, a traceback, a signal, a hang
and an error without a hint are wrong, are printed, and make the exit status 1. `--only` takes some
of the six, `--share` a part of the trials, which `--seed` chooses; `--part 2/8` makes the second of
eight parts of these, which together are all of them.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from benchmarks import forks
from benchmarks.damage import COMMANDS, QUESTION
from benchmarks.hostile.homes import (
    Trial,
    checkpoint_trials,
    furnish_homes,
    restore_home,
    row_trials,
    trace_trials,
)
from config.settings import ENV_PREFIX, Settings

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
    "a\x01b",
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


def _word_trials() -> Iterator[Trial]:
    """Give every argument and every option of every command every value."""
    program = forks.load_program()
    for name in program.COMMANDS:
        command = program.load_command(name)
        if name in LEFT_OUT or getattr(command, "commands", None):
            continue
        usual = USUAL.get(name, [])
        for at in range(len([one for one in usual if not one.startswith("--")])):
            for value in VALUES:
                words = [*name.split(), *usual[:at], value, *usual[at + 1 :]]
                yield Trial(f"{name} #{at}", words, restore_home, {})
        for option in command.params:
            for value in VALUES if not getattr(option, "is_flag", True) else ():
                words = [*name.split(), *usual, option.opts[0], value]
                yield Trial(f"{name} {option.opts[0]}", words, restore_home, {})


def _setting_trials() -> Iterator[Trial]:
    """Give every setting every value."""
    for one in fields(Settings):
        name = ENV_PREFIX + one.name.upper()
        for value in VALUES:
            if one.name != "home" and len(value) < 10_000:
                for command in ("runs", "search"):
                    yield Trial(name, COMMANDS[command], restore_home, {name: value})


def _stream_trials() -> Iterator[Trial]:
    """Close the streams of every command, or let them be full."""
    for words in (*COMMANDS.values(), ["memory", "export"], ["ask", "-"], ["pages", "list"]):
        for closed in ("0", "1", "2", "01", "02", "12", "012", "full"):
            for more in ([], ["--json"]):
                yield Trial(f"streams {closed}", [*words, *more], restore_home, {}, closed)


KINDS: dict[str, Callable[[Path], Iterable[Trial]]] = {
    "words": lambda _: _word_trials(),
    "settings": lambda _: _setting_trials(),
    "traces": lambda _: trace_trials(),
    "checkpoints": checkpoint_trials,
    "rows": row_trials,
    "streams": lambda _: _stream_trials(),
}
"""What is tried, by its name."""


def _try(whole: Path, trial: Trial) -> str:
    """Make a trial on a copy of a home; return what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder, symlinks=True)
        trial.spoil(folder)
        status = forks.run_in_fork(folder, trial.words, log, trial.more, trial.closed)
        said = log.read_text("utf-8", errors="replace")
    end = forks.judge_end(status, said)
    told = re.findall(r"^error\[.*$", said, re.MULTILINE)
    bare = bool(told) and " — " not in told[-1]
    silent = "2" in trial.closed and status >= 0
    return f"{end} {said[-400:]!r}" if (end.wrong or bare) and not silent else ""


def main() -> int:
    """Print what ended as it must not; return 1 if anything did."""
    parser = argparse.ArgumentParser(description="Give every command what nobody should.")
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    forks.prepare_forks()
    dice, wrong = random.Random(asked.seed), 0
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        whole = Path(name, "whole")
        furnish_homes(whole)
        for kind in asked.only:
            every = [*KINDS[kind](whole)]
            chosen = dice.sample(every, max(1, round(len(every) * asked.share)))[part - 1 :: parts]
            faults = 0
            for one in chosen:
                if fault := _try(whole, one):
                    faults += 1
                    print(f"  {one.about}: {' '.join(one.words)!r:.120} → {fault}", flush=True)
            made = f"{len(chosen):6} of {len(every)} trials"
            print(f"{kind:12} {made}, {faults} ended as they must not", flush=True)
            wrong += faults
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
