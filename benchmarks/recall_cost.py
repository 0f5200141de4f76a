"""Measure whether the notes of the memory researcher hold the answer, with no model at all.

Run `python -m benchmarks.recall_cost --data ../shared/data --limit 100`. The whole corpus of a set
is kept as pages in a store of its own, every question is put to the `recall` graph, and its notes
are searched for the answer, letter for letter but for case. Beside it stands what ranking the
sentences of the five best BM25 pages by the words they share with the question gives in as many
words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from rank_bm25 import BM25Plus

from config.resources import replace_resources
from graph.context import Context
from library import store as pages
from library.page_rows import NewPage
from nodes.recall.recall_graph import make_recall_graph
from storage.engine import close_database
from text.sentences import split_sentences
from text.words import query_terms, search_words

SETS = ("hotpotqa", "cmrc2018")

MOST = 200
"""How many words notes may have to count; a Chinese character is one."""

PAGES = 5


class _Result(NamedTuple):
    """What became of one question."""

    noted: bool
    """The notes hold the answer."""
    overlap: bool
    """The sentences that share most words with the question do."""
    length: int
    seconds: float


def main() -> None:
    """Print a row for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    chosen = parser.parse_args()
    os.environ["DOSSIER_MODEL"] = "extractive:"
    print(f"{'set':10} {'questions':>9} {'noted':>6} {'overlap':>8} {'words':>6} {'ms':>6}")
    for name in chosen.sets:
        with tempfile.TemporaryDirectory() as home:
            os.environ["DOSSIER_HOME"] = home
            replace_resources().close()
            results = asyncio.run(_measured(chosen.data / name, chosen.limit))
        print(
            f"{name:10} {len(results):9} {_share(one.noted for one in results):6.1f} "
            f"{_share(one.overlap for one in results):8.1f} "
            f"{sum(one.length for one in results) / len(results):6.0f} "
            f"{1000 * sum(one.seconds for one in results) / len(results):6.0f}",
            flush=True,
        )


async def _measured(folder: Path, limit: int) -> list[_Result]:
    corpus = list(_lines(folder / "corpus.jsonl"))
    for one in corpus:
        new = NewPage(title=one["title"], place="", text=one["text"])
        await pages.store_pages("local/", "web", one["id"], [new])
    index = BM25Plus([search_words(f"{one['title']}\n{one['text']}") for one in corpus])
    asked = [one for one in _lines(folder / "queries.jsonl") if _answers(one)][:limit]
    try:
        return [await _result(one, corpus, index) for one in asked]
    finally:
        await close_database()


async def _result(
    asked: Mapping[str, Any], corpus: Sequence[Mapping[str, Any]], index: BM25Plus
) -> _Result:
    graph = make_recall_graph().copy({"checkpointer": InMemorySaver()})
    thread = str(asked["id"]).replace("/", "-")
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    begun = time.perf_counter()
    state = await graph.ainvoke({"messages": [("user", asked["text"])]}, config, context=Context())
    seconds = time.perf_counter() - begun
    notes = re.sub(r" \[S\d+\]", "", state["notes"])
    plain = _overlapping(asked["text"], corpus, index)
    answers = _answers(asked)
    return _Result(_holds(notes, answers), _holds(plain, answers), _length(notes), seconds)


def _overlapping(question: str, corpus: Sequence[Mapping[str, Any]], index: BM25Plus) -> str:
    """Return the sentences of the best pages that share most words with a question."""
    wanted = set(query_terms(question))
    scores = index.get_scores(list(wanted))
    best = [corpus[at] for at in (-scores).argsort(kind="stable")[:PAGES]]
    said = [sentence.text for page in best for sentence in split_sentences(page["text"])]
    ranked = sorted(said, key=lambda text: -len(wanted & set(search_words(text))))
    return "\n".join(ranked)


def _holds(notes: str, answers: Sequence[str]) -> bool:
    """Say whether the first words of some notes hold an answer."""
    said = " ".join(_cut(notes).casefold().split())
    return any(" ".join(answer.casefold().split()) in said for answer in answers)


def _cut(text: str) -> str:
    parts = list(re.finditer(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+", text))
    return text[: parts[MOST - 1].end()] if len(parts) > MOST else text


def _length(text: str) -> int:
    return len(re.findall(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+", text))


def _answers(asked: Mapping[str, Any]) -> list[str]:
    """Return what would be an answer; none where it is no text that a page could hold."""
    given = asked.get("answers") or asked.get("answer") or []
    known = [given] if isinstance(given, str) else list(given)
    return [one for one in known if one.casefold() not in ("yes", "no")]


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _share(values: Iterator[bool]) -> float:
    told = list(values)
    return 100 * sum(told) / len(told)


if __name__ == "__main__":
    main()
