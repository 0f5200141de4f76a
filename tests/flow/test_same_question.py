"""A question that was answered before is not researched twice unless a person wants it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from graph.records import entries_of_turn
from graph.session import SessionOutcome, ThreadSession, open_session
from runs.call_site import join_owner
from runs.trace import read_trace
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tools.folder_ingestion import ingest_folder

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks", "Lessons"
)

QUESTION = "Who described the waggle dance, and how much honey does a winter cluster eat?"
STEPS = draft("waggle dance", "winter cluster honey")


async def ask(thread: str, context: object, question: str = QUESTION) -> SessionOutcome:
    async with open_session(thread) as opened:
        return await opened.begin(question, context, quiet)  # type: ignore[arg-type]


async def answered(choices: dict[str, object], script: Script) -> SessionOutcome:
    script.on("Draft", STEPS)
    outcome = await ask("t1", make(choices))
    assert outcome.state["status"] == "succeeded"
    assert len(entries_of_turn(outcome.state["findings"], 1)) == 2
    return outcome


async def test_a_person_is_told_of_the_earlier_answer_before_anything_is_paid(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    first = await answered(choices, script)
    before = len(script.asked)

    outcome = await ask("t2", make(choices, auto_accept=False), f"Please tell me: {QUESTION}")

    assert outcome.request
    (request,) = outcome.request["action_requests"]
    assert request["name"] == "answered_question"
    assert outcome.request["review_configs"][0]["allowed_decisions"] == [
        "approve",
        "edit",
        "reject",
    ]
    earlier = outcome.request["earlier"]
    assert earlier["run"] == "t1-1"
    assert earlier["sources"] == len(first.state["report"]["cited"])
    assert earlier["oldest"] <= earlier["newest"] <= earlier["answered"]
    assert Path(earlier["file"]).is_file()  # noqa: ASYNC240
    assert earlier["answered"] in request["description"]
    assert earlier["file"] in request["description"]
    assert outcome.state["status"] == "waiting_review"
    assert len(script.asked) == before
    assert [line for line in await read_trace("t2-1") if line["kind"] in ("search", "fetch")] == []


def choose(choice: str) -> dict[str, object]:
    """Return the decision to do something with an earlier answer."""
    action = {"name": "answered_question", "args": {"choice": choice}}
    return {"type": "edit", "edited_action": action}


async def decide(thread: str, context: object, decision: dict[str, object]) -> SessionOutcome:
    async with open_session(thread) as opened:
        return await opened.answer_review(decision, context, quiet)  # type: ignore[arg-type]


async def test_a_reused_report_is_shown_with_its_date_and_costs_nothing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    first = await answered(choices, script)
    before = len(script.asked)
    context = make(choices, auto_accept=False)
    await ask("t2", context)

    outcome = await decide("t2", context, choose("reuse"))

    assert outcome.request is None
    report, old = outcome.state["report"], first.state["report"]
    assert report["body"] == old["body"]
    assert old["created"] in report["notices"][0]
    assert "t1-1" in report["notices"][0]
    assert outcome.state["status"] == "succeeded"
    assert outcome.state["messages"][-1].text.count(old["created"])
    assert not any(str(one.id).startswith("offer") for one in outcome.state["messages"])
    assert {"Draft", "researcher", "reporter"}.isdisjoint(name for name, _ in script.asked[before:])
    pages = {outcome.state["sources"][name]["page"] for name in report["cited"]}
    assert pages == {first.state["sources"][name]["page"] for name in old["cited"]}


async def test_sources_are_numbered_anew_in_a_thread_that_has_its_own(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    first = await answered(choices, script)
    script.on("Draft", draft("the queen"))
    await ask("t2", make(choices), "How many eggs does the queen lay?")

    outcome = await ask("t2", make(choices, again="reuse"))

    sources, report = outcome.state["sources"], outcome.state["report"]
    old = {first.state["sources"][name]["page"]: name for name in first.state["report"]["cited"]}
    assert {sources[name]["page"] for name in report["cited"]} == old.keys()
    assert any(old[sources[name]["page"]] != name for name in report["cited"])
    assert all(f'"{name}"' in report["body"] for name in report["cited"])
    assert all(quote["source"] in sources for quote in report["quotes"])


async def test_nothing_is_researched_where_no_source_has_changed(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    first = await answered(choices, script)
    before = len(script.asked)

    outcome = await ask("t2", make(choices))

    assert outcome.state["report"]["body"] == first.state["report"]["body"]
    assert "none has changed" in outcome.state["report"]["notices"][0]
    assert [name for name, _ in script.asked[before:] if name != "Learnt"] == []


async def change_winter(bees: str, honey: str = "30") -> None:
    """Let the file on winter say something else, and read it in again."""
    cluster = "Bees form a winter cluster below 14 degrees."
    text = f"# Winter\n\n{cluster} A winter cluster eats about {honey} kilograms of honey."
    file = Path(bees, "winter.md")
    file.write_text(text, encoding="utf-8")  # noqa: ASYNC240
    later = time.time() + 10
    os.utime(file, (later, later))
    await ingest_folder(join_owner("local", ""), Path(bees), lambda _: None)


async def test_only_the_step_whose_file_has_changed_is_researched_again(
    thread: ThreadSession, choices: dict[str, object], script: Script, bees: str
):
    del thread
    first = await answered(choices, script)
    await change_winter(bees)
    before = len(script.asked)

    outcome = await ask("t2", make(choices))

    names = [name for name, _ in script.asked[before:]]
    assert names.count("researcher") == 1
    assert {"Triage", "Rewrite", "Draft"}.isdisjoint(names)
    state = outcome.state
    findings = entries_of_turn(state["findings"], 1)
    assert findings["s1"]["text"] == entries_of_turn(first.state["findings"], 1)["s1"]["text"]
    assert "30 kilograms" in findings["s2"]["text"]
    assert "30 kilograms" in state["report"]["body"]
    assert "20 kilograms" not in state["report"]["body"]
    assert "1927" in state["report"]["body"]
    told = state["report"]["notices"][0]
    assert "Sources that changed: 1 of 2 (Winter)." in told
    assert "Steps researched again: 1;" in told
    assert "t1-1" in told
    stale = state["revision"]["stale"]
    assert not set(stale) & set(state["report"]["cited"])


async def test_a_new_file_that_matches_a_step_is_read(
    thread: ThreadSession, choices: dict[str, object], script: Script, bees: str
):
    del thread
    await answered(choices, script)
    said = "A winter cluster in Norway eats about 40 kilograms of honey."
    Path(bees, "norway.md").write_text(f"# Norway\n\n{said}", encoding="utf-8")  # noqa: ASYNC240
    await ingest_folder(join_owner("local", ""), Path(bees), lambda _: None)
    before = len(script.asked)

    outcome = await ask("t2", make(choices))

    assert [name for name, _ in script.asked[before:]].count("researcher") == 1
    assert outcome.state["revision"]["redone"] == ["s2"]


async def test_what_failed_before_is_researched_again_and_nothing_else(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    script.on("Draft", draft("waggle dance", "quantum chromodynamics"))
    await ask("t1", make(choices))
    before = len(script.asked)

    outcome = await ask("t2", make(choices))

    names = [name for name, _ in script.asked[before:]]
    assert "Draft" not in names
    assert outcome.state["revision"]["redone"] == ["s2"]


async def test_a_deeper_answer_keeps_what_was_found_and_plans_beyond_it(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    first = await answered(choices, script)
    before = len(script.asked)
    script.on("Draft", draft("the queen"))

    outcome = await ask("t2", make(choices, again="deepen"))

    state, asked = outcome.state, script.asked[before:]
    plans = [str(messages[-1].text) for name, messages in asked if name == "Draft"]
    assert len(plans) == 1
    assert "<change>\nGo deeper" in plans[0]
    assert "1927" in plans[0].split("<earlier>")[1]
    assert [name for name, _ in asked].count("researcher") == 1
    assert sorted(state["findings"]) == ["0/t1-1.s1", "0/t1-1.s2", "1/s1"]
    assert "2000 eggs" in state["report"]["body"]
    assert "1927" in state["report"]["body"]
    assert state["report"]["title"] == first.state["report"]["title"]


async def test_a_deeper_answer_in_the_same_thread_has_its_findings_already(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    await answered(choices, script)
    script.on("Draft", draft("the queen"))

    outcome = await ask("t1", make(choices, again="deepen"))

    assert sorted(outcome.state["findings"]) == ["1/s1", "1/s2", "2/s1"]
    assert outcome.state["revision"]["turn"] == 1
    assert "2000 eggs" in outcome.state["report"]["body"]


async def test_a_refresh_in_the_same_thread_leaves_nothing_stale_behind(
    thread: ThreadSession, choices: dict[str, object], script: Script, bees: str
):
    del thread
    await answered(choices, script)
    await change_winter(bees)
    await ask("t1", make(choices))
    before = len(script.asked)
    script.on("Draft", draft("the queen and honey"))

    outcome = await ask("t1", make(choices), "How much honey does the queen eat in winter?")

    assert "1/s2" not in outcome.state["findings"]
    told = [
        str(messages[-1].text).partition("<earlier>")[2]
        for name, messages in script.asked[before:]
        if name in ("Draft", "researcher", "reporter")
    ]
    assert any("30 kilograms" in one for one in told)
    assert not any("20 kilograms" in one for one in told)


@pytest.mark.parametrize("decision", [{"type": "reject", "message": ""}, choose("new")])
async def test_a_person_may_say_that_it_is_another_question(
    thread: ThreadSession, choices: dict[str, object], script: Script, decision: dict[str, object]
):
    del thread
    await answered(choices, script)
    context = make(choices, auto_accept=False)
    await ask("t2", context)
    before = len(script.asked)

    outcome = await decide("t2", context, decision)

    assert outcome.request
    assert outcome.request["action_requests"][0]["name"] == "research_plan"
    assert {"Rewrite", "Draft"} <= {name for name, _ in script.asked[before:]}
    assert not outcome.state["revision"]


async def test_an_approval_refreshes_and_words_that_say_nothing_ask_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    await answered(choices, script)
    context = make(choices, auto_accept=False)
    await ask("t2", context)

    outcome = await decide("t2", context, {"type": "edit", "edited_action": {"name": "x"}})
    assert outcome.request
    assert "bad_feedback" in outcome.request["note"]
    assert outcome.request["earlier"]["run"] == "t1-1"
    outcome = await decide("t2", context, {"type": "approve"})

    assert outcome.request is None
    assert "none has changed" in outcome.state["report"]["notices"][0]


@pytest.mark.parametrize(
    "more",
    [
        {"style": "for children"},
        {"memory": ["chat"]},
        {"language": "zh"},
        {"depth": "deep"},
        {"user": "somebody"},
        {"project": "other"},
        {"again": "new"},
    ],
)
async def test_the_same_words_under_other_choices_are_another_question(
    thread: ThreadSession, choices: dict[str, object], script: Script, more: dict[str, object]
):
    del thread
    await answered(choices, script)
    before = len(script.asked)

    await ask("t2", make(choices, **more))

    assert "Draft" in [name for name, _ in script.asked[before:]]


async def test_an_answer_of_the_built_in_model_is_none_once_there_is_another_model(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    await ask("t1", make(choices, models={"default": "extractive:"}))
    script.on("Draft", STEPS)

    outcome = await ask("t2", make(choices))

    assert outcome.state["earlier_run"] is None
    assert "Draft" in script.names()


async def test_what_was_shown_again_is_not_offered_in_the_place_of_the_original(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    await answered(choices, script)
    await ask("t2", make(choices, again="reuse"))

    outcome = await ask("t3", make(choices, auto_accept=False))

    assert outcome.request
    assert outcome.request["earlier"]["run"] == "t1-1"


async def test_a_later_question_builds_on_what_was_shown_again(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    del thread
    await answered(choices, script)
    await ask("t2", make(choices, again="reuse"))
    before = len(script.asked)
    script.on("Draft", draft("food"))

    await ask("t2", make(choices), "What does the waggle dance tell about food?")

    plan = next(str(said[-1].text) for name, said in script.asked[before:] if name == "Draft")
    assert "1927" in plan.split("<earlier>")[1]


async def test_the_model_without_a_key_refreshes_too(
    thread: ThreadSession, choices: dict[str, object], bees: str
):
    del thread
    keyless = make(choices, models={"default": "extractive:"})
    await ask("t1", keyless)
    await change_winter(bees)

    outcome = await ask("t2", keyless)

    assert "30 kilograms" in outcome.state["report"]["body"]
    assert "20 kilograms" not in outcome.state["report"]["body"]
    assert outcome.state["earlier_run"]["choice"] == "refresh"
