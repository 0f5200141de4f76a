"""Numbers with what they count."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from text.pluralization import pluralize
from tools.tables.answer_text import format_quantity

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("count", "words", "said"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (12_000, ("new page",), "12,000 new pages"),
        (1, ("call was", "calls were"), "1 call was"),
        (2, ("call was", "calls were"), "2 calls were"),
    ],
)
def test_one_thing_is_told_in_the_singular(count: int, words: tuple[str, ...], said: str):
    assert pluralize(count, *words) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        ("60000", "$", "$60,000"),
        ("-7.5", "€", "-€7.5"),
        ("1", "days", "1 day"),
        ("1", "Months", "1 Month"),
        ("2", "days", "2 days"),
        ("1", "kg", "1 kg"),
        ("1", "bps", "1 bps"),
        ("41", "%", "41 %"),
        ("41", "", "41"),
        ("60000", "USD", "60,000 USD"),
    ],
)
def test_a_value_has_its_unit_where_people_write_it(value: str, unit: str, said: str):
    assert format_quantity(Decimal(value), unit) == said


COUNTS = re.compile(
    r"\{(?:len\([^}]*|\w*count\w*|total|new|size)[^{}]*\} (?:new )?"
    r"(?:files|pages|facts|runs|rows|days|insights|reports|threads|calls|documents|changes)\b"
)


@pytest.mark.parametrize("room", ["app", "memory", "report", "tools", "runs"])
def test_no_message_writes_a_plural_behind_whatever_number_comes(room: str):
    found = [
        f"{file.name}: {line.strip()}"
        for file in (ROOT / room).rglob("*.py")
        for line in file.read_text("utf-8").splitlines()
        if COUNTS.search(line)
    ]

    # Of what is refused because there are too many, there are always several.
    assert [one for one in found if "too many" not in one] == []
