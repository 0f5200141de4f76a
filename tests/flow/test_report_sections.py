"""A long report is outlined, written in sections side by side, and passed over once as a whole."""

from __future__ import annotations

import re
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, HumanMessage

from graph.records import Report
from graph.session import SessionOutcome, ThreadSession
from tests.chat_page import ChatPage, watched
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.model_calls import BAD_REQUEST
from tests.places import new_process

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Enough", "Checks", "Lessons")

HOW = "How do bees live?"
DANCE = "The waggle dance tells other bees the direction of food"
COLD = "Bees form a winter cluster below 14 degrees"


def cited(said: str, text: str) -> str:
    """Return a sentence with the id of the page of a prompt that has it."""
    pages = re.findall(r'<page id="(S\d+)"[^>]*>\n(.*?)\n</page>', text, re.DOTALL)
    return f"{said} [{next(name for name, page in pages if said in page)}]."


def find(messages: list[BaseMessage]) -> str:
    text = str(messages[-1].text)
    step = text.partition("<step")[2].partition("</step>")[0]
    return cited(COLD if "winter" in step else DANCE, text)


def outline(messages: list[BaseMessage]) -> dict[str, Any]:
    dance, cold = re.findall('<finding id="([^"]+)"', str(messages[-1].text))
    says = {"Food": "How they find it.", "Winter": "How they survive it."}
    named = zip(says.items(), (dance, cold), strict=True)
    sections = [{"title": title, "says": said, "findings": [one]} for (title, said), one in named]
    return {"sections": sections}


def complete(messages: list[BaseMessage]) -> dict[str, Any]:
    text = str(messages[-1].text)
    source = re.search(rf"{DANCE} (\[S\d+\])", text)[1]
    return {
        "opening": f"Bees find food by a dance {source}.",
        "assessment": f"How sure: fairly sure {source}.\n\nThey are clever, I think.",
        "not_known": ["What they think of it."],
        "order": [2, 1],
    }


def write(messages: list[BaseMessage]) -> str:
    """Write the section that is asked for, or the whole report."""
    text = str(messages[-1].text)
    food = '<section number="2">' not in text
    return cited(DANCE if food else COLD, text.replace("<evidence>", ""))


def fail_on_second(messages: list[BaseMessage]) -> str | Exception:
    return BAD_REQUEST if '<section number="2">' in str(messages[-1].text) else write(messages)


def scripted_findings(script: Script) -> None:
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("Verdict", {"passed": True})
    script.on("researcher", find)
    script.on("ReportOutline", outline)
    script.on("WholePass", complete)
    script.on("reporter", write)


def plain(body: str) -> str:
    return re.sub(r" ?\[S\d+\]", "", body)


async def long_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
) -> SessionOutcome:
    return await thread.begin(HOW, make(choices, length="long"), quiet)


def report_of(outcome: SessionOutcome) -> Report:
    report: Report = outcome.state["report"]
    return report


async def test_a_long_report_has_its_answer_its_sections_and_its_assessment(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    outcome = await long_report(thread, choices, script)

    body = report_of(outcome)["body"]
    headings = [line for line in body.splitlines() if line.startswith("#")]
    assert headings == ["## Winter", "## Food", "## Assessment", "## What is not known"]
    assert plain(body).startswith("Bees find food by a dance.")
    assert DANCE in body
    assert COLD in body
    assert body.endswith("- What they think of it.")
    assert report_of(outcome)["removed"] == []
    assert outcome.state["status"] == "succeeded"


async def test_a_section_is_shown_the_outline_and_its_own_findings_and_passages(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    await long_report(thread, choices, script)

    food, winter = sorted(script.prompts("reporter"), key=lambda text: '"2">' in text)
    assert "1. Food: How they find it." in winter
    assert "waggle dance tells" in food
    assert "waggle dance tells" not in winter.partition("<findings>")[2]
    assert "20 kilograms of honey" in winter.partition("<evidence>")[2]


async def test_a_report_of_the_usual_length_is_written_at_once(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    await thread.begin(HOW, make(choices), quiet)

    assert "ReportOutline" not in script.names()
    assert len(script.prompts("reporter")) == 1


async def test_a_section_that_the_model_does_not_write_is_made_of_its_findings(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)

    script.on("reporter", fail_on_second)
    outcome = await long_report(thread, choices, script)

    report = report_of(outcome)
    assert "## Winter\n\nBees form a winter cluster below 14 degrees" in report["body"]
    assert DANCE in report["body"]
    assert any(
        "did not write these parts of the report: Winter" in one for one in report["notices"]
    )
    assert outcome.state["status"] == "partial"


async def test_a_resume_writes_only_the_section_that_failed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)

    script.on("reporter", fail_on_second)
    await long_report(thread, choices, script)
    script.on("reporter", write)
    script.asked.clear()
    new_process()
    outcome = await thread.resume(make(choices, length="long"), quiet)

    assert outcome.state["status"] == "succeeded"
    (again,) = script.prompts("reporter")
    assert '<section number="2">' in again
    assert "ReportOutline" not in script.names()


@pytest.mark.parametrize("answer", [{"sections": []}, BAD_REQUEST])
async def test_without_an_outline_the_report_is_written_at_once(
    thread: ThreadSession, choices: dict[str, object], script: Script, answer: Any
):
    scripted_findings(script)
    script.on("ReportOutline", answer)
    outcome = await long_report(thread, choices, script)

    assert plain(report_of(outcome)["body"]) == f"{DANCE}."
    assert "WholePass" not in script.names()


async def test_without_the_pass_over_the_whole_the_sections_stay(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    script.on("WholePass", BAD_REQUEST)
    outcome = await long_report(thread, choices, script)

    report = report_of(outcome)
    assert report["body"].startswith("## Food")
    assert any("the answer and the assessment" in one for one in report["notices"])


async def test_where_no_section_can_be_written_the_report_is_tried_at_once(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)

    def only_whole(messages: list[BaseMessage]) -> Any:
        return BAD_REQUEST if "<section " in str(messages[-1].text) else write(messages)

    script.on("reporter", only_whole)
    outcome = await long_report(thread, choices, script)

    assert plain(report_of(outcome)["body"]) == f"{DANCE}."
    assert outcome.state["status"] == "succeeded"


async def test_the_extractive_reporter_writes_at_once_whatever_the_length(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    models = {"default": "fake:any", "reporter": "extractive:"}
    outcome = await long_report(thread, {**choices, "models": models}, script)

    assert report_of(outcome)["cited"]
    assert "ReportOutline" not in script.names()


async def test_sections_are_seen_as_they_are_written(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    scripted_findings(script)
    asked = {"messages": [HumanMessage(HOW, id="h1")]}
    context = make(choices, length="long")
    stream = thread.graph.astream(
        asked, thread.config, context=context, stream_mode=["values", "messages"], subgraphs=True
    )
    page: ChatPage = await watched(stream)

    assert "Writing the report in 2 sections" in page.seen
    growing = [screen[-1][1] for screen in page.screens if screen]
    assert any("## Winter" in text and "Bees find food by a dance" not in text for text in growing)
    assert "Bees find food by a dance" in page.screens[-1][-1][1]
    assert [kind for kind, _ in page.screens[-1]] == ["human", "ai"]
