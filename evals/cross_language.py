"""Measure whether questions find pages in the other language, and what the extractive model quotes.

Run `python -m evals.cross_language`; `--data ../shared/data` puts pages of encyclopedias in both
languages among those of `cross_language.toml`. Every question is searched for as a run does it
before planning, and answered by the extractive model from what a researcher is shown.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage

from evals.datasets import read_json_lines
from evals.retrieval_eval import OWNER, open_own_store
from graph.context import Context
from library.page_retrieval import search_pages
from library.page_rows import NewPage
from library.store import store_pages
from models.extractive.model import ExtractiveChatModel
from models.extractive.prompt_parser import PromptFinding, parse_prompt
from models.extractive.query_rewriting import rewrite_question
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from runs.call_site import CallSite
from storage.engine import close_database
from text.pattern_files import read_packaged_toml
from tools.evidence import SearchRequest, gather_evidence

BACKGROUND_TOKENS = 700
"""The tokens of what one query finds before planning, as in `nodes/background.py`."""

OTHERS = ("cmrc2018", "hotpotqa")
"""The sets whose pages are put among the others, one in each language."""

COLUMNS = ("R@1", "R@5", "found", "first", "answer", "refused", "unsure")
"""What is measured of questions: the share whose page is the first of a search or among five; is
among the passages before planning; is quoted first; whose answer is quoted; that get no quote; and
whose quotes are said to be no sure answer."""


class _Question(NamedTuple):
    text: str
    page: str = ""
    answers: Sequence[str] = ()
    way: str = "none"


def main() -> None:
    """Print one row for each way in which questions can find their pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of the data sets")
    parser.add_argument("--others", type=int, default=500, help="how many pages of each set")
    parser.add_argument("--embeddings", default="none", help="the embedder, as in the settings")
    chosen = parser.parse_args()
    names = OTHERS if chosen.data else ()
    others = [
        page
        for name in names
        for page in read_json_lines(chosen.data / name / "corpus.jsonl")[: chosen.others]
    ]
    with open_own_store(chosen.embeddings):
        rows = asyncio.run(_measure(others))
    print(f"{'way':<18}{'n':>4}" + "".join(f"{name:>9}" for name in COLUMNS))
    for way, scores in rows.items():
        print(f"{way:<18}{len(scores):>4}" + "".join(map(_share, _means(scores))))


async def _measure(others: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, float]]]:
    """Return the scores of the questions by their language and way."""
    data = read_packaged_toml("evals", "cross_language.toml")
    try:
        await _store(data["pages"], others)
        rows: dict[str, list[dict[str, float]]] = {}
        languages = {page["id"]: page["language"] for page in data["pages"]}
        for number, question in enumerate(_Question(**one) for one in data["questions"]):
            other = languages.get(question.page, "")
            way = f"{question.way} -> {other}" if other else "no answer"
            rows.setdefault(way, []).append(await _ask(number, question))
        return rows
    finally:
        await close_database()


async def _store(pages: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]]) -> None:
    for page in [*pages, *others]:
        new = NewPage(title=page["title"], place="", text=page["text"].strip())
        await store_pages(OWNER, "web", f"https://example.org/{page['id']}", [new])


async def _ask(number: int, question: _Question) -> dict[str, float]:
    """Search for a question and let the model answer it; return its scores."""
    here = CallSite(OWNER, f"t{number}", f"t{number}-1", "", "0")
    hits = [_id(hit.page.location) for hit in await search_pages(OWNER, question.text, 5)]
    queries = await _queries(question.text)
    shown = set[str]()
    for query in queries:
        wanted = SearchRequest([query], about=query, web=False, max_tokens=BACKGROUND_TOKENS)
        before = await gather_evidence(here, Context(), wanted)
        shown |= {_id(source["location"]) for source in before.sources.values()}
    scores = await _answer(here, question, queries)
    if question.page:
        scores["R@1"] = float(question.page in hits[:1])
        scores["R@5"] = float(question.page in hits)
        scores["found"] = float(question.page in shown)
    return scores


async def _queries(question: str) -> list[str]:
    """Return the queries of a question, which is the first."""
    request = join_prompt_blocks(
        render_block("outline", "2 documents", languages="en zh"),
        render_block("question", question),
        render_block("count", "3"),
    )
    answer = rewrite_question(parse_prompt([HumanMessage(request)]))
    return list(dict.fromkeys([question, *map(str, _list(answer["queries"]))]))[:4]


async def _answer(here: CallSite, asked: _Question, queries: Sequence[str]) -> dict[str, float]:
    """Let the model write the finding of a step that has the question as its title."""
    wanted = SearchRequest(queries, about=asked.text, web=False, subject=asked.text)
    evidence = await gather_evidence(here, Context(), wanted)
    step = render_block("step", asked.text, title=asked.text)
    pages = render_pages_block(evidence.passages, evidence.sources)
    request = HumanMessage(join_prompt_blocks(render_block("question", asked.text), step, pages))
    reply = ExtractiveChatModel().invoke([request])
    quotes = PromptFinding("s1", asked.text, "ok", reply.text).quotes
    scores = {
        "refused": float(not quotes),
        "unsure": float(bool(quotes) and reply.response_metadata.get("unsure") is not None),
    }
    if asked.page:
        first = _id(evidence.sources[quotes[0].source]["location"]) if quotes else ""
        said = "\n".join(quote.text for quote in quotes)
        scores["first"] = float(first == asked.page)
        scores["answer"] = float(any(answer in said for answer in asked.answers))
    return scores


def _id(location: str) -> str:
    return location.rpartition("/")[2]


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def _means(scores: Sequence[Mapping[str, float]]) -> list[float | None]:
    values = ([one[name] for one in scores if name in one] for name in COLUMNS)
    return [sum(some) / len(some) if some else None for some in values]


def _share(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.0%}':>9}"


if __name__ == "__main__":
    main()
