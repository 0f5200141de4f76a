"""The reporter sees evidence, judges where that is asked, and mends what the checks took out."""

from __future__ import annotations

import re

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from graph.records import Report
from graph.session import SessionOutcome, ThreadSession
from models.extractive import model
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.model_calls import DOWN

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Verdict", "Enough", "Checks", "Lessons")

QUOTED = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'
FALSE = '<q s="S1">The waggle dance tells other bees a joke.</q>'
TRUE = "The waggle dance tells other bees the direction of food [S1]."
WHICH = "Which is better for finding food, the waggle dance or chance? Recommend one."
HOW = "How do bees dance?"


async def written(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    question: str,
    *answers: str | AIMessage | Exception,
) -> SessionOutcome:
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", QUOTED)
    script.on("reporter", *answers)
    return await thread.begin(question, make(choices), quiet)


def report_of(outcome: SessionOutcome) -> Report:
    report: Report = outcome.state["report"]
    return report


def conversations(script: Script) -> list[list[BaseMessage]]:
    return [messages for name, messages in script.asked if name == "reporter"]


async def test_the_reporter_is_shown_what_the_findings_cite_in_its_paragraph(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await written(thread, choices, script, HOW, QUOTED)

    (asked,) = script.prompts("reporter")
    evidence = asked.partition("<evidence>")[2].partition("</evidence>")[0]
    assert '<page id="S1"' in evidence
    assert "A longer waggle run means that the food is farther away." in evidence


async def test_the_extractive_reporter_is_shown_findings_alone(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    seen: list[str] = []
    parse = model.parse_prompt

    def watched(messages: list[BaseMessage]):
        seen.append(str(messages[-1].text))
        return parse(messages)

    monkeypatch.setattr(model, "parse_prompt", watched)
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", QUOTED)
    models = {"default": "fake:any", "reporter": "extractive:"}
    outcome = await thread.begin(HOW, make(choices, models=models), quiet)

    assert outcome.state["report"]["cited"]
    assert any("<findings>" in text for text in seen)
    assert not any("<evidence>" in text for text in seen)


async def test_the_passages_fit_into_a_small_cap(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", QUOTED)
    script.on("reporter", QUOTED)
    await thread.begin(HOW, make(choices, max_tokens=1000), quiet)

    assert not any("<evidence>" in text for text in script.prompts("reporter"))


async def test_the_length_that_was_chosen_is_told(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await written(thread, {**choices, "length": "brief"}, script, HOW, QUOTED)

    assert "150 to 300 words" in str(conversations(script)[0][0].text)


async def test_the_sentences_of_an_assessment_stay_and_are_named_as_inferences(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    judged = "I would let the bees dance, since it spares them a search [S1]."
    text = f"{TRUE}\n\n## Assessment\n\n{judged} Poets would agree."
    report = report_of(await written(thread, choices, script, WHICH, text))

    assert judged in report["body"]
    assert report["removed"] == []
    assert [one[:18] for one in report["inferred"]] == ["I would let the be", "Poets would agree."]
    assert len(script.prompts("reporter")) == 1


async def test_nothing_is_asked_again_where_nothing_was_taken_out(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await written(thread, choices, script, HOW, f"{TRUE} About 7300 bees watch [S1].")

    assert len(script.prompts("reporter")) == 1


async def test_the_writer_is_shown_once_what_was_taken_out_and_its_correction_counts(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    text = f"{TRUE} {FALSE}\n\n- Bees are poets."
    outcome = await written(thread, choices, script, HOW, text, f"1. {QUOTED}.\n2. -", "3. no")

    first, second = conversations(script)
    assert [str(one.text) for one in second[:2]] == [str(one.text) for one in first]
    assert str(second[-2].text) == text
    assert str(second[-1].text).count("<sentence ") == 2
    assert "a quotation that no source has" in str(second[-1].text)
    report = report_of(outcome)
    assert report["removed"] == []
    assert "joke" not in report["body"]
    assert len(report["quotes"]) == 1
    assert "poets" not in report["body"]


@pytest.mark.parametrize(
    "answer",
    [
        "1. Bees are the poets of the meadow.",
        "I am sorry.",
        AIMessage("1. cut o", response_metadata={"finish_reason": "length"}),
        DOWN,
    ],
)
async def test_a_correction_that_mends_nothing_leaves_the_report_as_it_was(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    answer: str | AIMessage | Exception,
):
    outcome = await written(thread, choices, script, HOW, f"{TRUE} {FALSE}", answer)

    report = report_of(outcome)
    assert report["body"] == TRUE
    assert [one["reason"] for one in report["removed"]] == ["quote_not_found"]
    assert outcome.state["status"] == "succeeded"
    assert report["notices"] == []


async def test_a_corrected_report_that_loses_a_true_sentence_is_not_taken(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    other = "Karl von Frisch described the waggle dance in 1927 [S1]."
    outcome = await written(thread, choices, script, HOW, f"{TRUE} {other} {FALSE}", f"{TRUE}" * 2)

    assert other in report_of(outcome)["body"]


async def test_a_recommendation_that_was_asked_for_and_is_missing_is_asked_for_once(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    added = "## Assessment\n\nI recommend the waggle dance, which tells the direction of food [S1]."
    gaps = "\n\n## What is not known\n\n- How often chance helps."
    outcome = await written(thread, choices, script, WHICH, TRUE + gaps, added, "nothing")

    assert len(script.prompts("reporter")) == 2
    assert "<removed>" not in script.prompts("reporter")[-1]
    body = report_of(outcome)["body"]
    assert added in body
    assert body.index("## Assessment") < body.index("## What is not known")
    assert report_of(outcome)["inferred"]


async def test_no_correction_is_asked_for_beyond_a_limit(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", QUOTED)
    script.on("reporter", f"{TRUE} {FALSE}")
    context = make(choices, max_calls=6, max_reflections=0, second_reader=False, query_count=0)
    outcome = await thread.begin(HOW, context, quiet)

    calls = len([name for name in script.names() if name != "Learnt"])
    assert calls <= 6
    assert report_of(outcome)["body"] == TRUE


async def test_a_text_of_which_nothing_is_left_is_corrected_before_findings_take_its_place(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await written(thread, choices, script, HOW, FALSE, f"1. {TRUE}")

    report = report_of(outcome)
    assert report["body"] == TRUE
    assert not re.search("named no source", " ".join(report["notices"]))
