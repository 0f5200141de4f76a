"""A model reads a report again in one bounded request, and no answer of it makes a report worse."""

from __future__ import annotations

import re
from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from graph.records import Report
from graph.session import ThreadSession
from report.checks.second_reader import list_claim_passages, list_claims, select_fitting_claims
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process
from text.tokens import count_tokens

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Verdict", "Checks")

TRUE = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'
RIGHT = "So the dance tells other bees in which direction the food lies [S1]."
WRONG = "About 7300 bees watch [S1]."
DOUBTED = "About 7300 bees watch."


async def reported(
    thread: ThreadSession, choices: dict[str, object], script: Script, text: str, answer: Any
) -> Report:
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("reporter", text)
    script.on("Checks", answer)
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)
    report: Report = outcome.state["report"]
    return report


async def test_a_long_report_is_read_in_one_request_that_fits_and_the_rest_is_told(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_CONTEXT_TOKENS", "6000")
    new_process()
    many = " ".join(
        f"The dance tells bees the direction of food, it is said, {n} [S1]."
        for n in "abcdefgh" * 25
    )
    report = await reported(thread, choices, script, f"{TRUE} {many} {WRONG}", {"verdicts": []})

    (asked,) = script.prompts("Checks")
    shown = len(re.findall('<sentence id="', asked))
    assert 5 < shown < 200
    assert count_tokens(asked) < 6000
    assert "About 7300 bees" in asked
    (notice,) = [one for one in report["notices"] if "too long for one request" in one]
    assert int(notice.split()[0]) > 0
    assert DOUBTED in [one["text"] for one in report["doubted"]]


def test_what_the_checks_doubt_is_shown_first_and_all_is_shown_where_it_fits():
    pages = {
        "S1": " ".join(f"Hive {n} stands in field {n} beside the old road." for n in range(400))
    }
    said = [f"Hive {n} stands beside the road in field {n} [S1]." for n in range(1, 200)]
    doubted = [{"text": said[-1], "reason": "name"}]
    every = list_claims(" ".join(said), [], doubted, pages)  # type: ignore[arg-type]
    few = select_fitting_claims(every, pages, 2_000)

    assert select_fitting_claims(every, pages, 10**6) == every
    assert few[-1].text == said[-1]
    assert few[0].text == said[0]
    told = sum(count_tokens(one.text) for one in few) + sum(
        count_tokens(p["text"]) for p in list_claim_passages(few, pages)
    )
    assert told <= 2_000
    assert not select_fitting_claims(every, pages, 0)


@pytest.mark.parametrize(
    "answer",
    [
        "no verdicts today",
        '{"verdicts": "all fine"}',
        {"verdicts": [{"sentence": "first", "verdict": "wonderful"}]},
        Problem(ErrorCode.MODEL_REFUSED, "it would not"),
        Problem(ErrorCode.MODEL_TIMEOUT, "it took too long"),
        Problem(ErrorCode.BUDGET_SPENT, "the tokens are spent"),
    ],
)
async def test_a_broken_answer_removes_nothing_and_grades_nothing_better(
    thread: ThreadSession, choices: dict[str, object], script: Script, answer: Any
):
    report = await reported(thread, choices, script, f"{TRUE} {RIGHT} {WRONG}", answer)

    assert RIGHT in report["body"]
    assert [one["text"] for one in report["doubted"]] == [DOUBTED]
    assert report["second_reader"] == "failed"
    assert "not read again beside its sources" in report["notices"][0]


async def test_verdicts_on_sentences_that_there_are_not_change_nothing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    numbers = (0, -1, 99, 10**12)
    given = [{"sentence": one, "verdict": "contradicted", "source": "S9"} for one in numbers]
    report = await reported(thread, choices, script, f"{TRUE} {RIGHT} {WRONG}", {"verdicts": given})

    assert RIGHT in report["body"]
    assert [one["text"] for one in report["doubted"]] == [DOUBTED]


async def test_a_number_that_no_source_has_stays_doubted_whatever_a_model_says_of_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    every = {
        "verdicts": [{"sentence": n, "verdict": "supported", "source": "S1"} for n in (1, 2, 3)]
    }
    report = await reported(thread, choices, script, f"{TRUE} {RIGHT} {WRONG}", every)

    assert [(one["text"], one["reason"]) for one in report["doubted"]] == [(DOUBTED, "disputed")]


async def test_of_two_verdicts_on_a_sentence_the_worse_one_counts(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    both = [
        {"sentence": 1, "verdict": "contradicted", "source": "S1"},
        {"sentence": 1, "verdict": "supported", "source": "S1"},
    ]
    report = await reported(thread, choices, script, f"{TRUE} {RIGHT}", {"verdicts": both})

    assert [one["reason"] for one in report["doubted"]] == ["contradicted"]


async def test_a_run_at_its_cap_keeps_its_report_and_says_that_it_was_not_read_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("reporter", f"{TRUE} {RIGHT} {WRONG}")
    calls = len([one for one in await _names(thread, choices, script) if one != "Learnt"])
    second = await thread.begin(
        "How do bees dance now?", make({**choices, "max_calls": calls - 1}), quiet
    )

    report = second.state["report"]
    assert "Checks" not in script.names()[calls:]
    assert RIGHT in report["body"]
    assert DOUBTED in [one["text"] for one in report["doubted"]]


async def _names(thread: ThreadSession, choices: dict[str, object], script: Script) -> list[str]:
    await thread.begin("How do bees dance?", make(choices), quiet)
    return script.names()
