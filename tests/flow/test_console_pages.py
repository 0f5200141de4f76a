"""Pages of the console without a browser: reports, history, memory, operators; nothing is run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.auth.user_store import list_users
from app.cli.dispatch import Invocation
from app.web import work_pages
from app.web.console_threads import ThreadStanding
from config.settings import settings
from graph.context import Context
from memory.agents_md.proposals import Proposal, list_proposals, save_proposal
from memory.registry import list_items
from runs.lifecycle import create_run
from tests.console_client import as_this_user, open_console, send_form
from tests.flow.conftest import QUOTE

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)

EVIL = "<script>alert(1)</script>"
SAFE = "&lt;script&gt;alert(1)&lt;/script&gt;"


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    with as_this_user():
        async with open_console() as one:
            yield one


async def test_a_report_is_shown_in_a_frame_of_its_own(browser: httpx.AsyncClient, asked: str):
    page = await browser.get(f"/console/reports/{asked}")
    frame = await browser.get(f"/console/reports/{asked}/page")

    assert page.status_code == 200
    assert f'src="/console/reports/{asked}/page"' in page.text
    assert QUOTE in frame.text
    policy = frame.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy


async def test_sources_of_a_report_have_their_passages(browser: httpx.AsyncClient, asked: str):
    listed = await browser.get(f"/console/reports/{asked}/sources")
    shown = await browser.get(f"/console/reports/{asked}/sources/1")

    assert f"/console/reports/{asked}/sources/1" in listed.text
    assert QUOTE in shown.text
    assert str(settings().home) not in listed.text + shown.text


async def test_feedback_is_recorded_and_an_empty_one_refused(
    browser: httpx.AsyncClient, asked: str
):
    page, path = f"/console/reports/{asked}", f"/console/reports/{asked}/feedback"
    empty = await send_form(browser, path, page)
    assert (empty.status_code, "feedback_empty" in empty.text) == (422, True)
    words = "The dance also tells how far away the food is."
    said = await send_form(browser, path, page, rating="up", words=words)
    assert said.headers["location"] == f"{page}?told=heard"
    told = (await list_items(Invocation().owner, 10, "facts"))["facts"]
    assert [one.text for one in told if "far away" in one.text]


async def test_the_address_of_a_link_is_shown_once(browser: httpx.AsyncClient, asked: str):
    page = f"/console/reports/{asked}"
    made = await send_form(browser, f"{page}/shares", page, hours="168")
    assert "http://127.0.0.1:8123/shared/" in made.text
    assert "/shared/" not in (await browser.get(page)).text
    long = await send_form(browser, f"{page}/shares", page, hours="999999")
    assert "out_of_range" in long.text


async def test_history_finds_questions_titles_and_texts(browser: httpx.AsyncClient, asked: str):
    await create_run(Invocation().owner, "other", 1, f"What of {EVIL}?", Context())
    for words, count in (("bees", 1), ("direction of food", 1), ("script", 1), ("wasps", 0)):
        found = await browser.get("/console/history", params={"q": words})
        assert found.text.count('class="entry"') == count, words
    every = (await browser.get("/console/history")).text
    assert EVIL not in every
    assert SAFE in every
    waiting = await browser.get("/console/history", params={"status": "waiting_review"})
    assert waiting.text.count('class="entry"') == 0


async def test_a_conversation_of_a_terminal_is_deleted_after_a_question(
    browser: httpx.AsyncClient, asked: str
):
    thread = asked.rpartition("-")[0]
    page = f"/console/history/{thread}/delete"
    assert "How do bees dance?" in (await browser.get(page)).text
    assert (await browser.get(f"/console/reports/{asked}")).status_code == 200
    done = await send_form(browser, page, page)
    assert done.headers["location"] == "/console/history"
    assert (await browser.get(f"/console/reports/{asked}")).status_code == 404


async def test_memory_is_added_shown_changed_undone_and_forgotten(browser: httpx.AsyncClient):
    await send_form(browser, "/console/memory", "/console/memory", text=f"I like {EVIL} tea.")
    (fact,) = (await list_items(Invocation().owner, 10, "facts"))["facts"]
    shown = (await browser.get("/console/memory")).text
    assert EVIL not in shown
    assert SAFE in shown

    item = f"/console/memory/item?id={fact.id}"
    await send_form(browser, item, item, text="I like coffee.")
    changes = "/console/memory/changes"
    listed = (await browser.get(changes)).text
    assert "I like coffee." in listed
    number = listed.partition("/console/memory/changes/")[2].partition("/")[0]
    await send_form(browser, f"{changes}/{number}/undo", changes)
    (fact,) = (await list_items(Invocation().owner, 10, "facts"))["facts"]
    assert "tea" in fact.text

    forget = f"/console/memory/forget?id={fact.id}"
    assert "facts: 1" in (await browser.get(forget)).text
    await send_form(browser, forget, forget)
    assert (await list_items(Invocation().owner, 10, "facts"))["facts"] == []


async def test_a_proposal_is_shown_as_a_difference_and_decided(browser: httpx.AsyncClient):
    owner, page = Invocation().owner, "/console/memory/agents-md"
    path = str(settings().home / "AGENTS.md")
    for line in (f"Prefer {EVIL} papers.", "Never cite blogs."):
        await save_proposal(Proposal(owner, path, "", f"- {line}", "they said so"))
    shown = (await browser.get(page)).text
    assert EVIL not in shown
    assert f"<ins>+- Prefer {SAFE} papers.</ins>" in shown

    first, second = await list_proposals(owner)
    rejected = await send_form(browser, f"/console/memory/proposals/{first.id}/reject", page)
    assert rejected.headers["location"] == f"{page}?told=rejected"
    assert [one.id for one in await list_proposals(owner)] == [second.id]
    await send_form(browser, f"/console/memory/proposals/{second.id}/accept", page)
    assert await list_proposals(owner) == []
    assert "- Never cite blogs." in (await browser.get(page)).text


async def test_an_operator_adds_a_user_whose_token_is_shown_once(browser: httpx.AsyncClient):
    page = "/console/operator"
    made = await send_form(browser, f"{page}/users", page, name="ada", days="30")
    (user,) = await list_users()
    assert user.tokens[0].id in made.text
    assert made.text.count('class="token"') == 1
    assert 'class="token"' not in (await browser.get(page)).text
    again = await send_form(browser, f"{page}/users", page, name="ada")
    assert "user_exists" in again.text
    assert "dossier users" not in again.text
    await send_form(browser, f"{page}/tokens/{user.tokens[0].id}/revoke", page)
    assert (await list_users())[0].tokens == ()


async def test_operators_see_costs_of_runs_and_no_words(browser: httpx.AsyncClient, asked: str):
    shown = (await browser.get("/console/operator")).text

    assert "succeeded" in shown or "partial" in shown
    assert "How do bees dance?" not in shown


async def test_what_is_not_there_is_told_with_its_code(browser: httpx.AsyncClient):
    for path in ("/console/reports/none", "/console/questions/none", "/console/nowhere"):
        answer = await browser.get(path)
        assert answer.status_code == 404, path
        assert "_not_found</code>" in answer.text
        assert "dossier runs" not in answer.text


THREAD = "0198c7a2-6a55-7c1f-9d0e-3b7f6a1c2d4e"
PLAN = {
    "title": "Bees",
    "thought": f"Think of {EVIL}",
    "has_enough_context": False,
    "steps": [
        {
            "id": "s1",
            "title": f"Dances {EVIL}",
            "description": "",
            "kind": "compute",
            "queries": [],
            "needs": [],
            "need_web_search": True,
        },
    ],
    "knowledge": [],
}
REVIEW = {
    "plan": PLAN,
    "revision": 2,
    "note": f"You said {EVIL}",
    "questions": [{"id": "q1", "question": "Where?", "options": ["A"], "assumed": "B"}],
    "action_requests": [{"name": "research_plan", "args": {}}],
    "review_configs": [{"action_name": "research_plan", "allowed_decisions": ["approve"]}],
}
PAUSE = {
    "note": "",
    "requests": [{"id": "q1", "step": "s1"}, {"id": "q2", "step": "s1"}],
    "action_requests": [
        {"name": "ask_user", "args": {"question": EVIL, "options": ["A"], "answer": "B"}},
        {"name": "send_mail", "args": {"to": EVIL}, "description": "send a mail"},
    ],
}


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A run that waits for what stands in `asked`; what is sent to it comes in `answer`."""
    held: dict[str, Any] = {}

    async def standing(*_: Any) -> ThreadStanding:
        return ThreadStanding("interrupted", "", held["asked"], [])

    async def begin(request: Any, thread: str, choices: Any, **sent: Any) -> None:
        held.update(sent)

    monkeypatch.setattr(work_pages, "read_standing", standing)
    monkeypatch.setattr(work_pages, "begin_run", begin)
    return held


async def test_an_answer_without_a_report_is_shown_as_text_with_headings(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    said = f"# Bees\n\n## What is **not** known\n\n{EVIL} [x](javascript:alert(1))"

    async def standing(*_: Any) -> ThreadStanding:
        return ThreadStanding("idle", "", None, [{"type": "ai", "content": said}])

    monkeypatch.setattr(work_pages, "read_standing", standing)
    shown = (await browser.get(f"/console/questions/{THREAD}")).text

    assert "<h2>What is <strong>not</strong> known</h2>" in shown
    assert SAFE in shown
    assert EVIL not in shown
    assert 'href="javascript' not in shown


async def test_a_defect_is_told_on_a_page(
    browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    async def broken(*_: Any) -> ThreadStanding:
        raise RuntimeError(EVIL)

    monkeypatch.setattr(work_pages, "read_standing", broken)
    answer = await browser.get(f"/console/questions/{THREAD}")

    assert answer.status_code == 500
    assert "The server failed over this request" in answer.text
    assert "script&gt;" not in answer.text


async def test_a_plan_with_questions_is_shown_and_approved_with_answers(
    browser: httpx.AsyncClient, waiting: dict[str, Any]
):
    waiting["asked"] = REVIEW
    page = f"/console/questions/{THREAD}"
    shown = (await browser.get(page)).text
    assert EVIL not in shown
    assert shown.count(SAFE) == 3
    assert 'value="reject"' not in shown
    fields = {"revision": "2", "title": "Bees", "step_1_place": "1", "decision": "approve"}
    fields |= {"step_1_title": PLAN["steps"][0]["title"], "q1_option": "A"}
    done = await send_form(browser, f"{page}/answer", page, **fields)

    assert done.headers["location"] == page
    assert waiting["answer"] == {"decisions": [{"type": "approve", "answers": {"q1": "A"}}]}


async def test_what_steps_ask_is_shown_and_answered(
    browser: httpx.AsyncClient, waiting: dict[str, Any]
):
    waiting["asked"] = PAUSE
    page = f"/console/questions/{THREAD}"
    shown = (await browser.get(page)).text
    assert EVIL not in shown
    await send_form(browser, f"{page}/answer", page, q1_words="C", q2_leave="always")

    assert waiting["answer"] == {"answers": {"q1": "C", "q2": "always"}}


async def test_a_plan_that_was_replaced_meanwhile_is_not_approved(
    browser: httpx.AsyncClient, waiting: dict[str, Any]
):
    waiting["asked"] = REVIEW
    page = f"/console/questions/{THREAD}"
    answer = await send_form(browser, f"{page}/answer", page, revision="1", step_1_title="X")

    assert "bad_feedback" in answer.text
    assert "answer" not in waiting
