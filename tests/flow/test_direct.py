"""Questions that need no research: of the person, and of the folder."""

from __future__ import annotations

from typing import Any

import pytest

from graph.context import Context
from graph.session import ThreadSession, open_session
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from nodes.recall.recall_graph import make_recall_graph
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks"
)


async def test_where_somebody_lives_is_answered_from_what_they_told(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("I live in Bergen.", make(choices), quiet)
    outcome = await thread.begin("Where do I live?", make(choices), quiet)

    body = outcome.state["report"]["body"]
    assert outcome.state["status"] == "succeeded"
    assert "“I live in Bergen”" in body
    (cited,) = outcome.state["report"]["cited"]
    assert outcome.state["sources"][cited]["location"].startswith("dossier memory show ")
    assert not {"Triage", "Rewrite", "Draft", "researcher"} & set(script.names())


async def test_what_was_never_told_is_said_not_to_be_remembered(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await thread.begin("When is my birthday?", make(choices), quiet)

    assert outcome.state["status"] == "insufficient_evidence"
    assert "you have not told it" in str(outcome.state["messages"][-1].text)
    assert set(script.names()) <= {"Learnt"}


async def test_a_folder_is_told_document_by_document_each_cited(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin("What is in this folder?", make(choices), quiet)

    report = outcome.state["report"]
    locations = {outcome.state["sources"][one]["location"] for one in report["cited"]}
    assert outcome.state["status"] == "succeeded"
    assert {location.rpartition("/")[2] for location in locations} >= {
        "dance.md",
        "winter.md",
        "queen.txt",
    }
    assert not report["removed"]
    assert not report["doubted"]


async def test_a_recall_finds_what_the_person_told():
    await add_fact(join_owner("local", ""), NewFact("I live in Bergen", quote="I live in Bergen"))
    async with open_session("recall-1", make_recall_graph) as opened:
        alone = Context(models={"default": "extractive:"})
        outcome = await opened.begin("Where do I live?", alone, quiet)

    state: Any = outcome.state
    assert "“I live in Bergen”" in state["notes"]
    assert next(iter(state["sources"].values()))["title"] == "What you told"


async def test_a_question_that_asks_to_judge_gets_the_sources_own_words_and_is_partial(
    thread: ThreadSession, choices: dict[str, object]
):
    alone = make(choices, models={"default": "extractive:"})
    outcome = await thread.begin("Is the waggle dance the best dance of bees?", alone, quiet)

    report = outcome.state["report"]
    assert outcome.state["status"] == "partial"
    assert any("asks for a judgement" in notice for notice in report["notices"])
    assert report["quotes"]


async def test_a_model_of_its_own_may_judge(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    outcome = await thread.begin(
        "Is the waggle dance the best dance of bees?", make(choices), quiet
    )

    assert not any("judgement" in notice for notice in outcome.state["report"]["notices"])
