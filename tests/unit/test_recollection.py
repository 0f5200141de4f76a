import pytest

from memory.pages import store as pages
from memory.pages.finding import Page
from memory.pages.forgetting import forget
from memory.pages.recollection import EARLIER, empty, named, recollected, without_turns_of
from memory.pages.records import record
from memory.pages.store import NewPage
from memory.pages.within import Scope, scope

pytestmark = pytest.mark.usefixtures("either")


async def keep(kind: str, text: str = "Bees dance.", run: str = "", group: str = "") -> str:
    new = [NewPage(title=kind, place="", text=text)]
    (one,) = await pages.keep("me/", kind, f"{kind} {text}", new, run=run, group=group)
    return one


async def kinds(part: Scope, run: str = "") -> set[str]:
    return {page.kind for page in await recollected("me/", "dance", 9, part, run)}


async def test_only_a_part_of_the_memory_is_searched():
    for kind in ("file", "web", "report", "chat", "session"):
        await keep(kind, group="ann" if kind == "chat" else "")

    assert await kinds(scope([])) == {"file", "web", "chat"}
    assert await kinds(scope(EARLIER)) == {"web", "chat"}
    assert await kinds(scope(["ann"])) == {"chat"}
    assert await kinds(scope(["session"])) == {"session"}


async def test_kinds_and_chats_that_are_named_together_are_both_searched():
    await keep("web")
    await keep("chat", group="ann")
    await keep("chat", "Ben will dance.", group="ben")
    both = scope(["web", "ann"])

    assert await kinds(both) == {"web", "chat"}
    assert len(await recollected("me/", "dance", 9, both)) == 2
    assert not await empty("me/", both)
    assert await empty("other/", both)


async def test_a_report_leads_to_the_pages_it_rests_on():
    one, other = await keep("file", "It points to food."), await keep("web", "Wasps sting.")
    new = [NewPage(title="r", place="", text="Bees dance.", links=[one, other])]
    (report,) = await pages.keep("me/", "report", "t1-1", new)

    found = await recollected("me/", "bees dance", 9, scope([]))
    assert report not in [page.id for page in found]
    assert {one, other} == {page.id for page in found}
    alone = await recollected("me/", "bees dance", 9, scope(["report"]))
    assert {page.id for page in alone} == {one, other}

    await forget("me/", [one, other])
    assert await recollected("me/", "bees dance", 9, scope([])) == []


async def test_a_report_leads_to_what_was_computed_and_not_to_what_an_overview_listed():
    listed = NewPage(title="d", place="", text="- dance.csv: CSV table, English; “bees: 4.”")
    computed = NewPage(title="d", place="rows=2-9", text="The total of bees is 4.")
    links = [await record("me/", "file", "dance", one) for one in (listed, computed)]
    await pages.keep(
        "me/", "report", "t1-1", [NewPage(title="r", place="", text="Bees dance.", links=links)]
    )

    found = await recollected("me/", "bees dance", 9, scope([]))

    assert [page.id for page in found] == links[1:]


async def test_what_a_run_has_just_read_is_no_memory_to_it():
    await keep("web", run="t1-1")
    await keep("chat", run="t0-1")

    assert await kinds(scope([]), "t1-1") == {"chat"}
    assert await kinds(scope([]), "t2-1") == {"web", "chat"}


async def test_a_question_without_a_word_finds_nothing():
    await keep("web")

    assert await recollected("me/", "?!", 9, scope([])) == []


async def test_a_memory_is_empty_where_the_part_that_counts_is():
    assert await empty("me/", scope(EARLIER))
    await keep("file")
    assert await empty("me/", scope(EARLIER))
    await keep("chat", group="ann")
    assert not await empty("me/", scope(EARLIER))
    assert not await empty("me/", scope(["ann"]))
    assert await empty("me/", scope(["ben"]))
    assert await empty("other/", scope([]))


async def test_pages_are_read_by_their_ids_in_the_order_of_these_and_only_ones_own():
    one, two = await keep("web"), await keep("report")

    assert [page.id for page in await named("me/", [two, "x" * 24, one])] == [two, one]
    assert await named("other/", [one]) == []


def test_a_turn_is_left_out_where_its_session_says_it():
    def page(kind: str, text: str) -> Page:
        return Page(text, kind, "", "", text, 0.0)

    found = [page("chat", "Hi."), page("session", "Ann: Hi."), page("chat", "Bye.")]

    assert [page.text for page in without_turns_of(found)] == ["Ann: Hi.", "Bye."]
