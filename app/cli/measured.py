"""The commands that measure: eval retrieval, eval locomo."""

from __future__ import annotations

import typer

from app.cli.calling import call
from app.cli.options import (
    Conversations,
    Corpus,
    Embeddings,
    First,
    GroupField,
    Json,
    Qrels,
    Queries,
)

app = typer.Typer(help="Measure on your own data.", no_args_is_help=True)


@app.command()
def retrieval(
    corpus: Corpus,
    queries: Queries,
    qrels: Qrels = None,
    group_field: GroupField = None,
    embeddings: Embeddings = "",
    limit: First = None,
    json: Json = False,
) -> None:
    """Ask questions of a corpus and see whether the pages are found that answer them."""
    call(
        "eval_retrieval",
        corpus=corpus,
        queries=queries,
        qrels=qrels,
        group_field=group_field,
        embeddings=embeddings,
        limit=limit,
        as_json=json,
    )


@app.command()
def locomo(file: Conversations, limit: First = None, json: Json = False) -> None:
    """Answer LoCoMo's questions from memory, and score the answers."""
    call("eval_locomo", file=file, limit=limit, as_json=json)
