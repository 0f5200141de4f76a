"""Steps that are added after the others know what these found, and what is asked of them."""

from __future__ import annotations

from typing import Any

import pytest

from graph.records import Finding
from graph.session import SessionOutcome, ThreadSession
from nodes.team import MAX_NEEDED_TOKENS, Missing, _added_step, _raised_questions
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "researcher", "Verdict", "Enough", "reporter", "Checks"
)

DANCE = "The waggle dance tells other bees the direction of food [S1]."
WINTER = {
    "title": "winter cluster",
    "description": "How warm the cluster is, which the finding on the dance leaves open.",
    "queries": ["winter cluster temperature"],
}


def missing(*gaps: dict[str, Any]) -> dict[str, Any]:
    return {"enough": False, "missing": [*gaps]}


async def begun(thread: ThreadSession, choices: dict[str, object], **more: Any) -> SessionOutcome:
    return await thread.begin("How do bees live?", make(choices, **more), quiet)


@pytest.fixture(autouse=True)
def open_review(script: Script) -> None:
    """A plan of one step, whose review leaves something open."""
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", DANCE)
    script.on("Verdict", {"passed": True, "open": ["winter"]})


async def test_an_added_step_is_described_and_handed_the_findings_so_far(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Enough", missing(WINTER), {"enough": True})
    outcome = await begun(thread, choices)

    (step,) = outcome.state["follow_ups"]
    assert (step["id"], step["needs"]) == ("s2", ["s1"])
    assert (step["description"], step["queries"]) == (WINTER["description"], WINTER["queries"])
    prompt = script.prompts("researcher")[-1]
    assert f'<step title="winter cluster">\n{WINTER["description"]}\n</step>' in prompt
    assert "<needs>\n<finding" in prompt
    assert DANCE[:-5] in prompt.partition("<needs>")[2].partition("</needs>")[0]


async def test_who_reviews_an_added_step_is_shown_the_findings_it_may_cite(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Enough", missing(WINTER), {"enough": True})
    await begun(thread, choices)

    first, last = script.prompts("Verdict")[0], script.prompts("Verdict")[-1]
    assert "<earlier>" not in first
    assert DANCE[:-5] in last.partition("<earlier>")[2]


async def test_a_description_that_only_repeats_the_title_is_left_out(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Enough", missing({"title": "Winter", "description": "winter "}), {"enough": True})
    outcome = await begun(thread, choices)

    (step,) = outcome.state["follow_ups"]
    assert (step["title"], step["description"]) == ("Winter", "")


@pytest.mark.parametrize(("depth", "added"), [("standard", 2), ("deep", 4)])
async def test_the_depth_says_how_many_steps_a_round_adds(
    thread: ThreadSession, choices: dict[str, object], script: Script, depth: str, added: int
):
    gaps = [{"title": f"part {name}"} for name in "abcdef"]
    script.on("Enough", missing(*gaps), {"enough": True})
    outcome = await begun(thread, choices, depth=depth)

    assert len(outcome.state["follow_ups"]) == added
    system = next(str(said[0].text) for name, said in script.asked if name == "Enough")
    assert f"at most {added}." in system


@pytest.mark.parametrize(("depth", "judged"), [("standard", False), ("deep", True)])
async def test_what_researchers_would_ask_next_is_judged_in_a_deep_run_only(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    depth: str,
    judged: bool,
):
    # Whatever a researcher says, the team reads it in its finding.
    monkeypatch.setattr("nodes.team._raised_questions", lambda findings: ["Do wasps dance?"])
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    await begun(thread, choices, depth=depth)

    assert ("Enough" in script.names()) == judged
    if judged:
        assert "<raised>\nDo wasps dance?\n</raised>" in script.prompts("Enough")[0]


def finding(name: str, text: str, **more: Any) -> Finding:
    return Finding(
        step=name,
        title=f"About {name}",
        status="ok",
        reason="",
        text=text,
        sources=[],
        queries=[],
        attempts=1,
        review="passed",
        **more,
    )


def test_each_researcher_has_a_question_heard_before_any_has_two():
    many = finding("s1", "One.", questions=[f"Question {number}?" for number in range(40)])
    other = finding("s2", "Two.", questions=["Another?", "Question 0?", " "])

    raised = _raised_questions([many, other, finding("s3", "Three.")])

    assert raised[:3] == ["Question 0?", "Another?", "Question 1?"]
    assert len(raised) == 12


def test_findings_that_are_too_long_together_are_chosen_by_their_titles():
    long = "word " * (MAX_NEEDED_TOKENS // 2 + 100)
    done = {name: finding(name, long) for name in ("bees", "wasps", "ants")}
    done |= {"none": finding("none", ""), "moths": finding("moths", "Short.")}

    step = _added_step(Missing(title="How wasps live"), "s9", done)

    assert step["needs"] == ["wasps", "moths"]
