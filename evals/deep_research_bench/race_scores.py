"""Compute RACE: from the scores that a judge gives for each criterion to those of a report.

The formulas are those of the paper (section on RACE) and of `utils/score_calculator.py` and
`deepresearch_bench_race.py` of its repository: the score of a dimension is the mean of its criteria
by their weights, that of a report the sum over its dimensions by theirs, and the final score
target / (target + reference).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from evals.deep_research_bench.benchmark_data import (
    DIMENSIONS,
    TaskCriteria,
    WeightedCriterion,
)

OVERALL = "overall_score"

Points = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]


class CriterionScore(BaseModel):
    """What a judge gives both reports for one criterion."""

    criterion: str
    analysis: str = ""
    article_1_score: Points
    article_2_score: Points


class RaceScores(BaseModel):
    """What a judge gives both reports, by dimension; the report to be scored is article 1."""

    comprehensiveness: list[CriterionScore]
    insight: list[CriterionScore]
    instruction_following: list[CriterionScore]
    readability: list[CriterionScore]

    def of_dimension(self, name: str) -> list[CriterionScore]:
        """Return the scores of one dimension."""
        scores: list[CriterionScore] = getattr(self, name)
        return scores


class ReportPoints(NamedTuple):
    """The points of a report, from 0 to 10, by dimension and in sum."""

    dimensions: dict[str, float]
    total: float


def list_unscored(scores: RaceScores, rules: TaskCriteria) -> list[str]:
    """Return the criteria without a score, and those that are scored twice."""
    wrong: list[str] = []
    for name in DIMENSIONS:
        criteria = rules.criteria[name]
        given = [find_criterion(one.criterion, criteria) for one in scores.of_dimension(name)]
        # A wording that is no criterion stands for one that nothing else stands for.
        unknown = given.count(None)
        missing = [rule.criterion for rule in criteria if rule not in given]
        twice = [rule.criterion for rule in criteria if given.count(rule) > 1]
        wrong += twice + (missing if unknown < len(missing) else [])
        wrong += [name] if len(given) > len(criteria) and not twice else []
    return wrong


def find_criterion(text: str, criteria: Sequence[WeightedCriterion]) -> WeightedCriterion | None:
    """Return the criterion that a judge names: the same, but for case, or one inside the other."""
    said = text.strip()
    low = said.lower()
    exact = (rule for rule in criteria if rule.criterion == said)
    alike = (rule for rule in criteria if rule.criterion.lower() == low)
    within = (
        rule
        for rule in criteria
        if low and (low in rule.criterion.lower() or rule.criterion.lower() in low)
    )
    return next(exact, None) or next(alike, None) or next(within, None)


def weigh_scores(scores: RaceScores, rules: TaskCriteria) -> tuple[ReportPoints, ReportPoints]:
    """Return the points of the report and of the reference report."""
    target: dict[str, float] = {}
    reference: dict[str, float] = {}
    for name in DIMENSIONS:
        given, criteria = scores.of_dimension(name), rules.criteria[name]
        weights = [_weight(one.criterion, criteria) for one in given]
        target[name] = _mean([one.article_1_score for one in given], weights)
        reference[name] = _mean([one.article_2_score for one in given], weights)
    return _points(target, rules), _points(reference, rules)


def compute_race(scores: RaceScores, rules: TaskCriteria) -> dict[str, float]:
    """Return the final scores of a report, from 0 to 1; the reference report has 0.5 by itself."""
    target, reference = weigh_scores(scores, rules)
    shares = {
        name: _share(target.dimensions[name], reference.dimensions[name]) for name in DIMENSIONS
    }
    return {**shares, OVERALL: _share(target.total, reference.total)}


def average_race(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the mean scores over the tasks that were scored; none of them where none was."""
    scored = [row for row in rows if "error" not in row]
    names = (*DIMENSIONS, OVERALL) if scored else ()
    return {name: sum(row[name] for row in scored) / len(scored) for name in names}


def _weight(text: str, criteria: Sequence[WeightedCriterion]) -> float:
    """Return the weight of a criterion; a wording that is none of them has the mean weight."""
    rule = find_criterion(text, criteria)
    return rule.weight if rule else sum(one.weight for one in criteria) / len(criteria)


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = sum(weights)
    weighed = (value * weight for value, weight in zip(values, weights, strict=True))
    return sum(weighed) / total if total > 0 else 0.0


def _points(dimensions: dict[str, float], rules: TaskCriteria) -> ReportPoints:
    total = sum(dimensions[name] * rules.dimension_weights[name] for name in DIMENSIONS)
    return ReportPoints(dimensions, total)


def _share(target: float, reference: float) -> float:
    return target / (target + reference) if target + reference > 0 else 0.0
