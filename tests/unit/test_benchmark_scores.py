"""The formulas of DeepResearch Bench, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from evals.deep_research_bench.benchmark_data import (
    DIMENSIONS,
    TaskCriteria,
    WeightedCriterion,
)
from evals.deep_research_bench.fact_scores import (
    EXTRACTION_FAILED,
    CitedStatement,
    average_fact,
    average_fact_by_task,
    group_by_url,
    keep_distinct,
    list_addresses,
    tidy_citation,
)
from evals.deep_research_bench.race_evaluation import split_in_half
from evals.deep_research_bench.race_scores import (
    RaceScores,
    average_race,
    compute_race,
    find_criterion,
    list_unscored,
)

RULES = TaskCriteria(
    dict(zip(DIMENSIONS, (0.4, 0.3, 0.2, 0.1), strict=True)),
    {
        name: [
            WeightedCriterion("Depth of causes", "", 0.6),
            WeightedCriterion("Use of figures", "", 0.4),
        ]
        for name in DIMENSIONS
    },
)


def given(*rows: tuple[str, float, float], **others: list[tuple[str, float, float]]) -> RaceScores:
    """Return scores that are the same in every dimension but those that are named."""
    names = ("criterion", "article_1_score", "article_2_score")
    tables = {name: others.get(name, list(rows)) for name in DIMENSIONS}
    data = {
        name: [dict(zip(names, row, strict=True)) for row in some] for name, some in tables.items()
    }
    return RaceScores.model_validate(data)


EVEN = [("Depth of causes", 5.0, 5.0), ("Use of figures", 5.0, 5.0)]


def test_a_report_as_good_as_the_reference_has_one_half():
    assert set(compute_race(given(*EVEN), RULES).values()) == {0.5}


def test_criteria_and_dimensions_count_by_their_weights():
    better = [("Depth of causes", 9.0, 4.0), ("Use of figures", 4.0, 4.0)]

    scored = compute_race(given(*EVEN, insight=better), RULES)

    # Insight: 0.6 · 9 + 0.4 · 4 = 7 against 4; in sum 0.7 · 5 + 0.3 · 7 against 0.7 · 5 + 0.3 · 4.
    assert scored["insight"] == pytest.approx(7 / 11)
    assert scored["comprehensiveness"] == 0.5
    assert scored["overall_score"] == pytest.approx(5.6 / (5.6 + 4.7))


def test_no_points_at_all_are_the_score_0():
    none = [("Depth of causes", 0.0, 0.0), ("Use of figures", 0.0, 0.0)]

    assert set(compute_race(given(*none), RULES).values()) == {0.0}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Depth of causes", "Depth of causes"),
        ("depth OF causes ", "Depth of causes"),
        ("Use of figures and tables", "Use of figures"),
        ("figures", "Use of figures"),
        ("Style", None),
        ("", None),
    ],
)
def test_a_criterion_is_found_by_its_wording_or_nearly(said: str, found: str | None):
    rule = find_criterion(said, RULES.criteria["insight"])

    assert (rule.criterion if rule else None) == found


def test_a_wording_that_is_no_criterion_has_the_mean_weight():
    odd = [("Depth of causes", 8.0, 4.0), ("Style", 2.0, 4.0)]
    scores = given(*odd)

    assert list_unscored(scores, RULES) == []
    # (0.6 · 8 + 0.5 · 2) / 1.1 against 4.
    assert compute_race(scores, RULES)["insight"] == pytest.approx(5.8 / 1.1 / (5.8 / 1.1 + 4))


@pytest.mark.parametrize(
    ("rows", "missing"),
    [
        (EVEN[:1], ["Use of figures"]),
        ([EVEN[0], EVEN[0]], ["Depth of causes", "Use of figures"]),
        ([*EVEN, EVEN[0]], ["Depth of causes"]),
        ([], ["Depth of causes", "Use of figures"]),
        ([*EVEN, ("Style", 1.0, 1.0)], ["readability"]),
    ],
)
def test_what_has_no_score_or_two_is_named(rows: list[Any], missing: list[str]):
    scores = given(*EVEN, readability=rows)

    assert sorted(list_unscored(scores, RULES)) == sorted(missing)


def test_what_failed_is_in_no_mean():
    rows = [{**compute_race(given(*EVEN), RULES)}, {"id": 2, "error": "answer_invalid"}]

    assert average_race(rows)["overall_score"] == 0.5
    assert average_race(rows[1:]) == {}


def record(*pages: list[str] | None) -> dict[str, Any]:
    """Return the record of a report; `None` is a page that could not be judged."""
    deduplicated = {
        f"https://{at}.example": {
            "validate_res": [{"idx": n, "result": one} for n, one in enumerate(page or [])],
            "validate_error": None if page is not None else "answer_invalid",
        }
        for at, page in enumerate(pages)
    }
    return {"citations": [{"fact": "x"}] if pages else [], "citations_deduped": deduplicated}


RECORDS = [
    record(["supported", "supported", "unsupported"], ["unknown"], None),
    record(["unsupported"]),
    record(),
    {"citations": EXTRACTION_FAILED},
]


def test_the_figures_of_the_repository_count_reports_that_cite():
    assert average_fact(RECORDS) == {
        "total_citations": 2.0,
        "total_valid_citations": 1.0,
        "valid_rate": 0.5,
    }


def test_the_figures_of_the_paper_are_means_over_all_tasks():
    found = average_fact_by_task(RECORDS)

    assert found["citation_accuracy"] == pytest.approx((2 / 3 + 0 + 0) / 3)
    assert found["effective_citations"] == pytest.approx(2 / 3)


def test_nothing_to_count_is_0():
    assert set(average_fact([]).values()) == {0.0}
    assert set(average_fact_by_task([]).values()) == {0.0}


def test_a_statement_has_no_address_in_it_and_an_address_no_words():
    said = CitedStatement(
        fact="As [Bees](https://a.example) say, so.", ref_idx=2, url=" https://a.example#:~:text=so"
    )

    assert tidy_citation(said) == {
        "fact": "As [Bees] say, so.",
        "ref_idx": 2,
        "url": "https://a.example",
    }


def test_statements_are_grouped_by_what_they_cite():
    cited = [{"url": "a", "fact": "1"}, {"url": "b", "fact": "2"}, {"url": "a", "fact": "3"}]

    assert group_by_url(cited) == {"a": ["1", "3"], "b": ["2"]}


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        ([1, 3], ["a", "c"]),
        ([3, 3, 1], ["c", "a"]),
        ([], ["a", "b", "c"]),
        ([0, 1], ["a", "b", "c"]),
        ([4], ["a", "b", "c"]),
    ],
)
def test_a_choice_that_is_none_keeps_every_statement(kept: list[int], left: list[str]):
    assert keep_distinct(["a", "b", "c"], kept) == left


def test_addresses_end_where_the_sentence_goes_on():
    text = "See https://a.example/x. And (https://b.example/y), [c](https://c.example)；https://a.example/x。"

    assert list_addresses(text) == [
        "https://a.example/x",
        "https://b.example/y",
        "https://c.example",
    ]


def test_a_long_report_is_cut_between_sentences():
    first, second = split_in_half("Bees dance. They fly. They rest in winter and eat.")

    assert first.strip() == "Bees dance. They fly."
    assert second.strip() == "They rest in winter and eat."
