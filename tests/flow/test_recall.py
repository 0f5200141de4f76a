"""The memory researcher: a question answered from what was read before, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from config.errors import ErrorCode, Problem
from graph.records import EMPTY_REPORT
from library import documents, page_retrieval, page_rows
from library import store as pages
from library.memorizer import store_with_abstracts
from nodes.recall.recall_graph import ROUNDS, make_recall_graph
from nodes.recall.recall_state import recalled_passages
from report.document import build_document
from report.rendering.markdown_report import render_markdown
from runs.call_site import join_owner
from tests.conftest import make
from tests.fake_model import Script
from tests.places import new_process

pytestmark = pytest.mark.extractive("Lookup", "Notes", "Complete")


@pytest.fixture(autouse=True)
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search by words alone: vectors have a nearest page for every query."""
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", "none")
    new_process()


@pytest.fixture
def remembering(choices: dict[str, object]) -> Any:
    """Ask the memory researcher in one thread; return the state it leaves."""
    graph = make_recall_graph().copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "m1"}}

    async def ask(question: str) -> dict[str, Any]:
        given = {"messages": [("user", question)]}
        return await graph.ainvoke(given, config, context=make(choices))

    return ask


def answer(state: dict[str, Any]) -> str:
    return str(state["messages"][-1].text)


def fact(text: str, *ids: str) -> dict[str, Any]:
    return {"text": text, "pages": list(ids)}


async def test_a_note_that_its_page_does_not_say_is_marked(
    remembering: Any, bees: str, script: Script
):
    true = fact("Karl von Frisch described the waggle dance in 1927.", "S1")
    script.on("Notes", {"facts": [true, fact("He described it in 1931.", "S1")]})
    state = await remembering("When was the waggle dance described?")

    first, second = state["notes"].splitlines()
    assert "⚠" not in first
    assert second.endswith("⚠")
    assert "could not be confirmed" in answer(state)


async def test_what_was_read_is_remembered_with_its_page(remembering: Any):
    state = await remembering("Who described the waggle dance?")

    assert "Karl von Frisch" in answer(state)
    assert state["pages"]
    texts = await pages.read_page_texts("local/", state["pages"])
    assert all(one["text"] in " ".join(texts.values()) for one in state["extracts"])


async def test_what_was_never_read_is_not_made_up(remembering: Any):
    state = await remembering("What is quantum chromodynamics?")

    assert answer(state).startswith("Nothing that was read before")
    assert state["pages"] == []


async def test_where_nothing_was_found_nobody_is_asked_whether_it_is_enough(
    remembering: Any, script: Script
):
    await remembering("What is quantum chromodynamics?")

    assert "Complete" not in script.names()


async def test_a_second_question_does_not_get_the_answer_to_the_first(remembering: Any):
    await remembering("Who described the waggle dance?")
    state = await remembering("What is quantum chromodynamics?")

    assert answer(state).startswith("Nothing that was read before")


async def test_a_page_that_nobody_was_shown_is_no_source(remembering: Any, script: Script):
    script.on("Notes", {"facts": [fact("Bees dance.", "S1", "S99"), fact("Bees sing.", "S98")]})

    state = await remembering("How do bees dance?")

    assert answer(state) == "- Bees dance [S1]."
    assert len(state["pages"]) == 1


async def test_what_is_missing_is_asked_for_until_nothing_new_is_found_but_not_for_ever(
    remembering: Any, script: Script
):
    requests = iter(["winter cluster", "queen eggs", "honey", "workers", "stings"])
    script.on("Complete", lambda _: {"complete": False, "requests": [next(requests)]})

    state = await remembering("waggle dance")

    assert script.names().count("Complete") <= ROUNDS - 1
    assert state["asked"][:2] == ["waggle dance", "winter cluster"]
    assert any("winter" in one["title"].lower() for one in state["sources"].values())


@pytest.mark.parametrize("said", [[], [fact("Bees dance.", "S99")], [fact(" ", "S1")]])
async def test_where_no_page_says_anything_about_it_nobody_is_asked_whether_that_is_enough(
    remembering: Any, script: Script, said: list[Any]
):
    script.on("Notes", {"facts": said})
    script.on("Complete", {"complete": False, "requests": ["winter cluster"]})

    state = await remembering("waggle dance")

    assert not state["notes"]
    assert "Complete" not in script.names()


async def test_each_thing_that_is_missing_has_searches_of_its_own(remembering: Any, script: Script):
    script.on("Complete", {"complete": False, "requests": ["winter cluster", "queen eggs"]})

    await remembering("waggle dance")

    requests = [prompt for prompt in script.prompts("Lookup") if "<request>" in prompt]
    assert len([one for one in requests if "winter cluster" in one]) == 1
    assert len([one for one in requests if "queen eggs" in one]) == 1


async def test_a_question_that_was_asked_already_is_not_asked_again(
    remembering: Any, script: Script
):
    script.on("Complete", {"complete": False, "requests": ["waggle dance"]})

    await remembering("waggle dance")

    assert script.names().count("Lookup") == 1


async def test_notes_that_cannot_be_read_lose_nothing_that_was_found(
    remembering: Any, script: Script
):
    script.on("Notes", "no JSON", "no JSON", "no JSON", {"facts": [fact("Bees dance.", "S1")]})
    script.on("Complete", {"complete": False, "requests": ["winter cluster"]})

    assert answer(await remembering("waggle dance")) == "- Bees dance [S1]."


async def test_a_plan_that_cannot_be_read_searches_for_the_question_itself(
    remembering: Any, script: Script
):
    script.on("Lookup", Problem(ErrorCode.MODEL_REFUSED, "no"))

    assert "Karl von Frisch" in answer(await remembering("Who described the waggle dance?"))


async def test_a_key_that_is_refused_is_told_and_not_taken_for_forgetting(
    remembering: Any, script: Script
):
    script.on("Notes", Problem(ErrorCode.MODEL_AUTH, "no"))

    with pytest.raises(Problem) as problem:
        await remembering("Who described the waggle dance?")

    assert problem.value.code == "model_auth"


@pytest.mark.parametrize(
    ("language", "told"), [("en", "a file that is no longer there"), ("zh", "原文件已不存在")]
)
async def test_a_file_that_is_gone_is_not_shown_as_a_hash(
    remembering: Any, bees: str, language: str, told: str
):
    await documents.unlist_document(join_owner("local", ""), bees, f"{bees}/dance.md")
    state = await remembering("Who described the waggle dance?")

    (cited,) = {one["source"] for one in state["extracts"]}
    assert state["sources"][cited]["location"] == ""

    report = {
        **EMPTY_REPORT,
        "title": "Bees",
        "body": f"Bees dance [{cited}].",
        "language": language,
    }
    shown = render_markdown(build_document({**state, "turn": 1}, report, "succeeded", "2026-01-12"))
    assert f"[1] The dance — {told}" in shown


async def outlined(script: Script, *chosen: str) -> None:
    """Have the plan name ids of the outline, and search for nothing that is there."""
    script.on("Lookup", {"keywords": ["quark"], "meanings": [], "pages": list(chosen)})


async def test_the_plan_is_shown_what_the_memory_holds(remembering: Any, script: Script):
    await remembering("Who described the waggle dance?")

    (prompt, *_) = script.prompts("Lookup")
    assert "<outline>\nG1 document “The dance”, 1 page" in prompt
    assert "- P1 The dance" in prompt


async def test_a_page_that_the_plan_names_is_read_whatever_the_searches_find(
    remembering: Any, script: Script
):
    await outlined(script, "P1")

    state = await remembering("waggle dance")

    (source,) = state["sources"].values()
    assert source["title"] == "The dance"
    assert source["location"].endswith("dance.md#the-dance")


async def test_a_group_that_the_plan_names_is_opened(remembering: Any, script: Script):
    await outlined(script, "G1")

    state = await remembering("waggle dance")

    assert [one["title"] for one in state["sources"].values()] == ["The dance"]


async def test_an_id_that_the_plan_was_not_shown_is_dropped(remembering: Any, script: Script):
    texts = await page_retrieval.find_pages("local/", "queen", 1)
    await outlined(script, "P77", "S1", texts[0].id)

    state = await remembering("waggle dance")

    assert state["sources"] == {}


async def test_a_plan_that_cannot_be_read_is_asked_for_once_more_and_no_more(
    remembering: Any, script: Script
):
    script.on("Lookup", "no JSON")

    assert "Karl von Frisch" in answer(await remembering("Who described the waggle dance?"))
    assert script.names().count("Lookup") == 2


async def test_only_the_part_of_the_memory_that_was_chosen_is_searched(
    choices: dict[str, object],
):
    graph = make_recall_graph().copy({"checkpointer": InMemorySaver()})
    config = {"configurable": {"thread_id": "m2"}}
    turn = page_rows.NewPage(title="Ann", place="", text="The waggle dance is on Sunday.")
    await pages.store_pages("local/", "chat", "c", [turn], group="ann")
    given = {"messages": [("user", "When is the waggle dance?")]}

    for part in ("chat", "ann"):
        state = await graph.ainvoke(given, config, context=make(choices, memory=[part]))
        assert [one["title"] for one in state["sources"].values()] == ["Ann"]


async def test_the_state_holds_no_page(remembering: Any):
    long = "The waggle dance was described again and again. " * 4_000
    page = page_rows.NewPage(title="Dance", place="", text=long)
    await pages.store_pages("local/", "web", "https://a.b/c", [page])

    state = await remembering("Who described the waggle dance?")

    assert len(str(state)) < 40_000


async def test_the_answer_comes_with_extracts_or_with_whole_pages(remembering: Any):
    state = await remembering("Who described the waggle dance?")

    extracts = await recalled_passages("local/", state)
    (whole,) = await recalled_passages("local/", state, whole=True)

    assert extracts == state["extracts"]
    assert all(one["text"] in whole["text"] for one in extracts)
    assert whole["text"].startswith("# The dance")
    assert whole["source"] == extracts[0]["source"]


async def test_a_session_that_is_read_does_not_come_with_its_turns_as_well(
    choices: dict[str, object], script: Script
):
    turn = "I saw the waggle dance on Sunday."
    said = [page_rows.NewPage(title="Ann", place="", text=turn)]
    await pages.store_pages("local/", "chat", "c", said, group="ann")
    session = page_rows.NewPage(title="Session 1", place="", text=f"Ann: {turn}\nBen: How nice!")
    await pages.store_pages("local/", "session", "c", [session], group="ann")
    script.on("Lookup", {"keywords": ["waggle dance"], "pages": ["P1"]})
    graph = make_recall_graph().copy({"checkpointer": InMemorySaver()})

    state = await graph.ainvoke(
        {"messages": [("user", "When was the waggle dance?")]},
        {"configurable": {"thread_id": "m3"}},
        context=make(choices, memory=["chat"]),
    )

    assert [one["title"] for one in state["sources"].values()] == ["Session 1"]


async def report_on(question: str, text: str) -> None:
    """Keep a web page, and a report that cites it, as a run does."""
    read = page_rows.NewPage(title="Swarms", place="", text=text)
    cited = await pages.store_pages("local/", "web", "https://bees.example/swarms", [read])
    report = page_rows.NewPage(title=question, place="", text=text, links=cited)
    await store_with_abstracts("local/", "report", "swarm-1", [report], run="swarm-1")


async def test_what_earlier_research_found_is_told_as_its_report_and_from_its_pages(
    remembering: Any,
):
    said = "A swarm of the Carniolan bee settles within three kilometres of its old hive."
    await report_on("How far does a swarm fly?", said)

    asked = "What did my earlier research find out about how far a swarm flies?"
    state = await remembering(asked)

    assert "three kilometres" in state["notes"]
    assert state["extracts"][0]["text"] == said
    assert "How far does a swarm fly? (swarm-1" in answer(state)
    assert "not sources themselves" in answer(state)


async def test_reports_on_other_things_are_not_told(remembering: Any):
    await report_on("How far does a swarm fly?", "A swarm settles near its hive.")

    state = await remembering("What did my earlier research find about the price of tin?")

    assert state["reports"] == []


@pytest.mark.parametrize("given", [{}, {"messages": []}])
async def test_a_recall_that_is_asked_nothing_says_so(
    choices: dict[str, object], given: dict[str, Any]
):
    graph = make_recall_graph().copy({"checkpointer": InMemorySaver()})

    with pytest.raises(Problem) as problem:
        await graph.ainvoke(given, {"configurable": {"thread_id": "m1"}}, context=make(choices))

    assert problem.value.code == "question_empty"
