"""The page store as the scorer sees it: one namespace, counted, matched, and nothing of another."""

from __future__ import annotations

import asyncio
import time

import pytest
from sqlalchemy import update

from library.keyword_index import Fts5Index, GinIndex
from library.page_index import ALIKE, PageIndex
from library.page_retrieval import find_misspellings, run_search
from library.page_rows import NewPage
from library.store import store_pages
from library.tables import pages
from storage.engine import commit_statements
from storage.permissions import read_only_problem

pytestmark = pytest.mark.usefixtures("either")

ME, OTHER = "me/", "other/"


def a_page(text: str, title: str = "", **more: object) -> NewPage:
    return NewPage(title=title, place="", text=text, **more)


async def put(*new: NewPage, owner: str = ME, kind: str = "chat", group: str = "") -> list[str]:
    return await store_pages(owner, kind, f"origin of {group}", new, group=group, part=True)


async def texts(numbers: list[int]) -> list[str]:
    rows = {row.number: row.text for row in await run_search(ME, lambda i: i.rows(numbers))}
    return [rows[number] for number in numbers]


async def matching(terms: list[str], limit: int = 10, group: str | None = None) -> list[str]:
    groups = None if group is None else [group]
    return await texts(await run_search(ME, lambda i: i.matching(terms, limit), None, groups))


async def test_a_namespace_knows_how_many_pages_it_has_and_how_long_they_are():
    await put(a_page("bee bee hive", "queen bee"), a_page("drone"), group="one")
    await put(a_page("wasp nest"), group="two")

    one = await run_search(ME, PageIndex.stats, ["chat"], ["one"])
    every = await run_search(ME, PageIndex.stats)

    assert (one.pages, one.words, one.title_words) == (2, 2.0, 1.0)
    assert (every.pages, every.words) == (3, 2.0)
    assert (await run_search(OTHER, PageIndex.stats)).pages == 0


async def test_words_are_counted_in_the_namespace_that_is_searched():
    await put(a_page("bee bee hive"), a_page("nothing", "bee"), a_page("hive"), group="one")
    await put(a_page("bee"), group="two")
    await put(a_page("bee"), owner=OTHER, group="one")

    wanted = ["bee", "hive", "wasp"]

    assert await run_search(ME, lambda i: i.counts(wanted), None, ["one"]) == {"bee": 2, "hive": 2}
    assert await run_search(ME, lambda i: i.counts(wanted)) == {"bee": 3, "hive": 2}
    assert await run_search(ME, lambda i: i.counts(wanted), None, ["no"]) == {}


async def test_the_page_with_the_rarest_words_and_most_of_them_matches_best():
    await put(*(a_page(f"bee number{n}") for n in range(4)), *(a_page(f"{n}") for n in range(9)))
    await put(a_page("bee waggle"), a_page("waggle"))

    assert await matching(["bee", "waggl"], 2) == ["bee waggle", "waggle"]


async def test_a_title_counts_more_than_a_text():
    await put(a_page("waggle and so on"), a_page("nothing much", "waggle"))

    assert await matching(["waggl"]) == ["nothing much", "waggle and so on"]


async def test_only_the_group_that_is_searched_is_matched():
    await put(a_page("bee of one"), group="one")
    await put(a_page("bee of two"), group="two")
    await put(a_page("bee of another"), owner=OTHER, group="one")

    assert await matching(["bee"], group="one") == ["bee of one"]
    assert sorted(await matching(["bee"])) == ["bee of one", "bee of two"]


async def test_common_words_do_not_hide_the_page_with_the_rare_one(monkeypatch):
    for index in (Fts5Index, GinIndex):
        monkeypatch.setattr(index, "most", 3)
    await put(*(a_page(f"bee hive number{n}") for n in range(10)), a_page("bee waggle"))

    assert (await matching(["bee", "hive", "waggl"]))[0] == "bee waggle"


async def test_a_word_in_more_pages_than_are_ranked_is_looked_for_in_the_newest(monkeypatch):
    for index in (Fts5Index, GinIndex):
        monkeypatch.setattr(index, "most", 3)
    await put(*(a_page(f"bee number{n}") for n in range(10)))

    found = await matching(["bee"])

    assert sorted(found) == ["bee number7", "bee number8", "bee number9"]


async def test_pages_are_read_by_their_numbers_in_their_own_namespace_only():
    await put(a_page("bee waggle", "Dance", session="s", speaker="Ada", said="2024-05-01"))
    await put(a_page("wasp"), owner=OTHER)

    numbers = list(range(1, 9))
    (row,) = await run_search(ME, lambda i: i.rows(numbers))

    assert (row.title, row.text, row.words, row.title_words) == (
        "Dance",
        "bee waggle",
        "bee waggl",
        "danc",
    )
    assert (row.session, row.turn, row.speaker, row.said) == ("s", 0, "Ada", "2024-05-01")


async def test_the_turns_beside_one_are_those_of_its_session():
    said = [a_page(f"turn {n}", session="s", position=n) for n in range(5)]
    await put(
        *said, a_page("turn of another", session="t", position=2), a_page("alone", position=2)
    )
    (middle,) = await run_search(ME, lambda i: i.matching(["2"], 1))

    near = await run_search(ME, lambda i: i.beside([middle]))

    assert [row.text for row in near] == ["turn 1", "turn 3"]


async def test_sessions_of_one_name_are_apart_for_each_owner():
    await put(a_page("mine", session="s", position=0))
    await put(a_page("theirs", session="s", position=1), owner=OTHER)
    (mine,) = await run_search(ME, lambda i: i.matching(["mine"], 1))

    assert await run_search(ME, lambda i: i.beside([mine])) == []


async def test_a_page_is_found_by_its_title():
    await put(a_page("one", "Karl von Frisch (zoologist)"), a_page("two", "Karl von Frisch"))
    await put(a_page("three", "Karl von Frisch"), owner=OTHER)

    titled = await run_search(ME, lambda i: i.titled(["karl von frisch", "nobody", ""]))

    assert {key: await texts(found) for key, found in titled.items()} == {
        "karl von frisch": ["one", "two"]
    }


async def test_a_title_that_many_pages_share_leads_nowhere():
    await put(*(a_page(f"page {n}", "Introduction") for n in range(ALIKE + 1)))

    assert await run_search(ME, lambda i: i.titled(["introduction"])) == {}


async def test_a_name_is_found_where_its_words_stand_side_by_side():
    await put(
        a_page("the famous karl frisch"),
        a_page("karl met frisch"),
        a_page("somebody", "Karl Frisch"),
        a_page("frisch", "karl"),
    )

    held = await run_search(ME, lambda i: i.holding(["karl frisch", "frisch karl"], 10))

    assert list(held) == ["karl frisch"]
    found = {(await texts([number]))[0]: titled for number, titled in held["karl frisch"].items()}
    assert found == {"the famous karl frisch": False, "somebody": True}


async def test_a_name_found_everywhere_is_left_out():
    await put(*(a_page(f"karl frisch {n}") for n in range(5)))

    assert await run_search(ME, lambda i: i.holding(["karl frisch"], 4)) == {}
    assert len((await run_search(ME, lambda i: i.holding(["karl frisch"], 5)))["karl frisch"]) == 5


async def test_a_page_that_has_expired_is_read_by_no_search(monkeypatch):
    await put(a_page("bee one", "Bee", session="s"), a_page("bee two", "Bee", session="s"))
    soon = update(pages).where(pages.c.text == "bee one").values(expires=time.time() + 60)
    await commit_statements((soon, None))
    later = time.time() + 61
    monkeypatch.setattr("library.page_index.time.time", lambda: later)

    rows = await run_search(ME, lambda i: i.rows(list(range(1, 9))))

    assert [row.text for row in rows] == ["bee two"]
    assert await run_search(ME, lambda i: i.beside([rows[0].number])) == []


async def test_where_nothing_can_be_written_an_expired_page_keeps_no_search_waiting(monkeypatch):
    await put(a_page("bee one"), a_page("bee two"))
    past = update(pages).where(pages.c.text == "bee one").values(expires=time.time() - 1)
    await commit_statements((past, None))

    async def read_only(_: object) -> None:
        raise read_only_problem("the home")

    monkeypatch.setattr("library.indexing.write_in_group", read_only)

    async with asyncio.timeout(20):
        rows = await run_search(ME, lambda i: i.rows(list(range(1, 9))))

    assert [row.text for row in rows] == ["bee two"]


WORDS = ["c++", "3.5%", "gpt-4", "o'neil", 'a"b', "a\\b", "naïve", "蜜蜂", "1:2", "x" * 100]


@pytest.mark.parametrize("word", WORDS)
async def test_every_word_is_a_word_and_no_part_of_the_language_of_the_index(word, monkeypatch):
    monkeypatch.setattr("library.page_rows.search_words", str.split)
    await put(a_page(f"{word} here"), a_page("nothing here"))

    assert await matching([word]) == [f"{word} here"]
    assert len(await run_search(ME, lambda i: i.holding([f"{word} here"], 9))) == 1


async def test_words_are_found_by_how_they_begin_where_the_page_is_searched():
    await put(a_page("column columnar colour"), a_page("cold", "collar"), group="one")
    await put(a_page("colony", "it's"), owner=OTHER)

    found = await run_search(ME, lambda i: i.beginning("colu"), None, ["one"])

    assert found == ["column", "columnar"] or found == ["columnar", "column"]
    assert sorted(await run_search(ME, lambda i: i.beginning("col"))) == sorted(
        ["column", "columnar", "colour", "cold", "collar"]
    )
    assert await run_search(ME, lambda i: i.beginning("it'")) == []


async def test_a_word_that_only_another_owner_holds_is_put_right():
    await put(a_page("The table has columns."))
    await put(a_page("The colums are Greek."), owner=OTHER)

    assert await find_misspellings(ME, "How many colums are there?") == {"colums": "columns"}
    assert await find_misspellings(OTHER, "How many colums are there?") == {}
