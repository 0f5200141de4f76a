"""What a person is told of an earlier answer to the same question."""

from __future__ import annotations

import pytest

from app.cli.answer_choice import describe_earlier
from graph.records import EarlierRun
from nodes.earlier_answer import describe_reading
from prompts.loader import render_prompt


def earlier_run(sources: int, oldest: str, newest: str) -> EarlierRun:
    return EarlierRun(
        run="t1-1",
        thread="t1",
        turn=1,
        answered="2026-03-04",
        sources=sources,
        oldest=oldest,
        newest=newest,
        file="",
    )


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (earlier_run(1, "2026-03-01", "2026-03-01"), "from 1 source, read on 2026-03-01"),
        (
            earlier_run(3, "2026-03-01", "2026-03-03"),
            "from 3 sources, read between 2026-03-01 and 2026-03-03",
        ),
    ],
)
def test_a_single_day_is_no_span_and_one_source_is_no_plural(run: EarlierRun, told: str):
    assert describe_earlier({"earlier": run}) == f"Answered on 2026-03-04 (t1-1) {told}"
    values = {**run, **describe_reading(run, "en"), "where": ""}
    assert f"{told}." in render_prompt("same_question", language="en", **values)


def test_the_days_are_told_in_chinese_too():
    run = earlier_run(2, "2026-03-01", "2026-03-03")
    values = {**run, **describe_reading(run, "zh"), "where": ""}

    told = render_prompt("same_question", language="zh", **values)

    assert "依据 2 个来源，读于 2026-03-01 至 2026-03-03。" in told
