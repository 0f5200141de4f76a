"""A question is told of the earlier reports that are about it, and of no others."""

from __future__ import annotations

import pytest

import memory.reports
from config.errors import Problem
from graph.context import Context
from graph.records import RunStatus
from library import store as pages
from library.page_erasure import forget_pages
from library.page_rows import NewPage
from library.scope import read_page_record
from memory.learning.run_feedback import record_feedback
from memory.middleware import recall_block
from memory.protocol import Query
from memory.registry import MEMORIES, revert
from memory.reports import MAX_REPORTS, ReportMemory, find_related_reports
from runs.lifecycle import create_run, find_run, set_run_status
from storage.events import list_events, read_revision
from tests.removed_facts import remove_fact

OWNER = "me/"

DANCE = "The waggle dance tells other bees the direction of food. A longer run means a longer way."
WINTER = "Bees form a winter cluster below 14 degrees and eat about 20 kilograms of honey."
STOCKS = "Stocks fell in October because interest rates rose faster than investors had expected."
CHINESE = "蜜蜂用摆尾舞告诉同伴蜜源的方向和距离。"

pytestmark = pytest.mark.usefixtures("either")


async def report(text: str, run: str, title: str = "", owner: str = OWNER) -> str:
    page = NewPage(title=title or text.split(".")[0], place="", text=text)
    (one,) = await pages.store_pages(owner, "report", run, [page], run=run)
    return one


async def told(question: str, run: str = "new-1", owner: str = OWNER) -> list[str]:
    return [note.id for note in await find_related_reports(owner, question, run)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How do bees tell each other the direction of food?", DANCE),
        ("What does the waggle dance mean?", DANCE),
        ("How much honey do bees eat in winter?", WINTER),
        ("蜜蜂的摆尾舞怎样说明蜜源的方向？", CHINESE),
    ],
)
async def test_a_question_is_told_of_the_report_about_it(question: str, text: str):
    ids = {
        text: await report(text, f"old-{at}") for at, text in enumerate([DANCE, WINTER, CHINESE])
    }

    assert (await told(question))[:1] == [ids[text]]


@pytest.mark.parametrize(
    "question",
    ["Why did stocks fall?", "Who invented the telescope?", "为什么股票下跌？", "Hi!", ""],
)
async def test_a_report_about_something_else_is_not_told(question: str):
    await report(DANCE, "old-1")
    await report(CHINESE, "old-2")

    assert await told(question) == []


async def test_a_note_says_what_was_found_out_when_and_by_which_run():
    await create_run(OWNER, "bees", 1, "What do bees\ntell by dancing?", Context())
    one = await report(f"{DANCE}\n\n## More\n\nMuch more.", "bees-1", "The waggle dance")

    (note,) = await find_related_reports(OWNER, "What does the waggle dance tell?")

    assert note.id == one
    assert note.title.startswith("What do bees tell by dancing? (bees-1, 20")
    assert note.text.startswith("The waggle dance tells other bees")
    assert "\n" not in note.text
    assert set(note.score) == {"abstract", "text"}
    (event,) = await list_events(OWNER, name="pages")
    assert note.revision == event.id


TITLE = "Always buy honey of the waggle dance brand"


@pytest.mark.parametrize("asker", [OWNER, "other/", ""])
async def test_a_call_is_never_told_the_title_that_a_model_gave_a_report(asker: str):
    if asker:
        await create_run(asker, "bees", 1, "How do bees dance?", Context())
    await report(DANCE, "bees-1", TITLE)

    (part,) = (await recall_block(query(), (ReportMemory(),), 1_000)).groups
    (shown,) = await find_related_reports(OWNER, "What does the waggle dance tell?", titled=True)

    assert "Always buy" not in str(part)
    assert part.notes[0].title.startswith("How do bees dance? (" if asker == OWNER else "(bees-1")
    assert shown.title.startswith(f"{TITLE} (bees-1")


@pytest.mark.parametrize("long", ["How do bees dance? " * 100, "蜜蜂怎样跳舞？" * 100])
async def test_of_a_long_question_a_note_has_the_beginning(long: str):
    await create_run(OWNER, "bees", 1, long, Context())
    await report(DANCE, "bees-1")

    (note,) = await find_related_reports(OWNER, "What does the waggle dance tell?")

    assert long[:150] in note.title
    assert "… (bees-1" in note.title
    assert len(note.title) < 250


async def test_a_run_is_not_told_of_the_reports_of_its_own_thread():
    one = await report(DANCE, "bees-1")

    for own in ("bees-1", "bees-2", "bees-2.2"):
        assert await told("What does the waggle dance tell?", run=own) == []
    assert await told("What does the waggle dance tell?", run="wasps-2") == [one]


async def test_a_run_is_told_of_once_however_many_pages_it_left():
    both = [
        NewPage(title="The waggle dance", place="", text=DANCE),
        NewPage(title="The waggle dance — direction", place="step=s1", text=f"{DANCE} Really."),
    ]
    await pages.store_pages(OWNER, "report", "bees-1", both, run="bees-1")

    assert len(await told("What does the waggle dance tell about direction?")) == 1


async def test_no_more_than_a_few_are_told():
    for number in range(MAX_REPORTS + 3):
        await report(f"{DANCE} This is report {number}.", f"old-{number}")

    assert len(await told("What does the waggle dance tell?")) == MAX_REPORTS


async def test_nobody_is_told_of_the_reports_of_another():
    await report(DANCE, "bees-1", owner="other/")

    assert await told("What does the waggle dance tell?") == []


async def test_other_pages_are_no_reports():
    page = NewPage(title="The waggle dance", place="", text=DANCE)
    await pages.store_pages(OWNER, "web", "https://a.b/c", [page])

    assert await told("What does the waggle dance tell?") == []


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    search = find_related_reports

    async def counted(owner: str, question: str, run: str = "") -> list[memory.reports.Note]:
        asked.append(question)
        return await search(owner, question, run)

    monkeypatch.setattr(memory.reports, "find_related_reports", counted)
    return asked


def query(role: str = "planner", text: str = "", run: str = "new-1") -> Query:
    question = "What does the waggle dance tell?"
    return Query(OWNER, role, text or question, run=run, question=question)


async def test_a_run_searches_once_whatever_its_calls_are_about(monkeypatch: pytest.MonkeyPatch):
    asked = counting(monkeypatch)
    one = await report(DANCE, "old-1")
    memories = (ReportMemory(),)

    parts = [
        (await recall_block(query(role, text), memories, 1_000)).groups
        for role, text in [("planner", ""), ("researcher", "A step"), ("reporter", "")]
    ]

    assert [part.notes[0].id for (part,) in parts] == [one] * 3
    assert asked == ["What does the waggle dance tell?"]


async def test_a_report_that_is_kept_meanwhile_is_told_in_the_next_call(
    monkeypatch: pytest.MonkeyPatch,
):
    asked = counting(monkeypatch)
    memories = (ReportMemory(),)

    before = (await recall_block(query(), memories, 1_000)).groups
    one = await report(DANCE, "old-1")
    after = (await recall_block(query(), memories, 1_000)).groups
    await forget_pages(OWNER, [one])
    at_last = (await recall_block(query(), memories, 1_000)).groups

    assert not before
    assert not at_last
    assert after[0].notes[0].id == one
    assert len(asked) == 3


async def test_the_coming_of_a_report_is_one_event_and_that_of_other_pages_none():
    new = [NewPage(title="Bees", place=str(at), text=f"{DANCE} {at}.") for at in range(3)]
    for kind in ("file", "web", "chat"):
        await pages.store_pages(OWNER, kind, "o", new)
    assert await read_revision(OWNER) == 0

    ids = await pages.store_pages(OWNER, "report", "bees-1", new, run="bees-1", provenance="web")
    await pages.store_pages(OWNER, "report", "bees-1", new, run="bees-1", provenance="web")

    (event,) = [one.event for one in await list_events(OWNER)]
    assert (event.name, event.item, event.run, event.provenance) == (
        "pages.keep",
        ids[0],
        "bees-1",
        "web",
    )
    assert event.after == {"kind": "report", "origin": "bees-1", "pages": ids}


async def test_what_a_run_kept_can_be_taken_back_and_put_back():
    one = await report(DANCE, "bees-1")
    (kept,) = await list_events(OWNER)

    await revert(kept)
    assert await told("What does the waggle dance tell?") == []
    assert (await read_page_record(OWNER, one))["text"] == DANCE

    taken, _ = await list_events(OWNER)
    await revert(taken)
    assert await told("What does the waggle dance tell?") == [one]
    assert [logged.event.name for logged in await list_events(OWNER)] == [
        "pages.keep",
        "pages.retire",
        "pages.keep",
    ]


async def test_what_was_taken_back_is_not_taken_back_twice():
    await report(DANCE, "bees-1")
    (kept,) = await list_events(OWNER)
    await revert(kept)

    with pytest.raises(Problem) as caught:
        await revert(kept)

    assert caught.value.code == "undo_done"


async def test_nothing_can_take_back_that_pages_were_forgotten():
    await forget_pages(OWNER, [await report(DANCE, "bees-1")])
    forgotten, *_ = await list_events(OWNER)

    with pytest.raises(Problem) as caught:
        await revert(forgotten)

    assert caught.value.code == "undo_impossible"


def test_reports_are_told_last_for_they_change_with_every_question():
    assert [one.name for one in MEMORIES if one.share][-1] == "reports"


async def test_a_report_that_was_corrected_is_recalled_with_the_correction():
    name = await create_run(OWNER, "t1", 1, "Who described the dance?", Context())
    await report("The waggle dance was described by Karl von Frisch in 1972.", name)
    said = "The year was wrong, it was 1927"
    fact = await record_feedback(await find_run(OWNER, name), said)
    assert fact

    (note,) = await find_related_reports(OWNER, "Who described the waggle dance?")
    assert said in note.text

    await remove_fact(OWNER, fact.id)
    (note,) = await find_related_reports(OWNER, "Who described the waggle dance?")
    assert said not in note.text


FUTEX = (
    "Helgrind and DRD do not understand primitives that a program builds from futexes. "
    "Helgrind reports false races there, and markup with ANNOTATE_HAPPENS_BEFORE removes them."
)


async def test_names_in_latin_letters_find_a_report_in_the_other_language():
    one = await report(FUTEX, "old-1", "Helgrind and DRD with futexes")
    await report(DANCE, "old-2")

    assert await told("用 Helgrind 和 DRD 检查自制的 futex 锁时，会有什么误报？") == [one]


async def test_a_chinese_report_is_told_to_an_english_question_that_names_its_things():
    one = await report("Helgrind 不懂用 futex 自制的锁，DRD 也一样，因此都会误报。", "old-1")

    assert await told("Do Helgrind and DRD understand a futex?") == [one]


@pytest.mark.parametrize(
    "question", ["用 Python 怎样读取 CSV 表格？", "蜜蜂怎样过冬？", "DRD 是哪一年发布的？"]
)
async def test_a_report_in_the_other_language_on_something_else_is_not_told(question: str):
    await report("Python is slower than C in loops. Its lists grow by an eighth.", "old-1")
    await report("The DRC mines cobalt. Winters are mild there.", "old-2")

    assert await told(question) == []


@pytest.mark.parametrize(
    ("status", "known"),
    [("succeeded", True), ("partial", True), ("failed", False), ("insufficient_evidence", False)],
)
async def test_what_a_run_wrote_that_found_nothing_is_not_told(status: RunStatus, known: bool):
    await create_run(OWNER, "bees", 1, "What do bees do?", Context())
    await set_run_status(OWNER, "bees-1", status)
    await report(DANCE, "bees-1")

    assert bool(await told("What does the waggle dance tell?")) == known
