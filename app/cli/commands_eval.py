"""Declare the commands that measure: eval retrieval, eval locomo."""

from __future__ import annotations

import typer

from app.cli.dispatch import run_command
from app.cli.options import (
    CorpusOption,
    EmbeddingsOption,
    GroupFieldOption,
    JsonOption,
    LocomoFileArgument,
    QrelsOption,
    QueriesOption,
    QuestionLimitOption,
)

eval_app = typer.Typer(help="Measure on your own data.", no_args_is_help=True)


@eval_app.command("retrieval")
def eval_retrieval_command(
    corpus: CorpusOption,
    queries: QueriesOption,
    qrels: QrelsOption = None,
    group_field: GroupFieldOption = None,
    embeddings: EmbeddingsOption = "",
    limit: QuestionLimitOption = None,
    json: JsonOption = False,
) -> None:
    """Ask questions of a corpus and see whether the pages are found that answer them."""
    run_command(
        "eval_runs",
        "run_retrieval_eval",
        corpus=corpus,
        queries=queries,
        qrels=qrels,
        group_field=group_field,
        embeddings=embeddings,
        limit=limit,
        as_json=json,
    )


@eval_app.command("locomo")
def eval_locomo_command(
    file: LocomoFileArgument, limit: QuestionLimitOption = None, json: JsonOption = False
) -> None:
    """Answer LoCoMo's questions from memory, and score the answers."""
    run_command("eval_runs", "run_locomo_eval", file=file, limit=limit, as_json=json)
