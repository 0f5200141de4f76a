"""What is counted in a report, on reports that are written by hand."""

from __future__ import annotations

from typing import Any, cast

import pytest

from evals.report_figures import figures_as_dict, list_question_parts, measure_report
from graph.records import EMPTY_REPORT
from graph.state import State

BODY = """The dance was described by Karl von Frisch in 1927 [S1].

## Comparison

| kind | meaning |
|---|---|
| waggle | far [S1] |
| round | near [S2] |

Below 14 degrees bees form a cluster [S2]. <q s="S1">A longer run means farther.</q> [S1]
A cluster eats 90 kilograms of honey [S3].
From this I infer that dancing costs little. The sources do not say how much honey a dance takes.
The following section compares both:
"""
SOURCES = {
    name: {"id": name, "page": name, "title": name, "location": place, "kind": kind, "site": site}
    for name, place, kind, site in [
        ("S1", "https://www.bees.example/dance#L1", "web", "bees.example"),
        ("S2", "https://bees.example/winter", "web", "bees.example"),
        ("S3", "/notes/honey.md#L3-L9", "file", "notes"),
        ("S4", "/notes/other.md", "file", "notes"),
    ]
}


def state(body: str = BODY, **more: Any) -> State:
    doubted = {"text": "A cluster eats 90 kilograms of honey [S3].", "reason": "number"}
    report = {
        **EMPTY_REPORT,
        "title": "Bees",
        "body": body,
        "cited": ["S1", "S2", "S3"],
        "doubted": [doubted],
        "removed": [{"text": "Bees swim.", "reason": "no_source"}],
    }
    steps = [{"id": name, "title": name} for name in ("s1", "s2", "s3")]
    findings = {"1/s1": {"sources": ["S1"]}, "1/s2": {"sources": ["S4"]}}
    values = {
        "turn": 1,
        "question": "How does the waggle dance work, and which enemies do bees have?",
        "status": "succeeded",
        "report": report,
        "sources": SOURCES,
        "plan": {"steps": steps[:2]},
        "follow_ups": steps[2:],
        "findings": findings,
    }
    return cast("State", {**values, **more})


TEXTS = {"S1": "A longer run\nmeans farther."}


def test_claims_are_counted_by_what_the_checks_say_of_them():
    told = figures_as_dict(measure_report("r-1", state(), TEXTS))

    # Four sentences and two rows; the last two sentences and the introduction claim nothing.
    assert (told["claims"], told["cited"], told["verified"]) == (6, 6, 5)
    assert told["verified_share"] == pytest.approx(5 / 6, abs=0.001)
    assert told["doubted_share"] == pytest.approx(1 / 6, abs=0.001)
    assert told["removed_share"] == pytest.approx(1 / 7, abs=0.001)
    assert (told["inferences"], told["unknowns"], told["tables"]) == (1, 1, 1)


def test_what_is_shown_as_inference_is_no_claim():
    shown = state("Bees form a cluster [S2]. Keepers should insulate the hive [S2].")
    shown["report"]["inferred"] = ["Keepers should insulate the hive [S2]."]
    told = measure_report("r-1", shown, {})

    assert (told.claims, told.verified, told.inferences) == (1, 1, 1)


def test_a_claim_without_a_source_is_not_verified():
    told = measure_report("r-1", state("Bees visit two million flowers for a jar of honey."), {})

    assert (told.claims, told.cited, told.verified_share) == (1, 0, 0.0)


def test_pages_of_one_site_are_not_independent():
    told = measure_report("r-1", state(), TEXTS)

    assert (told.sources, told.documents, told.independent) == (3, 3, 2)


def test_a_step_counts_by_what_is_cited_of_it():
    told = measure_report("r-1", state(), TEXTS)

    assert (told.steps, told.steps_covered) == (3, 1)


def test_a_part_of_the_question_of_which_nothing_is_said_is_named():
    told = measure_report("r-1", state(), TEXTS)

    assert (told.parts, told.parts_covered) == (2, 1)
    assert told.parts_open == ["which enemies do bees have"]


def test_a_quotation_has_to_stand_in_its_source():
    assert measure_report("r-1", state(), TEXTS).quotations_verified == 1
    assert measure_report("r-1", state(), {"S1": "Nothing."}).quotations_verified == 0
    # The page may be forgotten.
    assert measure_report("r-1", state(), {}).quotations_verified == 0


def test_a_chinese_report_is_measured_in_characters():
    chinese = state("蜜蜂跳舞，告诉同伴食物在哪里 [S1]。")
    chinese["report"]["language"] = "zh"
    told = figures_as_dict(measure_report("r-1", chinese, {}))

    assert (told["words"], told["characters_per_sentence"]) == (13, 13.0)
    assert "reading_grade" not in told


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is a bee?", ["What is a bee?"]),
        ("Compare SQLite and PostgreSQL", ["SQLite", "PostgreSQL"]),
        (
            "How do SQLite, PostgreSQL and MySQL differ?",
            ["SQLite", "PostgreSQL", "MySQL"],
        ),
    ],
)
def test_a_question_has_the_parts_that_it_lists(question: str, parts: list[str]):
    assert list_question_parts(question) == parts


def test_a_doubt_whether_passages_answer_is_no_inference():
    unsure = "These passages are related, but it is not certain that they answer the question:"
    told = measure_report("r-1", state(f'{unsure} <q s="S1">A longer run means farther.</q>'), {})

    assert (told.inferences, told.unknowns) == (0, 1)
