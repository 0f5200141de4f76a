"""Watches in the console: added, paused, asked next, removed; what was found, and nobody else's."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import update

from app.cli.dispatch import Invocation
from app.web.watch_pages import LATE_SECONDS
from config.errors import Problem
from runs.call_site import join_owner
from runs.schedules import Schedule
from runs.tables import watches as table
from runs.watches import Watch, WatchCheck, add_watch, find_watch, list_watches, record_check
from storage.engine import run_write
from tests.console_client import as_this_user, open_console, send_form

pytestmark = pytest.mark.usefixtures("database")

PAGE = "/console/watches"
EVIL = "<script>alert(1)</script>"
SAFE = "&lt;script&gt;alert(1)&lt;/script&gt;"
WEEKLY = Schedule("0 7 * * 1", "Europe/Berlin")
NOTICE = {
    "since": "watch-x-1",
    "cost": 0.25,
    "added": [f"New {EVIL}"],
    "changed": [{"before": "20 kilograms", "after": "30 kilograms"}],
    "sources_gained": [{"title": "Winter", "location": "winter.md"}],
}


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    with as_this_user():
        async with open_console() as one:
            yield one


async def added(name: str = "mites", owner: str = "") -> Watch:
    return await add_watch(
        owner or Invocation().owner, name, f"What is new on {EVIL} mites?", WEEKLY, {}, []
    )


async def checked(watch: Watch, status: str = "news", **more: object) -> None:
    notice, code = {**NOTICE, **more}, "x_failed" if status == "failed" else ""
    check = WatchCheck("c1", watch.id, "watch-x-2", status, code, notice, [], 0, 1.0, time.time())
    await record_check(watch, check)


async def test_a_watch_is_added_with_its_choices(browser: httpx.AsyncClient):
    assert "No watches yet" in (await browser.get(PAGE)).text
    fields = {"question": "What is new?", "every": "monthly", "zone": "Asia/Tokyo", "again": "new"}
    fields |= {
        "name": "bees",
        "notify": "me@example.org\r\nhttps://example.org/x\r\n",
        "web": "off",
    }
    made = await send_form(browser, PAGE, PAGE, **fields, max_cost="0.5", always="1")

    assert made.headers["location"] == f"{PAGE}/bees?told=watched"
    watch = await find_watch(Invocation().owner, "bees")
    assert watch.schedule == Schedule("0 7 1 * *", "Asia/Tokyo")
    assert watch.notify == ["mail:me@example.org", "webhook:https://example.org/x"]
    assert watch.always
    assert {name: watch.context[name] for name in ("again", "web", "max_cost")} == {
        "again": "new",
        "web": "off",
        "max_cost": 0.5,
    }
    shown = (await browser.get(f"{PAGE}/bees")).text
    assert "The first of the month at 7:00" in shown
    assert "Not checked yet" in shown


async def test_a_schedule_of_ones_own_is_taken_and_a_wrong_one_told_with_what_was_written(
    browser: httpx.AsyncClient,
):
    wrong = {"question": f"Keep {EVIL} this", "every": "daily", "cron": "99 7 * * *", "zone": "UTC"}
    refused = await send_form(browser, PAGE, PAGE, **wrong)
    assert "bad_schedule" in refused.text
    assert f"Keep {SAFE} this" in refused.text
    assert await list_watches(Invocation().owner) == []

    await send_form(browser, PAGE, PAGE, **{**wrong, "cron": "30 6 * * 1-5"})
    (watch,) = await list_watches(Invocation().owner)
    assert watch.schedule.cron == "30 6 * * 1-5"


async def test_a_watch_is_paused_resumed_asked_next_and_removed(browser: httpx.AsyncClient):
    watch, page = await added(), f"{PAGE}/mites"
    await send_form(browser, f"{page}/pause", page)
    assert (await find_watch(watch.owner, "mites")).status == "paused"
    assert "paused" in (await browser.get(PAGE)).text
    await send_form(browser, f"{page}/resume", page)
    going_on = await find_watch(watch.owner, "mites")
    assert (going_on.status, going_on.due > time.time()) == ("active", True)
    await send_form(browser, f"{page}/run", page)
    assert (await find_watch(watch.owner, "mites")).due <= time.time()

    odd = await send_form(browser, f"{page}/explode", page)
    assert odd.status_code == 422
    gone = await send_form(browser, f"{page}/remove", page)
    assert gone.headers["location"] == f"{PAGE}?told=unwatched"
    with pytest.raises(Problem):
        await find_watch(watch.owner, "mites")


async def test_what_was_found_leads_to_the_report_and_the_difference(browser: httpx.AsyncClient):
    watch = await added()
    await checked(watch)
    shown = (await browser.get(f"{PAGE}/mites")).text

    assert 'href="/console/reports/watch-x-2"' in shown
    assert 'href="/console/reports/watch-x-2/diff?to=watch-x-1"' in shown
    assert "<del>20 kilograms</del> <ins>30 kilograms</ins>" in shown
    assert EVIL not in shown
    assert f"New {SAFE}" in shown
    assert "something new" in (await browser.get(PAGE)).text


async def test_a_failed_time_is_told_with_its_code_and_no_link(browser: httpx.AsyncClient):
    watch = await added()
    await checked(watch, "failed", since="", error={"what": "the model did not answer"})
    shown = (await browser.get(f"{PAGE}/mites")).text

    assert "the model did not answer" in shown
    assert "x_failed" in shown
    assert "/console/reports/watch-x-2" not in shown


async def test_a_watch_that_nothing_asks_is_told_to_be_late(browser: httpx.AsyncClient):
    watch = await added()
    assert "dossier watch loop" not in (await browser.get(PAGE)).text
    late = update(table).values(due=time.time() - LATE_SECONDS - 60)
    await run_write(lambda connection: connection.execute(late.where(table.c.id == watch.id)))

    for page in (PAGE, f"{PAGE}/mites"):
        assert "dossier watch loop" in (await browser.get(page)).text


async def test_the_watch_of_another_owner_is_not_found(browser: httpx.AsyncClient):
    watch = await added("hers", join_owner("ada", ""))

    assert "mites" not in (await browser.get(PAGE)).text.partition("<form class")[0]
    for name in ("hers", watch.id):
        assert (await browser.get(f"{PAGE}/{name}")).status_code == 404
        for change in ("pause", "run", "remove"):
            answer = await send_form(browser, f"{PAGE}/{name}/{change}", PAGE)
            assert answer.status_code == 404
    assert await find_watch(watch.owner, "hers") == watch


async def test_the_pages_are_in_chinese_as_well(browser: httpx.AsyncClient):
    await checked(await added())
    browser.headers["accept-language"] = "zh-CN"

    assert "每周一 7:00" in (await browser.get(PAGE)).text
    assert "有何不同" in (await browser.get(f"{PAGE}/mites")).text
