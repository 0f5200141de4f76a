"""One question, start to finish."""

from __future__ import annotations

import pytest

from config.errors import ErrorCode, Problem
from graph.records import entries_of_turn
from graph.session import ThreadSession
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks", "Lessons"
)


async def test_a_question_becomes_a_cited_report(thread: ThreadSession, choices: dict[str, object]):
    outcome = await thread.begin("Who described the waggle dance, and when?", make(choices), quiet)

    report = outcome.state["report"]
    assert outcome.state["status"] == "succeeded"
    assert any("1927" in quote["text"] for quote in report["quotes"])
    assert "Sources" in str(outcome.state["messages"][-1].text)


async def test_without_evidence_no_report_is_invented_and_no_reporter_is_asked(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("quantum chromodynamics"))
    outcome = await thread.begin("What is quantum chromodynamics?", make(choices), quiet)

    assert outcome.state["status"] == "insufficient_evidence"
    assert "reporter" not in script.names()
    assert "quantum chromodynamics" in str(outcome.state["messages"][-1].text)


async def test_quick_mode_answers_from_one_search(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await thread.begin("What is the waggle dance?", make(choices, depth="quick"), quiet)

    assert outcome.state["status"] == "succeeded"
    assert not {"Draft", "researcher", "Verdict"} & set(script.names())


async def test_a_plan_that_has_enough_context_goes_straight_to_the_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", {"title": "Known", "has_enough_context": True, "steps": []})
    outcome = await thread.begin("What is the waggle dance?", make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert "researcher" not in script.names()
    assert outcome.state["report"]["cited"]


async def test_a_step_starts_when_what_it_needs_is_there(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    plan = {
        "title": "Bees",
        "steps": [
            {"title": "waggle dance", "queries": ["waggle dance"]},
            {"title": "winter cluster", "queries": ["winter cluster"], "needs": [1]},
            {"title": "queen eggs", "queries": ["queen eggs"]},
        ],
    }
    script.on("Draft", plan)
    await thread.begin("How do bees live?", make(choices), quiet)

    asked = script.prompts("researcher")
    assert "winter cluster" in asked[-1]
    assert "<needs>" in asked[-1]


async def test_a_step_is_done_again_with_the_feedback_and_only_so_often(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": False, "feedback": "say when", "queries": ["1927"]})
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert script.names().count("researcher") == 2, finding
    assert "say when" in script.prompts("researcher")[-1]
    assert (finding["attempts"], finding["review"]) == (2, "failed")


async def test_a_judge_that_fails_never_counts_as_a_pass(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", Problem(ErrorCode.MODEL_REJECTED, "no"))
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert finding["review"] == "unverified"


async def test_a_step_that_fails_is_listed_and_keeps_the_others(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))

    def answer(messages):
        if "<step>\nwinter" in str(messages[-1].text):
            return Problem(ErrorCode.MODEL_REJECTED, "no")
        return '<q s="S1">The waggle dance tells other bees the direction of food.</q>'

    script.on("researcher", answer)
    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    shown = str(outcome.state["messages"][-1].text)
    assert outcome.state["status"] == "partial"
    assert "waggle dance tells" in shown
    assert "winter cluster" in shown.split("What is not known")[1]


async def test_steps_are_added_when_something_is_missing_but_not_for_ever(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": True, "open": ["winter"]})
    script.on("Enough", {"enough": False, "missing": [{"title": "winter", "queries": ["winter"]}]})
    outcome = await thread.begin("How do bees live?", make(choices, max_rounds=1), quiet)

    assert list(entries_of_turn(outcome.state["findings"], 1)) == ["s1", "s2"]
    assert len(outcome.state["plan"]["steps"]) == 1
    assert script.names().count("Enough") == 1


async def test_a_second_question_knows_the_first_and_starts_a_turn_of_its_own(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("What is the waggle dance?", make(choices), quiet)
    outcome = await thread.begin("And in winter?", make(choices), quiet)

    assert outcome.state["turn"] == 2
    assert "waggle dance" in script.prompts("Rewrite")[-1]
    assert {name.split("/")[0] for name in outcome.state["findings"]} == {"1", "2"}
    assert all("1/" not in name for name in entries_of_turn(outcome.state["findings"], 2))


async def test_small_talk_is_answered_at_once(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": False, "reply": "Hello!"})
    outcome = await thread.begin("hi", make(choices), quiet)

    assert outcome.state["messages"][-1].text == "Hello!"
    assert sorted(script.names()) == ["Rewrite", "Triage"]


async def test_a_budget_that_is_spent_ends_in_a_partial_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster", "queen eggs", "honey"))
    context = make(choices, max_calls=8, parallelism=1)
    outcome = await thread.begin("How do bees live?", context, quiet)

    assert outcome.state["status"] == "partial"
    assert outcome.state["report"]["cited"]
    assert len(script.asked) <= 8
    assert "reporter" in script.names()


async def test_a_step_may_cite_what_the_step_it_needs_has_found(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    plan = draft("waggle dance", "winter cluster")
    plan["steps"][1]["needs"] = [1]
    script.on("Draft", plan)

    def answer(messages):
        text = str(messages[-1].text)
        cited = "S1" if "<needs>" not in text else text.partition('<q s="')[2][:2] or "S1"
        return f"Bees dance [{cited}]."

    script.on("researcher", answer)
    script.on("Verdict", {"passed": True})
    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    second = entries_of_turn(outcome.state["findings"], 1)["s2"]
    assert second["status"] == "ok"
    assert second["sources"] == ["S1"]


async def test_a_redo_that_brings_nothing_keeps_the_finding_it_should_have_mended(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": False, "feedback": "more"})
    script.on("researcher", "Bees dance [S1].", Problem(ErrorCode.MODEL_REFUSED, "no"))
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert finding["text"] == "Bees dance [S1]."
    assert (finding["status"], finding["reason"]) == ("partial", "model_refused")


async def test_a_person_who_wants_to_see_the_plan_sees_one_even_if_all_seems_known(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", {"title": "Known", "has_enough_context": True, "steps": []})
    context = make(choices, auto_accept=False)

    outcome = await thread.begin("What is the waggle dance?", context, quiet)

    assert outcome.request
    assert outcome.request["plan"]["steps"]


async def test_a_number_without_a_source_is_taken_out_of_the_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", "Bees dance [S1]. They have danced for 4500 years.")
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    report = outcome.state["report"]
    assert "4500" not in report["body"]
    assert report["removed"] == [
        {"text": "They have danced for 4500 years.", "reason": "no_source"}
    ]


async def test_a_step_of_which_the_report_says_nothing_is_named_as_missing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster"))
    script.on("reporter", '<q s="S1">Karl von Frisch described the waggle dance in 1927.</q>')
    outcome = await thread.begin("How do bees live?", make(choices), quiet)

    missing = str(outcome.state["messages"][-1].text).split("What is not known")[1]
    assert "winter cluster" in missing
    assert "waggle dance" not in missing.split("## Sources")[0]


async def test_a_caller_cannot_bring_sources_of_its_own(
    thread: ThreadSession, choices: dict[str, object]
):
    forged = {"id": "S1", "page": "p", "title": "NASA", "location": "https://x", "kind": "web"}
    given = {"messages": [("user", "How do bees dance?")], "sources": {"S1": forged}}

    state = await thread.graph.ainvoke(given, thread.config, context=make(choices))

    assert "NASA" not in str(state["sources"])
    assert state["status"] == "succeeded"


async def test_a_model_that_is_down_is_named_as_such_and_not_blamed_on_a_missing_key(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", Problem(ErrorCode.MODEL_UNAVAILABLE, "down"))
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    (notice,) = outcome.state["report"]["notices"]
    assert "could not be reached" in notice
    assert "OPENAI_API_KEY" not in notice


async def test_a_text_that_was_pasted_before_is_sent_whole_to_nobody(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": True})
    pasted = ("user", "bees " * 40_000)
    report = ("assistant", "They dance. " * 2_000)
    given = {"messages": [pasted, report, ("user", "And how do they dance?")]}

    await thread.graph.ainvoke(given, thread.config, context=make(choices))

    sent = {name: sum(len(str(one.text)) for one in said) for name, said in script.asked}
    assert {"Triage", "Rewrite", "reporter"} <= sent.keys()
    assert max(sent.values()) < 20_000, sent


async def test_a_model_that_finds_no_answer_on_the_pages_is_believed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("reporter", "None of the sources says why bees dance.")
    outcome = await thread.begin("Why do bees dance?", make(choices, depth="quick"), quiet)

    assert outcome.state["status"] == "insufficient_evidence"
    assert outcome.state["report"]["body"] == ""
    assert "No source that could be read says anything" in str(outcome.state["messages"][-1].text)


async def test_every_sentence_of_a_report_has_a_source_or_is_not_in_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on(
        "reporter",
        "Bees are the poets of the meadow. The waggle dance tells bees the direction of food.\n\n"
        "## Dance\n\nBees dance [S1]. This shows how clever they are.",
    )
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    report = outcome.state["report"]
    assert report["body"] == (
        "The waggle dance tells bees the direction of food [S1].\n\n## Dance\n\nBees dance [S1]."
    )
    assert [one["reason"] for one in report["removed"]] == ["no_source", "no_source"]
    assert "2 sentences that no source bears out" in str(outcome.state["messages"][-1].text)
