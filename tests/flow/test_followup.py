"""A follow-up begins with what its thread has found out, and does not look for it again."""

from __future__ import annotations

import json

import pytest

from graph.records import entries_of_turn
from graph.session import ThreadSession
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.loopback import Asked, reply, serving
from tests.places import new_process

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks", "Lessons"
)

FIRST = "Who described the waggle dance, and when?"
QUOTE = "Karl von Frisch described the waggle dance in 1927."
NOTHING_LEFT = {"title": "Known", "has_enough_context": True, "steps": []}


async def asked_first(thread: ThreadSession, choices: dict[str, object], script: Script) -> str:
    """Ask the first question; return the id of the source of its only finding."""
    script.on("Draft", draft("waggle dance"))
    outcome = await thread.begin(FIRST, make(choices), quiet)
    (finding,) = entries_of_turn(outcome.state["findings"], 1).values()
    assert (finding["status"], finding["review"]) == ("ok", "passed")
    assert QUOTE in finding["text"]
    return next(one for one in finding["sources"] if f's="{one}">{QUOTE}' in finding["text"])


async def test_planner_researcher_and_reporter_are_shown_what_was_found_before(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    source = await asked_first(thread, choices, script)
    before = len(script.asked)
    script.on("Draft", draft("food and the waggle dance"))
    script.on("Verdict", {"passed": True, "open": ["other dances"]})
    await thread.begin("What does the waggle dance tell about food?", make(choices), quiet)

    told = {name: str(messages[-1].text) for name, messages in script.asked[before:]}
    for name in ("Draft", "researcher", "Verdict", "Enough", "reporter"):
        assert "<earlier>" in told[name], name
        assert "described the waggle dance in 1927" in told[name].split("<earlier>")[1]
        assert source in told[name].split("<earlier>")[1]


async def test_the_first_question_of_a_thread_is_shown_nothing_before_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await asked_first(thread, choices, script)

    assert not any("<earlier>" in str(messages[-1].text) for _, messages in script.asked)


async def test_what_has_nothing_to_do_with_the_question_is_not_shown(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await asked_first(thread, choices, script)
    before = len(script.asked)
    script.on("Draft", draft("winter cluster"))
    await thread.begin("How much honey for the winter cluster?", make(choices), quiet)

    said = [str(messages[-1].text) for _, messages in script.asked[before:]]
    assert not any("<earlier>" in one and "1927" in one.split("<earlier>")[1] for one in said)


async def test_a_source_keeps_its_number_and_can_be_cited_without_being_read_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    source = await asked_first(thread, choices, script)
    script.on("Draft", draft("food"))
    script.on("Verdict", {"passed": True})
    script.on("researcher", f'<q s="{source}">{QUOTE}</q>')
    script.on("reporter", f'<q s="{source}">{QUOTE}</q>')
    outcome = await thread.begin(
        "Who described the dance that tells of food?", make(choices), quiet
    )

    (finding,) = entries_of_turn(outcome.state["findings"], 2).values()
    assert (finding["status"], finding["sources"]) == ("ok", [source])
    assert outcome.state["report"]["cited"] == [source]
    assert "1927" in str(outcome.state["messages"][-1].text)


async def test_a_plan_need_not_research_again_what_is_there(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    source = await asked_first(thread, choices, script)
    before = len(script.asked)
    script.on("Draft", NOTHING_LEFT)
    script.on("reporter", f'<q s="{source}">{QUOTE}</q>')
    # No file is searched and no web, so nothing but the thread itself can answer.
    outcome = await thread.begin(f"Again: {FIRST}", make(choices, files=[], memory=["x"]), quiet)

    names = [name for name, _ in script.asked[before:]]
    assert "researcher" not in names
    assert outcome.state["status"] == "succeeded"
    assert outcome.state["report"]["cited"] == [source]


async def test_the_model_without_a_key_answers_from_what_was_found_before(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    source = await asked_first(thread, choices, script)
    script.on("Draft", NOTHING_LEFT)
    outcome = await thread.begin(
        "When was the waggle dance described?", make(choices, files=[], memory=["x"]), quiet
    )

    assert {quote["source"] for quote in outcome.state["report"]["quotes"]} == {source}
    assert "1927" in outcome.state["report"]["body"]


async def test_what_was_left_open_is_told_to_the_next_plan_until_it_is_known(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("quantum chromodynamics"))
    await thread.begin("What is quantum chromodynamics?", make(choices), quiet)
    script.on("Draft", draft("waggle dance"))
    await thread.begin(FIRST, make(choices), quiet)

    plan = script.prompts("Draft")[-1]
    assert "<open>\nquantum chromodynamics: nothing was found that answers it\n</open>" in plan


async def test_a_finding_that_did_not_pass_is_not_handed_on(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("Verdict", {"passed": False, "feedback": "no"})
    await thread.begin(FIRST, make(choices), quiet)
    script.on("Verdict", {"passed": True})
    before = len(script.asked)
    await thread.begin("Who described the waggle dance?", make(choices), quiet)

    (plan,) = [str(said[-1].text) for name, said in script.asked[before:] if name == "Draft"]
    assert "<open>\nwaggle dance: no confirmed answer was found\n</open>" in plan
    assert 'id="1/s1"' not in plan


async def test_an_answer_of_one_search_is_handed_on_as_a_finding(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("What is the waggle dance?", make(choices, depth="quick"), quiet)
    await thread.begin("Who described the waggle dance?", make(choices), quiet)

    (plan,) = script.prompts("Draft")
    assert '<finding id="1" title="What is the waggle dance?">' in plan


@pytest.mark.parametrize("depth", ["standard", "quick"])
async def test_no_page_is_fetched_twice_in_a_thread(
    thread: ThreadSession,
    choices: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
    depth: str,
):
    fetched: list[str] = []

    def answer(asked: Asked) -> bytes:
        if asked.target.startswith("/search"):
            hits = [{"url": f"{server.url}/{one}", "title": one} for one in ("a", "b", "c")]
            return reply(json.dumps({"results": hits}), mime="application/json")
        fetched.append(asked.target)
        words = f"<p>{QUOTE} This is page {asked.target}. The dance tells the direction.</p>" * 3
        return reply(f"<html><title>Bees</title><body><article>{words}</article></body></html>")

    async with serving(answer) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        monkeypatch.setenv("DOSSIER_ALLOW_PRIVATE_FETCH", "true")
        new_process()
        chosen = make(choices, files=[], search=["searxng"], depth=depth)
        await thread.begin(FIRST, chosen, quiet)
        before = sorted(fetched)
        outcome = await thread.begin("What does the waggle dance tell?", chosen, quiet)

    assert before == sorted(fetched) == ["/a", "/b", "/c"]
    assert outcome.state["report"]["cited"]
    read = [line["status"] for line in await read_trace("t1-2") if line["kind"] == "fetch"]
    assert set(read) == {"stored"}
