"""Which lists, tables and texts are timelines, and how dated events are placed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from lxml import etree

from report.pictures.dated_events import EventSequence, list_event_sequences
from report.pictures.leading_dates import read_leading_date
from report.pictures.report_pictures import draw_pictures
from report.pictures.report_tables import list_report_tables
from report.rendering.numbering import FIRST_DOUBT_MARK, NumberedText


def items(*lines: str) -> str:
    return "\n".join(f"- {one}" for one in lines)


def list_sequences(body: str) -> list[EventSequence]:
    return list_event_sequences(body, list_report_tables(body))


def years(body: str) -> list[list[int]]:
    """Return the years of the events of each timeline."""
    return [[one.date.first.year for one in found.events] for found in list_sequences(body)]


def draw(body: str, language: str = "en"):
    return draw_pictures(NumberedText(body, [], [], []), list_report_tables(body), language)


def list_dots(svg: str) -> list[float]:
    root = etree.fromstring(svg.encode())
    return [float(one.get("cy")) for one in root.iter("{*}circle")]


TABLE = "| {} | {} |\n|---|---|\n" + "\n".join(
    f"| {year} | It was so {year} |" for year in range(1990, 1994)
)
TIMELINES = {
    "years": items("1957: One flies", "1961: Two fly", "1969: They land", "1971: They stay"),
    "dashes": items("1957 – One flies", "1961 — Two fly", "1969 - They land", "1971 – They stay"),
    "bold": items(*(f"**{year}**: It flies" for year in (1957, 1961, 1969, 1971))),
    "whole dates": items(
        "4 October 1957: One flies",
        "12 April 1961: Two fly",
        "July 20, 1969: Land",
        "1971-04-19: Stay",
    ),
    "in": items(*(f"In {year}, it flew" for year in (1957, 1961, 1969, 1971))),
    "on": items(*(f"On 3 May {year} it flew" for year in (1957, 1961, 1969, 1971))),
    "months": items(*(f"{month} 2020: It grows" for month in ("March", "April", "May", "June"))),
    "parts of years": items(*(f"In early {year}, it flew" for year in (1957, 1961, 1969, 1971))),
    "ranges": items("1939–1945: War", "1950 to 1953: War", "1955-75: War", "2001–present: War"),
    "ranges of days": items(
        "16–24 July 1969: A flight",
        "May 3–5, 1970: A flight",
        "1 June – 3 July 1971: A flight",
        "1972: End",
    ),
    "numbered": "1. 1957: Up\n2. 1961: Up\n3. 1969: Up\n4. 1971: Up",
    "loose list": "\n\n".join(f"- {year}: It flies" for year in (1957, 1961, 1969, 1971)),
    "cited": items(*(f"{year}: It flies [S1]." for year in (1957, 1961, 1969, 1971))),
    "falling": items(*(f"{year}: It flies" for year in (1971, 1969, 1961, 1957))),
    "two in a year": items(*(f"{year}: It flies" for year in (1957, 1961, 1961, 1969, 1971))),
    "more words": items(*(f"{year}: It flies. And lands." for year in (1957, 1961, 1969, 1971))),
    "nested": "- 1957: Up\n  - and down\n- 1961: Up\n- 1969: Up\n- 1971: Up",
    "table": TABLE.format("Year", "Event"),
    "table of dates": TABLE.format("Date", "What"),
    "text": "In 1957, one flew. In 1961, two flew. On 3 May 1969 it landed. In 1971, it stayed.",
    "text with more": "In 1957, one flew. It was round. In 1961, two flew. In 1969, it landed. "
    "In 1971, it ended.",
    "paragraphs": "\n\n".join(f"In {year}, it flew." for year in (1957, 1961, 1969, 1971)),
    "Chinese years": items(*(f"{year}年：首次飞行" for year in (1957, 1961, 1969, 1971))),
    "Chinese dates": items(*(f"{year}年7月20日，飞船着陆" for year in (1957, 1961, 1969, 1971))),
    "Chinese in": items(*(f"于{year}年7月着陆" for year in (1957, 1961, 1969, 1971))),
    "Chinese parts": items(*(f"{year}年底，项目结束" for year in (1957, 1961, 1969, 1971))),
    "Chinese ranges": items(
        "1939年至1945年：战争", "1950年至1953年：战争", "1955年—1975年：战争", "1979年：战争"
    ),
    "Chinese ranges of days": items(
        *(f"{year}年7月16日至24日：飞行" for year in (1969, 1970, 1971, 1972))
    ),
    "Chinese table": TABLE.format("年份", "事件"),
    "Chinese text": "1957年，卫星升空。1961年，飞船升空。1969年，飞船登月。1971年，空间站升空。",
}
NO_TIMELINES = {
    "three events": items("1957: One flies", "1961: Two fly", "1969: They land"),
    "one date again and again": items(*(f"1969: Thing {at} flies" for at in range(6))),
    "few dates": items(
        "1969: A b", "1969: B c", "1969: C d", "1970: D e", "1971: E f", "1969: F g", "1969: G h"
    ),
    "an entry without a date": items("1957: Up", "1961: Up", "Then: up", "1969: Up", "1971: Up"),
    "dates inside": items(*(f"It flew in {year}" for year in (1957, 1961, 1969, 1971))),
    "by and since": items(*(f"Since {year}, it flies" for year in (1957, 1961, 1969, 1971))),
    "no years": items("March 3: Up", "March 5: Up", "April 1: Up", "May 2: Up"),
    "decades": items(*(f"{year}s: Up they go" for year in (1950, 1960, 1970, 1980))),
    "before Christ": items(*(f"{year} BC: Up they go" for year in (1200, 1100, 1050, 1010))),
    "amounts": items(*(f"{year} people came" for year in (1500, 1600, 1700, 1800))),
    "percent": items(*(f"{year}%: of all" for year in (1500, 1600, 1700, 1800))),
    "values": items(*(f"{year}: {year * 3}" for year in (1957, 1961, 1969, 1971))),
    "values with units": items(*(f"{year}: 12.{year} %" for year in (1957, 1961, 1969, 1971))),
    "sources": "## Sources\n\n" + items(*(f"{year}: A book" for year in (1957, 1961, 1969, 1971))),
    "further reading": "## Further reading\n\n"
    + items(*(f"{year}: A book" for year in (1957, 1961, 1969, 1971))),
    "when it was read": items(
        *(f"{year}: accessed from the site" for year in (1957, 1961, 1969, 1971))
    ),
    "papers": items(*(f"{year}: Smith et al. on bees" for year in (1957, 1961, 1969, 1971))),
    "publication dates in a table": TABLE.format("Publication date", "Title"),
    "updates in a table": TABLE.format("Last updated", "Title"),
    "a table of years that are no dates": TABLE.format("Size", "Event"),
    "measured values in a table": "| Year | Homes |\n|---|---|\n| 1990 | 1 |\n"
    "| 1991 | 5 |\n| 1992 | 7 |\n| 1993 | 9 |",
    "a text with few dates": "In 1957, one flew. It was round and small. It was heard. "
    "In 1961, two flew. They were happy. In 1969, it landed. "
    "It was grey there. In 1971, it stayed. It was cold.",
    "a text that jumps": "In 1971, it stayed. In 1957, one flew. "
    "In 1969, it landed. In 1961, two flew.",
    "an assessment": "## Assessment\n\n"
    + items(*(f"{year}: Up it goes" for year in (1957, 1961, 1969, 1971))),
    "too many": items(*(f"{year}: It flies" for year in range(1950, 1990))),
    "code": "```\n"
    + items(*(f"{year}: Up it goes" for year in (1957, 1961, 1969, 1971)))
    + "\n```",
    "Chinese sources": "## 参考文献\n\n"
    + items(*(f"{year}年：一本书" for year in (1957, 1961, 1969, 1971))),
    "Chinese access": items(*(f"{year}年7月20日：访问于网站" for year in (1957, 1961, 1969, 1971))),
    "Chinese no years": items("3月3日：启动", "3月5日：启动", "4月1日：启动", "5月2日：启动"),
    "Chinese before Christ": items(*(f"公元前{year}年：建国" for year in (1046, 1021, 1001, 1010))),
    "Chinese update table": TABLE.format("更新日期", "标题"),
    "Chinese one date": items(*(f"1969年：第{at}艘飞船升空" for at in range(6))),
}


@pytest.mark.parametrize("name", TIMELINES)
def test_a_sequence_of_dated_events_is_a_timeline(name: str):
    (found,) = years(TIMELINES[name])
    assert len(found) >= 4
    assert found == sorted(found)


@pytest.mark.parametrize("name", NO_TIMELINES)
def test_what_is_no_sequence_of_events_is_no_timeline(name: str):
    assert years(NO_TIMELINES[name]) == []


@pytest.mark.parametrize(
    ("text", "written", "first", "last"),
    [
        ("1969: x", "1969", (1969, 0, 0), (1969, 0, 0)),
        ("16–24 July 1969: x", "16–24 July 1969", (1969, 7, 16), (1969, 7, 24)),
        ("1939-45: War", "1939-45", (1939, 0, 0), (1945, 0, 0)),
        ("1 May – 3 June 2020: x", "1 May – 3 June 2020", (2020, 5, 1), (2020, 6, 3)),
        ("在 1969 年 7 月 20 日登月", "1969 年 7 月 20 日", (1969, 7, 20), (1969, 7, 20)),
        ("2015年至今：x", "2015年至今", (2015, 0, 0), (2015, 0, 0)),
        ("2020年底：x", "2020年底", (2020, 0, 0), (2020, 0, 0)),
    ],
)
def test_a_range_is_one_date_as_it_is_written(text: str, written: str, first, last):
    date = read_leading_date(text)
    assert date is not None
    assert (date.written, tuple(date.first), tuple(date.last)) == (written, first, last)


def test_events_at_even_distances_are_drawn_to_scale():
    (picture,) = draw(items(*(f"{year}: It flies" for year in (1960, 1970, 1990, 2000))))
    dots = list_dots(picture.svg)
    gaps = [after - before for before, after in pairwise(dots)]
    assert gaps[1] == pytest.approx(2 * gaps[0], rel=0.01)
    assert "The distances are to scale." in picture.caption


@pytest.mark.parametrize("dates", [(1500, 1990, 1991, 1992), (1969, 1969, 1970, 1971, 1980)])
def test_events_at_wildly_different_distances_are_in_order_and_say_so(dates: tuple[int, ...]):
    (picture,) = draw(items(*(f"{year}: It flies" for year in dates)))
    dots = list_dots(picture.svg)
    assert dots == sorted(dots)
    assert "not to scale" in picture.caption
    assert "stroke-dasharray" in picture.svg


def test_a_year_and_a_month_of_it_stay_in_the_order_of_the_text():
    body = items("1968: A flies", "1969: B flies", "May 1969: C flies", "1971: D flies")
    (found,) = list_sequences(body)
    assert [one.text.words[0] for one in found.events] == ["A", "B", "C", "D"]


def test_an_event_in_doubt_or_concluded_is_marked():
    doubt = chr(FIRST_DOUBT_MARK)
    body = items(f"1957: Up it goes{doubt}", "1961: \ue005Up it goes\ue006", "1969: Up", "1971: Up")
    (picture,) = draw(body)
    assert picture.svg.count("⚠") == 2  # in the words and in the title
    assert "Inference: Up it goes" in picture.svg


def test_a_text_that_repeats_a_list_has_no_timeline_of_its_own():
    dates = (1957, 1961, 1969, 1971)
    body = items(*(f"{year}: It flies" for year in dates))
    text = " ".join(f"In {year}, it flew." for year in dates)
    assert len(years(f"{body}\n\n## More\n\n{text}")) == 1
