"""What a person uploads in a chat is read, searched first, or named as not read."""

from __future__ import annotations

import base64
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from app.cli.forget import redraw_reports
from graph.session import ThreadSession
from library.page_retrieval import find_pages
from library.uploaded_files import list_uploaded_files, upload_folder
from privacy.erasure_target import ErasureTarget
from privacy.service import delete_thread, execute_erasure, plan_erasure
from runs.call_site import join_owner
from storage.file_store import file_store
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import draft
from tests.unit.test_files_samples import pdf
from tests.unit.test_uploads import holding

FERRY = "The ferry to Askoy leaves every twenty minutes from the northern pier in Bergen."
PHOTO = {"type": "image", "mimeType": "image/png", "data": "iVBO", "metadata": {"name": "p.png"}}
ME = join_owner("local", "")


def file(name: str, data: bytes, kind: str) -> dict[str, Any]:
    content = base64.b64encode(data).decode()
    return {"type": "file", "mimeType": kind, "data": content, "metadata": {"filename": name}}


def ferry(name: str = "ferry.txt") -> dict[str, Any]:
    return file(name, FERRY.encode(), "text/plain")


async def sent(
    thread: ThreadSession,
    choices: dict[str, object],
    *blocks: dict[str, Any],
    words: str = "",
    **more: Any,
) -> dict[str, Any]:
    """Send a message with files, and return the state it left."""
    content = [*([{"type": "text", "text": words}] if words else []), *blocks]
    given = {"messages": [HumanMessage(content)]}
    state = await thread.graph.ainvoke(given, thread.config, context=make(choices, **more))
    return dict(state)


@pytest.fixture
def keyless(choices: dict[str, object]) -> dict[str, object]:
    return {**choices, "models": {"default": "extractive:"}}


async def test_a_question_is_answered_from_the_file_that_came_with_it(
    thread: ThreadSession, keyless: dict[str, object]
):
    asked = "How often does the ferry to Askoy leave?"
    state = await sent(thread, keyless, ferry(), words=asked)

    assert "twenty minutes" in state["report"]["body"]
    cited = [state["sources"][one]["location"] for one in state["report"]["cited"]]
    assert all("ferry.txt" in one for one in cited)


async def test_a_later_question_of_the_thread_finds_it_too_and_no_other_thread_searches_it(
    thread: ThreadSession, keyless: dict[str, object]
):
    await sent(thread, keyless, ferry(), words="How do bees dance?")

    state = await sent(thread, keyless, words="From which pier does the ferry leave?")

    assert "northern pier" in state["report"]["body"]
    assert await list_uploaded_files(ME, "another") == []


@pytest.mark.parametrize("words", ["", "Summarise this", "What is in it?"])
async def test_a_file_alone_gets_an_overview_of_it(
    thread: ThreadSession, keyless: dict[str, object], words: str
):
    data = pdf(["Ferries of the fjord", FERRY])
    given = file("fjord.pdf", data, "application/pdf")

    state = await sent(thread, keyless, given, words=words)

    shown = str(state["messages"][-1].text)
    assert state["status"] == "succeeded"
    assert "fjord.pdf" in shown
    assert "PDF" in shown
    assert "every twenty minutes" in shown
    assert "dance.md" not in shown


async def test_a_chinese_file_question_is_an_overview_too(
    thread: ThreadSession, keyless: dict[str, object]
):
    state = await sent(thread, keyless, ferry(), words="总结一下", language="zh")

    assert "ferry.txt" in str(state["messages"][-1].text)
    assert state["question"] == "文档“ferry.txt”里有什么内容？"


@pytest.mark.parametrize(("language", "said"), [("en", "Not read: "), ("zh", "未读取：")])
async def test_a_picture_alone_is_answered_with_what_may_be_sent(
    thread: ThreadSession, keyless: dict[str, object], language: str, said: str
):
    state = await sent(thread, keyless, PHOTO, language=language)

    reply = str(state["messages"][-1].text)
    reason = {"en": " (an image)", "zh": "（图片）"}[language]
    assert reply.startswith(f"{said}p.png{reason}")
    assert "docx" in reply
    assert state["status"] == "succeeded"


async def test_a_picture_beside_a_question_is_named_in_the_report(
    thread: ThreadSession, keyless: dict[str, object]
):
    state = await sent(thread, keyless, PHOTO, words="How do bees dance?")

    assert "Not read: p.png (an image)." in state["report"]["notices"]
    assert "Not read: p.png (an image)." in str(state["messages"][-1].text)
    again = await sent(thread, keyless, words="What do the queens do in summer?")
    assert not [one for one in again["report"]["notices"] if "p.png" in one]


@pytest.mark.extractive("Rewrite")
async def test_a_picture_beside_small_talk_is_named_in_the_reply(
    thread: ThreadSession, choices: dict[str, object], script: Script
):
    script.on("Triage", {"research": False, "reply": "Hello!"})

    state = await sent(thread, choices, PHOTO, words="hi there")

    assert str(state["messages"][-1].text) == "Hello! Not read: p.png (an image)."


async def test_sums_are_computed_over_a_table_that_was_uploaded(
    thread: ThreadSession, keyless: dict[str, object]
):
    rows = b"ferry,passengers\nAskoy,120\nHolsnoy,75\nOsteroy,40\n"
    table = file("ferries.csv", rows, "text/csv")

    state = await sent(
        thread, keyless, table, words="What is the sum of passengers in ferries.csv?"
    )

    assert "235" in state["report"]["body"]


@pytest.mark.extractive("Triage")
async def test_no_bytes_of_a_file_reach_a_prompt_the_trace_or_a_checkpoint(
    thread: ThreadSession, choices: dict[str, object], script: Script, home: Path
):
    script.on("Rewrite", {"question": "When?", "queries": ["ferry"]})
    script.on("Draft", draft("ferry"))
    script.on("Verdict", {"passed": True})
    script.on("Enough", {"enough": True})
    script.on("researcher", f'<q s="S1">{FERRY}</q> [S1]')
    script.on("reporter", f'<q s="S1">{FERRY}</q> [S1]')
    given = ferry()

    state = await sent(thread, choices, given, words="When does the ferry leave?")

    assert state["report"]["cited"]
    asked = json.dumps([str(one) for one in script.asked])
    assert given["data"][:24] not in asked
    assert "(attached: ferry.txt)" in asked
    assert holding(home, b"researcher")
    assert not [one for one in holding(home, given["data"][:24].encode()) if "traces" in str(one)]
    assert given["data"][:24] not in str((await thread.current()).values["messages"])


async def test_a_deleted_thread_takes_its_files_and_their_pages_along(
    thread: ThreadSession, keyless: dict[str, object]
):
    rows = file("t.csv", b"a,b\n1,2\n", "text/csv")
    await sent(thread, keyless, ferry(), rows, words="When does the ferry leave?")

    await delete_thread("t1")

    assert await list_uploaded_files(ME, "t1") == []
    assert file_store().list(upload_folder("t1")) == []
    found = await find_pages(ME, "ferry to Askoy", 5)
    assert not [one for one in found if "Askoy" in one.text]


async def test_a_table_is_deleted_when_what_it_says_is_forgotten(
    thread: ThreadSession, keyless: dict[str, object], home: Path
):
    wages = file("wages.csv", b"name,wage\nQuorvix,4711\n", "text/csv")
    berths = file("berths.csv", b"berth,depth\nNorth,7\n", "text/csv")
    await sent(thread, keyless, wages, berths, words="What is the largest wage?")
    [page, *_] = [one for one in await find_pages(ME, "Quorvix", 5) if one.kind == "file"]

    plan = await plan_erasure(ErasureTarget(ME, pages=(page.id,)))
    await execute_erasure(plan, partial(redraw_reports, ME))

    assert [Path(one).name for one in plan.deleted] == ["wages.csv"]
    assert not holding(home, b"Quorvix")
    assert holding(home, b"berth,depth")
