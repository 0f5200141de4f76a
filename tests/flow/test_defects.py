"""Twelve defects of the system this one re-imagines, each shown not to be here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from graph.context import Context
from graph.records import entries_of_turn
from graph.session import ThreadSession
from library import page_retrieval
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from text.passage_splitting import split_passages
from text.sentences import split_sentences
from tools.folder_ingestion import ingest_folder
from tools.web.federated_search import WebHits

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "reporter", "Checks"
)


def quiet(event: object) -> None:
    """Watch nothing."""


def draft(*titles: str, needs: dict[int, list[int]] | None = None) -> dict[str, object]:
    needs = needs or {}
    steps = [
        {"title": title, "queries": [title], "needs": needs.get(number, [])}
        for number, title in enumerate(titles, start=1)
    ]
    return {"title": "Bees", "steps": steps}


async def test_1_a_second_rejection_is_not_taken_for_an_approval(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make(choices, auto_accept=False)
    outcome = await thread.begin("How do bees dance?", context, quiet)

    for _ in range(2):
        assert outcome.request
        rejection = {"type": "reject", "message": "look at winter too"}
        outcome = await thread.answer_review(rejection, context, quiet)

    assert outcome.request
    assert outcome.state["revisions"] == 2
    assert not outcome.state.get("findings")


async def test_2_a_plan_that_cannot_be_read_twice_still_ends_in_a_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", "this is no plan")

    outcome = await thread.begin("How do bees tell direction by dance?", make(choices), quiet)

    assert outcome.state["status"] == "succeeded"
    assert outcome.state["report"]["cited"]
    assert [step["queries"] for step in outcome.state["plan"]["steps"]]


async def test_3_what_was_chosen_to_be_searched_is_what_is_searched(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    other = tmp_path / "other"
    other.mkdir()
    (other / "dance.md").write_text("# Dance\n\nThe waggle dance of bees is not found here.")
    await ingest_folder(join_owner("local", ""), other, quiet)

    outcome = await thread.begin("What is the waggle dance of bees?", make(choices), quiet)

    assert outcome.state["sources"]
    assert not [one for one in outcome.state["sources"].values() if str(other) in one["location"]]


async def test_4_nobody_is_answered_from_the_files_of_somebody_else(
    thread: ThreadSession, bees: str, choices: dict[str, object]
):
    mine = await page_retrieval.find_pages(join_owner("local", ""), "waggle dance", 5, [bees])
    theirs = await page_retrieval.find_pages(join_owner("mallory", ""), "waggle dance", 5, [bees])
    outcome = await thread.begin("What is the waggle dance?", make(choices, user="mallory"), quiet)

    assert mine
    assert theirs == []
    assert outcome.state["status"] == "insufficient_evidence"


async def test_5_joining_what_several_searches_found_loses_nothing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Rewrite", {"question": "dance and winter?", "queries": ["waggle dance", "winter"]})
    script.on("Draft", draft("waggle dance and winter cluster"))

    outcome = await thread.begin("Tell me about dance and winter", make(choices), quiet)

    titles = {one["title"].split(" ")[-1].lower() for one in outcome.state["sources"].values()}
    assert {"dance", "winter"} <= titles


async def test_6_more_steps_than_workers_lose_nothing(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    titles = ["waggle dance", "winter cluster", "queen eggs", "honey eaten", "workers feed"]
    script.on("Draft", draft(*titles))

    context = make(choices, parallelism=2, max_steps=5)
    outcome = await thread.begin("How do bees live?", context, quiet)

    findings = entries_of_turn(outcome.state["findings"], 1)
    assert [finding["title"] for finding in findings.values()] == titles
    assert all(title in script.prompts("reporter")[-1] for title in titles)


async def test_7_a_step_that_needs_no_web_search_makes_none(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    asked: list[str] = []

    async def search(names: object, query: str, *_: object, **__: object) -> WebHits:
        asked.append(query)
        return WebHits([])

    monkeypatch.setattr("tools.web.web_search.search_web", search)
    plan = draft("waggle dance", "winter cluster")
    plan["steps"][0]["need_web_search"] = False
    script.on("Draft", plan)

    context = make(choices, search=["searxng"], share=["queries"])
    await thread.begin("How do bees live?", context, quiet)

    assert "winter cluster" in asked
    assert "waggle dance" not in asked


async def test_8_a_run_that_was_resumed_can_be_stopped(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    context = make(choices, auto_accept=False)
    await thread.begin("How do bees dance?", context, quiet)
    script.seconds = 30

    resumed = asyncio.create_task(thread.answer_review({"type": "approve"}, context, quiet))
    await asyncio.sleep(0.2)
    resumed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await resumed

    script.seconds = 0
    outcome = await thread.resume(context, quiet)
    assert outcome.state["status"] == "succeeded"


async def test_9_nothing_is_said_about_the_person_that_nobody_knows(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("How do bees dance?", make(choices), quiet)

    assert script.asked
    assert not [one for _, said in script.asked for one in said if "<profile" in str(one.text)]


def test_10_no_sentence_is_cut_between_two_passages():
    text = " ".join(f"Sentence {number} tells of hive {number * 7}." for number in range(300))

    cut = [span.text for span in split_passages(text)]

    assert len(cut) > 5
    assert all(any(one.text in part for part in cut) for one in split_sentences(text))


async def test_11_a_source_that_was_never_read_cannot_be_cited(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on(
        "reporter", "Bees dance [S1]. Bees sing [S99]. See https://invented.example/bees [S1]."
    )

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    report = outcome.state["report"]
    shown = str(outcome.state["messages"][-1].text)
    assert report["cited"] == ["S1"]
    assert "sing" not in report["body"]
    assert "invented.example" not in shown
    known = {"id", "page", "title", "location", "kind", "site", "language", "genre"}
    assert known == set(outcome.state["sources"]["S1"])


async def test_12_the_plan_that_was_approved_is_the_plan_that_is_kept(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance", "winter cluster", needs={2: [1]}))
    context = make(choices, auto_accept=False)
    outcome = await thread.begin("How do bees live?", context, quiet)
    shown = outcome.request["plan"] if outcome.request else None

    outcome = await thread.answer_review({"type": "approve"}, context, quiet)

    assert outcome.state["plan"] == shown
    assert list(entries_of_turn(outcome.state["findings"], 1)) == ["s1", "s2"]


def test_the_defaults_are_the_ones_that_were_promised():
    context = Context()

    assert (context.query_count, context.max_reflections, context.depth) == (8, 1, "standard")
    assert context.auto_accept is False
