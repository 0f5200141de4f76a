"""A model reads again what was written: it lifts wrong doubts and finds what words hide."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.cli import runs
from app.cli.dispatch import Invocation
from app.cli.runner import summarize_report
from config.errors import ErrorCode, Problem
from graph.context import Context
from graph.records import Report, entries_of_turn
from graph.session import SessionOutcome, ThreadSession
from report.rendering.markdown_report import render_plain_text
from runs.lifecycle import create_run
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.places import new_process

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Verdict", "Enough", "reporter", "Checks", "Lessons"
)

TRUE = '<q s="S1">The waggle dance tells other bees the direction of food.</q> [S1]'
ABSENT = "Nor is the name of whoever kept the hive given anywhere."
RIGHT = "So the dance tells other bees in which direction the food lies [S1]."


async def reported(
    thread: ThreadSession, choices: dict[str, object], script: Script, text: str, *verdicts: Any
) -> SessionOutcome:
    """Let a run write `text` as its report, and have its sentences judged by their beginnings."""

    def reply(messages: list[Any]) -> dict[str, Any]:
        shown = re.findall(
            r'<sentence id="(\d+)"[^>]*>\n(.*?)\n</sentence>', str(messages[-1].text), re.DOTALL
        )
        judged = [
            {"sentence": int(number), "verdict": verdict, "source": source}
            | dict(zip(("says", "part"), more, strict=False))
            for number, said in shown
            for start, verdict, source, *more in verdicts
            if render_plain_text(said).startswith(start)
        ]
        return {"verdicts": judged}

    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("reporter", text)
    script.on("Checks", reply)
    return await thread.begin("How do bees dance?", make(choices), quiet)


def report_of(outcome: SessionOutcome) -> Report:
    report: Report = outcome.state["report"]
    return report


async def test_a_remark_that_no_word_gives_away_stays(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await reported(thread, choices, script, f"{TRUE} {ABSENT}", ("Nor", "own", ""))

    report = report_of(outcome)
    assert ABSENT in report["body"]
    assert not report["removed"]
    assert not report["doubted"]


async def test_without_a_verdict_the_checks_have_the_last_word(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await reported(thread, choices, script, f"{TRUE} {ABSENT}")

    report = report_of(outcome)
    assert ABSENT not in report["body"]
    assert [one["reason"] for one in report["removed"]] == ["no_source"]


async def test_a_claim_without_a_source_gets_the_one_that_the_reader_names(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    claim = "Whoever watches a run knows the way to the meal."
    outcome = await reported(thread, choices, script, f"{TRUE} {claim}", ("Who", "supported", "S1"))

    assert "the way to the meal [S1]." in report_of(outcome)["body"]


@pytest.mark.parametrize("verdict", ["not_said", "contradicted"])
async def test_a_sentence_that_only_a_reader_finds_wrong_is_doubted(
    thread: ThreadSession, choices: dict[str, object], script: Script, verdict: str
):
    outcome = await reported(thread, choices, script, f"{TRUE} {RIGHT}", ("So the", verdict, ""))

    report = report_of(outcome)
    assert [one["reason"] for one in report["doubted"]] == [verdict]
    assert "the food lies" in report["doubted"][0]["text"]
    assert "⚠" in str(outcome.state["messages"][-1].text)


async def test_a_doubt_is_lifted_only_by_the_reader(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    denied = "The waggle dance never tells other bees the direction of food [S1]."
    text = f"{TRUE} {denied} {RIGHT}"
    outcome = await reported(thread, choices, script, text, ("The waggle", "supported", "S1"))

    (shown,) = script.prompts("Checks")
    assert "Its sources seem to say the opposite" in shown
    assert not report_of(outcome)["doubted"]


async def test_no_reader_brings_back_a_quotation_that_no_source_has(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    false = '<q s="S1">The waggle dance tells a joke.</q>'
    outcome = await reported(thread, choices, script, f"{TRUE} {RIGHT} {false}", ("", "own", ""))

    report = report_of(outcome)
    assert "joke" not in report["body"]
    assert [one["reason"] for one in report["removed"]] == ["quote_not_found"]


async def test_a_reader_is_shown_what_each_sentence_rests_on(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await reported(thread, choices, script, f"{TRUE} {RIGHT}")

    (shown,) = script.prompts("Checks")
    assert '<page id="S1"' in shown
    assert "A longer waggle run means that the food is farther away." in shown


async def test_a_reader_is_shown_quotations_as_they_are_written(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    body = (
        f"As the page has it, {TRUE} The dance of `<count>` bees tells the direction of food [S1]."
    )
    await reported(thread, choices, script, body)

    (shown,) = script.prompts("Checks")
    said = shown.partition("<sentences>")[2].partition("</sentences>")[0]
    assert '<q s="S1">The waggle dance tells' in said
    assert "&lt;q" not in said
    assert "&amp;" not in said


async def test_a_reader_who_cannot_be_asked_costs_no_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Checks", Problem(ErrorCode.MODEL_AUTH, "the key was refused"))
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("reporter", f"{TRUE} {RIGHT}")
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert "the food lies" in report_of(outcome)["body"]
    assert outcome.state["status"] == "succeeded"
    assert "not read again beside its sources" in report_of(outcome)["notices"][0]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("answer_invalid", "the model's reply could not be used"),
        ("model_refused", "the model's reply could not be used"),
        ("model_auth", "the model could not be asked"),
    ],
)
async def test_the_notice_tells_a_reader_who_said_nothing_of_use_from_one_out_of_reach(
    thread: ThreadSession, choices: dict[str, object], script: Script, code: str, said: str
):
    script.on("Checks", Problem(ErrorCode.parse(code), "it went wrong"))
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("reporter", f"{TRUE} {RIGHT}")
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert said in report_of(outcome)["notices"][0]


@pytest.mark.parametrize("by_setting", [False, True])
async def test_a_run_can_do_without_a_second_reader(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    by_setting: bool,
):
    if by_setting:
        monkeypatch.setenv("DOSSIER_SECOND_READER", "false")
        new_process()
    without = choices if by_setting else {**choices, "second_reader": False}
    outcome = await reported(thread, without, script, f"{TRUE} {ABSENT}", ("Nor", "own", ""))
    name, _, turn = outcome.state["run"].rpartition("-")
    run = await create_run("local/", name, int(turn), "How do bees dance?", Context())
    await runs.show_run(run=run, report=False, removed=False, source=None, invocation=Invocation())

    report = report_of(outcome)
    assert "Checks" not in script.names()
    assert [one["reason"] for one in report["removed"]] == ["no_source"]
    assert not report["notices"]
    assert summarize_report("r", "t", outcome.state, "")["second_reader"] == "off"
    assert "The second reader was switched off" in " ".join(capsys.readouterr().out.split())


async def test_the_summary_says_that_a_second_reader_was_asked_or_has_failed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    first = await reported(thread, choices, script, f"{TRUE} {RIGHT}")
    script.on("Checks", Problem(ErrorCode.MODEL_AUTH, "the key was refused"))
    second = await thread.begin("How do bees dance again?", make(choices), quiet)

    told = [summarize_report("r", "t", one.state, "")["second_reader"] for one in (first, second)]
    assert told == ["asked", "failed"]


async def test_a_report_is_kept_whose_second_reader_cannot_be_loaded(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    models = {**choices.get("models", {}), "checker": "openai:gpt-5"}  # type: ignore[dict-item]
    outcome = await reported(thread, {**choices, "models": models}, script, f"{TRUE} {RIGHT}")

    assert TRUE[12:40] in report_of(outcome)["body"]
    assert summarize_report("r", "t", outcome.state, "")["second_reader"] == "failed"


async def test_quotations_alone_cost_no_call(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await reported(thread, choices, script, TRUE)

    assert "Checks" not in script.names()


async def test_code_and_headings_are_read_again_and_marked(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    text = f"{TRUE}\n\n## Every dance tells the price\n\n{RIGHT} So:\n\n```\ndance = 7300\n```"
    verdicts = (("## Every", "contradicted", "S1"), ("`dance", "contradicted", "S1"))
    outcome = await reported(thread, choices, script, text, *verdicts)

    told = [(one["text"], one["reason"]) for one in report_of(outcome)["doubted"]]
    assert told == [
        ("Every dance tells the price", "contradicted"),
        ("`dance = 7300`", "contradicted"),
    ]
    shown = str(outcome.state["messages"][-1].text)
    assert "the price (⚠ contradicted)" in shown
    assert "```\n\n(⚠ contradicted)\n" in shown


async def test_what_the_source_says_instead_is_told_with_its_citation(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    wrong = "So the dance tells other bees the price “of the meal” and the direction [S1]."
    says = "A longer waggle run means that the food is farther away."
    verdict = ("So the", "contradicted", "S1", says, "the price")
    outcome = await reported(thread, choices, script, f"{TRUE} {wrong}", verdict)

    (doubted,) = report_of(outcome)["doubted"]
    assert (doubted["says"], doubted["source"], doubted["part"]) == (says, "S1", "the price")
    shown = str(outcome.state["messages"][-1].text)
    assert "the price ‘of the meal’ and the direction.”, wrong in it: “the price”" in shown
    assert f"— the source says: “{says}” [\\[1\\]](#" in shown


async def test_what_no_source_says_is_not_told_as_its_words(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    verdict = ("So the", "contradicted", "S1", "The dance tells a joke.", "not in it")
    outcome = await reported(thread, choices, script, f"{TRUE} {RIGHT}", verdict)

    (doubted,) = report_of(outcome)["doubted"]
    assert set(doubted) == {"text", "reason"}
    assert "joke" not in str(outcome.state["messages"][-1].text)


async def test_a_review_puts_back_what_the_checks_took_out_of_a_finding(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {ABSENT} About 7300 bees watch [S1].")
    script.on("Verdict", {"passed": True, "right": [1]})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert ABSENT in finding["text"]
    assert "7300" in finding.get("doubted", "")
    assert "Nor is" not in finding.get("doubted", "")
    checks = [one for one in await read_trace("t1-1") if one["kind"] == "check"]
    assert [len(one["removed"]) for one in checks if one["role"] == "researcher"] == [1, 0]


async def test_what_a_review_upholds_is_not_held_against_the_next_draft(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {ABSENT}", TRUE)
    again = {"passed": False, "feedback": "say when", "right": [1]}
    script.on("Verdict", again, {"passed": True})
    await thread.begin("How do bees dance?", make(choices), quiet)

    redo = script.prompts("researcher")[-1]
    assert ABSENT in redo
    assert "<removed>" not in redo


async def test_what_a_review_upholds_is_not_contested_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {ABSENT}", f"{TRUE} {ABSENT} {TRUE}")
    again = {"passed": False, "feedback": "say when", "right": [1]}
    script.on("Verdict", again, {"passed": True})
    outcome = await thread.begin("How do bees dance?", make(choices, max_reflections=2), quiet)

    assert "<contested>" not in script.prompts("Verdict")[-1]
    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert ABSENT in finding["text"]


async def test_what_a_review_says_at_last_is_told_to_the_writer_and_not_to_the_person(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("Verdict", {"passed": False, "feedback": "The year of the discovery is missing."})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    shown = str(outcome.state["messages"][-1].text)
    assert "says: The year of the discovery is missing." in script.prompts("reporter")[-1]
    assert "year of the discovery" not in shown
    assert "**waggle dance**: not all of it could be confirmed" in shown
    assert "year of the discovery" not in outcome.state["answers"]["1"]["open"][0]
    assert outcome.state["status"] == "partial"
