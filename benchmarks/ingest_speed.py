"""Measure how fast documents are read: processor time of each stage, pages kept, and memory.

`python -m benchmarks.ingest_speed`: a made-up English text of 8 MB. `python -m
benchmarks.ingest_speed FOLDER`: a folder of yours. With `--beside TREE`, another checkout with its
own `.venv` reads the same in turns, `--times` times each, and the best of each counts. What counts
is the time of all processors together: a machine with two cores that do nothing else needs half of
it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from config.resources import replace_resources

Answer = TypeVar("Answer")

OWNER = "eval/"

SIZE = 8_000_000
"""How many characters the text has that is made up."""

LINE = 80
"""How many columns its lines have."""

GOAL = 3.0
"""The megabytes of plain text that two cores are to read in a second."""

CORES = 2

STAGES = ("sections", "pages", "words", "whole reading", "vectors")
"""The first three are measured alone in one process, the last two with everything around them."""


def main() -> None:
    """Measure this tree, and another one beside it, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--beside", type=Path, metavar="TREE")
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="measure once and print JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = (options.folder or _made(Path(place))).resolve()
        if options.json:
            print(json.dumps(_measure(folder)))
            return
        trees = [Path.cwd(), *([options.beside.resolve()] if options.beside else [])]
        every = [{tree: _of(tree, folder) for tree in trees} for _ in range(options.times)]
    best = {tree: _best([one[tree] for one in every]) for tree in trees}
    _print(best)


def _measure(folder: Path) -> dict[str, float]:
    """Read a folder in a data folder of its own, and return the figures."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        replace_resources().close()
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
        # The stages hold everything in memory, so the whole comes first.
        whole = asyncio.run(_whole(folder))
        plain = [file for file in sorted(folder.rglob("*")) if file.suffix == ".txt"]
        return {"mb": size} | whole | _stages(plain)


def _stages(files: list[Path]) -> dict[str, float]:
    """Return the seconds of a processor for each stage of plain text, in this process alone."""
    from library.page_rows import NewPage, join_search_words  # noqa: PLC0415
    from tools.files.file_reader import read_file  # noqa: PLC0415
    from tools.files.formats import (  # noqa: PLC0415
        FILE_READERS,
        FileContent,
        FileLimits,
    )

    # Older trees have this function in another module.
    cut_up = import_module("library.memorizer").parts
    given = [FileContent(file.read_bytes(), file.suffix, FileLimits()) for file in files]
    sections, first = _timed(
        lambda: [
            one for file in given for one in read_file(FILE_READERS[file.suffix], file)["sections"]
        ]
    )
    new = [NewPage(title="", place=one["place"], text=one["text"]) for one in sections]
    pages, second = _timed(lambda: [part for page in new for part in cut_up(page)])
    _, third = _timed(lambda: [join_search_words(page["text"]) for page in pages])
    return {"text_mb": sum(len(file.data) for file in given) / 1e6} | dict(
        zip(STAGES, (first, second, third), strict=False)
    )


async def _whole(folder: Path) -> dict[str, float]:
    from library.vector_upkeep import update_vectors  # noqa: PLC0415
    from storage.engine import close_database, get_engine  # noqa: PLC0415
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415
    from tools.worker_pool import end_workers, idle_workers  # noqa: PLC0415

    await get_engine()
    started, worked = time.perf_counter(), _processor()
    library = await ingest_folder(OWNER, folder, lambda _: None)
    wall = time.perf_counter() - started
    # Only of processes that have ended the time is known.
    end_workers(idle_workers.get())
    read = _processor() - worked
    made, vectors = time.process_time(), await update_vectors()
    figures = {"whole reading": read, "vectors": time.process_time() - made, "wall": wall}
    await close_database()
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    most = [resource.getrusage(kind).ru_maxrss / 1024 for kind in kinds]
    counts = {"files": library.files, "kept": vectors.pages}
    return figures | counts | dict(zip(("peak_mb", "worker_mb"), most, strict=True))


def _timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    started = time.process_time()
    made = work()
    return made, time.process_time() - started


def _processor() -> float:
    """Return the seconds that this process and those it has waited for have worked."""
    used = [resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _of(tree: Path, folder: Path) -> dict[str, float]:
    """Let a tree measure itself, with the program that this one has."""
    program = [str(tree / ".venv/bin/python"), str(Path(__file__).resolve()), str(folder), "--json"]
    told = subprocess.run(  # noqa: S603
        program,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        check=False,
    )
    if told.returncode:
        sys.exit(told.stderr.decode())
    found: dict[str, float] = json.loads(told.stdout)
    return found


def _best(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(row[name] for row in rows) for name in rows[0]}


def _made(place: Path) -> Path:
    """Write a made-up text of paragraphs whose lines are wrapped."""
    from benchmarks.synthetic import make_pages  # noqa: PLC0415

    lines: list[str] = []
    size = 0
    for number, page in enumerate(make_pages(SIZE)):
        words, line = f"{page['text'].capitalize()}.".split(), f"Part {number}:"
        for word in words:
            if len(line) + len(word) >= LINE:
                lines.append(line)
                size, line = size + len(line) + 1, word
            else:
                line = f"{line} {word}"
        lines += [line, ""]
        size += len(line) + 2
        if size >= SIZE:
            break
    (place / "made-up.txt").write_text("\n".join(lines), "utf-8")
    return place


def _print(best: dict[Path, dict[str, float]]) -> None:
    first = next(iter(best.values()))
    print(f"{first['files']:.0f} files, {first['mb']:.1f} MB, plain text {first['text_mb']:.1f} MB")
    print(f"{'seconds of a processor for each MB':36}" + "".join(f"{one.name:>12}" for one in best))
    for stage in STAGES:
        size = "text_mb" if stage in STAGES[:3] else "mb"
        each = [row[stage] / row[size] if row[size] else 0 for row in best.values()]
        print(f"  {stage:34}" + "".join(f"{one:12.3f}" for one in each))
    rows: dict[str, Callable[[dict[str, Any]], float]] = {
        f"MB/s of reading on {CORES} idle cores": lambda row: (
            CORES * row["mb"] / row["whole reading"]
        ),
        "MB/s by the clock, here": lambda row: row["mb"] / row["wall"],
        "peak memory, MB": lambda row: row["peak_mb"],
        "peak memory of a worker, MB": lambda row: row["worker_mb"],
        "pages": lambda row: row["kept"],
    }
    for name, of in rows.items():
        print(f"{name:36}" + "".join(f"{of(row):12.1f}" for row in best.values()))
    print(f"goal: {GOAL} MB/s of plain text")


if __name__ == "__main__":
    main()
