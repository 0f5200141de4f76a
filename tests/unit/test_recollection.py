import pytest

from library import store as pages
from library.page_erasure import forget_pages
from library.page_retrieval import FoundPage
from library.page_rows import NewPage
from library.recall import (
    EARLIER_KINDS,
    drop_repeated_turns,
    is_scope_empty,
    read_pages,
    recall_pages,
)
from library.scope import Scope, parse_scope
from library.store import store_computed_page

pytestmark = pytest.mark.usefixtures("either")


async def keep(kind: str, text: str = "Bees dance.", run: str = "", group: str = "") -> str:
    new = [NewPage(title=kind, place="", text=text)]
    (one,) = await pages.store_pages("me/", kind, f"{kind} {text}", new, run=run, group=group)
    return one


async def kinds(part: Scope, run: str = "") -> set[str]:
    return {page.kind for page in await recall_pages("me/", "dance", 9, part, run)}


async def test_only_a_part_of_the_memory_is_searched():
    for kind in ("file", "web", "report", "chat", "session"):
        await keep(kind, group="ann" if kind == "chat" else "")

    assert await kinds(parse_scope([])) == {"file", "web", "chat"}
    assert await kinds(parse_scope(EARLIER_KINDS)) == {"web", "chat"}
    assert await kinds(parse_scope(["ann"])) == {"chat"}
    assert await kinds(parse_scope(["session"])) == {"session"}


async def test_kinds_and_chats_that_are_named_together_are_both_searched():
    await keep("web")
    await keep("chat", group="ann")
    await keep("chat", "Ben will dance.", group="ben")
    both = parse_scope(["web", "ann"])

    assert await kinds(both) == {"web", "chat"}
    assert len(await recall_pages("me/", "dance", 9, both)) == 2
    assert not await is_scope_empty("me/", both)
    assert await is_scope_empty("other/", both)


async def test_a_report_leads_to_the_pages_it_rests_on():
    one, other = await keep("file", "It points to food."), await keep("web", "Wasps sting.")
    new = [NewPage(title="r", place="", text="Bees dance.", links=[one, other])]
    (report,) = await pages.store_pages("me/", "report", "t1-1", new)

    found = await recall_pages("me/", "bees dance", 9, parse_scope([]))
    assert report not in [page.id for page in found]
    assert {one, other} == {page.id for page in found}
    alone = await recall_pages("me/", "bees dance", 9, parse_scope(["report"]))
    assert {page.id for page in alone} == {one, other}

    await forget_pages("me/", [one, other])
    assert await recall_pages("me/", "bees dance", 9, parse_scope([])) == []


async def test_a_report_leads_to_what_was_computed_and_not_to_what_an_overview_listed():
    listed = NewPage(title="d", place="", text="- dance.csv: CSV table, English; “bees: 4.”")
    computed = NewPage(title="d", place="rows=2-9", text="The total of bees is 4.")
    links = [await store_computed_page("me/", "file", "dance", one) for one in (listed, computed)]
    await pages.store_pages(
        "me/", "report", "t1-1", [NewPage(title="r", place="", text="Bees dance.", links=links)]
    )

    found = await recall_pages("me/", "bees dance", 9, parse_scope([]))

    assert [page.id for page in found] == links[1:]


async def test_what_a_run_has_just_read_is_no_memory_to_it():
    await keep("web", run="t1-1")
    await keep("chat", run="t0-1")

    assert await kinds(parse_scope([]), "t1-1") == {"chat"}
    assert await kinds(parse_scope([]), "t2-1") == {"web", "chat"}


async def test_a_question_without_a_word_finds_nothing():
    await keep("web")

    assert await recall_pages("me/", "?!", 9, parse_scope([])) == []


async def test_a_memory_is_empty_where_the_part_that_counts_is():
    assert await is_scope_empty("me/", parse_scope(EARLIER_KINDS))
    await keep("file")
    assert await is_scope_empty("me/", parse_scope(EARLIER_KINDS))
    await keep("chat", group="ann")
    assert not await is_scope_empty("me/", parse_scope(EARLIER_KINDS))
    assert not await is_scope_empty("me/", parse_scope(["ann"]))
    assert await is_scope_empty("me/", parse_scope(["ben"]))
    assert await is_scope_empty("other/", parse_scope([]))


async def test_pages_are_read_by_their_ids_in_the_order_of_these_and_only_ones_own():
    one, two = await keep("web"), await keep("report")

    assert [page.id for page in await read_pages("me/", [two, "x" * 24, one])] == [two, one]
    assert await read_pages("other/", [one]) == []


def test_a_turn_is_left_out_where_its_session_says_it():
    def page(kind: str, text: str) -> FoundPage:
        return FoundPage(text, kind, "", "", text, 0.0)

    found = [page("chat", "Hi."), page("session", "Ann: Hi."), page("chat", "Bye.")]

    assert [page.text for page in drop_repeated_turns(found)] == ["Ann: Hi.", "Bye."]
