"""Reports over HTTP: list, read, sources with passages, versions, differences, feedback, links."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx
import pytest

from app.access import AccessMiddleware, AccessRules
from app.api.application import make_api
from app.auth.user_store import add_user, remove_user
from app.cli.dispatch import Invocation
from config.settings import settings
from graph.context import Context
from graph.session import ThreadSession
from memory.registry import list_items
from runs import report_shares
from runs.lifecycle import create_run
from storage.engine import read_rows
from storage.file_store import file_store
from tests.api_client import LoggedIn, code_of, connect
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.conftest import QUOTE, FinishedRun
from tests.flow.test_defects import quiet
from tests.places import new_process

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with connect(make_api()) as one:
        yield one


async def test_reports_are_listed_part_by_part_and_searched(client: httpx.AsyncClient, asked: str):
    for number in range(3):
        await create_run(Invocation().owner, f"other{number}", 1, "No report yet?", Context())

    listed = (await client.get("/api/reports", params={"limit": 1})).json()
    assert [one["run"] for one in listed["items"]] == [asked]
    assert listed["next"] == ""
    assert listed["items"][0]["question"] == "How do bees dance?"
    for search, count in (("BEES", 1), ("dance?", 1), ("wasps", 0), ("%", 0), ("_", 0)):
        found = (await client.get("/api/reports", params={"search": search})).json()
        assert len(found["items"]) == count, search


async def test_a_report_is_data_with_its_markdown_and_a_tag(client: httpx.AsyncClient, asked: str):
    got = await client.get(f"/api/reports/{asked}")

    told = got.json()
    assert QUOTE in told["markdown"]
    assert told["document"]["sources"]
    assert "texts" not in told["document"]
    again = await client.get(
        f"/api/reports/{asked}", headers={"if-none-match": got.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


async def test_a_source_is_told_with_the_words_that_are_cited_in_their_paragraph(
    client: httpx.AsyncClient, asked: str
):
    (source,) = (await client.get(f"/api/reports/{asked}/sources")).json()
    evidence = (await client.get(f"/api/reports/{asked}/sources/{source['number']}")).json()

    assert evidence["source"] == source
    assert QUOTE in evidence["passages"][0]["paragraph"]
    assert evidence["passages"][0]["cited"][0]["sentences"]
    assert code_of(await client.get(f"/api/reports/{asked}/sources/99")) == (
        404,
        "source_not_found",
    )


async def test_no_answer_says_where_files_are_on_the_server(
    client: httpx.AsyncClient, asked: str, finished_run: FinishedRun
):
    for path in ("", "/sources", "/sources/1", "/versions"):
        answer = await client.get(f"/api/reports/{asked}{path}")
        assert answer.status_code == 200, answer.text
        assert str(finished_run.docs.parent) not in answer.text, path
        assert str(settings().home) not in answer.text, path
    run = await client.get(f"/api/runs/{asked}")
    assert str(finished_run.docs.parent) not in run.text
    assert finished_run.docs.name in run.text


async def test_versions_of_a_conversation_are_listed_and_compared(
    client: httpx.AsyncClient,
    asked: str,
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    finished_run: FinishedRun,
):
    choices["files"] = [str(finished_run.docs)]
    script.on("reporter", f'They tell the way: <q s="S1">{QUOTE}</q> [S1]')
    second = (await thread.begin("Why do bees fly home?", make(choices), quiet)).state["run"]

    told = (await client.get(f"/api/reports/{asked}/versions")).json()
    assert [one["run"] for one in told["versions"]] == [asked, second]
    differs = (await client.get(f"/api/reports/{second}/diff", params={"to": asked})).json()
    assert (differs["before"], differs["after"]) == (asked, second)
    assert code_of(await client.get(f"/api/reports/{second}/diff")) == (422, "request_refused")


async def test_feedback_becomes_a_fact(client: httpx.AsyncClient, asked: str):
    words = "The dance also tells how far away the food is."
    told = (await client.post(f"/api/reports/{asked}/feedback", json={"words": words})).json()

    assert (told["run"], told["feedback"]) == (asked, "text")
    known = (await list_items(Invocation().owner, 10, "facts"))["facts"]
    assert [one.id for one in known if words in one.text] == [told["fact"]]
    up = (await client.post(f"/api/reports/{asked}/feedback", json={"words": "up"})).json()
    assert (up["feedback"], up["fact"]) == ("up", "")
    for words, code in (("", "feedback_empty"), ("bad", "feedback_unclear")):
        refused = await client.post(f"/api/reports/{asked}/feedback", json={"words": words})
        assert refused.json()["code"] == code


async def test_a_link_shows_the_report_to_anybody_until_it_is_revoked(
    client: httpx.AsyncClient, asked: str, finished_run: FinishedRun
):
    await client.post(f"/api/reports/{asked}/feedback", json={"words": "Nobody may read this."})
    made = await client.post(f"/api/reports/{asked}/shares", json={"hours": 1})
    assert made.status_code == 201, made.text
    link = made.json()
    assert 3500 < link["expires"] - time.time() < 3700

    rules = AccessRules(frozenset(), frozenset(), open_to_pages=False)
    async with connect(AccessMiddleware(make_api(), rules)) as stranger:
        page = await stranger.get(link["url"])
        assert page.status_code == 200, page.text
        assert "waggle dance" in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        for private in ("Nobody may read", str(finished_run.docs.parent), Invocation().owner):
            assert private not in page.text, private
        assert code_of(await stranger.get("/api/reports")) == (401, "token_missing")
        listed = (await client.get(f"/api/reports/{asked}/shares")).json()
        assert [one["id"] for one in listed] == [link["id"]]
        assert "url" not in listed[0]

        gone = await client.delete(f"/api/reports/{asked}/shares/{link['id']}")
        assert gone.status_code == 204
        assert code_of(await stranger.get(link["url"])) == (404, "share_not_found")
    assert (await client.get(f"/api/reports/{asked}/shares")).json() == []


async def test_an_expired_link_shows_nothing_and_only_the_hash_of_its_address_is_stored(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    link = (await client.post(f"/api/reports/{asked}/shares", json={"hours": 0.5})).json()
    token = link["url"].rpartition("/")[2]

    rows = [str(row) for row in await read_rows(report_shares.report_shares.select())]
    assert rows
    assert not any(token in row for row in rows)
    later = time.time() + 1801
    monkeypatch.setattr(report_shares.time, "time", lambda: later)
    assert code_of(await client.get(link["url"])) == (404, "share_not_found")


async def test_a_link_of_a_user_who_was_removed_shows_nothing(
    client: httpx.AsyncClient, asked: str, monkeypatch: pytest.MonkeyPatch
):
    link = (await client.post(f"/api/reports/{asked}/shares", json={})).json()
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_USER", "somebody")
    new_process()
    await add_user("local")
    assert (await client.get(link["url"])).status_code == 200

    await remove_user("local")
    assert code_of(await client.get(link["url"])) == (404, "share_not_found")


async def test_nothing_of_a_report_is_found_by_another_user_or_in_another_project(
    client: httpx.AsyncClient, asked: str
):
    link = (await client.post(f"/api/reports/{asked}/shares", json={})).json()
    paths = ["", "/sources", "/sources/1", "/versions", "/shares", f"/diff?to={asked}"]
    async with connect(LoggedIn(make_api(), "eve")) as eve:
        for path in paths:
            answer = await eve.get(f"/api/reports/{asked}{path}")
            assert code_of(answer) == (404, "run_not_found"), path
        for path in ("", "/trace", "/cost"):
            assert code_of(await eve.get(f"/api/runs/{asked}{path}")) == (404, "run_not_found")
        assert (await eve.get("/api/reports")).json()["items"] == []
        assert (await eve.get("/api/runs")).json()["items"] == []
        revoked = await eve.delete(f"/api/reports/{asked}/shares/{link['id']}")
        assert code_of(revoked) == (404, "run_not_found")
    other = await client.get(f"/api/reports/{asked}", params={"project": "other"})
    assert code_of(other) == (404, "run_not_found")
    assert (await client.get(link["url"])).status_code == 200


async def test_runs_are_listed_part_by_part_with_trace_and_cost(
    client: httpx.AsyncClient, asked: str
):
    for number in range(4):
        await create_run(Invocation().owner, f"other{number}", 1, "Why?", Context())

    seen, cursor = [], ""
    while True:
        part = (await client.get("/api/runs", params={"limit": 2, "cursor": cursor})).json()
        seen += [one["run"] for one in part["items"]]
        cursor = part["next"]
        if not cursor:
            break
    assert len(seen) == len(set(seen)) == 5
    assert seen[-1] == asked
    # Nobody works on the others.
    assert (await client.get("/api/runs/other1")).json()["status"] == "paused"
    done = (await client.get("/api/runs", params={"status": "succeeded"})).json()["items"]
    assert [one["run"] for one in done] == [asked]
    trace = (await client.get(f"/api/runs/{asked}/trace", params={"limit": 3})).json()
    rest = await client.get(f"/api/runs/{asked}/trace", params={"cursor": trace["next"]})
    assert len(trace["items"]) == 3
    assert rest.json()["items"][0] not in trace["items"]
    cost = (await client.get(f"/api/runs/{asked}/cost")).json()
    assert cost["calls"] == len(cost["attempts"]) > 0
    assert code_of(await client.post(f"/api/runs/{asked}/cancel")) == (503, "server_missing")


@pytest.mark.parametrize("cursor", ["x", "e30", "WzFd", "WyJhIiwiYiJd", "W05hTiwieCJd", "=", "é"])
async def test_what_is_no_cursor_is_refused(client: httpx.AsyncClient, cursor: str):
    assert code_of(await client.get("/api/runs", params={"cursor": cursor})) == (422, "bad_cursor")


async def test_a_report_that_is_deleted_is_shown_first_and_then_gone(
    client: httpx.AsyncClient, asked: str
):
    link = (await client.post(f"/api/reports/{asked}/shares", json={})).json()
    preview = (await client.delete(f"/api/reports/{asked}", params={"dry_run": True})).json()
    assert (preview["done"], preview["reports"]) == (False, [asked])
    assert QUOTE in (await client.get(f"/api/reports/{asked}")).text

    done = await client.delete(f"/api/reports/{asked}")
    assert done.json()["done"], done.text
    for path in (f"/api/reports/{asked}", f"/reports/{asked}?format=md", "/api/runs"):
        answer = await client.get(path)
        assert answer.status_code == 200
        assert "waggle" not in answer.text, path
        assert "How do bees dance" not in answer.text, path
    assert code_of(await client.get(link["url"])) == (404, "share_not_found")
    assert (await client.get("/api/reports")).json()["items"] == []
    assert file_store().list("reports") == []
