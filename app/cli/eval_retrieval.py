"""dossier eval retrieval: how often the pages are found that answer a question."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from app.cli.moving import moving
from app.cli.output import one_line, print_json
from app.cli.table import show, table
from evals.judged import read_corpus, read_questions
from evals.retrieving import measure, own_store, summary
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
        measured = asyncio.run(measure(pages, questions, told, vectors=maker is not None))
    figures = summary(measured, questions)
    figures["embeddings"] = maker.name if maker else "none"
    if as_json:
        print_json(figures)
        return 0
    show(_methods(figures), "", *_categories(figures), _sums(figures))
    return 0


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
        rows.add_row(Text(one_line(category)), str(told["questions"]), *cells)
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
