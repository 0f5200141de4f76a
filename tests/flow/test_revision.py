"""A report is changed in its thread: what stands stays, and only what is new is researched."""

from __future__ import annotations

import pytest

from graph.session import SessionOutcome, open_session
from nodes.deliver import draw_report
from report.rendering.html_report import render_html
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks", "Lessons"
)

QUESTION = "Who described the waggle dance, and how much honey does a winter cluster eat?"
DANCE = "Karl von Frisch described the waggle dance in 1927."
HONEY = "A winter cluster eats about 20 kilograms of honey."
QUEEN = "The queen lays up to 2000 eggs a day in summer."


async def ask(question: str, context: object) -> SessionOutcome:
    async with open_session("t1") as opened:
        return await opened.begin(question, context, quiet)  # type: ignore[arg-type]


async def first(choices: dict[str, object], script: Script) -> SessionOutcome:
    """Ask the question; the report has a section on the dance and one on honey."""
    script.on("Draft", draft("waggle dance", "winter cluster honey"))
    outcome = await ask(QUESTION, make(choices))
    assert "## " in outcome.state["report"]["body"]
    return outcome


def by_source(state: object, words: str) -> str:
    """Return the id of the source that a report quotes with some words."""
    quotes = state["report"]["quotes"]  # type: ignore[index]
    return next(quote["source"] for quote in quotes if words in quote["text"])


@pytest.mark.parametrize(
    ("said", "kind"),
    [("Make it shorter, please", "shorten"), ("as a table", "rewrite"), ("缩短一下", "shorten")],
)
async def test_another_form_is_written_from_the_report_without_any_research(
    choices: dict[str, object], script: Script, said: str, kind: str
):
    before = await first(choices, script)
    source = by_source(before.state, "1927")
    script.on("reporter", f'<q s="{source}">{DANCE}</q>')
    count = len(script.asked)

    outcome = await ask(said, make(choices))

    names = [name for name, _ in script.asked[count:]]
    assert {"Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough"}.isdisjoint(names)
    prompt = script.prompts("reporter")[-1]
    assert f'<version kind="{kind}">' in prompt
    assert DANCE in prompt.split("<version")[1].split("</version>")[0]
    assert f"<change>\n{said}\n</change>" in prompt
    assert f"<question>\n{QUESTION}\n</question>" in prompt
    state = outcome.state
    assert state["status"] == "succeeded"
    assert state["language"] == "en"
    assert state["report"]["title"] == before.state["report"]["title"]
    assert state["answers"]["2"]["question"] == QUESTION


async def test_a_section_is_deepened_by_its_number(choices: dict[str, object], script: Script):
    before = await first(choices, script)
    body = before.state["report"]["body"]
    second = body.split("\n## ")[2].split("\n")[0]
    script.on("Draft", draft("the queen"))
    count = len(script.asked)

    outcome = await ask("Go deeper on section 2", make(choices))

    asked = script.asked[count:]
    assert "Triage" not in [name for name, _ in asked]
    plan = next(str(said[-1].text) for name, said in asked if name == "Draft")
    assert f'<change topic="{second}">' in plan
    assert "<earlier>" in plan
    assert outcome.state["revision"]["topic"] == second
    assert [name for name, _ in asked].count("researcher") == 1
    told = outcome.state["report"]["body"]
    assert QUEEN in told
    assert DANCE in told
    assert HONEY in told


async def test_a_section_that_is_not_there_is_named_back(
    choices: dict[str, object], script: Script
):
    before = await first(choices, script)
    second = before.state["report"]["body"].split("\n## ")[2].split("\n")[0]
    count = len(script.asked)

    outcome = await ask("Go deeper on section 9", make(choices))

    reply = str(outcome.state["messages"][-1].text)
    assert second in reply
    assert not outcome.state["report"]["title"]
    assert [name for name, _ in script.asked[count:] if name != "Learnt"] == []


async def test_what_is_added_is_researched_and_the_rest_stays(
    choices: dict[str, object], script: Script
):
    before = await first(choices, script)
    script.on("Draft", draft("eggs of the queen"))
    count = len(script.asked)

    outcome = await ask("Please add the eggs of the queen to the report", make(choices))

    state = outcome.state
    assert [name for name, _ in script.asked[count:]].count("researcher") == 1
    assert QUEEN in state["report"]["body"]
    assert DANCE in state["report"]["body"]
    document = await draw_report("local/", "t1-2", state, "2026-01-12")
    assert any(QUEEN in one for one in document["changes"]["added"])
    assert document["changes"]["removed"] == []
    shown = str(state["messages"][-1].text)
    assert "What has changed" in shown
    assert "What has changed" in render_html(document)
    assert "changes" not in await draw_report("local/", "t1-1", before.state, "2026-01-12")


async def test_a_version_of_a_long_report_is_written_from_the_one_before(
    choices: dict[str, object], script: Script
):
    await first(choices, script)
    script.on("Draft", draft("eggs of the queen", "workers feed the queen"))
    script.on("ReportOutline", {"sections": [{"title": "Queen", "findings": ["s1", "s2"]}]})

    outcome = await ask(
        "Please add the eggs and workers of the queen to the report", make(choices, length="long")
    )

    assert "ReportOutline" not in script.names()
    assert DANCE in script.prompts("reporter")[-1].split("<version")[1].split("</version>")[0]
    assert DANCE in outcome.state["report"]["body"]


async def test_a_model_may_tell_that_a_message_is_a_revision(
    choices: dict[str, object], script: Script
):
    before = await first(choices, script)
    source = by_source(before.state, "1927")
    script.on("Triage", {"research": True, "revision": "rewrite"})
    script.on("reporter", f'<q s="{source}">{DANCE}</q>')
    count = len(script.asked)

    outcome = await ask("Could we have that in the style of a bedtime story?", make(choices))

    names = [name for name, _ in script.asked[count:]]
    assert {"Draft", "researcher"}.isdisjoint(names)
    assert names.count("Triage") == names.count("Rewrite") == 1
    assert outcome.state["revision"]["kind"] == "rewrite"


async def test_a_revision_that_a_model_sees_before_any_report_is_none(
    choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": True, "revision": "shorten"})
    script.on("Draft", draft("waggle dance"))

    outcome = await ask("How do bees dance?", make(choices))

    assert outcome.state["revision"] is None
    assert "researcher" in script.names()


async def test_a_translation_is_written_in_its_language(choices: dict[str, object], script: Script):
    before = await first(choices, script)
    source = by_source(before.state, "1927")
    script.on("reporter", f'<q s="{source}">{DANCE}</q>')

    outcome = await ask("Translate it into Chinese", make(choices))

    assert outcome.state["language"] == "zh"
    system = next(said[0].text for name, said in reversed(script.asked) if name == "reporter")
    assert "你负责" in str(system)
    assert outcome.state["report"]["language"] == "zh"


async def test_each_version_revises_the_one_before(choices: dict[str, object], script: Script):
    before = await first(choices, script)
    dance, honey = by_source(before.state, "1927"), by_source(before.state, "20 kilograms")
    script.on("reporter", f'<q s="{dance}">{DANCE}</q>', f'<q s="{honey}">{HONEY}</q>')
    await ask("shorter", make(choices))

    outcome = await ask("Rephrase it", make(choices))

    version = script.prompts("reporter")[-1].split("<version")[1].split("</version>")[0]
    assert DANCE in version
    assert HONEY not in version
    assert outcome.state["revision"]["run"] == "t1-2"
    assert outcome.state["answers"]["3"]["question"] == QUESTION


async def test_a_revision_that_the_checks_empty_leaves_the_report_as_it_was(
    choices: dict[str, object], script: Script
):
    before = await first(choices, script)
    script.on("reporter", "Zebras chew quarks.")

    outcome = await ask("simplify it", make(choices))

    assert outcome.state["report"]["body"] == before.state["report"]["body"]
    assert outcome.state["status"] == "partial"


async def test_the_model_without_a_key_shortens_and_adds(
    choices: dict[str, object], script: Script
):
    keyless = make(choices, models={"default": "extractive:"})
    before = (await ask(QUESTION, keyless)).state["report"]["body"]

    outcome = await ask("Add the eggs of the queen", keyless)
    longer = outcome.state["report"]["body"]
    shorter = (await ask("Make it shorter", keyless)).state["report"]["body"]

    assert "2000 eggs" in longer
    assert all(quote in longer for quote in ("1927", "20 kilograms"))
    assert len(shorter) < len(longer)
    assert len(longer) > len(before)
    del script


async def test_a_plan_for_an_addition_is_reviewed_as_any_other(
    choices: dict[str, object], script: Script
):
    await first(choices, script)
    script.on("Draft", draft("eggs of the queen"))

    outcome = await ask("Add the eggs of the queen", make(choices, auto_accept=False))

    assert outcome.request
    assert outcome.request["action_requests"][0]["name"] == "research_plan"


UNANSWERED = "Who described the waggle dance, and how did the Romans tax beekeepers?"


async def test_what_was_not_known_is_not_known_in_a_shorter_version_either(
    choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "Roman taxes on beekeepers"))
    before = await ask(UNANSWERED, make(choices))
    assert before.state["status"] == "partial"
    source = by_source(before.state, "1927")
    script.on("reporter", f'<q s="{source}">{DANCE}</q>')

    shorter = await ask("Make it shorter", make(choices))
    again = await ask("Even shorter", make(choices))

    for outcome in (shorter, again):
        assert outcome.state["status"] == "partial"
        shown = str(outcome.state["messages"][-1].text)
        assert "**Roman taxes on beekeepers**" in shown
        assert "Researched as" not in shown  # Nothing was.
