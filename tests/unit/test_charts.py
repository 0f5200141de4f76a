"""Which tables are charted, what is left out of a chart, and what a chart says."""

from __future__ import annotations

import pytest
from lxml import etree

from report.pictures.charted_values import list_charted_values
from report.pictures.quantity_cells import is_missing_value, parse_cell
from report.pictures.report_pictures import draw_pictures
from report.pictures.report_tables import list_report_tables
from report.rendering.numbering import FIRST_DOUBT_MARK, NumberedText


def table(head: str, *rows: str) -> str:
    """Return a table in Markdown; cells are separated by `|`."""
    line = "|".join("---" for _ in head.split("|"))
    return "\n".join(f"|{one}|" for one in (head, line, *rows))


def chart(body: str) -> list[list[str]]:
    """Return the names of the columns of each chart of the only table of a text."""
    (only,) = list_report_tables(body)
    return [[one.name for one in values.series] for values in list_charted_values(only)]


def draw(body: str, language: str = "en"):
    return draw_pictures(NumberedText(body, [], [], []), list_report_tables(body), language)


def texts(svg: str) -> list[str]:
    root = etree.fromstring(svg.encode())
    return ["".join(one.itertext()) for one in root.iter("{*}text")]


CHARTED = {
    "counts": (table("City|Inhabitants", "A|120", "B|80", "C|95"), [["Inhabitants"]]),
    "thousands": (table("City|Homes", "A|1,200", "B|800", "C|12,950"), [["Homes"]]),
    "percent": (table("Party|Share", "A|31.5 %", "B|28 %", "C|9%"), [["Share"]]),
    "money": (table("Plan|Price", "Free|$0", "Pro|$12", "Team|$30"), [["Price"]]),
    "money per month": (
        table("Plan|Price", "A|$5 per month", "B|$12 per month", "C|$30 per month"),
        [["Price"]],
    ),
    "scales": (
        table("Firm|Revenue", "A|$1.2 billion", "B|$850 million", "C|$2bn"),
        [["Revenue"]],
    ),
    "one kind of unit": (table("Way|Length", "A|12 km", "B|900 m", "C|3.5 km"), [["Length"]]),
    "unit in the head": (table("Peak|Height (m)", "A|8849", "B|8611", "C|8586"), [["Height (m)"]]),
    "two columns": (
        table("Model|2023 (%)|2024 (%)", "A|71|78", "B|74|81", "C|60|70"),
        [["2023 (%)", "2024 (%)"]],
    ),
    "years as heads": (table("City|2010|2020", "A|10|12", "B|8|9", "C|5|7"), [["2010", "2020"]]),
    "two units": (
        table("City|Area (km²)|Homes", "A|120|1200", "B|80|800", "C|95|5"),
        [["Area (km²)"], ["Homes"]],
    ),
    "two sizes": (
        table("Firm|Price ($)|Revenue ($)", "A|12|120000", "B|8|90000", "C|9|50000"),
        [["Price ($)"], ["Revenue ($)"]],
    ),
    "words beside": (
        table("City|Homes|Mayor", "A|120|Ann", "B|80|Bob", "C|95|Cyd"),
        [["Homes"]],
    ),
    "one missing": (table("City|Homes", "A|120", "B|n/a", "C|95", "D|60"), [["Homes"]]),
    "negative": (table("City|Balance (%)", "A|-12", "B|−3.5", "C|5"), [["Balance (%)"]]),
    "about": (table("City|Homes", "A|about 120", "B|~80", "C|95"), [["Homes"]]),
    "ratings": (table("Film|Rating", "A|4.5/5", "B|3.9/5", "C|4.1/5"), [["Rating"]]),
    "a rank before": (
        table("Rank|City|Homes", "1|A|120", "2|B|80", "3|C|60"),
        [["Homes"]],
    ),
    "remark": (table("City|Homes", "A|120 (estimate)", "B|80", "C|95"), [["Homes"]]),
    "over time": (table("Year|Members", "1990|1200", "2000|1450", "2010|1700"), [["Members"]]),
    "months": (
        table("Month|Visits", "May 2020|120", "June 2020|90", "July 2020|200"),
        [["Visits"]],
    ),
    "number of": (
        table("City|Number of years open", "A|12", "B|30", "C|41"),
        [["Number of years open"]],
    ),
    "time that something took": (
        table("Runner|Time", "A|12.5 s", "B|13.1 s", "C|12.9 s"),
        [["Time"]],
    ),
    "Chinese counts": (table("城市|人口", "甲|120", "乙|80", "丙|95"), [["人口"]]),
    "Chinese scales": (table("城市|人口", "甲|2,487 万", "乙|1.2 亿", "丙|900 万"), [["人口"]]),
    "Chinese units": (
        table("省份|产量", "甲|7868 万吨", "乙|6544 万吨", "丙|5501 万吨"),
        [["产量"]],
    ),
    "Chinese unit in the head": (
        table("城市|面积（平方公里）", "甲|6340", "乙|16410", "丙|1997"),
        [["面积（平方公里）"]],
    ),
    "Chinese years": (
        table("年份|产值（亿元）", "2019年|12", "2020年|15", "2021年|19"),
        [["产值（亿元）"]],
    ),
    "Chinese missing": (table("城市|人口", "甲|120", "乙|暂无", "丙|95", "丁|50"), [["人口"]]),
    "Chinese about": (
        table("城市|人口", "甲|约 120 万人", "乙|80 万人", "丙|95 万人左右"),
        [["人口"]],
    ),
}
NOT_CHARTED = {
    "two rows": table("City|Homes", "A|120", "B|80"),
    "words": table("City|Mayor", "A|Ann", "B|Bob", "C|Cyd"),
    "all equal": table("City|Homes", "A|120", "B|120", "C|120"),
    "ranks": table("City|Rank", "A|1", "B|2", "C|3"),
    "ranks by another name": table("City|Standing", "A|2", "B|1", "C|3"),
    "years as values": table("Firm|Founded", "A|1998", "B|2004", "C|1976"),
    "years without a telling head": table("Firm|Start", "A|1998", "B|2004", "C|1976"),
    "dates": table("Firm|Start", "A|1998-02-01", "B|2004-03-01", "C|1976-01-01"),
    "versions": table("Tool|Version", "A|3.11", "B|3.12", "C|2.7"),
    "mixed units": table("Part|Size", "A|12 km", "B|80 kg", "C|95 m"),
    "mixed currencies": table("Plan|Price", "A|$12", "B|€80", "C|$95"),
    "ranges": table("City|Homes", "A|100–120", "B|80–90", "C|95–99"),
    "bounds": table("City|Homes", "A|over 120", "B|80+", "C|95 or more"),
    "one word among numbers": table("City|Homes", "A|120", "B|many", "C|95", "D|70"),
    "none is no missing value": table("City|Homes", "A|120", "B|none", "C|95", "D|70"),
    "most are missing": table("City|Homes", "A|120", "B|n/a", "C|—", "D|70"),
    "properties": table("Metric|Value", "Height|120", "Weight|80", "Age|95"),
    "properties with one unit": table("Metric|Cost", "Rent|$120", "Wage|$80", "Tax|$95"),
    "what is measured is not said": table("City|Value", "A|120", "B|80", "C|95"),
    "one dwarfs all": table("City|Homes", "A|1,000,000", "B|80", "C|95", "D|70"),
    "labels twice": table("City|Homes", "A|120", "A|80", "B|95"),
    "a year several times": table("Year|Homes", "2019|120", "2019|80", "2020|95"),
    "coordinates": table("City|Latitude", "A|52.1", "B|48.9", "C|51.5"),
    "parts and a total only": table("City|Homes", "A|120", "B|80", "Total|200"),
    "dates of several kinds": table("When|Homes", "1969|3", "January 1969|5", "1969-01-01|9"),
    "too many rows": table("City|Homes", *(f"City {at}|{at * at}" for at in range(2, 50))),
    "page numbers": table("Topic|Page", "A|12", "B|80", "C|95"),
    "identifiers": table("Item|ID", "A|5512", "B|5980", "C|7781"),
    "no head": "|A|120|\n|B|80|\n|C|95|",
    "metres or millions": table("City|Value", "A|5m", "B|8m", "C|9m"),
    "before and after": table("Step|Before|After", "A|120|80", "B|70|60", "C|95|90"),
    "rows that may differ in unit": table("|2019|2020", "Homes|120|80", "Cost|70|60", "Age|95|90"),
    "rows that differ in unit": table("What|2019|2020", "Size (km²)|12|8", "B ($)|7|6", "C|9|9"),
    "Chinese before and after": table("环节|之前|之后", "甲|120|80", "乙|70|60", "丙|95|90"),
    "Chinese ranks": table("城市|排名", "甲|1", "乙|2", "丙|3"),
    "Chinese years as values": table("公司|成立年份", "甲|1998", "乙|2004", "丙|1976"),
    "Chinese properties": table("指标|数值", "高度|120", "重量|80", "年龄|95"),
    "Chinese bounds": table("城市|人口", "甲|120 万以上", "乙|不到 80 万", "丙|95 万"),
    "Chinese ranges": table("城市|气温", "甲|5 至 10", "乙|3 至 8", "丙|1 至 4"),
    "Chinese total only": table("城市|人口", "甲|120", "乙|80", "合计|200"),
}


@pytest.mark.parametrize("name", CHARTED)
def test_a_table_with_comparable_numbers_is_charted(name: str):
    body, columns = CHARTED[name]
    assert chart(body) == columns


@pytest.mark.parametrize("name", NOT_CHARTED)
def test_a_table_of_which_a_chart_would_mislead_or_say_nothing_is_not(name: str):
    body = NOT_CHARTED[name]
    assert [chart(body) for _ in list_report_tables(body)] in ([], [[]])


@pytest.mark.parametrize(
    ("cell", "number", "unit"),
    [
        ("1,234.5", 1234.5, ""),
        ("$1.2bn", 1.2e9, "$"),
        ("$5m", 5e6, "$"),
        ("US$ 3 million", 3e6, "$"),
        ("3千万", 3e7, ""),
        ("1.5 亿元", 1.5e8, "cny"),
        ("5 m", 5, "length"),
        ("3 km", 3000, "length"),
        ("12 %", 12, "%"),
        ("12 percent", 12, "%"),
        ("−3.4", -3.4, ""),
        ("１２", 12, ""),
    ],
)
def test_a_cell_is_a_number_with_its_scale_and_its_unit(cell: str, number: float, unit: str):
    value = parse_cell(cell)
    assert value is not None
    assert (value.number, value.unit, value.written) == (pytest.approx(number), unit, cell)


@pytest.mark.parametrize(
    "cell", ["10–12", "2019-05-03", "12:30", "3.11.2", "93,5", "5+", ">100", "3 of 5", "5m", "=1+1"]
)
def test_a_cell_that_is_no_single_amount_is_no_value(cell: str):
    assert parse_cell(cell) is None


@pytest.mark.parametrize("cell", ["", "—", "n/a", "no data", "not reported", "暂无数据", "未公布"])
def test_a_cell_may_say_that_there_is_no_value(cell: str):
    assert is_missing_value(cell)


@pytest.mark.parametrize("cell", ["0", "none", "无", "12"])
def test_zero_and_what_may_mean_zero_is_not_missing(cell: str):
    assert not is_missing_value(cell)


def test_a_missing_value_is_named_and_has_no_bar():
    (picture,) = draw(table("City|Homes", "A|120", "B|n/a", "C|95", "D|0"))
    assert picture.svg.count("<rect") == 3
    assert "no value" in texts(picture.svg)
    assert "No value for B." in picture.caption


def test_bars_begin_at_zero_and_are_as_long_as_their_values():
    (picture,) = draw(table("City|Homes", "A|100", "B|50", "C|-50"))
    root = etree.fromstring(picture.svg.encode())
    bars = [(float(one.get("x")), float(one.get("width"))) for one in root.iter("{*}rect")]
    zero = float(next(root.iter("{*}line")).get("x1"))
    assert [start for start, _ in bars[:2]] == [zero, zero]
    assert bars[2][0] + bars[2][1] == pytest.approx(zero, abs=0.2)
    assert bars[0][1] == pytest.approx(2 * bars[1][1], abs=0.3)


def test_a_total_is_left_out_and_named():
    (picture,) = draw(table("City|Homes", "A|120", "B|80", "C|95", "Total|295"))
    assert "Left out: Total." in picture.caption
    assert "295" not in " ".join(texts(picture.svg))


def test_the_values_are_written_as_the_table_has_them_with_the_table_named():
    (picture,) = draw(
        "## 产量\n\n" + table("省份|产量", "甲|7868 万吨", "乙|6544 万吨", "丙|99 万吨"), "zh"
    )
    assert {"7868 万吨", "6544 万吨", "99 万吨"} <= {*texts(picture.svg)}
    assert picture.caption == "条形图：各省份的产量。根据“产量”中的表格绘制。"


def test_values_over_time_are_a_line_in_the_order_of_time_broken_where_one_is_missing():
    rows = ("2003|130", "2001|100", "2002|n/a", "2000|90", "2004|120")
    (picture,) = draw(table("Year|Members", *rows))
    assert picture.kind == "lines"
    root = etree.fromstring(picture.svg.encode())
    lines = [one for one in root.iter("{*}line") if one.get("class") == "line"]
    assert len(lines) == 2
    dates = [one for one in texts(picture.svg) if one.startswith("200")]
    assert dates == ["2000", "2001", "2002", "2003", "2004"]
    assert "No value for 2002." in picture.caption


@pytest.mark.parametrize(
    ("values", "start"), [((100, 160, 240), ""), ((9000, 9200, 9150), "The axis begins at 8,")]
)
def test_an_axis_of_lines_that_does_not_begin_at_zero_says_so(values: tuple[int, ...], start: str):
    rows = (f"{year}|{value}" for year, value in zip((2001, 2002, 2005), values, strict=True))
    (picture,) = draw(table("Year|Members", *rows))
    assert ("The axis begins" in picture.caption) == bool(start)
    assert start in picture.caption
    assert ("0" in texts(picture.svg)) != bool(start)


def test_lines_of_several_columns_differ_in_more_than_colour():
    rows = ("2001|12|6|9", "2002|14|7|3", "2003|11|9|4")
    (picture,) = draw(table("Year|A (%)|B (%)|C (%)", *rows))
    root = etree.fromstring(picture.svg.encode())
    dashes = {one.get("stroke-dasharray") for one in root.iter("{*}line") if one.get("class")}
    assert len(dashes) == 3
    assert {"A (%)", "B (%)", "C (%)"} <= {*texts(picture.svg)}


def test_many_rows_are_charted_with_fewer_columns():
    rows = (f"City {at}|{at + 20}|{at + 30}|{at + 40}" for at in range(18))
    assert chart(table("City|2019 (%)|2020 (%)|2021 (%)", *rows)) == [
        ["2019 (%)", "2020 (%)"],
        ["2021 (%)"],
    ]


def test_a_row_in_doubt_is_marked_in_the_chart():
    (picture,) = draw(table("City|Homes", "A|120", f"B|80{chr(FIRST_DOUBT_MARK)}", "C|95"))
    assert [one for one in texts(picture.svg) if "⚠" in one] == ["⚠ B"]


def test_a_long_label_is_cut_and_stands_whole_in_the_title():
    name = "The very long name of a city that nobody has ever spelt without a mistake in it " * 2
    (picture,) = draw(table("City|Homes", f"{name}|120", "B|80", "C|95"))
    root = etree.fromstring(picture.svg.encode())
    titles = ["".join(one.itertext()) for one in root.iter("{*}title")]
    assert any(" ".join(name.split()) in one for one in titles)
    assert any(one.endswith("…") for one in texts(picture.svg))
