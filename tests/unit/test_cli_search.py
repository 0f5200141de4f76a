"""What `dossier search` prints of what the person told."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.cli.dispatch import Invocation
from app.cli.event_loop import run_and_close
from app.cli.search import search_command
from library.page_rows import NewPage
from library.store import store_pages
from memory.facts.fact import NewFact
from memory.facts.store import add_fact
from runs.call_site import join_owner
from storage.engine import close_database


def told(user: str, *texts: str) -> None:
    async def work() -> None:
        for text in texts:
            await add_fact(join_owner(user, ""), NewFact(text, quote=text))
        await close_database()

    asyncio.run(work())


def run_search(query: str, within: str = "", *, as_json: bool = False) -> None:
    invocation = Invocation(as_json=as_json)
    run_and_close(
        search_command(query=query, within=within, limit=10, explain=False, invocation=invocation)
    )


def searched(
    capsys: pytest.CaptureFixture[str], query: str, within: str = ""
) -> list[dict[str, object]]:
    run_search(query, within, as_json=True)
    notes: list[dict[str, object]] = json.loads(capsys.readouterr().out)["notes"]
    return notes


def test_a_search_finds_facts_and_says_that_they_are(capsys: pytest.CaptureFixture[str]):
    told("local", "I live in Bergen", "my boat is called Terna")

    (note,) = searched(capsys, "Terna")
    assert note["kind"] == "fact"
    assert note["text"] == "my boat is called Terna"
    assert [one["text"] for one in searched(capsys, "Where do I live?")] == ["I live in Bergen"]


def test_facts_alone_can_be_searched(capsys: pytest.CaptureFixture[str]):
    told("local", "my boat is called Terna")

    assert searched(capsys, "Terna", "facts")
    assert not searched(capsys, "Terna", "profile")


def test_facts_of_another_owner_are_not_found(capsys: pytest.CaptureFixture[str]):
    told("kim", "my boat is called Terna")

    assert searched(capsys, "Terna") == []


def test_a_fact_that_is_found_is_shown_with_its_id(capsys: pytest.CaptureFixture[str]):
    told("local", "my boat is called Terna")
    run_search("Terna")

    shown = capsys.readouterr().out
    assert "my boat is called Terna" in shown
    assert "fact " in shown


def test_a_misspelt_word_is_searched_for_as_pages_spell_it_and_that_is_said(
    capsys: pytest.CaptureFixture[str],
):
    async def work() -> None:
        page = NewPage(title="Anchors", place="", text="Every anchor has two flukes of iron.")
        await store_pages(join_owner("local", ""), "web", "https://a.example", [page])
        await close_database()

    asyncio.run(work())

    def run(query: str, *, as_json: bool) -> str:
        run_search(query, as_json=as_json)
        return capsys.readouterr().out

    said = json.loads(run("ancor with flukes", as_json=True))
    assert said["query"] == "anchor with flukes"
    assert said["spelling"] == {"ancor": "anchor"}
    assert [page["title"] for page in said["pages"]] == ["Anchors"]
    assert run("ancor with flukes", as_json=False).startswith("Searched for: ancor → anchor")
    assert json.loads(run("anchor", as_json=True))["spelling"] == {}
