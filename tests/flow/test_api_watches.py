"""Watches over HTTP: each user has their own, inside of what the operator allows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from app.api.application import make_api
from runs.call_site import join_owner
from runs.watches import WatchCheck, find_watch, list_due_watches, pause_watches, record_check
from tests.api_client import LoggedIn, code_of, connect
from tests.places import new_process

pytestmark = pytest.mark.usefixtures("database")

WEEKLY = {"question": "What is new on mites?", "every": "weekly", "name": "mites"}


@pytest.fixture
async def ann(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """A user of a server that has users."""
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_CALLER_MAIL", "example.org")
    monkeypatch.setenv("DOSSIER_CALLER_WEBHOOKS", "hooks.example.org")
    monkeypatch.setenv("DOSSIER_CALLER_WATCHES", "2")
    new_process()
    async with connect(LoggedIn(make_api(), "ann")) as one:
        yield one


async def test_a_watch_is_added_paused_asked_soon_and_removed(ann: httpx.AsyncClient):
    added = await ann.post("/api/watches", json={**WEEKLY, "notify": ["mail:ann@example.org"]})
    assert added.status_code == 201, added.text
    assert (added.json()["cron"], added.json()["zone"]) == ("0 7 * * 1", "UTC")
    assert [one["name"] for one in (await ann.get("/api/watches")).json()] == ["mites"]

    paused = await ann.patch("/api/watches/mites", json={"status": "paused"})
    assert paused.json()["status"] == "paused"
    going_on = await ann.patch("/api/watches/mites", json={"status": "active"})
    assert going_on.json()["due"] > time.time()
    assert await list_due_watches(time.time()) == []
    assert (await ann.post("/api/watches/mites/run")).status_code == 202
    assert [one.name for one in await list_due_watches(time.time())] == ["mites"]

    watch = await find_watch(join_owner("ann", ""), "mites")
    found = WatchCheck("c", watch.id, "r-1", "news", "", {"added": ["x"]}, [], 0, 1.0, 2.0)
    await record_check(watch, found)
    (told,) = (await ann.get("/api/watches/mites/checks")).json()
    assert (told["status"], told["run"], told["notice"]) == ("news", "r-1", {"added": ["x"]})

    assert (await ann.delete("/api/watches/mites")).status_code == 204
    assert code_of(await ann.get("/api/watches/mites")) == (404, "watch_not_found")


async def test_a_watch_is_its_owners_alone(ann: httpx.AsyncClient):
    added = (await ann.post("/api/watches", json=WEEKLY)).json()

    async with connect(LoggedIn(make_api(), "bob")) as bob:
        assert (await bob.get("/api/watches")).json() == []
        for name in ("mites", added["id"]):
            assert (await bob.get(f"/api/watches/{name}")).status_code == 404
            assert (await bob.delete(f"/api/watches/{name}")).status_code == 404
            assert (await bob.post(f"/api/watches/{name}/run")).status_code == 404
            assert (await bob.get(f"/api/watches/{name}/checks")).status_code == 404


@pytest.mark.parametrize(
    "more",
    [
        {"every": "*/30 * * * *"},
        {"every": "0,59 7 * * *"},
        {"notify": ["mail:ann@elsewhere.org"]},
        {"notify": ["webhook:https://elsewhere.org/x"]},
        {"context": {"files": ["/etc"]}},
        {"context": {"max_cost": 900}},
        {"context": {"user": "bob"}},
    ],
)
async def test_what_the_operator_does_not_allow_is_refused(
    ann: httpx.AsyncClient, more: dict[str, Any]
):
    refused = await ann.post("/api/watches", json={**WEEKLY, **more})

    assert code_of(refused)[1] == "choice_refused"
    assert (await ann.get("/api/watches")).json() == []


async def test_a_user_has_so_many_watches_in_all_projects_and_no_more(ann: httpx.AsyncClient):
    paths = [f"/api/watches?project=p{number % 3}" for number in range(6)]

    # They are counted where they are written: each of them sees none before.
    sent = [
        ann.post(path, json={**WEEKLY, "name": f"w{number}"}) for number, path in enumerate(paths)
    ]
    answers = await asyncio.gather(*sent)

    assert sorted(one.status_code for one in answers) == [201, 201, 403, 403, 403, 403]
    assert {code_of(one)[1] for one in answers if one.status_code == 403} == {"choice_refused"}
    async with connect(LoggedIn(make_api(), "annabel")) as other:
        assert (await other.post("/api/watches", json=WEEKLY)).status_code == 201


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ({"notify": ["mail:eve@evil.example"]}, True),
        ({"cron": "* * * * *"}, True),
        ({"context": {"files": ["/etc"]}}, True),
        ({"notify": ["mail:ann@example.org"]}, False),
    ],
)
async def test_what_an_import_brings_goes_on_inside_of_what_the_operator_allows_alone(
    ann: httpx.AsyncClient, more: dict[str, Any], refused: bool
):
    await ann.post("/api/watches", json=WEEKLY)
    exported = (await ann.get("/api/memory-export")).json()
    exported["watches"][0] |= {"name": "moved", **more}
    moved = await ann.post("/api/memory-import?vouch=true", json=exported)
    assert moved.json()["watches"] == 1
    assert (await ann.get("/api/watches/moved")).json()["status"] == "paused"

    resumed = await ann.patch("/api/watches/moved", json={"status": "active"})

    assert (resumed.status_code == 200) is not refused
    if refused:
        assert code_of(resumed) == (403, "choice_refused")


async def test_the_watches_of_a_user_who_is_removed_are_paused(ann: httpx.AsyncClient):
    await ann.post("/api/watches", json=WEEKLY)
    await ann.post("/api/watches?project=bees", json=WEEKLY)
    async with connect(LoggedIn(make_api(), "anna")) as other:
        await other.post("/api/watches", json=WEEKLY)

    assert await pause_watches("ann") == 2
    assert [one.owner for one in await list_due_watches(time.time())] == [join_owner("anna", "")]
