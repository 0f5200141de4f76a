"""A word that was cut at the end of a line is read and quoted as it is spelt."""

from __future__ import annotations

import pytest

from report.checks.quotation_search import QuotablePages
from text.normalization import locate_folded
from tools.files.extractor import extract_document

MANUAL = """\
TIDECTL(8)                        Tide mills                        TIDECTL(8)

NAME
       tidectl - open and close the gates of a tide mill by the clock and by
       hand

DESCRIPTION
       The  gates  of the mill close at high water, and what is kept is re‐
       leased when the sea has fallen far enough for the wheel to turn freely.
       A gate can be opened by any member of the crew, also by a non-
       resident  one,  and the times are those of an operator-
       supplied table that a resident wrote. The operator supplied it, and non-
       members never saw it. What the wheel earns is com-
       puted every month and computed again at the end of the year, but a re-
       entrant gate counts twice.  A re-entrant gate is one that was mended. The
       level is read on a write‐once tape, and the tape is kept: a write‐
       once tape lasts for ten years.

GATES
       -o     opens  a gate; Turn‐
              Over  is also accepted.
       SEE THE GATES AND THE MACHI‐
       NES of other mills.
"""


async def read(tmp_path, name="tidectl.txt"):
    path = tmp_path / name
    path.write_text(MANUAL, encoding="utf-8")
    return await extract_document(path)


@pytest.mark.parametrize(
    "words",
    [
        "what is kept is released when",
        "also by a non-resident",
        "an operator-supplied table",
        "and non-members never",
        "earns is computed every",
        "but a re-entrant gate",
        "a write-once tape lasts",
        "TurnOver is also accepted",
        "THE MACHINES of other mills",
        "The gates of the mill close",
    ],
)
async def test_a_cut_word_is_put_together_as_the_text_spells_it(tmp_path, words):
    text = (await read(tmp_path))["sections"][0]["text"]

    assert words in text


async def test_a_page_of_a_manual_is_called_by_what_it_says_of_itself(tmp_path):
    title = (await read(tmp_path))["title"]

    assert title == "tidectl - open and close the gates of a tide mill by the clock and by hand"


async def test_a_manual_without_a_name_is_called_by_its_first_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("MILL(1)      Mills      MILL(1)\n\nIt grinds wheat.\n")

    assert (await extract_document(path))["title"].startswith("MILL(1)")


async def test_the_sign_of_a_link_to_a_heading_is_no_part_of_a_title(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(
        "<title>Opening gates¶</title><body><h1>Opening gates<a href='#g'><i>¶</i></a></h1>"
        "<p>The gates of the mill are opened by hand.</p>"
    )
    document = await extract_document(path)

    assert document["title"] == "Opening gates"
    assert "¶" not in document["sections"][0]["text"]


@pytest.mark.parametrize(
    ("quote", "page"),
    [
        ("kept is released when", "what is kept is re‐ leased when the sea"),
        ("kept is released when", "what is kept is re‐   leased when the sea"),
        ("kept is released when", "what is kept is re-\n       leased when the sea"),
        ("a non-resident crew", "a nonresident crew"),
        ("a nonresident crew", "by a non-resident crew"),
        ("a nonresident crew", "by a non-\nresident crew"),
        ("kept is re‐ leased when", "what is kept is released when the sea"),
        ("pre- and postwar mills", "of pre‐ and postwar mills"),
    ],
)
def test_a_quotation_is_found_whoever_cut_the_word(quote, page):
    assert locate_folded(quote, page)
    assert QuotablePages({"S1": page}).find([quote], ["S1"])


def test_only_a_cut_word_is_another_spelling():
    assert locate_folded("the mill re leased", "the mill released") is None
    assert locate_folded("from 10-12 mills", "from 1012 mills") is None


def test_the_place_of_a_quotation_is_that_of_its_words():
    page = "The well-known mill was re-opened by a non-resident crew in 1990."

    start, end = locate_folded("reopened by a nonresident", page)

    assert page[start:end] == "re-opened by a non-resident"
