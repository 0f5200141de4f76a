"""A refreshed answer rests on pages that the web did not have before, if there are any."""

from __future__ import annotations

from typing import Any

import pytest

from graph.context import Context
from graph.records import entries_of_turn
from graph.session import SessionOutcome, ThreadSession, open_session
from tests.fake_model import Script
from tests.flow.small_web import COPY, DANCE, NORWAY, WINTER, SmallWeb
from tests.flow.test_defects import draft, quiet

pytestmark = [
    pytest.mark.extractive(
        *("Triage", "Rewrite", "Draft", "researcher", "Verdict"),
        *("Enough", "reporter", "Checks", "Lessons", "Learnt"),
    ),
    pytest.mark.usefixtures("thread"),
]

QUESTION = "Who described the waggle dance, and how much honey does a winter cluster eat?"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> SmallWeb:
    """A web on which the question can be answered."""
    made = SmallWeb()
    monkeypatch.setattr("tools.web.web_search.search_web", made.search)
    monkeypatch.setattr("tools.web.web_search.fetch_page", made.fetch)
    return made


def on_web(**more: Any) -> Context:
    plain = {"models": {"default": "fake:any"}, "search": ["searxng"], "auto_accept": True}
    return Context(**{**plain, "learn": False, **more})


async def ask(thread: str, context: Context) -> SessionOutcome:
    async with open_session(thread) as opened:
        return await opened.begin(QUESTION, context, quiet)


@pytest.fixture
async def first(web: SmallWeb, script: Script, thread: ThreadSession) -> SessionOutcome:
    """An answer from the web, with a step for each half of the question."""
    del thread
    script.on("Draft", draft("waggle dance", "winter cluster honey"))
    outcome = await ask("t1", on_web())
    assert outcome.state["status"] == "succeeded"
    assert "20 kilograms" in outcome.state["report"]["body"]
    web.asked.clear()
    web.fetched.clear()
    return outcome


async def test_only_the_step_for_which_a_new_page_is_found_is_researched_again(
    web: SmallWeb, first: SessionOutcome, script: Script
):
    web.find_norway()
    before = len(script.asked)

    outcome = await ask("t2", on_web(again="refresh"))

    state, names = outcome.state, [name for name, _ in script.asked[before:]]
    assert names.count("researcher") == 1
    assert {"Triage", "Rewrite", "Draft"}.isdisjoint(names)
    assert state["revision"]["redone"] == ["s2"]
    assert "40 kilograms" in state["report"]["body"]
    old, new = (entries_of_turn(one.state["findings"], 1)["s1"] for one in (first, outcome))
    assert new["text"] == old["text"]
    told = "\n".join(state["report"]["notices"])
    assert "New pages of the web: 1 (About norway.example)." in told
    assert "Steps researched again: 1;" in told
    # Each query is sent once and each new page read once, by the check and by the step.
    assert sorted(web.asked) == ["waggle dance", "winter cluster honey"]
    assert web.fetched == [NORWAY]


async def test_what_was_found_once_is_not_new_again(
    web: SmallWeb, first: SessionOutcome, script: Script
):
    del first
    web.find_norway()
    await ask("t2", on_web(again="refresh"))
    before = len(script.asked)

    outcome = await ask("t3", on_web(again="refresh"))

    assert script.asked[before:] == []
    assert outcome.state["report"]["reused"] == "t2-1"
    told = "\n".join(outcome.state["report"]["notices"])
    assert "searched for new pages with 2 queries, and none was found" in told


@pytest.mark.parametrize("kind", ["copy", "unread"])
async def test_a_copy_or_a_page_that_cannot_be_read_is_not_new(
    web: SmallWeb, first: SessionOutcome, script: Script, kind: str
):
    del first
    if kind == "copy":
        web.texts[COPY] = web.texts[WINTER]
    web.hits["winter cluster honey"].append(COPY)
    before = len(script.asked)

    outcome = await ask("t2", on_web(again="refresh"))

    assert COPY in web.fetched
    assert script.asked[before:] == []
    assert "none has changed" in outcome.state["report"]["notices"][0]


async def test_a_web_that_is_down_is_told_and_is_not_taken_for_nothing_new(
    web: SmallWeb, first: SessionOutcome
):
    del first
    web.is_down = True

    outcome = await ask("t2", on_web(again="refresh"))

    told = "\n".join(outcome.state["report"]["notices"])
    assert "could not be searched for new pages (the search could not be reached)" in told
    assert "none was found" not in told
    assert outcome.state["earlier_run"]["web"]["unsearched"] == "search_unavailable"
    assert entries_of_turn(outcome.state["unsearched"], 1) == {"searxng": "it is down"}


async def test_a_run_that_searches_no_web_looks_for_no_pages(web: SmallWeb, first: SessionOutcome):
    del first

    outcome = await ask("t1", on_web(again="refresh", web="off"))

    assert web.asked == []
    assert "none was found" not in "\n".join(outcome.state["report"]["notices"])


async def test_the_built_in_model_finds_new_pages_too(web: SmallWeb):
    choices = {"models": {"default": "extractive:"}}
    web.hits = {query: [DANCE] for query in web.hits}
    web.hits[QUESTION] = [DANCE, WINTER]
    await ask("t1", on_web(**choices))
    asked = set(web.asked)
    web.texts[NORWAY] = "A winter cluster in Norway eats about 40 kilograms of honey."
    web.hits = {query: [DANCE, WINTER, NORWAY] for query in asked}
    web.fetched.clear()

    outcome = await ask("t2", on_web(again="refresh", **choices))

    assert web.fetched == [NORWAY]
    assert [one["location"] for one in outcome.state["earlier_run"]["web"]["found"]] == [NORWAY]
    assert "40 kilograms" in outcome.state["report"]["body"]
