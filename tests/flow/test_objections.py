"""A review that rejects a sentence of a finding at last costs that sentence, not the finding."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Finding, entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from report.findings import drop_doubted, parse_quoted_sentences
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Lessons")

TRUE = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'
LONGER = "A longer waggle run means that the food is farther away [S1]."
WRONG = "A longer waggle run means that the food is sweeter and warmer [S1]."
AFTER = "This holds for every dance on the comb [S1]."


async def rejected(
    thread: ThreadSession, choices: dict[str, object], script: Script, text: str, **verdict: Any
) -> SessionOutcome:
    """Let a run find `text`, which its review rejects both times."""
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", text)
    script.on("reporter", f"{TRUE} {LONGER}")
    script.on("Verdict", {"passed": False, **verdict})
    return await thread.begin("How do bees dance?", make(choices), quiet)


def finding_of(outcome: SessionOutcome) -> Finding:
    found: list[Finding] = list(entries_of_turn(outcome.state["findings"], 1).values())
    return found[0]


@pytest.mark.parametrize(
    "verdict",
    [
        {"wrong": [WRONG], "feedback": "The page says farther away; correct that."},
        {"feedback": "A longer waggle run means that food is farther away, not sweeter."},
    ],
)
async def test_a_finding_is_kept_without_the_sentence_that_its_review_rejects(
    thread: ThreadSession, choices: dict[str, object], script: Script, verdict: dict[str, Any]
):
    outcome = await rejected(thread, choices, script, f"{TRUE} {LONGER} {WRONG}", **verdict)

    finding = finding_of(outcome)
    assert "sweeter" not in drop_doubted(
        finding["text"], parse_quoted_sentences(finding.get("doubted", ""))
    )
    assert "farther away" in finding["text"]
    assert (finding["status"], finding["reason"]) == ("partial", "set_right")


async def test_a_sentence_that_another_one_refers_to_stays_and_is_doubted(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    said = f"{TRUE} {WRONG} {AFTER}"
    outcome = await rejected(thread, choices, script, said, wrong=[WRONG], feedback="Not so.")

    finding = finding_of(outcome)
    assert "sweeter" in finding["text"]
    assert "sweeter" in finding["doubted"]


async def test_what_is_kept_of_a_finding_is_handed_on_and_nothing_is_called_missing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    said = f"{TRUE} {LONGER} {WRONG}"
    outcome = await rejected(thread, choices, script, said, wrong=[WRONG], feedback="Not so.")
    shown = str(outcome.state["messages"][-1].text)
    script.on("Verdict", {"passed": True})
    await thread.begin("And what does a longer dance of bees mean?", make(choices), quiet)

    plan = script.prompts("Draft")[-1]
    assert outcome.state["status"] == "succeeded"
    assert "What is not known" not in shown
    assert "Not so." not in shown + plan
    assert 'id="1/s1"' in plan
    assert "<open>" not in plan


async def test_nothing_is_missing_where_the_report_has_what_the_review_asked_for(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    wanted = "Say that a longer waggle run means that the food is farther away."
    outcome = await rejected(thread, choices, script, TRUE, feedback=wanted)

    assert "What is not known" not in str(outcome.state["messages"][-1].text)
    assert outcome.state["status"] == "succeeded"


async def test_a_finding_of_which_nothing_is_left_has_failed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await rejected(thread, choices, script, WRONG, wrong=[WRONG], feedback="Not so.")

    assert (finding_of(outcome)["status"], finding_of(outcome)["text"]) == ("failed", "")


async def test_a_finding_to_which_the_missing_was_added_is_as_good_as_one_that_passed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE}", f"{TRUE} {LONGER}")
    script.on("reporter", f"{TRUE} {LONGER}")
    missing = "The finding only says what the waggle dance tells: add what a longer run means."
    script.on("Verdict", {"passed": False, "feedback": missing, "queries": ["waggle run"]})

    finding = finding_of(await thread.begin("How do bees dance?", make(choices), quiet))

    assert "farther away" in finding["text"]
    assert (finding["status"], finding.get("doubted", "")) == ("ok", "")


async def test_a_review_is_shown_the_passages_of_what_disagrees(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance winter cluster"))
    said = f"{TRUE}\n\n## Disagreements\n- One page says 1927 [S1], another has no year [S2].\n"
    script.on("researcher", said)
    script.on("reporter", TRUE)
    script.on("Verdict", {"passed": True})

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    pages = script.prompts("Verdict")[0].partition("<pages>")[2]
    assert '<page id="S2"' in pages
    assert {"S1", "S2"} <= set(finding_of(outcome)["sources"])


async def test_a_rejected_sentence_that_was_qualified_since_is_another_one(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    bold = "The dance tells the distance [S1]."
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", bold, f"{bold[:-6]} and the direction of food [S1].")
    script.on("reporter", TRUE)
    script.on("Verdict", {"passed": False, "wrong": [bold], "feedback": "It tells both."})

    finding = finding_of(await thread.begin("How do bees dance?", make(choices), quiet))

    assert "direction" in finding["text"]
    assert (finding["status"], finding.get("doubted", "")) == ("ok", "")
