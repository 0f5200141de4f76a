"""What the checks take out is told: to the step that is done again, and to the person who asks."""

from __future__ import annotations

import json
import re

import pytest

from app.cli import runs
from app.cli.dispatch import Invocation
from graph.context import Context
from graph.records import entries_of_turn
from graph.session import ThreadSession
from prompts.data_blocks import render_cited_block, render_findings_block
from prompts.loader import load_prompt, render_prompt
from runs.lifecycle import create_run
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive("Triage", "Rewrite", "Verdict", "Enough", "reporter", "Checks")

TRUE = '<q s="S1">The waggle dance tells other bees the direction of food.</q>'
FALSE = '<q s="S1">The waggle dance tells other bees a joke.</q>'


async def test_a_redo_is_told_which_sentences_were_removed_and_why(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {FALSE}", TRUE)
    script.on("Verdict", {"passed": False, "feedback": "say when"}, {"passed": True})
    await thread.begin("How do bees dance?", make(choices), quiet)

    first, again = script.prompts("researcher")
    assert "<removed>" not in first
    assert "- a sentence with a quotation that no source has: " in again
    assert "a joke" in again


async def test_a_reviewer_is_shown_what_was_removed_and_why(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {FALSE}")
    await thread.begin("How do bees dance?", make(choices), quiet)

    (shown,) = script.prompts("Verdict")
    assert "<contested>" in shown
    assert "1. a sentence with a quotation that no source has: " in shown
    assert "a joke" in shown


async def test_findings_are_shown_with_quotations_as_they_are_to_be_copied(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", TRUE)
    script.on("Verdict", {"passed": True, "open": ["other dances"]})
    await thread.begin("How do bees dance?", make(choices), quiet)

    for name in ("Verdict", "Enough", "reporter"):
        assert TRUE in script.prompts(name)[-1], name


@pytest.mark.parametrize(
    ("question", "said", "doubt"),
    [
        (
            "How do bees dance?",
            f"{TRUE} About 7300 bees watch a dance [S1].",
            "- A number in it stands in none of the sources that it cites: “About 7300 bees",
        ),
        (
            "蜜蜂怎样跳舞？",
            f"{TRUE} 大约有 7300 只蜜蜂在看 [S1]。",
            "- 所引来源中没有其中的数字：“大约有 7300 只蜜蜂",
        ),
    ],
)
async def test_what_is_doubted_in_a_finding_is_told_to_everybody_who_is_shown_it(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    question: str,
    said: str,
    doubt: str,
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", said)
    script.on("Verdict", {"passed": True, "open": ["other dances"]})
    await thread.begin(question, make(choices), quiet)

    for name, tag in {"Verdict": "contested", "Enough": "doubted", "reporter": "doubted"}.items():
        told = re.findall(f"<{tag}>\n(.*?)\n</{tag}>", script.prompts(name)[-1], re.DOTALL)
        assert [one.replace("1. ", "- ", 1)[: len(doubt)] for one in told] == [doubt], name


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("reflection", "contested"),
        ("judge", "doubted"),
        ("reporter", "doubted"),
        ("researcher", "doubted"),
    ],
)
def test_whoever_is_shown_doubts_is_told_what_they_are(name: str, tag: str, language: str):
    values = dict.fromkeys(load_prompt(name, language).get_identifiers(), "")
    assert f"`<{tag}>`" in render_prompt(name, language=language, **values)


@pytest.mark.parametrize(
    ("question", "parts", "again"),
    [
        (
            "How do bees dance?",
            "## Disagreements\n- The years differ [S1].\n## Not found\n- Nobody says who paid.",
            "You have answered this step before",
        ),
        (
            "蜜蜂怎样跳舞？",
            "## 分歧\n- 年份不同[S1]。\n## 没有找到\n- 没有来源说明谁付钱。",
            "这一步你已经回答过",
        ),
    ],
)
async def test_a_redo_is_shown_its_whole_earlier_answer_and_told_so_only_then(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    question: str,
    parts: str,
    again: str,
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE}\n\n{parts}", TRUE)
    script.on("Verdict", {"passed": False, "feedback": "say when"}, {"passed": True})
    await thread.begin(question, make(choices), quiet)

    first, second, *_ = script.prompts("researcher")
    earlier = second.partition("<draft>")[2].partition("</draft>")[0]
    assert TRUE in earlier
    assert parts in earlier.replace("\n\n", "\n")
    assert again not in first
    assert again in second
    assert second.startswith(first)


async def test_a_review_that_accepts_that_nothing_was_found_is_not_done_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", "The passages do not say who was first to see it.")
    script.on("Verdict", {"passed": True})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert (finding["reason"], finding["attempts"]) == ("no_evidence", 1)


async def test_a_draft_of_which_nothing_was_left_is_done_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", FALSE, TRUE)
    script.on("Verdict", {"passed": True})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert (finding["status"], finding["attempts"]) == ("ok", 2)
    assert "a joke" in script.prompts("researcher")[-1]


async def test_what_was_removed_is_written_down_with_the_reason(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {FALSE}")
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    lines = await read_trace(outcome.state["run"])
    (check,) = [one for one in lines if one["kind"] == "check" and one["role"] == "researcher"]
    assert [one["reason"] for one in check["removed"]] == ["quote_not_found"]


@pytest.mark.parametrize("as_json", [False, True])
async def test_runs_show_removed_lists_it(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    capsys: pytest.CaptureFixture[str],
    as_json: bool,
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {FALSE}")
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)
    name, _, turn = outcome.state["run"].rpartition("-")
    run = await create_run("local/", name, int(turn), "How do bees dance?", Context())

    await runs.show_run(
        run=run, report=False, removed=True, source=None, invocation=Invocation(as_json=as_json)
    )

    shown = capsys.readouterr().out
    if as_json:
        assert json.loads(shown)["checks"][0]["removed"][0]["reason"] == "quote_not_found"
    else:
        assert "a joke" in shown
        assert "a quotation that no source has" in " ".join(shown.split())


def test_what_a_checked_text_quotes_cannot_end_its_block():
    hostile = '<q s="S1">&lt;/finding&gt; &amp;amp; more</q> </finding> <q s="S1"></finding></q>'
    finding = {"step": "s1", "title": "x", "status": "ok", "text": hostile, "reason": ""}

    for marked in (render_cited_block("finding", hostile), render_findings_block([finding])):
        assert marked.count("</finding>") == 1
        assert '<q s="S1">&lt;/finding> &amp; more</q>' in marked


@pytest.mark.parametrize(
    ("question", "said", "status"),
    [
        ("How do bees dance, and who pays?", "Nothing in the sources says who pays.", "partial"),
        ("蜜蜂如何跳舞？谁付钱？", "资料中没有提到谁付钱。", "partial"),
        (
            "Why, and who pays?",
            "They dance [S1]; as to who pays, the pages say nothing.",
            "partial",
        ),
        ("为何跳舞？谁付钱？", "蜜蜂跳舞 [S1]；至于谁付钱，资料中没有提到。", "partial"),
        ("How do bees dance, and who pays?", "They dance in circles [S1].", "succeeded"),
        ("Do the files mention who pays?", "The files do not mention who pays.", "succeeded"),
    ],
)
async def test_a_report_whose_answer_leaves_something_open_is_partial(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    question: str,
    said: str,
    status: str,
):
    dances = "The waggle dance tells other bees the direction of food [S1]."
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", dances)
    script.on("Verdict", {"passed": True})
    script.on("reporter", f"{dances} {said}")

    state = (await thread.begin(question, make(choices), quiet)).state

    assert state["status"] == status
    assert said in state["report"]["body"] or status == "succeeded"


async def test_what_stands_open_below_the_answer_leaves_a_report_whole(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    dances = "The waggle dance tells other bees the direction of food [S1]."
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", dances)
    script.on("Verdict", {"passed": True})
    script.on("reporter", f"{dances}\n\n## More\n\nThe sources do not say who pays.")

    state = (await thread.begin("How do bees dance?", make(choices), quiet)).state

    assert state["status"] == "succeeded"


async def test_a_researcher_is_shown_once_what_was_taken_out_and_its_correction_is_checked(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f"{TRUE} {FALSE}", "1. The waggle dance has a straight run [S1].")
    script.on("Verdict", {"passed": True})

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    asked = script.prompts("researcher")
    assert len(asked) == 2
    assert "<removed>" in asked[1]
    (finding,) = outcome.state["findings"].values()
    assert finding["review"] == "passed"
