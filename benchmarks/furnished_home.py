"""Measure what many runs leave behind: the size of a home, and how fast its commands stay.

`python -m benchmarks.furnished_home --runs 300`: so many questions are asked, each in a thread of
its own, of the model without a key over the example folder. At a few marks on the way the size of
the home is printed by file and by table, and `dossier runs`, `dossier search` and `dossier ask` are
each timed as a whole process, the fastest of three. `--prune` deletes all runs at the end and
prints the size once more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

DOCS = Path("examples/docs")
DOSSIER = str(Path(sys.executable).with_name("dossier"))

ASKED = ("forget", "sleep", "interfere with memory", "fade", "be measured", "be explained")
THINGS = ("memories", "traces", "names", "syllables", "skills", "dreams", "lists", "faces")

MARKS = (10, 50, 100, 200, 300, 1000)
"""After how many runs something is measured."""


def main() -> None:
    """Ask so many questions and print a table of sizes and seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--prune", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DOSSIER_HOME": folder, "LANGSMITH_TRACING": "false"}
        home = Path(folder)
        print("runs  home MB  checkpoints  database  traces  KB a run   runs s  search s   ask s")
        done, before = 0, 0
        for mark in [one for one in MARKS if one < options.runs] + [options.runs]:
            asyncio.run(_ask(range(done, mark)))
            size = _size(home)
            _print(home, mark, (size - before) / (mark - done))
            # The run that was timed is one more.
            done, before = mark, _size(home)
        _print_tables(home)
        if options.prune:
            _time("runs", "prune", "--keep", "0d", "--yes")
            _print(home, 0, 0.0)


async def _ask(numbers: range) -> None:
    """Ask a question for each number, without the command line around it."""
    from config.settings import settings  # noqa: PLC0415
    from graph.context import Context  # noqa: PLC0415
    from graph.session import open_session  # noqa: PLC0415
    from runs.call_site import join_owner  # noqa: PLC0415
    from runs.lifecycle import set_run_status  # noqa: PLC0415
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415

    owner = join_owner(settings().user, "")
    library = await ingest_folder(owner, DOCS, lambda _: None)
    context = Context(auto_accept=True, files=[library.root])
    for number in numbers:
        question = f"Why do {THINGS[number % 8]} {ASKED[number // 8 % 6]} in case {number}?"
        async with open_session(f"t{number}") as opened:
            outcome = await opened.begin(question, context, lambda _: None)
        await set_run_status(owner, f"t{number}-1", outcome.state["status"])


def _print(home: Path, runs: int, growth: float) -> None:
    parts = [home / "checkpoints.db", home / "dossier.db", home / "traces"]
    sizes = "".join(f"{_size(part) / 1e6:10.1f}" for part in parts)
    seconds = [
        _time("runs"),
        _time("search", "why memories fade"),
        _time("ask", "--yes", "--force", "--out", str(home / "out"), "--docs", str(DOCS), ASKED[0]),
    ]
    times = "".join(f"{one:9.2f}" for one in seconds)
    print(f"{runs:4} {_size(home) / 1e6:8.1f} {sizes} {growth / 1e3:9.1f} {times}", flush=True)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def _time(*words: str) -> float:
    """Return the seconds that a command takes, the fastest of three."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([DOSSIER, *words], check=False, capture_output=True)  # noqa: S603
        best = min(best, time.perf_counter() - started)
    return best


def _print_tables(home: Path) -> None:
    """Print the tables of the database that take the most room."""
    with closing(sqlite3.connect(home / "dossier.db")) as connection:
        rows = connection.execute(
            "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 12"
        )
        print(", ".join(f"{name} {size / 1e6:.1f}" for name, size in rows), "MB")


if __name__ == "__main__":
    main()
