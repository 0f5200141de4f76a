"""What was asked is forgotten in all words in which a run put it, and so are files without text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.cli.forget import list_outdated_reports
from graph.session import ThreadSession
from memory.experience import insights
from memory.facts.queries import list_facts
from memory.tables import utterances
from privacy.service import plan_erasure, resolve_erasure_target
from runs import lifecycle
from storage.engine import read_rows
from tests.flow.test_forgetting import ME, asked, no_byte, wipe

pytestmark = [
    pytest.mark.usefixtures("either"),
    pytest.mark.extractive(
        "Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks", "Enough"
    ),
]

DOGS = {
    "english": ("Remember that my dog is called Vrumblefax. Does Vrumblefax like honey?", "vrumb"),
    "chinese": ("记住我的鹦鹉叫朱雀翎羽。朱雀翎羽喜欢吃什么？", "朱雀翎羽"),
}
"""What is asked and no source answers, with a fact in it, and a word of that."""

PLANS = {
    "english": ("My secret plan Zyxxoria is about bees. How do bees of Zyxxoria dance?", "zyxx"),
    "chinese": ("我的秘密计划叫玄武岩浆，和蜜蜂有关。玄武岩浆的蜜蜂怎样跳舞？", "玄武岩浆"),
}
"""What teaches nothing about anyone, with a word that must go."""


@pytest.mark.parametrize("language", DOGS)
async def test_a_report_without_an_answer_is_drawn_anew_too(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path, language: str
):
    question, word = DOGS[language]
    await asked(thread, choices, question, 1, tmp_path / "copies" / "a")
    assert word in (tmp_path / "copies/a/report.md").read_text("utf-8").lower()
    (fact,) = await list_facts(ME)

    plan = await wipe(fact.id)

    assert [one.run for one in plan.reports] == ["t1-1"]
    assert await no_byte(tmp_path, word)


async def test_files_that_still_say_what_the_state_has_forgotten_are_drawn_when_it_is_said_again(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    question, word = DOGS["english"]
    copy = tmp_path / "copies" / "a"
    await asked(thread, choices, question, 1, copy)
    left = {file: file.read_bytes() for file in copy.iterdir()}
    (fact,) = await list_facts(ME)
    await wipe(fact.id)
    await wipe("t1-1")
    done = await list_outdated_reports(
        ME, (await plan_erasure(await resolve_erasure_target(ME, ["t1-1"]))).reports
    )
    for file, data in left.items():
        file.write_bytes(data)

    plan = await plan_erasure(await resolve_erasure_target(ME, ["t1-1"]))
    assert [one.run for one, _ in await list_outdated_reports(ME, plan.reports)] == ["t1-1"]
    await wipe("t1-1")

    assert done == []
    assert await no_byte(tmp_path, word)


@pytest.mark.parametrize("language", PLANS)
async def test_a_run_is_forgotten_in_all_words_in_which_it_put_its_question(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path, language: str
):
    question, word = PLANS[language]
    await asked(thread, choices, question, 1, tmp_path / "copies" / "a")

    await wipe("t1-1")

    assert await no_byte(tmp_path, word)


async def test_what_a_run_searched_for_goes_where_it_has_no_rare_word(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    await asked(thread, choices, "What did Karl von Frisch say about the waggle dance?", 1)
    its = utterances.c.kind == "search"
    searched = set((await read_rows(utterances.select().where(its))).scalars("action"))

    await wipe("t1-1")

    left = str((await read_rows(utterances.select())).all())
    assert searched
    assert [one for one in searched if one in left] == []


async def test_another_question_of_the_conversation_keeps_its_words(
    thread: ThreadSession, choices: dict[str, object], tmp_path: Path
):
    await asked(thread, choices, "Is Quillhaven near Zyxxoria?", 1)
    await asked(thread, choices, "Where is Quillhaven?", 2)
    lesson = "Search twice, and do not search near the web."
    await insights.add_insight(ME, insights.InsightText(lesson, {"planner": lesson}), ["other-1"])

    await wipe("t1-1")

    said: dict[str, Any] = {run.id: run.question for run in await lifecycle.list_recent_runs(ME)}
    assert said == {"t1-1": "[forgotten]", "t1-2": "Where is Quillhaven?"}
    assert [one.content for one in await insights.list_insights(ME)] == [lesson]
    assert await no_byte(tmp_path, "zyxx")
