"""What is read on the web becomes pages of a sensible size, and is fetched once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from calls import ledger
from config.errors import Problem
from graph.context import Context
from library import store as pages
from library.page_erasure import forget_pages
from library.page_metadata import PageMetadata
from library.page_retrieval import FoundPage, find_pages
from library.page_rows import NewPage
from library.page_sizing import MOST
from library.tables import pages as stored
from runs.lifecycle import create_run
from runs.tables import calls
from runs.trace import read_trace
from storage.engine import commit_statements, read_rows
from tests.loopback import Asked, Loopback, moved, reply, serving
from tests.places import new_process, somewhere
from tests.unit.test_robots import block
from text.tokens import count_tokens
from tools.web import web_search
from tools.web.download import FetchLimits
from tools.web.fetch import fetch_page
from tools.web.providers.provider import SearchHit
from tools.web.urls import canonicalise_url
from tools.web.web_search import read_hit_pages, read_web_pages

pytestmark = pytest.mark.usefixtures("either")

DAY = 24 * 3600.0


@pytest.fixture(autouse=True)
def private(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers of this machine may be read."""
    monkeypatch.setenv("DOSSIER_ALLOW_PRIVATE_FETCH", "true")
    new_process()


def article(name: str) -> str:
    words = f"<p>The page at {name} says that bees dance in the summer.</p>" * 3
    return f"<html><title>Bees</title><body><article>{words}</article></body></html>"


@pytest.fixture
async def web() -> AsyncIterator[Loopback]:
    """A server whose pages say what was asked for; `/old` leads to `/new`."""

    def answer(asked: Asked) -> bytes:
        if asked.target == "/old":
            return moved("/new")
        return reply(article(asked.target))

    async with serving(answer) as server:
        yield server


async def read(
    url: str, thread: str = "t1", turn: int = 1, owner: str = "local/"
) -> list[FoundPage]:
    """Read an address in a run of its own."""
    run = await create_run(owner, thread, turn, f"Question {turn}?", Context())
    return await read_web_pages(
        somewhere(owner=owner, thread=thread, run=run), [canonicalise_url(url)], []
    )


async def older(seconds: float) -> None:
    """Let everything have been read so much earlier."""
    await commit_statements((update(calls).values(started=time.time() - seconds), None))


async def test_a_long_article_becomes_several_pages_and_all_of_it_is_found():
    told = "".join(f"<p>Hive {n} has a queen and {n} thousand workers.</p>" for n in range(900))
    html = f"<html><title>Hives</title><body><article><h1>Hives</h1>{told}</article></body></html>"

    async with serving(lambda _: reply(html)) as server:
        found = await read(f"{server.url}/hives")

    assert len(found) > 3
    assert max(count_tokens(page.text) for page in found) <= MOST
    assert {page.location.partition("#")[0] for page in found} == {f"{server.url}/hives"}
    assert "Hive 877 has" in (await find_pages("local/", "workers of hive 877", 1))[0].text


@pytest.mark.parametrize("size", [20, 900])
async def test_a_page_is_stored_with_its_site_date_author_language_and_genre(size: int):
    told = "".join(
        f"<p>The hive {n} has a queen and {n} thousand workers.</p>" for n in range(size)
    )
    html = (
        "<html lang='en'><title>Hives</title><meta name='author' content='Ada Byron'>"
        "<meta property='article:published_time' content='2024-05-31'>"
        f"<body><article><h1>Hives</h1>{told}</article></body></html>"
    )

    async with serving(lambda _: reply(html)) as server:
        found = await read(f"{server.url}/docs/hives")

    columns = (stored.c[name] for name in PageMetadata._fields)
    rows = await read_rows(select(*columns).where(stored.c.id.in_([page.id for page in found])))
    known = PageMetadata("127.0.0.1", "2024-05-31", "Ada Byron", "en", "documentation")
    assert {tuple(row) for row in rows} == {tuple(known)}


async def test_what_a_thread_has_read_it_does_not_fetch_again_however_long_ago(web: Loopback):
    first = await read(f"{web.url}/a")
    await older(400 * DAY)
    second = await read(f"{web.url}/a", turn=2)

    assert second == first
    assert len(web.asked) == 1
    assert [line["status"] for line in await read_trace("t1-2")] == ["stored"]


async def test_a_page_and_its_record_are_stored_both_or_neither(
    web: Loopback, monkeypatch: pytest.MonkeyPatch
):
    record = ledger._record

    def failing(*values: Any) -> None:
        record(*values)
        raise ZeroDivisionError

    monkeypatch.setattr(ledger, "_record", failing)
    with pytest.raises(ZeroDivisionError):
        await read(f"{web.url}/a")

    assert (await read_rows(select(stored.c.id))).all() == []
    assert (await read_rows(select(calls.c.key))).all() == []


async def test_an_address_that_leads_elsewhere_is_not_fetched_again_either(web: Loopback):
    await read(f"{web.url}/old")
    found = await read(f"{web.url}/old", turn=2)

    assert "page at /new" in found[0].text
    assert [asked.target for asked in web.asked] == ["/old", "/new"]


async def test_another_thread_of_the_same_owner_does_not_fetch_it_for_a_day(web: Loopback):
    await read(f"{web.url}/a")
    await read(f"{web.url}/a", thread="t2")
    assert len(web.asked) == 1

    await older(2 * DAY)
    await read(f"{web.url}/a", thread="t3")
    assert len(web.asked) == 2


async def test_a_page_that_was_read_under_a_clock_ahead_is_not_fresh_until_then(web: Loopback):
    await read(f"{web.url}/a")
    await older(-DAY / 2)
    await read(f"{web.url}/a", thread="t2")
    assert len(web.asked) == 1

    await older(-400 * DAY)
    await read(f"{web.url}/a", thread="t3")
    assert len(web.asked) == 2


async def test_an_operator_says_how_long_a_page_serves_other_threads(
    web: Loopback, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DOSSIER_FETCH_HOURS", "0")
    new_process()
    await read(f"{web.url}/a")
    await read(f"{web.url}/a", turn=2)
    assert len(web.asked) == 1

    await read(f"{web.url}/a", thread="t2")
    assert len(web.asked) == 2


async def test_what_another_owner_has_read_is_fetched(web: Loopback):
    await read(f"{web.url}/a")
    await read(f"{web.url}/a", thread="t2", owner="other/")

    assert len(web.asked) == 2


async def test_what_was_forgotten_is_fetched_again(web: Loopback):
    found = await read(f"{web.url}/a")
    await forget_pages("local/", [page.id for page in found])

    assert (await read(f"{web.url}/a", turn=2))[0].text == found[0].text
    assert len(web.asked) == 2


async def test_what_has_changed_since_is_fetched_again(web: Loopback):
    await read(f"{web.url}/a")
    changed = NewPage(title="Bees", place="", text="Bees sleep.")
    await pages.store_pages("local/", "web", canonicalise_url(f"{web.url}/a"), [changed])
    await read(f"{web.url}/a", turn=2)

    assert len(web.asked) == 2


async def test_what_could_not_be_read_is_tried_again():
    replies = [reply("", status="503 Busy"), reply(article("/a"))]

    async with serving(lambda _: replies.pop(0)) as server:
        assert await read(f"{server.url}/a") == []
        assert await read(f"{server.url}/a", turn=2) != []


async def test_an_address_that_is_found_twice_is_read_once(web: Loopback):
    url = canonicalise_url(f"{web.url}/a")
    await create_run("local/", "t1", 1, "Question?", Context())

    found = await read_web_pages(somewhere(), [url, url], [])

    assert len(found) == len(web.asked) == 1


async def test_a_server_that_was_too_slow_is_not_waited_for_again_in_the_run(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(web_search, "fetch_page", partial(fetch_page, limits=FetchLimits(0.2)))

    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    async with serving(lambda _: never()) as server:
        url = canonicalise_url(f"{server.url}/slow")
        run = await create_run("local/", "t1", 1, "Question?", Context())
        problems: list[Problem] = []
        for _ in range(3):
            assert not await read_web_pages(somewhere(run=run), [url], problems)

        assert [one.code for one in problems] == ["page_timeout"] * 3
        assert len(server.asked) == 1
        assert not await read(url, thread="t2")
        assert len(server.asked) == 2


def found_hit(url: str, **more: Any) -> SearchHit:
    return SearchHit(url=url, title="Why bees dance", snippet="", **more)


async def pages_of(*hits: SearchHit) -> tuple[list[FoundPage], list[Problem]]:
    """Read what a search has found in a run of its own."""
    run = await create_run("local/", "t1", 1, "Question?", Context())
    problems: list[Problem] = []
    return await read_hit_pages(somewhere(run=run), hits, problems), problems


async def test_a_paper_is_read_where_it_is_read_most_easily(web: Loopback):
    hit = found_hit(f"{web.url}/landing", kind="paper", alternatives=[f"{web.url}/full"])

    found, problems = await pages_of(hit)

    assert [asked.target for asked in web.asked] == ["/full"]
    assert (len(found), problems) == (1, [])


async def test_a_work_that_cannot_be_read_at_one_address_is_read_at_another():
    def answer(asked: Asked) -> bytes:
        closed = asked.target == "/closed"
        return reply("", status="403 No") if closed else reply(article(asked.target))

    async with serving(answer) as server:
        hit = found_hit(f"{server.url}/closed", alternatives=[f"{server.url}/open"])
        found, problems = await pages_of(hit)

    assert "page at /open" in found[0].text
    assert problems == []


async def test_an_abstract_takes_the_place_of_a_work_that_cannot_be_read_anywhere():
    async with serving(lambda _: reply("", status="403 No")) as server:
        told = found_hit(f"{server.url}/a", text="Bees dance to tell of food.", date="2020-05-01")
        found, problems = await pages_of(told, found_hit(f"{server.url}/b"))

    assert [page.text for page in found] == ["Bees dance to tell of food."]
    assert found[0].location.partition("#")[0] == f"{server.url}/a"
    assert [problem.where for problem in problems] == [f"{server.url}/b"]


async def test_a_table_of_data_is_not_fetched_again_from_where_it_came(web: Loopback):
    table = "| year | bees |\n|---|---|\n| 1999 | 7 |"
    hit = found_hit(f"{web.url}/api", kind="dataset", text=table)

    found, _ = await pages_of(hit)

    assert web.asked == []
    assert "| 1999 | 7 |" in found[0].text


async def test_a_site_that_is_blocked_later_is_not_read_from_the_store_either(
    web: Loopback, home: Path
):
    await read(f"{web.url}/a")
    block(home, "127.0.0.1")
    run = await create_run("local/", "t1", 2, "Question?", Context())
    problems: list[Problem] = []

    found = await read_web_pages(somewhere(run=run), [f"{web.url}/a"], problems)

    assert found == []
    assert [problem.code for problem in problems] == ["site_blocked"]
    assert len(web.asked) == 1
