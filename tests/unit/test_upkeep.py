"""Pages that must be cut again, and pages whose time is over."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, select, text

from library import indexing
from library.page_index import PageIndex
from library.page_retrieval import find_pages, run_search
from library.page_rows import WORDS_VERSION, NewPage, join_search_words
from library.store import read_page_texts, store_pages
from library.tables import pages
from report.source_registry import CitablePage, register_sources
from storage.engine import read_rows
from storage.tables import outbox

pytestmark = pytest.mark.usefixtures("either")

ME = "me/"


async def put(*bodies: str, expires: float | None = None, origin: str = "u") -> list[str]:
    new = [NewPage(title="Karl Frisch", place="", text=body) for body in bodies]
    return await store_pages(ME, "web", origin, new, expires=expires, group="g")


async def found(query: str) -> list[str]:
    return sorted(page.text for page in await find_pages(ME, query, 10))


def let_pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let some time pass."""
    then = time.time() + seconds
    for module in ("library.indexing", "library.page_index"):
        monkeypatch.setattr(f"{module}.time.time", lambda: then)


async def test_pages_that_were_cut_otherwise_are_cut_again_at_the_next_search(monkeypatch):
    await put("bee", "wasp")
    jobs = select(func.count()).select_from(outbox)
    before = (await read_rows(jobs)).scalar()
    monkeypatch.setattr(
        "library.indexing.join_search_words", lambda text: join_search_words(text).upper()
    )
    monkeypatch.setattr("library.indexing.title_key", lambda title: f"key of {title}")
    monkeypatch.setattr("library.indexing.WORDS_VERSION", WORDS_VERSION + 1)
    monkeypatch.setattr("library.indexing.UPKEEP_BATCH", 1)

    counts = await run_search(ME, lambda i: i.counts(["BEE", "bee"]), None, ["g"])
    titled = await run_search(ME, lambda i: i.titled(["key of Karl Frisch"]))

    assert counts.get("BEE", counts.get("bee")) == 1
    assert len(titled["key of Karl Frisch"]) == 2
    assert (await run_search(ME, PageIndex.stats)).pages == 2
    assert set((await read_rows(select(pages.c.indexed))).scalars()) == {WORDS_VERSION + 1}
    assert (await read_rows(jobs)).scalar() == before


async def test_a_page_is_found_until_its_time_is_over(monkeypatch):
    await put("bee for ever", origin="u")
    await put("bee for an hour", expires=time.time() + 3600, origin="v")
    assert await found("bee") == ["bee for an hour", "bee for ever"]

    let_pass(monkeypatch, 3601)

    assert await found("bee") == ["bee for ever"]
    assert (await run_search(ME, PageIndex.stats)).pages == 1
    assert await run_search(ME, lambda i: i.counts(["bee", "hour"])) == {"bee": 1}


async def test_a_page_whose_time_is_over_stays_if_it_was_cited_and_is_forgotten_if_not():
    cited, uncited = await put("bee one", "bee two", expires=time.time() - 1)
    await register_sources("t1", [CitablePage(cited, "Bees", "u", "web")])

    assert await found("bee") == []

    assert set(await read_page_texts(ME, [cited, uncited])) == {cited}
    assert (await read_rows(text("SELECT COUNT(*) FROM page_words"))).scalar() == 0


async def test_a_page_that_is_kept_again_has_the_time_it_has_now():
    await put("bee", expires=time.time() - 1)
    await put("bee", expires=time.time() + 3600)
    assert await found("bee") == ["bee"]

    await put("bee")
    assert (await read_rows(select(pages.c.expires))).scalar() is None


async def test_an_expired_page_that_is_read_again_is_found_again():
    (cited,) = await put("bee", expires=time.time() - 1)
    await register_sources("t1", [CitablePage(cited, "Bees", "u", "web")])
    assert await found("bee") == []

    assert await put("bee") == [cited]
    assert await found("bee") == ["bee"]


async def test_a_search_finds_nothing_to_do_most_of_the_time(monkeypatch):
    await put("bee")

    async def never(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(indexing, "write_in_group", never)
    await indexing.refresh_index(ME)
