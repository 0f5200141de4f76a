"""dossier eval locomo: how well questions about long conversations are answered from memory."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from rich.table import Column

from app.cli.moving import moving
from app.cli.output import print_json
from app.cli.table import show, table
from config.errors import Problem
from evals.locomo import measure, read_locomo, summary
from evals.retrieving import own_store
from graph.context import Context
from models.load import model_name, playing

NAMES = ("F1", "BLEU-1", "answered")


def main(*, file: Path, limit: int | None, as_json: bool) -> int:
    """Print F1 and BLEU-1 over all questions and by category; return the exit status.

    Raises:
        Problem: `locomo_unreadable`, or `model_key_missing` where no language model is set.
    """
    corpus, questions = read_locomo(file)
    questions = questions[:limit]
    if not questions:
        raise Problem("locomo_unreadable", "there is no question in it", where=str(file))
    if model_name("recall", Context()).startswith("extractive:"):
        hint = "set OPENAI_API_KEY (and OPENAI_BASE_URL), or DOSSIER_MODEL"
        raise Problem("model_key_missing", "short answers need a language model", hint=hint)
    played = asyncio.run(playing("recall", Context())).metadata or {}
    begun = time.monotonic()
    with own_store(), moving() as told:
        rows = asyncio.run(measure(corpus, questions, told))
    figures = summary(questions, rows)
    figures |= {**played, "pages": len(corpus), "seconds": round(time.monotonic() - begun, 1)}
    if as_json:
        print_json(figures)
    else:
        _print(figures)
    return 0


def _print(figures: dict[str, Any]) -> None:
    numbers = (Column(name, justify="right", no_wrap=True) for name in ("questions", *NAMES))
    rows = table("category", *numbers)
    for category, told in {**figures["categories"], "all": figures}.items():
        shares = (f"{100 * told[name]:.1f}" for name in NAMES)
        rows.add_row(category, str(told["questions"]), *shares)
    told = f"{figures['pages']:,} pages, {figures['model']}, {figures['seconds']} s"
    show(rows, "", told)
