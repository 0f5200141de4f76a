import pytest

from text.timestamps import to_iso_timestamp


@pytest.mark.parametrize(
    ("written", "read"),
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
    ],
)
def test_a_date_is_read_however_it_is_written(written: str, read: str):
    assert to_iso_timestamp(written) == read


@pytest.mark.parametrize(
    "written", ["", "yesterday", "5/8/2023", "31 February 2023", "2023-13-01", "9" * 13 + "9" * 300]
)
def test_what_cannot_be_told_for_certain_is_no_date(written: str):
    assert to_iso_timestamp(written) == ""
