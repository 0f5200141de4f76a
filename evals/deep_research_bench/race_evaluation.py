"""Score reports by RACE: clean them, have a judge compare each with its reference report.

Where the benchmark's criteria are missing, the judge writes them, as the paper describes it: the
weights of the dimensions are the mean over some trials, then each dimension gets its criteria.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from evals.deep_research_bench.benchmark_data import (
    DIMENSIONS,
    BenchmarkTask,
    TaskCriteria,
    WeightedCriterion,
)
from evals.deep_research_bench.judge_calls import Judge, JudgeStage
from evals.deep_research_bench.race_scores import RaceScores, compute_race, list_unscored
from text.sentences import split_sentences

CLEAN = JudgeStage("clean", "bench_clean")
SCORE = JudgeStage("score", "bench_score")
WEIGHTS = JudgeStage("weights", "bench_weights")
CRITERIA = JudgeStage("criteria", "bench_criteria")

TRIALS = 3
"""How often the weights of the dimensions are asked for; their mean counts."""

SHORTEST = 100
"""The fewest characters of a cleaned report, as in the benchmark."""

TOLERANCE = 0.05
"""How far the sum of some weights may be from 1; they are scaled to it."""


class DimensionWeights(BaseModel):
    """How much each dimension counts for a task; 1 in sum."""

    reasoning: str = ""
    comprehensiveness: float = Field(ge=0, le=1)
    insight: float = Field(ge=0, le=1)
    instruction_following: float = Field(ge=0, le=1)
    readability: float = Field(ge=0, le=1)


class WrittenCriterion(BaseModel):
    """One criterion that a judge writes."""

    criterion: str
    explanation: str
    weight: float = Field(gt=0, le=1)


class WrittenCriteria(BaseModel):
    """The criteria of one dimension; their weights are 1 in sum."""

    criteria: list[WrittenCriterion]


class RaceEntry(NamedTuple):
    """What is needed to score the report on one task."""

    task: BenchmarkTask
    article: str
    reference: str
    criteria: TaskCriteria


async def clean_article(judge: Judge, task: BenchmarkTask, article: str) -> str:
    """Return a report without citations and lists of sources; "" if the model cannot do it.

    A report that is too long for one answer is cleaned in two halves, as in the benchmark.
    """
    whole = await judge.write(CLEAN, task, article, {"report": article})
    if len(whole.strip()) >= SHORTEST:
        return whole.strip()
    halves = split_in_half(article)
    parts = [
        await judge.write(CLEAN, task, f"{article}\0{at}", {"report": half})
        for at, half in enumerate(halves)
    ]
    joined = "\n".join(parts) if all(part.strip() for part in parts) else ""
    return joined.strip() if len(joined.strip()) >= SHORTEST else ""


def split_in_half(article: str) -> list[str]:
    """Return the two halves of a report; none is cut within a sentence."""
    middle = len(article) // 2
    ends = [span.end for span in split_sentences(article) if span.end <= middle]
    at = ends[-1] if ends else middle
    return [article[:at], article[at:]]


async def score_article(
    judge: Judge, entry: RaceEntry, about: str, *, skip_cleaning: bool
) -> dict[str, Any]:
    """Return the line of a task in the benchmark's `raw_results.jsonl`, and the cleaned report.

    Args:
        judge: Who scores it.
        entry: What is needed for that.
        about: What names the comparison among the calls of the judge.
        skip_cleaning: Whether the report is compared with its citations.

    Raises:
        Problem: What keeps the judge from scoring it; nothing is scored by half.
    """
    task, line = entry.task, {"id": entry.task.id, "prompt": entry.task.prompt}
    cleaned = entry.article
    if not skip_cleaning:
        cleaned = await clean_article(judge, task, entry.article)
    if not cleaned:
        return {**line, "error": "clean_failed"}
    rules = entry.criteria
    shown = {
        "question": task.prompt,
        "report": cleaned,
        "reference": entry.reference,
        "criteria": describe_criteria(rules),
    }
    scores = await judge.ask(
        SCORE,
        task,
        about,
        shown,
        RaceScores,
        lambda answer: "; ".join(list_unscored(answer, rules)),
    )
    return {**line, **compute_race(scores, rules), "cleaned": cleaned}


def describe_criteria(rules: TaskCriteria) -> dict[str, list[dict[str, str]]]:
    """Return criteria as a judge sees them: without their weights."""
    return {
        name: [
            {"criterion": one.criterion, "explanation": one.explanation}
            for one in rules.criteria[name]
        ]
        for name in DIMENSIONS
    }


async def write_criteria(judge: Judge, task: BenchmarkTask) -> TaskCriteria:
    """Return criteria that the judge writes for a task.

    Raises:
        Problem: What keeps it from doing so.
    """
    trials = [
        await judge.ask(
            WEIGHTS,
            task,
            str(trial),
            {"question": task.prompt},
            DimensionWeights,
            lambda one: _fault_of_sum([getattr(one, name) for name in DIMENSIONS]),
        )
        for trial in range(TRIALS)
    ]
    weights = {name: sum(getattr(one, name) for one in trials) for name in DIMENSIONS}
    total = sum(weights.values())
    rules = {name: await _write_dimension(judge, task, name) for name in DIMENSIONS}
    return TaskCriteria({name: one / total for name, one in weights.items()}, rules)


async def _write_dimension(judge: Judge, task: BenchmarkTask, name: str) -> list[WeightedCriterion]:
    written = await judge.ask(
        CRITERIA,
        task,
        name,
        {"question": task.prompt},
        WrittenCriteria,
        lambda answer: _fault_of_sum([one.weight for one in answer.criteria]),
        dimension=name,
    )
    total = sum(one.weight for one in written.criteria)
    return [
        WeightedCriterion(one.criterion.strip(), one.explanation, one.weight / total)
        for one in written.criteria
    ]


def _fault_of_sum(weights: list[float]) -> str:
    """Return what is wrong with weights that should be 1 in sum."""
    total = sum(weights)
    return "" if abs(total - 1) <= TOLERANCE else f"weight: {total:.2f} ≠ 1"
