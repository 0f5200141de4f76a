"""The row of a page: what is found by, and what the hash of its cutting guards."""

from __future__ import annotations

import hashlib

from library.page_rows import WORDS_VERSION, NewPage, PageOrigin, build_page_rows, join_search_words
from library.page_sizing import complete_short_page, prepare_pages
from text.title_mentions import title_key
from text.words import LONGEST_WORD

ORIGIN = PageOrigin("me/", "web", "https://a.org")

SAMPLE = (
    "C++ code of naïve bees, 1,000 waggle-dances in 2024-05-01: 蜜蜂用摇摆舞 snake_case camelCase"
)


def test_whoever_changes_how_words_are_cut_raises_the_number_of_the_cut():
    """Pages in older databases are cut again only then."""
    seen = "\n".join([join_search_words(SAMPLE), title_key("The Waggle Dance (of bees)")])

    assert (WORDS_VERSION, hashlib.sha256(seen.encode()).hexdigest()[:8]) == (1, "4385deba")


def test_what_is_too_long_for_a_word_is_not_searched():
    assert (
        join_search_words(f"bee {'x' * LONGEST_WORD} {'y' * (LONGEST_WORD + 1)}")
        == f"bee {'x' * LONGEST_WORD}"
    )


def test_a_row_has_what_was_given_and_else_what_can_be_told():
    given = NewPage(
        title="Talk",
        place="turn=1",
        text="Hi bees.",
        abstract="A greeting",
        session="s",
        position=7,
        speaker="Ada",
        said="2024-05-01",
        links=["https://b.org"],
    )
    plain = NewPage(title="Talk", place="", text="Hi bees. " * 100)

    full, bare = build_page_rows(ORIGIN._replace(expires=9.0, run="t1-1"), [given, plain], first=3)

    assert (full["abstract"], full["position"], full["speaker"]) == ("A greeting", 7, "Ada")
    assert (full["said"], full["links"]) == ("2024-05-01", '["https://b.org"]')
    assert (full["run"], full["expires"]) == ("t1-1", 9.0)
    assert (bare["position"], bare["session"], bare["session_id"]) == (4, "", "")
    assert bare["abstract"].startswith("Hi bees. Hi bees.")
    assert len(bare["abstract"]) <= 300


def test_the_id_of_a_page_hangs_on_whose_it_is_where_it_stands_and_what_it_says():
    page = NewPage(title="A", place="", text="one")
    others = [
        build_page_rows(ORIGIN._replace(owner="you/"), [page]),
        build_page_rows(ORIGIN._replace(kind="file"), [page]),
        build_page_rows(ORIGIN._replace(name="https://b.org"), [page]),
        build_page_rows(ORIGIN, [page], first=1),
        build_page_rows(ORIGIN, [NewPage(title="A", place="", text="two")]),
        build_page_rows(ORIGIN, [NewPage(title="A", place="", text="one", session="s")]),
    ]
    renamed = NewPage(title="B", place="p", text="one", speaker="Ada")

    (own,) = build_page_rows(ORIGIN, [page])
    assert build_page_rows(ORIGIN._replace(group="g", run="r"), [renamed])[0]["id"] == own["id"]
    assert len({own["id"], *(row["id"] for (row,) in others)}) == 7


def test_a_page_that_another_process_completes_gets_the_row_of_one_that_the_store_completes():
    page = NewPage(title="Bees", place="", text="Bees dance. " * 100 + "\nThey are “busy”.")
    completed = complete_short_page(page)
    assert completed is not None
    origin = PageOrigin("me/", "web", "https://bees.example")
    (row,), (other,) = build_page_rows(origin, [page]), build_page_rows(origin, [completed])
    assert {**row, "created": 0} == {**other, "created": 0}
    assert complete_short_page(NewPage(title="", place="", text="Bees dance. " * 2_000)) is None


def test_pages_of_files_have_no_abstract_yet():
    (page,) = prepare_pages([NewPage(title="Bees", place="", text="Bees dance.")])
    assert (page["abstract"], page["words"]) == ("", "bee danc")
