"""Pages of books are read whole: boxes in their text, their beginning, and their notes."""

from __future__ import annotations

import pytest

from tools.files.parsed_document import TextBlock
from tools.files.web_page import _from_body, read_article

LONG = "The miller opens the gate at ebb, and the wheel turns until the flood comes back. " * 4

PARTS = ("Gates", "Wheels", "Stones", "Floors", "Flour")

SECTIONS = "".join(
    "<div class='section'><div class='titlepage'>"
    f"<h3 class='title'>4.2.{number}. {part}</h3></div>"
    f"<p>{part} are what a visitor of the mill at Eling looks at. {LONG}</p>"
    f"<p>{LONG} Of {part} the club keeps a list that goes back to {1700 + number}.</p></div>"
    for number, part in enumerate(PARTS, start=1)
)
"""The sections of a page that is long enough for trafilatura to leave out its ends."""


def page(inside: str) -> str:
    return (
        "<html><head><title>4.2. Mills</title></head><body>"
        '<ul class="docnav"><li><a href="a.html">Previous</a></li></ul>'
        f'<div class="section"><h2 class="title">4.2. Mills</h2>{inside}</div>'
        '<div class="sidebar"><p>Written by a club of friends of mills, who meet on Mondays in the '
        "old barn behind the church, and who sell postcards there.</p></div></body></html>"
    )


def said(inside: str) -> str:
    return "\n".join(block.text for block in read_article(page(inside)).blocks)


def test_a_box_in_the_text_of_a_book_is_read_and_the_bar_beside_the_text_is_not():
    box = (
        '<div class="sidebar"><div class="titlepage"><p class="title"><strong>CAUTION A mill is no '
        "pump</strong></p></div><div class='para'>A mill that is used as a pump loses its stones "
        "within a year, as the millers of Eling found out.</div></div>"
    )

    text = said(f"<div class='para'>{LONG}</div>{box}<div class='para'>{LONG}</div>")

    assert "loses its stones within a year" in text
    assert "club of friends" not in text


def test_a_page_begins_with_the_heading_that_is_its_title():
    first = "<div class='para'>A mill turns the tide into work.<a class='indexterm'></a></div>"

    text = said(f"{first}{SECTIONS}")

    assert text.startswith("4.2. Mills\nA mill turns the tide into work.\n4.2.1. Gates\n")
    assert "Previous" not in text


def test_the_notes_at_the_end_of_a_page_are_read():
    note = (
        "<div class='footnotes'><br/><hr/><div class='footnote'><p>[<a href='#id61'>61</a>] The "
        "gate is opened by hand on Sundays.</p></div></div>"
    )

    text = said(f"{SECTIONS}{note}")

    assert text.endswith("\n[61] The gate is opened by hand on Sundays.")
    assert "club of friends" not in text


def test_a_title_with_words_in_code_is_spelt_as_the_page_declares_it():
    spelt = page(f"<p>{LONG}</p><p>{LONG}</p>").replace(
        '<h2 class="title">4.2. Mills</h2>',
        '<h2 class="title">4.2. <code>mill</code>, <code>mill-get</code>, and Mills</h2>',
    )
    spelt = spelt.replace("<title>4.2. Mills<", "<title>4.2. mill, mill-get, and Mills<")

    assert read_article(spelt).title == "4.2. mill, mill-get, and Mills"


def test_a_warning_is_not_the_title_of_a_page():
    warning = f"<div class='warning'><h3 class='title'>Warning</h3><p>{LONG}</p></div>"
    text = page(f"<p>{LONG}</p>{warning}").replace('<h2 class="title">4.2. Mills</h2>', "")

    assert read_article(text).title == "4.2. Mills"


@pytest.mark.parametrize(
    ("title", "heading", "called"),
    [
        ("Mill manual - gate(8)", "", "Mill manual - gate(8)"),
        ("Gates in winter | The Mill", "<h1>Gates in winter</h1>", "Gates in winter"),
        ("Gates in winter", "", "Gates in winter"),
    ],
)
def test_a_part_of_a_declared_title_is_one_only_if_it_is_a_heading(
    title: str, heading: str, called: str
):
    text = "<p>The gate of the mill is opened at dawn and closed at dusk by the miller.</p>" * 30
    page = f"<html><head><title>{title}</title></head><body>{heading}{text}</body></html>"

    assert read_article(page).title == called


def test_links_above_the_title_are_left_out_where_little_of_a_page_is_known_to_be_its_article():
    above = [TextBlock("- Next", linked=1.0), TextBlock("4.2. Mills", 2)]
    below = [TextBlock("Oak lasts long.") for _ in range(100)]
    marked = [False, False, True, *[False] * len(below)]

    read = _from_body([*above, TextBlock(LONG), *below], marked, "4.2. Mills")

    assert [block.text for block in read[:2]] == ["4.2. Mills", LONG]
    assert len(read) == 2 + len(below)


def test_prose_above_the_title_is_read_where_little_of_a_page_is_known_to_be_its_article():
    blocks = [TextBlock(LONG), TextBlock("4.2. Mills", 2), TextBlock(LONG)]
    below = [TextBlock("Oak lasts long.") for _ in range(100)]

    read = _from_body([*blocks, *below], [False, False, True, *[False] * 100], "4.2. Mills")

    assert [block.text for block in read[:3]] == [LONG, "4.2. Mills", LONG]
