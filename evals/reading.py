"""Measure how much of what answers a question stands in the prompt of a researcher.

Run `python -m evals.reading --data ../shared/data`. The paragraphs of a set, those that answer the
questions among them, are shuffled into documents of 2,000 to 8,000 words, 20 documents for every
ten questions. Each question is researched in one step over its 20 documents: the first search, then
what the researcher is shown, then two searches of its own. No model is needed. The columns: gold
paragraphs that stand whole in the first prompt, and in the whole conversation; questions of which
all do; tokens of the first prompt; tokens that the conversation shows twice, of all it shows.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from config.resources import replace_resources
from evals.datasets import read_json_lines

if TYPE_CHECKING:
    from graph.context import Context
    from runs.call_site import CallSite
    from tools.evidence import Evidence

SETS = ("hotpotqa", "2wiki", "musique", "locomo")

FILES = {"locomo": ("corpus_session.jsonl", "queries_session.jsonl")}
"""The files of a set where they have other names than `corpus.jsonl` and `queries.jsonl`."""

DOCUMENTS = 20
WORDS = (2_000, 8_000)
SHARING = 10
"""How many questions share one set of documents."""

LINE = 80
"""Shorter lines are headings and marks, which may stand anywhere."""

OWNER = "eval/"

ROOM = 40_000
"""The most tokens that a researcher is shown at once."""


class _Collection(NamedTuple):
    """Some questions, and the documents that hold the paragraphs which answer them."""

    questions: list[dict[str, Any]]
    paragraphs: dict[str, str]
    """The gold paragraphs by id, as they stand in the documents."""
    documents: list[str]


class _Result(NamedTuple):
    """What became of one question."""

    first: float
    """The share of gold paragraphs that stand whole in the first prompt."""
    all: float
    """The share that stand whole somewhere in the conversation."""
    tokens: int
    shown: int
    """The tokens that the first prompt and the tools show together."""
    twice: int
    seconds: float


def main() -> None:
    """Print one row for each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--headings", action="store_true", help="title each paragraph")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    print("set            n   gold  later    all  tokens   shown  twice  s/step")
    for name in chosen.sets:
        collections = _collect(chosen.data / name, name, chosen)
        print(_row(name, [one for found in collections for one in _measure(found)]), flush=True)


def _collect(folder: Path, name: str, chosen: argparse.Namespace) -> Iterator[_Collection]:
    """Yield the questions of a set, ten at a time, with their documents."""
    corpus, queries = FILES.get(name, ("corpus.jsonl", "queries.jsonl"))
    pages = {page["id"]: page for page in read_json_lines(folder / corpus)}
    questions = [one for one in read_json_lines(folder / queries) if one["gold"]]
    random = Random(chosen.seed)
    random.shuffle(questions)
    questions = questions[: chosen.limit]
    for at in range(0, len(questions), SHARING):
        yield _mix(questions[at : at + SHARING], pages, random, chosen.headings)


def _mix(
    asked: list[dict[str, Any]], pages: dict[str, Any], random: Random, headings: bool
) -> _Collection:
    """Shuffle the gold paragraphs of some questions and others into documents."""
    gold = {name for question in asked for name in question["gold"]}
    sizes = [random.randint(*WORDS) for _ in range(DOCUMENTS)]
    others = [name for name in pages if name not in gold]
    random.shuffle(others)
    texts = {name: " ".join(pages[name]["text"].split()) for name in pages}
    chosen, room = [*gold], sum(sizes) - sum(len(texts[name].split()) for name in gold)
    while others and room > 0:
        chosen.append(others.pop())
        room -= len(texts[chosen[-1]].split())
    chosen.sort()
    random.shuffle(chosen)
    documents = [""] * len(sizes)
    at = 0
    for name in chosen:
        if at < len(sizes) - 1 and len(documents[at].split()) >= sizes[at]:
            at += 1
        title = f"## {pages[name]['title']}\n\n" if headings else ""
        documents[at] += f"{title}{texts[name]}\n\n"
    return _Collection(asked, {name: texts[name] for name in gold}, documents)


def _measure(found: _Collection) -> list[_Result]:
    """Read the documents into a fresh store, and research each question."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DOSSIER_HOME": f"{folder}/home", "LANGSMITH_TRACING": "false"}
        os.environ.setdefault("DOSSIER_EMBEDDINGS", "none")
        docs = Path(folder, "docs")
        docs.mkdir()
        for number, text in enumerate(found.documents, start=1):
            (docs / f"volume-{number:02}.md").write_text(f"# Volume {number}\n\n{text}", "utf-8")
        replace_resources().close()
        return asyncio.run(_research_all(found, docs))


async def _research_all(found: _Collection, docs: Path) -> list[_Result]:
    from tools.folder_ingestion import ingest_folder  # noqa: PLC0415

    library = await ingest_folder(OWNER, docs, lambda _: None)
    return [
        await _research(question, found.paragraphs, library.root) for question in found.questions
    ]


async def _research(question: dict[str, Any], paragraphs: dict[str, str], root: str) -> _Result:
    """Do what a run does up to the prompt of its only step, and search twice more."""
    from graph.context import Context  # noqa: PLC0415
    from prompts.data_blocks import list_unseen_passages, render_pages_block  # noqa: PLC0415
    from runs.call_site import CallSite  # noqa: PLC0415
    from text.tokens import count_tokens  # noqa: PLC0415
    from tools.evidence import SearchRequest, gather_evidence  # noqa: PLC0415

    thread = re.sub(r"\W", "-", question["id"])[:40]
    here = CallSite(OWNER, thread, f"{thread}-1", "s1", "0.0.0")
    context = Context(files=[root])
    start = time.perf_counter()
    read = await _read_for_step(here, context, question["text"])
    seconds = time.perf_counter() - start
    talk = [render_pages_block(read.passages, read.sources)]
    for name in question["gold"][:2]:
        query = " ".join(paragraphs[name].split()[:6])
        more = await gather_evidence(here, context, SearchRequest([query], about=query))
        talk.append(render_pages_block(list_unseen_passages(more.passages, talk), more.sources))
    said = [" ".join(one.split()) for one in talk]
    gold = [paragraphs[name] for name in question["gold"]]
    sizes = [count_tokens(one) for one in talk]
    return _Result(
        sum(one in said[0] for one in gold) / len(gold),
        sum(any(one in some for some in said) for one in gold) / len(gold),
        sizes[0],
        sum(sizes),
        _repeated(talk),
        seconds,
    )


async def _read_for_step(here: CallSite, context: Context, asked: str) -> Evidence:
    """Return what the researcher of a step is shown of a question, after the first search."""
    from graph.records import ShownSpan  # noqa: PLC0415
    from nodes.background import SHOWN  # noqa: PLC0415
    from tools.evidence import SearchRequest, gather_evidence  # noqa: PLC0415

    wanted = SearchRequest([asked], about=asked, max_tokens=SHOWN)
    first = await gather_evidence(here, context, wanted)
    seen = [
        ShownSpan(
            page=first.sources[one["source"]]["page"],
            start=one["start"],
            end=one["start"] + len(one["text"]),
        )
        for one in first.passages
    ]
    wanted = SearchRequest(
        [asked], about=asked, seen=seen, subject=asked, max_tokens=ROOM, widely=True
    )
    return await gather_evidence(here, context, wanted)


def _repeated(talk: Sequence[str]) -> int:
    """Return how many tokens are in lines that the conversation shows a second time."""
    from text.tokens import count_tokens  # noqa: PLC0415

    seen: set[str] = set()
    twice = 0
    for line in (line for said in talk for line in said.split("\n") if len(line) > LINE):
        twice += count_tokens(line) if line in seen else 0
        seen.add(line)
    return twice


def _row(name: str, results: Sequence[_Result]) -> str:
    count = max(len(results), 1)

    def mean(values: Iterator[float]) -> float:
        return sum(values) / count

    shown = sum(one.shown for one in results)
    return (
        f"{name:<12}{len(results):>4}  {mean(one.first for one in results):5.1%}  "
        f"{mean(one.all for one in results):5.1%}  "
        f"{mean(float(one.first == 1) for one in results):5.1%}  "
        f"{mean(one.tokens for one in results):6.0f}  {shown / count:6.0f}  "
        f"{sum(one.twice for one in results) / max(shown, 1):5.1%}  "
        f"{mean(one.seconds for one in results):6.2f}"
    )


if __name__ == "__main__":
    main()
