"""Measure the start of commands, of one tree or of two side by side.

    python -m benchmarks.startup [--tree DIR …] [--times N]

Each tree has its program in `.venv`. In a home of its own with the examples and three runs, the
commands are called in turns, and for each the processor time of the fastest call is printed: other
work on the machine makes the wall time longer, and never the processor time shorter.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]

DOCS = str(ROOT / "examples" / "docs")

QUESTION = "How do the papers disagree about forgetting?"

COMMANDS = (
    ("--help",),
    ("runs",),
    ("search", "forgetting"),
    ("pages", "list"),
    ("memory", "list"),
    ("ask", QUESTION, "--docs", DOCS, "--quick", "--force", "--out", "report"),
)


def main() -> None:
    """Print the seconds of each command, with a column for each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, action="append", help="the folder of a program")
    parser.add_argument("--times", type=int, default=5, help="how often each command is called")
    options = parser.parse_args()
    trees = [tree.resolve() for tree in options.tree or [ROOT]]
    print(f"{'seconds of processor time':26}", *(f"{tree.name:>10}" for tree in trees))
    with tempfile.TemporaryDirectory() as folder:
        for tree in trees:
            _prepared(tree, Path(folder, tree.name))
        for words in COMMANDS:
            best = _fastest(trees, Path(folder), words, options.times)
            print(f"{' '.join(words)[:26]:26}", *(f"{seconds:10.2f}" for seconds in best))


def _prepared(tree: Path, folder: Path) -> None:
    """Have the program compiled, the examples read and three questions answered."""
    folder.mkdir()
    compiled = [str(tree / ".venv/bin/python"), "-m", "compileall", "-q", *_rooms(tree)]
    subprocess.run(compiled, check=True)  # noqa: S603 - our own command
    for number in range(3):
        question = ("ask", QUESTION, "--docs", DOCS, "--quick", "--thread", f"t{number}")
        measure_startup(tree, folder, question)


def _rooms(tree: Path) -> list[str]:
    return [str(one.parent) for one in tree.glob("*/__init__.py") if one.parent.name != "tests"]


def _fastest(trees: list[Path], folder: Path, words: tuple[str, ...], times: int) -> list[float]:
    """Return the fewest seconds that each tree took; they take turns."""
    rounds = [
        [measure_startup(tree, folder / tree.name, words) for tree in trees] for _ in range(times)
    ]
    return [min(taken) for taken in zip(*rounds, strict=True)]


def measure_startup(tree: Path, folder: Path, words: tuple[str, ...]) -> float:
    """Return the processor time of a command in a folder, which has its home too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - our own command
        [tree / ".venv/bin/dossier", *words],
        cwd=folder,
        env=os.environ | {"DOSSIER_HOME": str(folder / "home")},
        capture_output=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
