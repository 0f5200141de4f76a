from html import escape

import pytest
from sqlalchemy import select

from library import store as pages
from library import tables
from library.memorizer import store_with_abstracts
from library.page_outline import (
    EACH,
    MOST,
    RANKED,
    SHOWN,
    PageOutline,
    outline_pages,
    resolve_outline_ids,
)
from library.page_rows import NewPage
from library.page_sizing import prepare_pages
from library.scope import Scope
from storage.engine import read_rows
from text.tokens import count_tokens

pytestmark = pytest.mark.usefixtures("either")


def page(title: str, text: str, said: str = "") -> NewPage:
    return NewPage(title=title, place="", text=text, said=said)


async def hive(owner: str = "me/") -> list[str]:
    new = [page("Bees — Dance", "Bees dance."), page("Bees — Queen", "The queen lays eggs.")]
    return await store_with_abstracts(owner, "file", "hash", new)


async def test_what_fits_comes_first_with_its_abstract_and_then_what_is_new():
    await hive()
    await store_with_abstracts("me/", "report", "t1-1", [page("Money", "Stocks fell.")])

    shown = await outline_pages("me/", "Why do they dance?")

    first, second, third = shown.text.split("\n")
    assert first.startswith("G1 document “Bees”, 2 pages, 20")
    assert second.startswith("- P1 Bees — Dance (20")
    assert second.endswith("): Bees dance.")
    assert third.startswith("G2 report “Money”, 1 page, 20")


async def test_what_fits_leaves_room_for_what_is_new():
    new = [page(f"Bees {n}", f"Bees dance number {n} about food. " * 9) for n in range(EACH)]
    await store_with_abstracts("me/", "file", "hash", new)
    await store_with_abstracts("me/", "report", "t1-1", [page("Money", "Stocks fell.")])

    for most in range(150, 250, 10):
        shown = await outline_pages("me/", "dance", most=most)

        assert "“Money”" in shown.text
        assert 0 < len(shown.pages) < EACH


async def test_ids_are_short_and_stand_for_pages_and_groups():
    ids = await hive()

    shown = await outline_pages("me/", "dance")

    assert shown.pages == {"P1": ids[0]}
    assert await resolve_outline_ids("me/", shown, ["P1", "P9", "S1", ids[1]], "dance") == [ids[0]]
    assert await resolve_outline_ids("me/", shown, ["G1", "P1"], "queen") == [ids[1], ids[0]]


async def test_a_group_of_which_nothing_fits_is_opened_at_its_beginning():
    ids = await hive()

    shown = await outline_pages("me/", "nothing of all this")

    assert await resolve_outline_ids("me/", shown, ["G1"], "stock markets") == ids


async def test_the_sessions_of_a_chat_are_shown_and_its_turns_are_not():
    for number, day in enumerate(["2023-05-08", "2023-06-09"], start=1):
        turn = page("Ann", "I adopted a cat.", day)
        await pages.store_pages("me/", "chat", f"c{number}", [turn], group="ann")
        new = [page(f"Session {number}", "Ann: I adopted a cat.", day)]
        await store_with_abstracts("me/", "session", f"c{number}", new, group="ann")

    shown = await outline_pages("me/", "cat")

    assert shown.text.startswith("G1 chat “ann”, 2 pages, 2023-05-08 – 2023-06-09")
    assert len(shown.pages) == 2
    assert len(await resolve_outline_ids("me/", shown, ["G1"], "cat")) == 2


async def test_pages_of_one_site_are_one_group():
    for name in ("a", "b"):
        address = f"https://bees.org/{name}"
        await pages.store_pages(
            "me/", "web", address, [page(name, "Bees dance.")], group="bees.org"
        )

    shown = await outline_pages("me/", "dance")

    assert shown.text.startswith("G1 site “bees.org”, 2 pages")
    assert list(shown.groups) == ["G1"]


async def test_only_what_is_asked_for_is_shown():
    await hive()
    await store_with_abstracts("me/", "report", "t1-1", [page("Bees", "Bees dance.")])
    for name in ("ann", "ben"):
        await store_with_abstracts("me/", "session", name, [page(name, "Bees dance.")], group=name)

    (report,) = (await outline_pages("me/", "dance", Scope(["report"]))).groups.values()
    assert report.kind == "report"
    assert len((await outline_pages("me/", "dance", Scope(groups=["ann"]))).groups) == 1


async def test_nobody_is_shown_the_memory_of_another():
    await hive("other/")

    assert await outline_pages("me/", "dance") == PageOutline()


@pytest.mark.parametrize("text", ["Bees dance <b> & hum about food here. ", "蜜蜂用舞蹈告诉同伴。"])
async def test_an_outline_is_short_however_much_there_is(text: str):
    for number in range(60):
        new = [page(f"{text * 3} {number} {part}", f"{text} {part} " * 9) for part in range(9)]
        await store_with_abstracts("me/", "file", f"hash {number}", new)

    shown = await outline_pages("me/", text)

    assert MOST / 2 < count_tokens(escape(shown.text, quote=False)) <= MOST
    of_one = [line for line in shown.text.split("\nG")[0].split("\n") if line.startswith("- P")]
    assert 0 < len(of_one) <= EACH
    assert set(shown.pages) == {f"P{n + 1}" for n in range(len(shown.pages))}


async def test_only_the_abstracts_that_are_shown_are_made():
    for name in range(30):
        new = [
            page(f"Hive {name}", f"Bees dance in hive {name}. It is number {at}.") for at in "ab"
        ]
        await pages.store_pages("me/", "file", f"hash {name}", prepare_pages(new))

    shown = await outline_pages("me/", "dance")

    made = [one for one in (await read_rows(select(tables.pages.c.abstract))).scalars() if one]
    assert 0 < len(shown.pages) <= len(made) <= SHOWN


async def test_a_long_document_is_opened_without_the_abstracts_of_all_its_pages():
    new = [page("Bees", f"The bees of hive {n} eat honey all winter long.") for n in range(60)]
    new[40] = page("Bees", "The queen lays eggs. She lives for years.")
    ids = await pages.store_pages("me/", "file", "hash", prepare_pages(new))

    shown = await outline_pages("me/", "winter")
    opened = await resolve_outline_ids("me/", shown, ["G1"], "queen eggs")

    made = [one for one in (await read_rows(select(tables.pages.c.abstract))).scalars() if one]
    assert opened[0] == ids[40]
    assert len(made) <= SHOWN + EACH * RANKED
