"""Check the citations of reports by FACT: extract, deduplicate, fetch the pages, have them judged.

A page that cannot be read is `unknown` for all its statements; in the benchmark the judge is shown
the error and says so itself.
"""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio

from config.errors import ErrorCode, Problem
from config.settings import settings
from evals.deep_research_bench.benchmark_data import BenchmarkTask
from evals.deep_research_bench.fact_scores import (
    EXTRACTION_FAILED,
    DistinctStatements,
    ExtractedCitations,
    FactRecord,
    StatementVerdicts,
    group_by_url,
    keep_distinct,
    tidy_citation,
)
from evals.deep_research_bench.judge_calls import Judge, JudgeStage
from models.faults import raise_if_fatal
from tools.web.fetch import fetch_page

EXTRACT = JudgeStage("extract", "bench_extract")
DEDUPLICATE = JudgeStage("deduplicate", "bench_deduplicate")
SUPPORT = JudgeStage("support", "bench_support")

SCRAPE_FAILED = "scrape failed: "
"""How the content of a page begins that could not be read, as in the benchmark."""

PAGE_CHARACTERS = 100_000
"""How much of a page a judge is shown."""

FETCHES = 8
"""How many pages are fetched side by side."""

PASSING = (ErrorCode.PAGE_TIMEOUT, ErrorCode.PAGE_UNAVAILABLE)
"""What may be over a moment later; then a page is fetched once more."""


class CitedPages:
    """The pages that reports cite, each fetched once and kept in a folder.

    A page that cannot be read is tried again by the next start.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = anyio.Path(folder)
        self.gate = asyncio.Semaphore(FETCHES)
        self.locks: dict[str, asyncio.Lock] = {}
        self.failed: dict[str, str] = {}
        """Why pages cannot be read, by their addresses."""

    async def read(self, url: str) -> str:
        """Return the title and the text of a page, or why it cannot be read."""
        async with self.locks.setdefault(url, asyncio.Lock()):
            file = self.folder / f"{sha256(url.encode()).hexdigest()[:32]}.json"
            if url in self.failed:
                return self.failed[url]
            if await file.exists():
                return str(json.loads(await file.read_text("utf-8"))["url_content"])
            try:
                content = await self._fetch(url)
            except Problem as problem:
                self.failed[url] = f"{SCRAPE_FAILED}{problem.error}"
                return self.failed[url]
            kept = json.dumps({"url": url, "url_content": content}, ensure_ascii=False)
            await self.folder.mkdir(parents=True, exist_ok=True)
            part = file.with_suffix(".part")
            await part.write_text(kept, "utf-8")
            await part.replace(file)
            return content

    async def _fetch(self, url: str) -> str:
        private = settings().allow_private_fetch
        async with self.gate:
            try:
                page = await fetch_page(url, allow_private=private)
            except Problem as problem:
                if problem.code not in PASSING:
                    raise
                await asyncio.sleep(settings().retry_seconds)
                page = await fetch_page(url, allow_private=private)
        return f"{page['title']}\n\n{page['text']}"


async def check_citations(
    judge: Judge, task: BenchmarkTask, article: str, pages: CitedPages
) -> FactRecord:
    """Return the benchmark's record of a report, with the verdicts on all it cites.

    Raises:
        Problem: What every other call would meet too, such as a wrong key.
    """
    record: FactRecord = {"id": task.id, "prompt": task.prompt, "article": article}
    try:
        found = await judge.ask(EXTRACT, task, article, {"report": article}, ExtractedCitations)
    except Problem as problem:
        raise_if_fatal(problem)
        return {**record, "citations": EXTRACTION_FAILED, "error": problem.error}
    citations = [tidy_citation(one) for one in found.citations]
    groups = group_by_url(citations)
    checked = [_check_page(judge, task, article, url, groups[url], pages) for url in groups]
    deduplicated = dict(zip(groups, await asyncio.gather(*checked), strict=True))
    return {**record, "citations": citations, "citations_deduped": deduplicated}


async def _check_page(
    judge: Judge, task: BenchmarkTask, article: str, url: str, said: list[str], pages: CitedPages
) -> dict[str, Any]:
    """Return the distinct statements that cite a page, what it says, and the verdicts."""
    about = name_page(article, url)
    facts = await _deduplicate(judge, task, about, said) if len(said) > 1 else said
    content = await pages.read(url)
    entry: dict[str, Any] = {"facts": facts, "url_content": content}
    if content.startswith(SCRAPE_FAILED):
        unknown = [{"idx": at, "result": "unknown"} for at in range(len(facts))]
        return {**entry, "validate_res": unknown, "validate_error": None}
    try:
        verdicts = await _judge_support(judge, task, about, facts, content)
    except Problem as problem:
        raise_if_fatal(problem)
        return {**entry, "validate_res": [], "validate_error": problem.error}
    return {**entry, "validate_res": verdicts, "validate_error": None}


def name_page(article: str, url: str) -> str:
    """Return what names the calls about one page that a report cites."""
    return f"{article}\0{url}"


async def _deduplicate(judge: Judge, task: BenchmarkTask, about: str, said: list[str]) -> list[str]:
    shown = {"sentences": number_lines(said)}
    try:
        answer = await judge.ask(DEDUPLICATE, task, about, shown, DistinctStatements)
    except Problem as problem:
        raise_if_fatal(problem)
        return said
    return keep_distinct(said, answer.kept)


async def _judge_support(
    judge: Judge, task: BenchmarkTask, about: str, facts: list[str], content: str
) -> list[dict[str, Any]]:
    """Return a verdict on each statement, numbered from 0 as the benchmark stores them."""
    wanted = list(range(1, len(facts) + 1))

    def find_fault(answer: StatementVerdicts) -> str:
        given = sorted(one.idx for one in answer.verdicts)
        wrong = [one for one in wanted if given.count(one) != 1]
        return ", ".join(map(str, wrong or ([] if given == wanted else given)))

    shown = {"page": content[:PAGE_CHARACTERS], "sentences": number_lines(facts)}
    answer = await judge.ask(SUPPORT, task, about, shown, StatementVerdicts, find_fault)
    ordered = sorted(answer.verdicts, key=lambda one: one.idx)
    return [{"idx": one.idx - 1, "result": one.result} for one in ordered]


def number_lines(lines: list[str]) -> str:
    """Return lines with their numbers, from 1."""
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
