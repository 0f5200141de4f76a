"""The memory researcher: a question answered from what was read before, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from config.errors import Problem
from graph.state import EMPTY_REPORT
from memory import pages
from nodes.recall.check import ROUNDS
from nodes.recall.graph import make_recall
from report.document import document
from report.render import to_markdown
from runs.place import owned
from tests.conftest import make
from tests.fake_model import Script


@pytest.fixture
def remembering(choices: dict[str, object]) -> Any:
    """Ask the memory researcher in one thread; return the state it leaves."""
    graph = make_recall().copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "m1"}}

    async def ask(question: str) -> dict[str, Any]:
        given = {"messages": [("user", question)]}
        return await graph.ainvoke(given, config, context=make(choices))

    return ask


def answer(state: dict[str, Any]) -> str:
    return str(state["messages"][-1].text)


async def test_what_was_read_is_remembered_with_its_source(remembering: Any):
    state = await remembering("Who described the waggle dance?")

    assert "Karl von Frisch" in answer(state)
    assert state["finding"]["sources"]
    assert set(state["finding"]["sources"]) <= set(state["sources"])


async def test_what_was_never_read_is_not_made_up(remembering: Any, script: Script):
    state = await remembering("What is quantum chromodynamics?")

    assert answer(state).startswith("Nothing that was read before")
    assert "researcher" not in script.names()


async def test_a_second_question_does_not_get_the_answer_to_the_first(remembering: Any):
    await remembering("Who described the waggle dance?")
    state = await remembering("What is quantum chromodynamics?")

    assert answer(state).startswith("Nothing that was read before")
    assert state["finding"]["text"] == ""


async def test_memory_is_searched_again_for_what_is_missing_but_not_for_ever(
    remembering: Any, script: Script
):
    queries = iter(["winter cluster", "queen eggs", "honey", "workers"])
    script.on("Rewrite", {"question": "waggle dance", "queries": []})
    script.on("Verdict", lambda _: {"passed": False, "queries": [next(queries)]})
    script.on("researcher", "Bees dance [S1].")

    state = await remembering("waggle dance")

    assert script.names().count("Verdict") <= ROUNDS - 1
    assert any("winter" in one["title"].lower() for one in state["sources"].values())


async def test_a_model_that_refuses_leaves_an_answer_without_a_judge(
    remembering: Any, script: Script
):
    script.on("Rewrite", Problem("model_refused", "no"))
    script.on("Verdict", Problem("model_refused", "no"))

    assert "Karl von Frisch" in answer(await remembering("Who described the waggle dance?"))


async def test_a_key_that_is_refused_is_told_and_not_taken_for_forgetting(
    remembering: Any, script: Script
):
    script.on("researcher", Problem("model_auth", "no"))

    with pytest.raises(Problem) as problem:
        await remembering("Who described the waggle dance?")

    assert problem.value.code == "model_auth"


@pytest.mark.parametrize(
    ("language", "told"), [("en", "a file that is no longer there"), ("zh", "原文件已不存在")]
)
async def test_a_file_that_is_gone_is_not_shown_as_a_hash(
    remembering: Any, bees: str, language: str, told: str
):
    await pages.forget_document(owned("local", ""), bees, f"{bees}/dance.md")
    state = await remembering("Who described the waggle dance?")

    (cited,) = state["finding"]["sources"]
    assert state["sources"][cited]["location"] == ""

    report = {
        **EMPTY_REPORT,
        "title": "Bees",
        "body": f"Bees dance [{cited}].",
        "language": language,
    }
    shown = to_markdown(document({**state, "turn": 1}, report, "succeeded", "2026-01-12"))
    assert f"[1] The dance — {told}" in shown
