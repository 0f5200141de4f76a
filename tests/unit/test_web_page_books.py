"""Pages of books are read whole: boxes in their text, their beginning, and their notes."""

from __future__ import annotations

from tools.files.web_page import read_article

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


def test_a_warning_is_not_the_title_of_a_page():
    warning = f"<div class='warning'><h3 class='title'>Warning</h3><p>{LONG}</p></div>"
    text = page(f"<p>{LONG}</p>{warning}").replace('<h2 class="title">4.2. Mills</h2>', "")

    assert read_article(text).title == "4.2. Mills"
