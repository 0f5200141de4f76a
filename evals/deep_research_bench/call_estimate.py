"""Estimate what an evaluation will cost before it starts: calls, tokens and price by stage.

The lengths of what a judge reads are known as far as reports are there; what it writes, and how
many pages a report cites, is estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from config.model_table import call_price
from evals.deep_research_bench.benchmark_data import (
    DIMENSIONS,
    BenchmarkData,
    BenchmarkTask,
    TaskCriteria,
)
from evals.deep_research_bench.fact_evaluation import DEDUPLICATE, EXTRACT, SUPPORT, name_page
from evals.deep_research_bench.fact_scores import list_addresses
from evals.deep_research_bench.judge_calls import Judge, JudgeStage, count_answered
from evals.deep_research_bench.race_evaluation import CLEAN, CRITERIA, SCORE, TRIALS, WEIGHTS
from models.chat_models import list_unpriced_models
from text.tokens import estimate_tokens

PROMPT_TOKENS = 900
"""A prompt and the form of its answer."""

REPORT_TOKENS = 4_000
"""A report that is still to be written."""

CITED_PAGES = 15
"""The pages that such a report cites."""

PAGE_TOKENS = 8_000
"""A page of the web, on average."""

STATEMENTS_PER_PAGE = 3
CRITERIA_PER_TASK = 25
SCORE_TOKENS = 120
"""What a judge writes about one criterion."""

STATEMENT_TOKENS = 80
VERDICT_TOKENS = 20


class PlannedCall(NamedTuple):
    """A call that a judge will be asked, unless it has answered it already."""

    stage: str
    model: str
    threads: tuple[str, ...]
    """An answer in one of them makes it unnecessary."""
    tokens_in: int
    tokens_out: int


class StageCost(NamedTuple):
    """What one stage will cost; `dollars` is `None` for a model without a price."""

    stage: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    dollars: float | None


@dataclass
class EvaluationPlan:
    """What is to be evaluated, and by whom."""

    data: BenchmarkData
    articles: dict[str, str]
    """The reports that exist, by the prompts of their tasks."""
    awaited: list[BenchmarkTask] = field(default_factory=list)
    """The tasks whose reports are still to be written."""
    race: Judge | None = None
    fact: Judge | None = None
    skip_cleaning: bool = False
    write_criteria: bool = False

    def scorable(self) -> list[BenchmarkTask]:
        """Return the tasks that RACE can score: with criteria, or written ones, and a reference."""
        known = self.data.references
        return [
            task
            for task in self.reported()
            if task.prompt in known and (task.prompt in self.data.criteria or self.write_criteria)
        ]

    def reported(self) -> list[BenchmarkTask]:
        """Return the tasks that have a report, or will have one."""
        awaited = {task.prompt for task in self.awaited}
        return [
            task
            for task in self.data.tasks
            if task.prompt in self.articles or task.prompt in awaited
        ]

    def name_comparison(self, task: BenchmarkTask, article: str) -> str:
        """Return what names the call in which a report is compared with its reference report."""
        rules = self.data.criteria.get(task.prompt)
        parts = (article, self.data.references[task.prompt], rules, self.skip_cleaning)
        return "\0".join(map(str, parts))


def plan_calls(plan: EvaluationPlan) -> list[PlannedCall]:
    """Return every call of an evaluation, as far as they can be foreseen."""
    calls: list[PlannedCall] = []
    if plan.race:
        for task in plan.scorable():
            calls += _race_calls(plan, plan.race, task)
    if plan.fact:
        for task in plan.reported():
            calls += _fact_calls(plan.fact, task, plan.articles.get(task.prompt))
    return calls


async def drop_answered(calls: Iterable[PlannedCall]) -> list[PlannedCall]:
    """Return the calls without those that have been answered at an earlier start."""
    return [
        one for one in calls if not any([await count_answered(thread) for thread in one.threads])
    ]


def sum_by_stage(calls: Sequence[PlannedCall]) -> list[StageCost]:
    """Return what the calls of each stage will cost, in the order of the stages."""
    stages = dict.fromkeys((one.stage, one.model) for one in calls)
    return [
        _sum(stage, [one for one in calls if (one.stage, one.model) == stage]) for stage in stages
    ]


def _sum(stage: tuple[str, str], calls: Sequence[PlannedCall]) -> StageCost:
    name, model = stage
    read, written = sum(one.tokens_in for one in calls), sum(one.tokens_out for one in calls)
    dollars = None if list_unpriced_models([model]) else call_price(model, read, written)
    return StageCost(name, model, len(calls), read, written, dollars)


def _race_calls(plan: EvaluationPlan, judge: Judge, task: BenchmarkTask) -> Iterator[PlannedCall]:
    rules = plan.data.criteria.get(task.prompt)
    asked = estimate_tokens(task.prompt)
    if rules is None:
        for trial in range(TRIALS):
            yield _call(judge, WEIGHTS, task, str(trial), asked, 300)
        for name in DIMENSIONS:
            yield _call(judge, CRITERIA, task, name, asked, 900)
    article = plan.articles.get(task.prompt)
    length = _length(article)
    if not plan.skip_cleaning:
        yield _call(judge, CLEAN, task, article, length, length)
    reference = estimate_tokens(plan.data.references[task.prompt])
    count, listed = _criteria_size(rules)
    read = asked + length + reference + listed
    about = None if article is None else plan.name_comparison(task, article)
    yield _call(judge, SCORE, task, about, read, SCORE_TOKENS * count)


def _fact_calls(judge: Judge, task: BenchmarkTask, article: str | None) -> Iterator[PlannedCall]:
    urls = list_addresses(article) if article else []
    pages = [name_page(article or "", url) for url in urls] if article else [None] * CITED_PAGES
    statements = STATEMENTS_PER_PAGE * STATEMENT_TOKENS
    yield _call(judge, EXTRACT, task, article, _length(article), statements * len(pages) + 10)
    for about in pages:
        verdicts = STATEMENTS_PER_PAGE * VERDICT_TOKENS
        support = _call(judge, SUPPORT, task, about, PAGE_TOKENS + statements, verdicts)
        repeated = _call(judge, DEDUPLICATE, task, about, statements, VERDICT_TOKENS)
        # Statements are judged after repetitions are taken out of them.
        yield repeated._replace(threads=repeated.threads + support.threads)
        yield support


def _call(
    judge: Judge, stage: JudgeStage, task: BenchmarkTask, about: str | None, read: int, written: int
) -> PlannedCall:
    """Return a call; one about a report that is still to be written has no thread yet."""
    threads = () if about is None else (judge.thread(stage, task, about),)
    return PlannedCall(stage.name, judge.model, threads, PROMPT_TOKENS + read, written)


def _length(article: str | None) -> int:
    return estimate_tokens(article) if article is not None else REPORT_TOKENS


def _criteria_size(rules: TaskCriteria | None) -> tuple[int, int]:
    """Return how many criteria there are, and how many tokens they have."""
    if rules is None:
        return CRITERIA_PER_TASK, CRITERIA_PER_TASK * 60
    all_rules = [one for some in rules.criteria.values() for one in some]
    tokens = sum(estimate_tokens(one.criterion + one.explanation) for one in all_rules)
    return len(all_rules), tokens
