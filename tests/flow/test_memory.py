"""What earlier runs and chats say reaches the plan, and costs next to nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.embeddings import FakeEmbeddings
from langchain_core.messages import AIMessage
from sqlalchemy import select

from config.errors import ErrorCode, Problem
from graph.records import Background, entries_of_turn
from graph.session import ThreadSession, open_session
from library import store as pages
from library.page_rows import NewPage
from library.scope import read_page_record
from library.store import least_trusted_provenance
from library.tables import pages as stored
from library.tables import vectors
from models.hashing_vectors import hash_texts
from report.rendering.markdown_report import render_plain_text
from runs.tables import calls
from runs.trace import read_trace
from storage.engine import read_rows
from storage.tables import outbox
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft, quiet
from tests.page_vectors import use

pytestmark = pytest.mark.extractive(
    "Triage",
    "Rewrite",
    "Draft",
    "researcher",
    "Verdict",
    "Enough",
    "reporter",
    "Checks",
    "Lessons",
    "Lookup",
    "Notes",
    "Complete",
)

QUESTION = "When did Nora adopt her parrot Pablo?"

RECALL = {"Lookup", "Notes", "Complete"}


async def say(text: str, owner: str = "local/", kind: str = "chat") -> None:
    page = NewPage(title="Nora, 8 May 2023", place="", text=text)
    await pages.store_pages(owner, kind, "c", [page], group="nora")


async def first(thread: ThreadSession, choices: dict[str, object], **more: object) -> Background:
    outcome = await thread.begin(QUESTION, make(choices, **more), quiet)
    entry: Background = entries_of_turn(outcome.state["background"], 1)["1"]
    kinds = {outcome.state["sources"][one["source"]]["kind"] for one in entry["passages"]}
    assert kinds <= {"memory"}
    return entry


def calling(question: str) -> AIMessage:
    call = {"name": "recall", "args": {"question": question}, "id": "1"}
    return AIMessage("", tool_calls=[call], response_metadata={"finish_reason": "tool_calls"})


def recalls(script: Script) -> list[str]:
    return [name for name in script.names() if name in RECALL]


async def test_an_empty_memory_asks_no_model(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    assert (await first(thread, choices))["passages"] == []
    assert recalls(script) == []


async def test_what_a_run_has_read_and_found_out_has_vectors_at_its_end(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert outcome.state["report"]["cited"]
    every = set((await read_rows(select(stored.c.number))).scalars())
    assert set((await read_rows(select(vectors.c.page))).scalars()) == every
    assert len((await read_rows(select(outbox))).all()) == 0


async def test_a_provider_of_vectors_that_is_down_costs_a_line_of_the_trace(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    use(monkeypatch, "openai:m")

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)

    assert outcome.state["report"]["cited"]
    (line,) = [one for one in await read_trace(outcome.state["run"]) if one["kind"] == "embed"]
    assert line["status"] == "model_unavailable"


async def test_what_a_run_asks_of_a_provider_of_vectors_stands_in_its_trace(
    thread: ThreadSession, choices: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []

    class Provider(FakeEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            asked.extend(texts)
            rows: list[list[float]] = hash_texts(texts).tolist()
            return rows

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setattr("models.embeddings._client", lambda *_: Provider(size=8))
    use(monkeypatch, "openai:m")

    outcome = await thread.begin("How do bees dance?", make(choices), quiet)
    before = len(asked)
    async with open_session("t2") as other:
        await other.begin("How long do bees dance?", make(choices), quiet)

    lines = [one for one in await read_trace("t2-1") if one["kind"] == "embed"]
    background, searched = lines[0], [one for one in lines if one["role"] != "learn"]
    assert background["model"] == "openai:m"
    assert all(one["tokens_in"] > 0 and one["seconds"] >= 0 for one in lines)
    assert 0 < sum(one["texts"] for one in searched) <= len(asked) - before
    assert "learn" in {
        one["role"] for one in await read_trace(outcome.state["run"]) if one["kind"] == "embed"
    }


async def test_what_was_said_before_joins_the_background_and_the_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await say("I adopted my parrot Pablo in March 2021. Nora loves her parrot Pablo.")

    outcome = await thread.begin(QUESTION, make(choices, depth="quick"), quiet)

    report = str(outcome.state["messages"][-1].text)
    assert "March 2021" in report
    assert "Nora, 8 May 2023" in report
    assert recalls(script) == []


@pytest.mark.parametrize("about", ["Stocks fell.", "Nora went shopping."])
async def test_what_has_little_to_do_with_the_question_is_left_and_asks_no_model(
    thread: ThreadSession, choices: dict[str, object], script: Script, about: str
):
    await say(about)

    assert (await first(thread, choices))["passages"] == []
    assert recalls(script) == []


async def test_what_is_related_is_looked_into_with_at_most_three_calls(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await say("Nora likes her parrot.")
    script.on("Lookup", "no JSON")
    script.on("Notes", {"facts": [{"text": "Nora has a parrot.", "pages": ["S1"]}]})

    entry = await first(thread, choices)

    assert [one["text"] for one in entry["passages"]] == ["Nora likes her parrot."]
    assert recalls(script) == ["Lookup", "Lookup", "Notes"]


async def test_a_memory_that_cannot_be_asked_is_no_reason_to_fail(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
):
    async def related(*_: object) -> Any:
        raise Problem(ErrorCode.MODEL_AUTH, "no")

    monkeypatch.setattr("nodes.background.recall_related", related)

    assert (await first(thread, choices))["reason"] == "no_evidence"


async def test_nobody_is_told_what_another_said(thread: ThreadSession, choices: dict[str, object]):
    await say("I adopted my parrot Pablo in March 2021. Nora loves her parrot.", "other/")

    assert (await first(thread, choices))["passages"] == []


async def test_the_files_of_another_folder_are_no_memory(
    thread: ThreadSession, choices: dict[str, object]
):
    await say("I adopted my parrot Pablo in March 2021. Nora loves her parrot.", kind="file")

    assert (await first(thread, choices))["passages"] == []


async def test_only_the_chat_that_was_chosen_is_recalled(
    thread: ThreadSession, choices: dict[str, object]
):
    await say("I adopted my parrot Pablo in March 2021. Nora loves her parrot Pablo.")

    assert (await first(thread, choices, memory=["someone else"]))["passages"] == []


async def test_the_calls_of_a_recall_are_paid_for_by_the_run(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await say("Nora likes her parrot.")
    await thread.begin("How do bees dance?", make(choices), quiet)
    script.on("Rewrite", {"question": QUESTION, "queries": []})

    await thread.begin(QUESTION, make(choices), quiet)

    rows = await read_rows(select(calls.c.run).where(calls.c.role == "recall"))
    assert list(rows.scalars()) == ["t1-2", "t1-2"]
    assert recalls(script) == ["Lookup", "Notes"]


async def test_a_researcher_may_ask_the_memory(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await say("Aunt Agatha keeps bees and says: the waggle dance is best watched at noon.")
    script.on("Draft", draft("waggle dance"))
    replies = iter([calling("aunt Agatha waggle dance")])
    seen: list[str] = []

    def researcher(messages: list[Any]) -> Any:
        seen.append(str(messages[-1].text))
        called = next(replies, None)
        text = '<q s="S2">the waggle dance is best watched at noon</q>'
        return called or AIMessage(text, response_metadata={"finish_reason": "stop"})

    script.on("researcher", researcher)

    outcome = await thread.begin("waggle dance", make(choices), quiet)

    (told,) = [text for text in seen if "<notes>" in text]
    assert "best watched at noon" in told
    kinds = [source["kind"] for source in outcome.state["sources"].values()]
    assert "memory" in kinds


async def test_a_researcher_is_told_that_nothing_is_remembered(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", calling("waggle dance"), "Nothing.")

    await thread.begin("waggle dance", make(choices), quiet)

    assert "Nothing is remembered about this." in script.prompts("researcher")[1]
    assert recalls(script) == []


async def kept(run: str) -> list[Any]:
    ids = await pages.list_page_ids("local/", "report", run)
    return [await read_page_record("local/", one) for one in ids]


async def test_a_report_becomes_a_page_with_an_abstract_that_names_its_sources(
    thread: ThreadSession, choices: dict[str, object]
):
    outcome = await thread.begin("Who described the waggle dance?", make(choices), quiet)

    report, *_ = await kept("t1-1")
    assert report["title"] == outcome.state["report"]["title"]
    assert report["text"] == render_plain_text(outcome.state["report"]["body"])
    assert "dance.md" in str(outcome.state["messages"][-1].text)
    assert "dance.md" not in report["text"]
    assert report["abstract"]
    cited = [outcome.state["sources"][one]["page"] for one in outcome.state["report"]["cited"]]
    assert json.loads(report["links"]) == cited


async def test_what_a_finding_says_and_the_report_does_not_is_kept_too(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    quote = "Karl von Frisch described the waggle dance in 1927."
    more = "A longer waggle run means that the food is farther away."
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", f'<q s="S1">{quote}</q> <q s="S1">{more}</q>')
    script.on("reporter", f'<q s="S1">{quote}</q>')

    await thread.begin("Who described the waggle dance?", make(choices), quiet)

    report, finding = await kept("t1-1")
    assert finding["title"] == f"{report['title']} — waggle dance"
    assert more in finding["text"]
    assert more not in report["text"]
    assert "S1" not in finding["text"]
    assert finding["abstract"]


async def test_a_finding_that_the_report_repeats_is_not_kept_twice(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    quote = '<q s="S1">Karl von Frisch described the waggle dance in 1927.</q>'
    script.on("Draft", draft("waggle dance"))
    script.on("researcher", quote)
    script.on("reporter", quote)

    await thread.begin("Who described the waggle dance?", make(choices), quiet)

    assert len(await kept("t1-1")) == 1


@pytest.mark.parametrize(
    ("kinds", "least"), [(["file"], "model"), (["file", "web"], "web"), ([], "model")]
)
async def test_what_a_model_makes_of_a_page_is_trusted_no_more_than_the_page(
    bees: str, kinds: list[str], least: str
):
    page = NewPage(title="Bees", place="", text="Bees dance.")
    ids = [one for kind in kinds for one in await pages.store_pages("local/", kind, "o", [page])]

    assert await least_trusted_provenance("local/", ids) == least


@pytest.mark.parametrize("depth", ["standard", "quick"])
async def test_without_files_a_question_is_answered_from_what_the_last_report_rests_on(
    thread: ThreadSession, choices: dict[str, object], depth: str
):
    question = "Who described the waggle dance?"
    await thread.begin(question, make(choices), quiet)

    outcome = await thread.begin(question, make(choices, files=[], depth=depth), quiet)

    used = [one["location"] for one in outcome.state["sources"].values()]
    assert outcome.state["report"]["cited"]
    assert any(one.endswith("dance.md#the-dance") for one in used)
    assert "t1-1" not in used


async def test_a_question_in_another_thread_is_told_of_the_report_about_the_same(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("Who described the waggle dance?", make(choices), quiet)
    before = len(script.asked)
    async with open_session("t2") as other:
        await other.begin("What does the waggle dance mean?", make(choices), quiet)

    told = {name: str(messages[0].text) for name, messages in script.asked[before:]}
    for name in ("Rewrite", "Draft", "researcher", "reporter"):
        assert "<reports>" in told[name], name
        assert "(t1-1, 20" in told[name], name
    for name in ("Triage", "Verdict"):
        assert "<reports>" not in told[name], name


async def test_a_run_is_never_told_of_its_own_report(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    await thread.begin("Who described the waggle dance?", make(choices), quiet)

    assert not any("<reports>" in str(messages[0].text) for _, messages in script.asked)
