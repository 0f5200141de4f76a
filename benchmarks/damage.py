"""Damage every file of a home in every way, run every command on it, and see how each ends.

`python -m benchmarks.damage` prints a table: rows are a file and what was done to it, columns are
commands. A cell is the exit status, with the code of the error where there is one. Every command
must end in a named error or in its result; `internal`, a traceback, a signal and a hang are wrong
and are marked, and make the exit status 1. `--files` and `--commands` take some of them only.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import forks
from benchmarks.forks import ForkEnd, judge_end

QUESTION = "Who described the waggle dance, and when?"
TEXT = b"This is a note, and nothing that a program would have written.\n"
PAGE = 4096
"""The bytes of a page of a database."""

COMMANDS = {
    "ask": ["ask", QUESTION, "--docs", "bees", "--yes"],
    "follow": ["ask", "And what does it tell?", "--thread", "over", "--yes"],
    "resume": ["resume", "waits-1", "--approve"],
    "runs": ["runs"],
    "show": ["runs", "show", "over-1"],
    "search": ["search", "waggle dance"],
    "memory": ["memory", "list"],
    "doctor": ["doctor"],
}
"""What is run on a damaged home, by short names."""

FILES = {
    "database": "home/dossier.db",
    "its WAL": "home/dossier.db-wal",
    "checkpoints": "home/checkpoints.db",
    "their WAL": "home/checkpoints.db-wal",
    "trace": "home/traces/over-1.jsonl",
    "lock": "home/locks/over.lock",
    ".env": "home/.env",
    "models.toml": "models.toml",
    "AGENTS.md": "home/AGENTS.md",
    "report.md": "reports/over-1/report.md",
    "report.html": "reports/over-1/report.html",
}
"""The files that are damaged, by what they are."""


def _zeroed(content: bytes, dice: random.Random) -> bytes:
    """Write zeros over a page, never the first one, or over the middle of what is smaller."""
    if len(content) < 2 * PAGE:
        third = len(content) // 3
        return content[:third] + bytes(third) + content[2 * third :]
    start = PAGE * dice.randrange(1, len(content) // PAGE)
    return content[:start] + bytes(PAGE) + content[start + PAGE :]


def _flipped(content: bytes, dice: random.Random) -> bytes:
    """Turn over one bit in about two hundred bytes."""
    changed = bytearray(content or b"\0")
    for _ in range(len(content) // 200 + 1):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes | None]] = {
    "empty": lambda _, __: b"",
    "cut": lambda content, _: content[: len(content) * 3 // 5],
    "zeroed": _zeroed,
    "flipped": _flipped,
    "text": lambda content, _: TEXT * (len(content) // len(TEXT) + 1),
    "gone": lambda _, __: None,
}
"""What is done to a file: what is left of its bytes, or nothing where it is gone."""


def damage(file: Path, how: str, seed: int) -> None:
    """Damage a file in one way; which of its bytes is decided by the seed."""
    left = DAMAGES[how](file.read_bytes(), random.Random(seed))
    if left is None:
        file.unlink()
    else:
        file.write_bytes(left)


def furnish(folder: Path, run: Callable[[Sequence[str]], object]) -> None:
    """Make a home with a finished run, one that waits, a fact, and logs not yet written back.

    Args:
        folder: Where.
        run: Runs a command of dossier there.
    """
    (folder / "bees").mkdir(parents=True)
    text = "# The dance\n\nKarl von Frisch described the waggle dance in 1927.\n"
    (folder / "bees" / "dance.md").write_text(text, "utf-8")
    (folder / "models.toml").write_text('default = "extractive:"\n')
    docs = ["--docs", "bees", "--thread"]
    run(["ask", QUESTION, *docs, "over", "--yes", "--out", "reports/over-1"])
    (folder / "home" / "AGENTS.md").write_text("Write short sentences.\n")
    (folder / "home" / ".env").write_text("DOSSIER_LEARN_SECONDS=30\n")
    # A connection that stays open keeps the others from writing their logs back.
    names = ("dossier.db", "checkpoints.db")
    held = [sqlite3.connect(folder / "home" / name) for name in names]
    for one in held:
        one.execute("SELECT count(*) FROM sqlite_master").fetchall()
    run(["memory", "add", "Keeps bees"])
    run(["ask", QUESTION, *docs, "waits", "--review"])
    shutil.copytree(folder / "home", folder / "kept")
    for one in held:
        one.close()
    shutil.rmtree(folder / "home")
    (folder / "kept").rename(folder / "home")


def _trial(whole: Path, file: str, how: str, command: str, seed: int) -> ForkEnd:
    with tempfile.TemporaryDirectory(prefix="damage-") as name:
        folder, log = Path(name, "place"), Path(name, "log.err")
        shutil.copytree(whole, folder)
        damage(folder / FILES[file], how, seed)
        status = forks.run_in_fork(folder, COMMANDS[command], log)
        return judge_end(status, log.read_text("utf-8", errors="replace"))


def main() -> int:
    """Print the table; return 1 if a command ended as it must not."""
    parser = argparse.ArgumentParser(description="Damage a home and run every command on it.")
    parser.add_argument("--files", nargs="*", default=list(FILES), choices=list(FILES))
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    wrong = 0
    print(f"{'file':12} {'damage':8}", *(f"{name:24}" for name in asked.commands))
    forks.prepare_forks()
    with tempfile.TemporaryDirectory(prefix="damage-") as name:
        whole = Path(name, "whole")
        furnish(whole, lambda words: forks.run_in_fork(whole, words, Path(name, "whole.err")))
        for file in asked.files:
            for how in DAMAGES:
                ends = [_trial(whole, file, how, one, asked.seed) for one in asked.commands]
                wrong += sum(end.wrong for end in ends)
                print(f"{file:12} {how:8}", *(f"{end!s:24}" for end in ends), flush=True)
    print(f"\n{wrong} ended as they must not")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
