"""Pages that must be cut again, and pages whose time is over."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, select, text

from memory.pages import upkeep
from memory.pages.finding import searching
from memory.pages.rows import CUT, cut
from memory.pages.store import NewPage, find, keep, texts
from report.sources import Citable, register
from retrieval.index import Index
from storage.engine import read_rows
from storage.tables import outbox, pages

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"


async def put(*bodies: str, expires: float | None = None, origin: str = "u") -> list[str]:
    new = [NewPage(title="Karl Frisch", place="", text=body) for body in bodies]
    return await keep(ME, "web", origin, new, expires=expires, group="g")


async def found(query: str) -> list[str]:
    return sorted(page.text for page in await find(ME, query, 10))


def let_pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let some time pass."""
    then = time.time() + seconds
    for module in ("memory.pages.upkeep", "retrieval.index"):
        monkeypatch.setattr(f"{module}.time.time", lambda: then)


async def test_pages_that_were_cut_otherwise_are_cut_again_at_the_next_search(monkeypatch):
    await put("bee", "wasp")
    jobs = select(func.count()).select_from(outbox)
    before = (await read_rows(jobs)).scalar()
    monkeypatch.setattr("memory.pages.upkeep.cut", lambda text: cut(text).upper())
    monkeypatch.setattr("memory.pages.upkeep.title_key", lambda title: f"key of {title}")
    for module in ("memory.pages.upkeep", "memory.pages.keeping"):
        monkeypatch.setattr(f"{module}.CUT", CUT + 1)
    monkeypatch.setattr("memory.pages.upkeep.BATCH", 1)

    counts = await searching(ME, lambda i: i.counts(["BEE", "bee"]), None, ["g"])
    titled = await searching(ME, lambda i: i.titled(["key of Karl Frisch"]))

    assert counts.get("BEE", counts.get("bee")) == 1
    assert len(titled["key of Karl Frisch"]) == 2
    assert (await searching(ME, Index.stats)).pages == 2
    assert set((await read_rows(select(pages.c.indexed))).scalars()) == {CUT + 1}
    assert (await read_rows(jobs)).scalar() == before


async def test_a_page_is_found_until_its_time_is_over(monkeypatch):
    await put("bee for ever", origin="u")
    await put("bee for an hour", expires=time.time() + 3600, origin="v")
    assert await found("bee") == ["bee for an hour", "bee for ever"]

    let_pass(monkeypatch, 3601)

    assert await found("bee") == ["bee for ever"]
    assert (await searching(ME, Index.stats)).pages == 1
    assert await searching(ME, lambda i: i.counts(["bee", "hour"])) == {"bee": 1}


async def test_a_page_whose_time_is_over_stays_if_it_was_cited_and_is_forgotten_if_not():
    cited, uncited = await put("bee one", "bee two", expires=time.time() - 1)
    await register("t1", [Citable(cited, "Bees", "u", "web")])

    assert await found("bee") == []

    assert set(await texts(ME, [cited, uncited])) == {cited}
    assert (await read_rows(text("SELECT COUNT(*) FROM page_words"))).scalar() == 0


async def test_a_page_that_is_kept_again_has_the_time_it_has_now():
    await put("bee", expires=time.time() - 1)
    await put("bee", expires=time.time() + 3600)
    assert await found("bee") == ["bee"]

    await put("bee")
    assert (await read_rows(select(pages.c.expires))).scalar() is None


async def test_an_expired_page_that_is_read_again_is_found_again():
    (cited,) = await put("bee", expires=time.time() - 1)
    await register("t1", [Citable(cited, "Bees", "u", "web")])
    assert await found("bee") == []

    assert await put("bee") == [cited]
    assert await found("bee") == ["bee"]


async def test_a_search_finds_nothing_to_do_most_of_the_time(monkeypatch):
    await put("bee")

    async def never(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(upkeep, "perform", never)
    await upkeep.refresh(ME)
