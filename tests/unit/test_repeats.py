"""What repeats a better page is left out of what a search finds."""

from __future__ import annotations

import pytest

from memory.pages.finding import search
from memory.pages.store import NewPage, keep
from retrieval.pool import Row
from retrieval.repeats import distinct
from retrieval.words import words

SAID = "The Kestrel panel gives 410 watts and weighs 22 kilograms, says the maker of the panel."


def row(text: str) -> Row:
    return Row(1, "", "", text, " ".join(words(text)), "", "", 0, "", "")


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
    assert distinct([row(SAID), row(other)]) == kept


def test_a_few_words_are_no_repetition():
    assert distinct([row("Thank you!"), row("Thank you!")]) == [0, 1]


@pytest.mark.usefixtures("either")
async def test_a_search_finds_what_was_said_once_and_fills_its_places_with_others():
    for number in range(6):
        await keep("me/", "web", f"u{number}", [NewPage(title="Kestrel", place="", text=SAID)])
    await keep("me/", "web", "other", [NewPage(title="", place="", text="A panel of many watts.")])

    found = await search("me/", "Kestrel panel watts", 2)

    assert [one.page.text for one in found] == [SAID, "A panel of many watts."]
