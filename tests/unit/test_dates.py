import pytest

from tests.cases import each_case
from text.dates import find_dates, to_iso_timestamp


@each_case(
    [
        ("2023-05-08", "2023-05-08"),
        ("2023-05-08T13:56:00Z", "2023-05-08T13:56+00:00"),
        ("2023-05-08 13:56", "2023-05-08T13:56"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56"),
        ("12:05 am on 1 January, 2024", "2024-01-01T00:05"),
        ("8th of May 2023", "2023-05-08"),
        ("May 8, 2023 at 9:30 p.m.", "2023-05-08T21:30"),
        ("Sept. 3rd, 2021", "2021-09-03"),
        ("2023年5月8日 13:56", "2023-05-08T13:56"),
        ("2023/5/8", "2023-05-08"),
        ("1683554160", "2023-05-08T13:56+00:00"),
        ("1683554160000", "2023-05-08T13:56+00:00"),
        ("Mon, 8 May 2023 13:56:00 +0200", "2023-05-08T13:56+02:00"),
        ("08-May-2023", "2023-05-08"),
        ("20230508", "2023-05-08"),
        ("2023年5月8日 下午1:56", "2023-05-08T13:56"),
    ]
)
def test_a_date_is_read_however_it_is_written(written: str, read: str):
    assert to_iso_timestamp(written) == read


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "5/8/2023",
        "31 February 2023",
        "2023-13-01",
        "20231301",
        "9" * 13 + "9" * 300,
    ],
)
def test_what_cannot_be_told_for_certain_is_no_date(written: str):
    assert to_iso_timestamp(written) == ""


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("It opened on 3 Sept. 2021 and closed in May.", [(2021, 9, 3), (0, 5, 0)]),
        ("They may march on the 5th.", []),
        ("1955年12月13日，大会3502号草案；次年8月批准。", [(1955, 12, 13), (0, 8, 0)]),
        ("See 2021-03-04 and 2021-05.", [(2021, 3, 4), (2021, 5, 0)]),
        ("Built in 1975 for 1500 people.", [(1975, 0, 0)]),
    ],
)
def test_dates_in_a_sentence_are_found(text: str, dates: list[tuple[int, int, int]]):
    assert find_dates(text) == dates
