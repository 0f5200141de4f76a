"""dossier eval retrieval: how often the pages are found that answer a question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.progress import TimeRemainingColumn as Remaining
from rich.table import Column, Table

from app.cli.output import one_line, print_json
from app.cli.table import show, table
from evals.judged import read_corpus, read_questions
from evals.retrieving import Told, measure, own_store, summary
from models.embeddings import embedder

SHOWN = ("R@5", "R@10", "MRR")
"""The scores that are shown for each category."""


def main(
    *,
    corpus: Path,
    queries: Path,
    qrels: Path | None,
    group_field: str | None,
    embeddings: str,
    limit: int | None,
    as_json: bool,
) -> int:
    """Print the scores of every method; return the exit status."""
    pages = read_corpus(corpus, group_field)
    questions = read_questions(queries, pages, group_field, qrels)[:limit]
    with own_store(embeddings), moving() as told:
        maker = embedder(embeddings)
        measured = asyncio.run(measure(pages, questions, maker, told))
    figures = summary(measured, questions)
    figures["embeddings"] = maker.name if maker else "none"
    if as_json:
        print_json(figures)
        return 0
    show(_methods(figures), "", *_categories(figures), _sums(figures))
    return 0


@contextmanager
def moving() -> Iterator[Told]:
    """Show on standard error how far the work is: a bar on a terminal, a line for each part else."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def told(what: str, done: int, count: int) -> None:
            """Show how much of something is done."""
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=count)
                if not console.is_terminal:
                    console.print(f"{what}: {count}", highlight=False)
            bar.update(tasks[what], completed=done)

        yield told


def _methods(figures: dict[str, Any]) -> Table:
    names = list(next(iter(figures["methods"].values())))
    rows = table("method", *(Column(name, justify="right", no_wrap=True) for name in names))
    for method, row in figures["methods"].items():
        rows.add_row(method, *(_figure(name, row[name]) for name in names))
    return rows


def _categories(figures: dict[str, Any]) -> list[Table | str]:
    if len(figures["categories"]) < 2:
        return []
    names = [f"{method} {name}" for name in SHOWN for method in ("bm25", "dossier")]
    columns = (Column(name, justify="right") for name in ("questions", *names))
    rows = table(Column("category", overflow="fold"), *columns)
    for category, told in figures["categories"].items():
        pairs = [(method, name) for name in SHOWN for method in ("bm25", "dossier")]
        cells = (_figure(name, told["methods"][method][name]) for method, name in pairs)
        rows.add_row(one_line(category), str(told["questions"]), *cells)
    return [rows, ""]


def _sums(figures: dict[str, Any]) -> str:
    vectors = figures["embeddings"]
    return (
        f"{figures['queries']:,} questions, {figures['pages']:,} pages kept in "
        f"{figures['index_seconds']:.1f} s; vectors: {vectors}"
        + (f" in {figures['embed_seconds']:.1f} s" if vectors != "none" else "")
    )


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name == "ms" else f"{100 * value:.1f}"
