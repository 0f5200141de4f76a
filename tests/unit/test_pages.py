"""The page store: kept once, found by words, seen only by who owns it."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine, event, select, text

from library.documents import record_document, unlist_document
from library.indexing import VECTOR_JOB
from library.page_retrieval import find_pages, format_location
from library.page_rows import NewPage
from library.recall import read_pages
from library.store import list_page_ids, read_page_texts, store_pages
from library.tables import pages
from storage.engine import read_rows
from storage.tables import outbox

pytestmark = pytest.mark.usefixtures("either")

ME, OTHER = "me/", "other/"


def a_page(body: str, title: str = "Bees", place: str = "") -> NewPage:
    return NewPage(title=title, place=place, text=body)


async def keep_file(owner: str, sha256: str, path: str, *bodies: str, root: str = "/docs") -> None:
    """Keep the pages of a file and the file itself, as reading a folder does."""
    new = [a_page(body, place=f"page={at}") for at, body in enumerate(bodies, start=1)]
    await store_pages(owner, "file", sha256, new)
    row = {"size": 1, "modified": 1, "sha256": sha256, "reader": 1, "code": "", "reason": ""}
    await record_document(owner, root, path, row)


async def found(query: str, owner: str = ME, roots: list[str] | None = None) -> list[str]:
    return [page.text for page in await find_pages(owner, query, 10, roots)]


async def count(table: str) -> int:
    return int((await read_rows(text(f"SELECT COUNT(*) FROM {table}"))).scalar() or 0)  # noqa: S608


async def test_a_page_that_was_kept_is_found_by_its_words():
    await store_pages(
        ME, "web", "https://a.org/x", [a_page("The waggle dance tells the direction.")]
    )

    (page,) = await find_pages(ME, "Which dance do bees waggle?", 10)

    assert (page.kind, page.title, page.location) == ("web", "Bees", "https://a.org/x")
    assert page.text == "The waggle dance tells the direction."
    assert page.score > 0


async def test_the_best_page_comes_first_and_no_more_than_asked_for():
    words = ["dance", "dance dance waggle", "honey", "a dance among many other words of no use"]
    await store_pages(ME, "web", "u", [a_page(body, title="x") for body in words])

    best = await find_pages(ME, "waggle dance", 2)

    assert best[0].text == "dance dance waggle"
    assert len(best) == 2
    assert best[0].score > best[1].score


async def test_as_many_pages_are_found_as_are_asked_for():
    new = [
        NewPage(title=f"Hive {n}", place=f"page={n}", text=f"Bee {n} dances.") for n in range(230)
    ]
    await store_pages(ME, "web", "u", new)

    assert len(await find_pages(ME, "dances", 225)) == 225


async def test_a_title_is_searched_too():
    await store_pages(ME, "web", "u", [a_page("Nothing of note.", title="Waggle dance")])

    assert await found("waggle") == ["Nothing of note."]


async def test_a_question_in_chinese_finds_a_page_in_chinese():
    await store_pages(
        ME, "web", "u", [a_page("蜜蜂用摇摆舞告诉同伴方向。"), a_page("足球比赛今天开始。")]
    )

    assert await found("蜜蜂为什么跳舞？") == ["蜜蜂用摇摆舞告诉同伴方向。"]


@pytest.mark.parametrize("query", ["c++", "C#", "gpt-4", "3.5%", "foo_bar", "e-mail", "v1.2"])
async def test_a_word_with_signs_in_it_is_found(query: str):
    await store_pages(ME, "web", "u", [a_page(f"Here we speak of {query} today.")])

    assert len(await found(query)) == 1


async def test_where_a_page_stands_is_its_origin_and_its_place():
    await keep_file(ME, "ab12", "/docs/bees.pdf", "dance", "honey")

    assert [page.location for page in await find_pages(ME, "honey", 10)] == [
        "/docs/bees.pdf#page=2"
    ]
    assert format_location("https://a.org", "") == "https://a.org"


async def test_the_pages_of_an_origin_have_ids_in_their_order():
    ids = await store_pages(ME, "web", "u", [a_page("one"), a_page("two"), a_page("three")])

    assert await list_page_ids(ME, "web", "u") == ids
    assert [page.text for page in await read_pages(ME, [ids[2], ids[0], "unknown"])] == [
        "three",
        "one",
    ]
    assert await read_page_texts(ME, [ids[1], "unknown"]) == {ids[1]: "two"}
    assert len(set(ids)) == 3


async def test_keeping_the_same_again_changes_no_id():
    first = await store_pages(ME, "web", "u", [a_page("one"), a_page("one")])
    second = await store_pages(ME, "web", "u", [a_page("one"), a_page("one")])

    assert first == second
    assert await count("pages") == await count("page_words") == 2


async def test_a_page_that_has_changed_stands_beside_the_one_that_may_have_been_cited():
    (old,) = await store_pages(ME, "web", "u", [a_page("waggle dance")])

    (new,) = await store_pages(ME, "web", "u", [a_page("waggle dance of today")])

    assert set(await read_page_texts(ME, [old, new])) == {old, new}


async def test_a_page_that_says_what_it_said_is_kept_once():
    first = await store_pages(ME, "web", "u", [a_page("queen")])

    assert await store_pages(ME, "web", "u", [a_page("queen")]) == first
    assert await found("queen") == ["queen"]
    assert await count("pages") == await count("page_words") == 1


async def test_another_person_never_sees_a_page():
    mine = await store_pages(ME, "web", "u", [a_page("the queen")])
    theirs = await store_pages(OTHER, "web", "u", [a_page("the queen")])

    assert await found("queen", "stranger/") == []
    assert [page.id for page in await find_pages(OTHER, "queen", 10)] == theirs
    assert await list_page_ids("stranger/", "web", "u") == []
    assert not {*mine} & {*theirs}


async def test_replacing_ones_own_page_leaves_another_persons_alone():
    await store_pages(ME, "web", "u", [a_page("the queen")])
    await store_pages(OTHER, "web", "u", [a_page("the queen")])
    await store_pages(ME, "web", "u", [])

    assert await found("queen", OTHER) == ["the queen"]


async def test_only_files_below_the_roots_are_found():
    await keep_file(ME, "a", "/docs/bees.md", "waggle one", root="/docs")
    await keep_file(ME, "b", "/more/bees.md", "waggle two", root="/more")
    await store_pages(ME, "web", "u", [a_page("waggle three")])

    assert await found("waggle", roots=["/docs"]) == ["waggle one"]
    assert sorted(await found("waggle", roots=["/docs", "/more"])) == ["waggle one", "waggle two"]
    assert await found("waggle", roots=["/doc"]) == []
    assert await found("waggle", roots=[]) == []
    assert len(await found("waggle", roots=None)) == 3


async def test_a_root_is_a_name_and_no_statement():
    await keep_file(ME, "a", "/docs/bees.md", "waggle")

    assert await found("waggle", roots=["/docs' OR '1'='1", "%", "/docs%"]) == []


async def test_a_file_that_another_person_has_too_stays_theirs():
    await keep_file(ME, "a", "/mine/bees.md", "waggle", root="/mine")
    await keep_file(OTHER, "a", "/theirs/bees.md", "waggle", root="/theirs")

    assert await found("waggle", roots=["/theirs"]) == []
    assert [page.location for page in await find_pages(ME, "waggle", 10)] == [
        "/mine/bees.md#page=1"
    ]


async def test_a_file_in_two_folders_is_found_once_and_by_either():
    await keep_file(ME, "a", "/docs/bees.md", "waggle", root="/docs")
    await keep_file(ME, "a", "/more/bees.md", "waggle", root="/more")

    (page,) = await find_pages(ME, "waggle", 10, ["/more"])

    assert page.location == "/more/bees.md#page=1"
    assert len(await find_pages(ME, "waggle", 10)) == 1


async def test_a_file_taken_out_of_its_folder_is_no_longer_found_below_it():
    await keep_file(ME, "a", "/docs/bees.md", "waggle")
    await unlist_document(ME, "/docs", "/docs/bees.md")

    assert await found("waggle", roots=["/docs"]) == []


HOSTILE = [
    '" OR 1=1 --',
    "'; DROP TABLE pages; --",
    "NEAR(",
    "NEAR(a b, 5)",
    "*",
    "waggle*",
    "title:waggle",
    "{title body}: waggle",
    "^waggle",
    "waggle AND",
    "NOT waggle",
    "waggle OR OR",
    '"""',
    "((((",
    "a\x00b",
    "\x00",
    "-waggle",
    "+waggle",
    ":",
    "%",
    "\\",
    "\ud800",
    "waggle " * 2_000,
    " ".join(f"word{number}" for number in range(2_000)),
]


@pytest.mark.parametrize("query", HOSTILE, ids=lambda query: repr(query[:20]))
async def test_a_query_is_words_and_never_a_statement(query: str):
    await store_pages(ME, "web", "u", [a_page("Nothing of note.")])
    await store_pages(OTHER, "web", "u", [a_page(f"waggle title body word1 {HOSTILE[0]}")])

    assert await found(query) == []
    assert await count("pages") == 2


@pytest.mark.parametrize("query", ["", "   ", "?", "the of and", "什么"])
async def test_a_query_without_a_word_of_its_own_finds_nothing(query: str):
    await store_pages(ME, "web", "u", [a_page("The queen and what of the hive?")])

    assert await found(query) == []


@pytest.mark.parametrize(
    ("body", "abstract"),
    [
        ("One. Two.", "One. Two."),
        ("A short one. " + "Word " * 100 + "end.", "A short one."),
        ("W" * 149 + ". " + "W" * 149 + ".", "W" * 149 + "."),
        ("word " * 100, ("word " * 60)),
        ("", ""),
    ],
    ids=range(5),
)
async def test_an_abstract_is_the_first_sentences_that_fit(body: str, abstract: str):
    (name,) = await store_pages(ME, "web", "u", [a_page(body)])

    kept_as = select(pages.c.abstract).where(pages.c.id == name)
    assert (await read_rows(kept_as)).scalar() == abstract


async def test_a_page_that_has_changed_is_found_as_it_is_now_and_told_what_came_after_it():
    (old,) = await store_pages(ME, "web", "u", [a_page("waggle dance")])
    (new,) = await store_pages(ME, "web", "u", [a_page("waggle dance of today")])

    assert await found("waggle") == ["waggle dance of today"]
    assert await list_page_ids(ME, "web", "u") == [new]
    assert await superseded_by(old) == new


async def test_what_a_longer_origin_said_before_is_superseded_by_the_page_in_its_place():
    old = await store_pages(
        ME, "web", "u", [a_page("bee one"), a_page("bee two"), a_page("bee three")]
    )
    new = await store_pages(ME, "web", "u", [a_page("bee one"), a_page("bee 2")])

    assert sorted(await found("bee")) == ["bee 2", "bee one"]
    assert [await superseded_by(one) for one in old] == ["", new[1], new[0]]


async def test_a_page_that_says_again_what_it_said_before_is_found_again():
    (old,) = await store_pages(ME, "web", "u", [a_page("waggle dance")])
    await store_pages(ME, "web", "u", [a_page("waggle run")])

    assert await store_pages(ME, "web", "u", [a_page("waggle dance")]) == [old]
    assert await found("waggle") == ["waggle dance"]
    assert await superseded_by(old) == ""


async def test_a_dialogue_that_goes_on_keeps_what_was_said():
    first = [NewPage(title="", place="", text="bee one", session="s", position=0)]
    then = [NewPage(title="", place="", text="bee two", session="s", position=1)]
    await store_pages(ME, "chat", "c", first, group="c", part=True)
    await store_pages(ME, "chat", "c", then, group="c", part=True)

    assert sorted(await found("bee")) == ["bee one", "bee two"]


async def test_two_turns_that_say_the_same_are_two_pages():
    said = [
        NewPage(title="", place="", text="hello bee", session=session, position=0)
        for session in ("monday", "tuesday")
    ]

    assert len(set(await store_pages(ME, "chat", "c", said))) == 2
    assert await found("bee") == ["hello bee", "hello bee"]


async def test_more_pages_than_one_transaction_takes_are_all_kept(monkeypatch):
    monkeypatch.setattr("library.store.STORE_BATCH", 2)
    await store_pages(ME, "web", "u", [a_page(f"bee {number}") for number in range(5)])
    ids = await store_pages(ME, "web", "u", [a_page(f"bee {number}") for number in (0, 1, 2, 3, 9)])

    assert await list_page_ids(ME, "web", "u") == ids
    assert sorted(await found("bee")) == ["bee 0", "bee 1", "bee 2", "bee 3", "bee 9"]


async def test_nobody_reads_another_persons_page_by_its_id():
    ids = await store_pages(ME, "web", "u", [a_page("the queen")])

    assert await read_page_texts(OTHER, ids) == {}
    assert await read_pages(OTHER, ids) == []


async def test_a_page_says_who_is_behind_it_and_which_run_read_it():
    for kind in ("file", "web", "report", "chat"):
        await store_pages(ME, kind, "o", [a_page("bee")], run="t1-1")
    await store_pages(ME, "web", "tool", [a_page("bee")], provenance="tool")

    rows = (await read_rows(select(pages.c.provenance, pages.c.run).order_by(pages.c.number))).all()
    assert [tuple(row) for row in rows] == [
        ("user", "t1-1"),
        ("web", "t1-1"),
        ("model", "t1-1"),
        ("user", "t1-1"),
        ("tool", ""),
    ]


async def test_what_a_database_cannot_store_is_left_out_of_a_text():
    page = NewPage(title="B\x00ees", place="p\ud800", text="wag\x00gle \udfffdance", speaker="\x00")
    ids = await store_pages(ME, "web", "https://a.org/\x00", [page])

    assert [one.text for one in await read_pages(ME, ids)] == ["waggle dance"]
    assert await found("waggle") == ["waggle dance"]


async def test_long_texts_addresses_and_words_are_kept_whole():
    text = "waggle " + "x" * 5_000 + " " + " ".join(f"word{n}" for n in range(30_000)) + " dance"
    address = "https://a.org/" + "y" * 5_000
    ids = await store_pages(ME, "web", address, [a_page(text, title="T" * 5_000)])

    assert await list_page_ids(ME, "web", address) == ids
    assert [len(page.text) for page in await find_pages(ME, "waggle", 10)] == [len(text)]
    assert len(await find_pages(ME, "word20000", 10)) == 1


async def test_every_change_leaves_work_for_the_vectors():
    await store_pages(ME, "web", "u", [a_page("one"), a_page("two")])
    await store_pages(ME, "web", "u", [a_page("one"), a_page("two")])
    await store_pages(ME, "web", "u", [a_page("one"), a_page("three")])

    rows = (await read_rows(select(outbox.c.job, outbox.c.data).order_by(outbox.c.id))).all()
    jobs = [json.loads(row.data)["pages"] for row in rows if row.job == VECTOR_JOB]
    assert [len(job) for job in jobs] == [2, 1, 1]
    assert jobs[2] == [jobs[0][1]]


async def test_a_kept_page_that_fails_midway_leaves_nothing(monkeypatch):
    monkeypatch.setattr("storage.outbox.enqueue_job", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        await store_pages(ME, "web", "u", [a_page("queen")])

    assert await count("pages") == await count("page_words") == await count("members") == 0


async def superseded_by(one: str) -> str:
    wanted = select(pages.c.superseded_by).where(pages.c.id == one)
    return str((await read_rows(wanted)).scalar())


async def test_no_statement_names_every_page_of_a_long_origin(monkeypatch):
    monkeypatch.setattr("library.store.STORE_BATCH", 4)
    monkeypatch.setattr("library.indexing.PAGES_PER_STATEMENT", 4)
    monkeypatch.setattr("storage.batches.VALUES_PER_STATEMENT", 4)
    named: list[int] = []

    def note(_: object, __: object, statement: str, values: object, *more: object) -> None:
        ours = (
            statement.startswith(("SELECT", "UPDATE", "DELETE")) and "pg_catalog" not in statement
        )
        if ours and isinstance(values, (tuple, dict)):
            named.append(len(values))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        long = await store_pages(
            ME, "chat", "talk", [a_page(f"bee {number}") for number in range(40)]
        )
        await store_pages(ME, "chat", "talk", [a_page("wasp")])
        said = await read_page_texts(ME, long)
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert len(said) == 40
    assert [one.text for one in await find_pages(ME, "bee", 50)] == ["wasp"]
    assert max(named) < 20
