"""What repeats a better page is left out of what a search finds."""

from __future__ import annotations

import pytest

from library.page_ranking import find_distinct_rows
from library.page_retrieval import search_pages
from library.page_rows import NewPage
from library.page_scoring import PageRow
from library.store import store_pages
from text.words import search_words

SAID = "The Kestrel panel gives 410 watts and weighs 22 kilograms, says the maker of the panel."


def row(text: str) -> PageRow:
    return PageRow(1, "", "", text, " ".join(search_words(text)), "", "", 0, "", "")


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        (f"{SAID} Indeed.", [0]),
        (SAID.replace(", says", " — says"), [0]),
        (SAID.replace("410", "420"), [0, 1]),
        ("The Osprey panel is blue.", [0, 1]),
    ],
)
def test_a_page_that_says_the_same_is_a_repetition(other, kept):
    assert find_distinct_rows([row(SAID), row(other)]) == kept


def test_a_few_words_are_no_repetition():
    assert find_distinct_rows([row("Thank you!"), row("Thank you!")]) == [0, 1]


@pytest.mark.usefixtures("either")
async def test_a_search_finds_what_was_said_once_and_fills_its_places_with_others():
    for number in range(6):
        await store_pages(
            "me/", "web", f"u{number}", [NewPage(title="Kestrel", place="", text=SAID)]
        )
    await store_pages(
        "me/", "web", "other", [NewPage(title="", place="", text="A panel of many watts.")]
    )

    found = await search_pages("me/", "Kestrel panel watts", 2)

    assert [one.page.text for one in found] == [SAID, "A panel of many watts."]
