"""The date that a page states of itself is read, and no other."""

from __future__ import annotations

import pytest

from tools.files.web_page import read_article

PROSE = "<p>The mill turns at ebb, when the pond is full and the sea has fallen below the race.</p>"


def page(top="", end="", body=""):
    title = f"<div class='titlepage'><h1>Mills</h1>{top}</div>"
    return f"<html><body>{title}{PROSE}{body}{PROSE}<footer>{end}</footer></body></html>"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        (page("<div><p class='pubdate'>January 2021</p></div>"), "2021-01"),
        (page("<p class='pubdate'>2021 年 1 月</p>"), "2021-01"),
        (page("<p class='pubdate'>March 19, 2015</p>"), "2015-03-19"),
        (page("<p class='releaseinfo'>Mill Policy 4.6.2.0, 2022-12-17</p>"), "2022-12-17"),
        (page("<h3 class='subtitle'><em>Publish date: 2024-01-31</em></h3>"), "2024-01-31"),
        (page("<h3 class='subtitle'><em>出版日期： 2024-01-31</em></h3>"), "2024-01-31"),
        (page(end="<p>Last updated: 3 May 2021</p>"), "2021-05-03"),
        (page(end="<p>最后更新：2021年5月3日</p>"), "2021-05-03"),
    ],
)
@pytest.mark.parametrize("search", [True, False])
def test_a_date_that_a_page_states_of_itself_is_read(text, date, search):
    assert read_article(text, search=search).published == date


@pytest.mark.parametrize(
    "text",
    [
        page("<p class='releaseinfo'>Version 11.0</p>"),
        page("<p class='pubdate'>1993.</p>"),
        page("<p class='copyright'>Copyright 1996-2021 Ada Brook</p>"),
        page(end="<p>Last updated by Ada in May</p>"),
        page(end="<p>Updated from 3 May 2019 to 4 May 2021</p>"),
        page(body="<p>The gate was last updated: on 3 May 2021 it got new hinges of iron.</p>"),
        page(body="<p><span class='pubdate'>March 19, 2015</span> is in a bibliography.</p>"),
    ],
)
def test_other_dates_are_not_taken_for_it(text):
    assert read_article(text).published == ""
