"""dossier eval retrieval, eval locomo.

Run a measurement, show how far it is, and print its figures.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from app.cli.dispatch import Invocation
from app.cli.output import one_line
from app.cli.table import make_table
from config.errors import ErrorCode, Problem
from config.model_table import is_extractive
from evals.datasets import read_corpus, read_questions
from evals.locomo import measure_locomo, read_locomo, summarize_locomo
from evals.retrieval_eval import Told, measure_retrieval, open_own_store, summarize_retrieval
from graph.context import Context
from models.chat_models import load_role_model, model_for_role
from models.embeddings import load_embedder
from text.pluralization import pluralize


@contextmanager
def progress_bars() -> Iterator[Told]:
    """Tell on standard error how far work is: by bars on a terminal, else by one line a part."""
    console = Console(stderr=True)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:

        def show(what: str, done: int, count: int) -> None:
            """Show how much of something is done."""
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=count)
                if not console.is_terminal:
                    console.print(f"{what}: {count}", highlight=False)
            bar.update(tasks[what], completed=done)

        yield show


CATEGORY_SCORES = ("R@5", "R@10", "MRR")
"""The scores that are shown for each category."""


def run_retrieval_eval(
    *,
    corpus: Path,
    queries: Path,
    qrels: Path | None,
    group_field: str | None,
    embeddings: str,
    limit: int | None,
    invocation: Invocation,
) -> None:
    """Ask questions of a corpus and see whether the pages are found that answer them."""
    pages = read_corpus(corpus, group_field)
    questions = read_questions(queries, pages, group_field, qrels)[:limit]
    with open_own_store(embeddings), progress_bars() as progress:
        maker = load_embedder(embeddings)
        measured = asyncio.run(
            measure_retrieval(pages, questions, progress, vectors=maker is not None)
        )
    figures = summarize_retrieval(measured, questions)
    figures["embeddings"] = maker.name if maker else "none"
    shown = (_methods(figures), "", *_categories(figures), _sums(figures))
    invocation.print_result(figures, *shown)


def _methods(figures: dict[str, Any]) -> Table:
    names = list(next(iter(figures["methods"].values())))
    rows = make_table("method", *(Column(name, justify="right", no_wrap=True) for name in names))
    for method, row in figures["methods"].items():
        rows.add_row(method, *(_figure(name, row[name]) for name in names))
    return rows


def _categories(figures: dict[str, Any]) -> list[Table | str]:
    if len(figures["categories"]) < 2:
        return []
    pairs = list(product(CATEGORY_SCORES, ("bm25", "dossier")))
    names = ("questions", *(f"{method} {name}" for name, method in pairs))
    columns = (Column(name, justify="right") for name in names)
    rows = make_table(Column("category", overflow="fold"), *columns)
    for category, scores in figures["categories"].items():
        cells = (_figure(name, scores["methods"][method][name]) for name, method in pairs)
        rows.add_row(Text(one_line(category)), str(scores["questions"]), *cells)
    return [rows, ""]


def _sums(figures: dict[str, Any]) -> str:
    vectors = figures["embeddings"]
    seconds = f" in {figures['embed_seconds']:.1f} s" if vectors != "none" else ""
    pages = f"{figures['pages']:,} pages kept in {figures['index_seconds']:.1f} s"
    return f"{figures['queries']:,} questions, {pages}; vectors: {vectors}{seconds}"


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name == "ms" else f"{100 * value:.1f}"


LOCOMO_SCORES = ("F1", "BLEU-1", "answered")


def run_locomo_eval(*, file: Path, limit: int | None, invocation: Invocation) -> None:
    """Answer LoCoMo's questions from memory, and score the answers.

    Raises:
        Problem: `locomo_unreadable`, or `model_key_missing` where no language model is set.
    """
    corpus, questions = read_locomo(file)
    questions = questions[:limit]
    if not questions:
        raise Problem(ErrorCode.LOCOMO_UNREADABLE, "there is no question in it", where=str(file))
    if is_extractive(model_for_role("recall", Context())):
        hint = "set OPENAI_API_KEY (and OPENAI_BASE_URL), or DOSSIER_MODEL"
        raise Problem(ErrorCode.MODEL_KEY_MISSING, "short answers need a language model", hint=hint)
    played = asyncio.run(load_role_model("recall", Context())).metadata or {}
    begun = time.monotonic()
    with open_own_store(), progress_bars() as progress:
        rows = asyncio.run(measure_locomo(corpus, questions, progress))
    figures = summarize_locomo(questions, rows)
    figures |= {**played, "pages": len(corpus), "seconds": round(time.monotonic() - begun, 1)}
    summary = f"{pluralize(len(corpus), 'page')}, {figures['model']}, {figures['seconds']} s"
    invocation.print_result(figures, _locomo_table(figures), "", summary)


def _locomo_table(figures: dict[str, Any]) -> Table:
    names = ("questions", *LOCOMO_SCORES)
    numbers = (Column(name, justify="right", no_wrap=True) for name in names)
    rows = make_table("category", *numbers)
    for category, scores in {**figures["categories"], "all": figures}.items():
        shares = (f"{100 * scores[name]:.1f}" for name in LOCOMO_SCORES)
        rows.add_row(category, str(scores["questions"]), *shares)
    return rows
