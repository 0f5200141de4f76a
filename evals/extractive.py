"""Measure how well the extractive model quotes the pages that answer a question.

Run `python -m evals.extractive --data ../shared/data --limit 200`. For each set, the eight pages of
the whole corpus that share most with a question (BM25) are cut into passages and given to the
model as a researcher gets them. Then the questions of each set are asked of the nearest pages of
another set, which do not answer them. `--skip 200` measures on questions that come after those.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from langchain_core.messages import HumanMessage
from rank_bm25 import BM25Plus

from evals.datasets import read_json_lines
from graph.records import Passage, Source
from models.extractive.finding_review import review_finding
from models.extractive.model import ExtractiveChatModel
from models.extractive.prompt_parser import PromptFinding, parse_prompt
from prompts.data_blocks import join_prompt_blocks, render_block, render_pages_block
from text.passage_splitting import split_passages
from text.words import query_terms, search_words

OTHERS = {
    "hotpotqa": "musique",
    "musique": "hotpotqa",
    "2wiki": "musique",
    "cmrc2018": "rgb_zh_int",
    "drcd": "cmrc2018",
    "rgb_zh_int": "cmrc2018",
}
"""For each set, the set in the same language whose pages do not answer its questions."""

PAGES = 8


class _Corpus(NamedTuple):
    """The pages of a set, ready to be searched."""

    pages: list[dict[str, Any]]
    index: BM25Plus

    def nearest(self, question: str) -> list[dict[str, Any]]:
        """Return the pages that share most with a question, best first."""
        scores = self.index.get_scores(query_terms(question))
        best = (-scores).argsort(kind="stable")[:PAGES]
        return [self.pages[at] for at in best if scores[at] > 0]


class _Result(NamedTuple):
    """What became of one question."""

    there: bool
    """A page that answers it was among those given."""
    quotes: int
    gold: bool
    first: bool
    """The first quote is of a page that answers it."""
    answer: bool | None
    """A quote holds the answer; None where the set gives no answer that could be quoted."""
    at_once: bool | None
    """The first quote does."""
    passed: bool
    seconds: float


def main() -> None:
    """Print one row for each set, then one for each set asked of another one's pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--sets", nargs="*", default=list(OTHERS), choices=list(OTHERS))
    chosen = parser.parse_args()
    needed = {*chosen.sets, *(OTHERS[name] for name in chosen.sets)}
    missing = sorted(name for name in needed if not (chosen.data / name / "corpus.jsonl").exists())
    if missing:
        parser.error(f"{chosen.data} has no pages of {', '.join(missing)}")
    picked = slice(chosen.skip, chosen.skip + chosen.limit)
    print(
        "questions -> pages        n  there  gold first answer at once quotes refused passed    ms"
    )
    pairs = [(name, name) for name in chosen.sets] + [(name, OTHERS[name]) for name in chosen.sets]
    for name, other in pairs:
        title = f"{name} -> {'itself' if other == name else other}"
        print(_row(title, _measure(chosen.data, name, other, picked)))


def _measure(data: Path, questions: str, pages: str, picked: slice) -> list[_Result]:
    """Ask the picked questions of one set of the nearest pages of another or the same."""
    found = read_json_lines(data / questions / "queries.jsonl")
    Random(1).shuffle(found)
    searched = _read_corpus(data / pages / "corpus.jsonl")
    return [_ask(query, searched.nearest(query["text"])) for query in found[picked]]


def _ask(query: Mapping[str, Any], pages: Sequence[Mapping[str, Any]]) -> _Result:
    """Let the model research one question, and see whose pages it quotes."""
    ids = {f"S{number}": page["id"] for number, page in enumerate(pages, start=1)}
    request = HumanMessage(_make_prompt(query["text"], pages))
    start = time.process_time()
    text = ExtractiveChatModel().invoke([request]).text
    seconds = time.process_time() - start
    finding = PromptFinding("s1", query["text"], "ok", text)
    prompt = parse_prompt([request])._replace(findings=(finding,))
    sources = [ids[quote.source] for quote in finding.quotes]
    return _Result(
        there=not set(query["gold"]).isdisjoint(ids.values()),
        quotes=len(sources),
        gold=not set(query["gold"]).isdisjoint(sources),
        first=bool(sources) and sources[0] in query["gold"],
        answer=_answered(query, [quote.text for quote in finding.quotes]),
        at_once=_answered(query, [quote.text for quote in finding.quotes[:1]]),
        passed=bool(review_finding(prompt)["passed"]),
        seconds=seconds,
    )


def _make_prompt(question: str, pages: Sequence[Mapping[str, Any]]) -> str:
    """Return what a researcher is asked who is shown the passages of some pages."""
    named = {f"S{number}": page for number, page in enumerate(pages, start=1)}
    sources = {
        name: Source(id=name, page="", title=page["title"], location="", kind="file")
        for name, page in named.items()
    }
    cut = [
        Passage(source=name, text=passage.text)
        for name, page in named.items()
        for passage in split_passages(page["text"])
    ]
    step = render_block("step", question, title=question)
    return join_prompt_blocks(
        render_block("question", question), step, render_pages_block(cut, sources)
    )


def _answered(query: Mapping[str, Any], quotes: Sequence[str]) -> bool | None:
    given = [query.get(name) or [] for name in ("answers", "answer", "answer_aliases")]
    quotable = {one.lower() for one in _flatten(given)} - {"yes", "no"}
    said = "\n".join(quotes).lower()
    return any(one in said for one in quotable) if quotable else None


def _flatten(given: str | Sequence[Any]) -> list[str]:
    """Return the texts of lists in lists: where several facts answer, each may have spellings."""
    return [given] if isinstance(given, str) else [one for some in given for one in _flatten(some)]


def _row(name: str, results: Sequence[_Result]) -> str:
    told = [one for one in results if one.quotes]
    shares = [
        _mean(one.there for one in results),
        _mean(one.gold for one in results),
        _mean(one.first for one in results),
        _mean(one.answer for one in results if one.answer is not None),
        _mean(one.at_once for one in results if one.at_once is not None),
    ]
    quotes, seconds = _mean(one.quotes for one in told), _mean(one.seconds for one in results)
    refused, passed = 1 - len(told) / max(len(results), 1), _mean(one.passed for one in told)
    return (
        f"{name:<22}{len(results):>5}  "
        + " ".join(f"{share:5.1%}" for share in shares)
        + f" {quotes:8.1f} {refused:7.1%} {passed:6.1%} {seconds * 1000:5.0f}"
    )


def _mean(values: Any) -> float:
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0


@cache
def _read_corpus(path: Path) -> _Corpus:
    """Return the pages of a set with an index of their words."""
    pages = read_json_lines(path)
    bags = [search_words(f"{page['title']}\n{page['text']}") for page in pages]
    return _Corpus(pages, BM25Plus(bags, k1=1.2, delta=0))


if __name__ == "__main__":
    main()
