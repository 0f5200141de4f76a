"""Evaluate reports: RACE and FACT for every task side by side, and the files that result.

What a judge has answered is in the ledger, so an evaluation that was stopped is started again and
makes the rest of its calls. The files are written from the answers at the end, also where a problem
or a person ends it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from config.errors import Problem
from evals.deep_research_bench.benchmark_data import (
    DIMENSIONS,
    BenchmarkTask,
    TaskCriteria,
    criteria_line,
)
from evals.deep_research_bench.call_estimate import EvaluationPlan
from evals.deep_research_bench.fact_evaluation import CitedPages, check_citations
from evals.deep_research_bench.fact_scores import (
    EXTRACTION_FAILED,
    FactRecord,
    average_fact,
    average_fact_by_task,
)
from evals.deep_research_bench.judge_calls import Judge, count_spent
from evals.deep_research_bench.race_evaluation import RaceEntry, score_article, write_criteria
from evals.deep_research_bench.race_scores import OVERALL, average_race
from evals.retrieval_eval import Told
from models.faults import raise_if_fatal
from runs.trace import flush_traces
from storage.permissions import make_folder

RACE_LABELS = {
    **{name: name.replace("_", " ").title() for name in DIMENSIONS},
    OVERALL: "Overall Score",
}
"""The names in the benchmark's `race_result.txt`."""


class EvaluationFiles:
    """The files of an evaluation, with the names that they have in the benchmark's repository."""

    def __init__(self, out: Path, name: str) -> None:
        self.out, self.name = out, name

    def write(self, place: str, lines: Iterable[dict[str, Any]]) -> None:
        """Write a file of JSON lines, all or nothing."""
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        self.write_text(place, text)

    def write_text(self, place: str, text: str) -> None:
        """Write a file, all or nothing; `{name}` in its place is the name of what is evaluated."""
        file = self.out / place.format(name=self.name)
        make_folder(file.parent)
        part = file.with_name(f".{file.name}.part")
        part.write_text(text, "utf-8")
        part.replace(file)


class Evaluation:
    """The evaluation of the reports of one agent."""

    def __init__(self, plan: EvaluationPlan, files: EvaluationFiles, told: Told) -> None:
        self.plan, self.files, self.told = plan, files, told
        self.criteria: dict[str, TaskCriteria] = dict(plan.data.criteria)
        self.race_lines: dict[str, dict[str, Any]] = {}
        self.fact_records: dict[str, FactRecord] = {}
        self.pages = CitedPages(files.out / "pages")

    async def run(self) -> dict[str, Any]:
        """Have all reports judged, and return the figures.

        Raises:
            Problem: What keeps every call from being answered, such as a wrong key.
        """
        try:
            async with asyncio.TaskGroup() as group:
                if judge := self.plan.race:
                    scored = partial(self._race, judge)
                    group.create_task(self._each(self.plan.scorable(), scored, "RACE"))
                if judge := self.plan.fact:
                    checked = partial(self._fact, judge)
                    group.create_task(self._each(self.plan.reported(), checked, "FACT"))
        except BaseExceptionGroup as group_error:
            raise _first(group_error) from group_error
        finally:
            await anyio.to_thread.run_sync(self._write_files)
            await flush_traces()
        return await self._summarize()

    def _write_files(self) -> None:
        if self.race_lines:
            self._write_race()
        if self.fact_records:
            self._write_fact()

    async def _each(
        self,
        tasks: list[BenchmarkTask],
        judged: Callable[[BenchmarkTask], Awaitable[None]],
        name: str,
    ) -> None:
        done = 0

        async def one(task: BenchmarkTask) -> None:
            nonlocal done
            await judged(task)
            done += 1
            self.told(name, done, len(tasks))

        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(one(task))

    async def _race(self, judge: Judge, task: BenchmarkTask) -> None:
        """Score the report on one task; one that cannot be scored is listed with the reason."""
        try:
            if task.prompt not in self.criteria:
                self.criteria[task.prompt] = await write_criteria(judge, task)
            article = self.plan.articles[task.prompt]
            reference = self.plan.data.references[task.prompt]
            entry = RaceEntry(task, article, reference, self.criteria[task.prompt])
            about = self.plan.name_comparison(task, article)
            line = await score_article(judge, entry, about, skip_cleaning=self.plan.skip_cleaning)
        except Problem as problem:
            raise_if_fatal(problem)
            line = {"id": task.id, "prompt": task.prompt, "error": problem.error}
        self.race_lines[task.prompt] = line

    async def _fact(self, judge: Judge, task: BenchmarkTask) -> None:
        """Check the citations of the report on one task."""
        article = self.plan.articles[task.prompt]
        self.fact_records[task.prompt] = await check_citations(judge, task, article, self.pages)

    def _write_race(self) -> None:
        lines = self._in_order(self.race_lines)
        cleaned = [
            {"id": task.id, "language": task.language, "prompt": task.prompt, "article": text}
            for task in self.plan.data.tasks
            if (text := self.race_lines.get(task.prompt, {}).get("cleaned"))
        ]
        scored = [{key: one[key] for key in one if key != "cleaned"} for one in lines]
        self.files.write("cleaned_data/{name}.jsonl", cleaned)
        self.files.write("results/race/{name}/raw_results.jsonl", scored)
        own = [
            criteria_line(task, self.criteria[task.prompt])
            for task in self.plan.data.tasks
            if task.prompt in self.criteria and task.prompt not in self.plan.data.criteria
        ]
        if own:
            self.files.write("criteria_data/criteria.jsonl", own)
        means = average_race(lines)
        shown = [f"{RACE_LABELS[name]}: {value:.4f}\n" for name, value in means.items()]
        self.files.write_text("results/race/{name}/race_result.txt", "".join(shown))

    def _write_fact(self) -> None:
        records = self._in_order(self.fact_records)
        self.files.write("results/fact/{name}/validated.jsonl", records)
        figures = average_fact(records)
        shown = [f"{name}: {value}\n" for name, value in figures.items()]
        self.files.write_text("results/fact/{name}/fact_result.txt", "".join(shown))

    def _in_order(self, lines: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        return [lines[task.prompt] for task in self.plan.data.tasks if task.prompt in lines]

    async def _summarize(self) -> dict[str, Any]:
        judges = [one for one in (self.plan.race, self.plan.fact) if one]
        spent = await count_spent({thread for judge in judges for thread in judge.threads})
        return {
            "name": self.files.name,
            "tasks": len(self.plan.data.tasks),
            "reports": len(self.plan.articles),
            **self._race_figures(),
            **self._fact_figures(),
            "spent": spent._asdict(),
        }

    def _race_figures(self) -> dict[str, Any]:
        if not self.plan.race:
            return {}
        lines = self._in_order(self.race_lines)
        failed = {str(one["id"]): one["error"] for one in lines if "error" in one}
        return {
            "race": {
                "judge": self.plan.race.model,
                **average_race(lines),
                "scored": len(lines) - len(failed),
                "failed": failed,
                "criteria": "written by the judge" if self._has_own_criteria() else "benchmark",
            }
        }

    def _has_own_criteria(self) -> bool:
        return any(prompt not in self.plan.data.criteria for prompt in self.criteria)

    def _fact_figures(self) -> dict[str, Any]:
        if not self.plan.fact:
            return {}
        records = self._in_order(self.fact_records)
        pages = [page for one in records for page in one.get("citations_deduped", {}).values()]
        return {
            "fact": {
                "judge": self.plan.fact.model,
                **average_fact(records),
                **average_fact_by_task(records),
                "checked": sum(one["citations"] != EXTRACTION_FAILED for one in records),
                "failed": {
                    str(one["id"]): one["error"]
                    for one in records
                    if one["citations"] == EXTRACTION_FAILED
                },
                "pages": len(pages),
                "pages_failed": sum(page["validate_error"] is not None for page in pages),
                "unknown": sum(
                    verdict["result"] == "unknown"
                    for page in pages
                    for verdict in page["validate_res"]
                ),
            }
        }


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group that is none itself, a problem if there is one."""
    leaves = list(_leaves(group))
    return next((one for one in leaves if isinstance(one, Problem)), leaves[0])


def _leaves(error: BaseException) -> Iterable[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
