"""The titles of computed results are read back as the queries that they name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.test_table_query import has, query
from tests.unit.test_table_questions import LIGHTS
from tests.unit.test_tables import table
from tools.tables.answer_text import render_query_title, render_table_answer
from tools.tables.query import compute_query, parse_model_query
from tools.tables.titled_queries import parse_query_title

TABLE = table(LIGHTS, "lights.csv")

QUERIES: list[dict[str, Any]] = [
    {"operation": "total", "column": "budget", "group_by": "coast"},
    {"operation": "average", "column": "range nm"},
    {"operation": "median", "column": "range nm", "filters": [has("coast", "equal", "north")]},
    {"operation": "min", "column": "lit"},
    {"operation": "max", "column": "budget", "filters": [has("lit", ">=", "1901-01-01")]},
    {"operation": "count", "filters": [has("coast", "equal", "north", "WEST")]},
    {"operation": "count", "filters": [has("lit-again", "filled"), has("coast", "contains", "o")]},
    {"operation": "distinct", "column": "coast"},
    {"operation": "list", "filters": [has("budget", "<", "12,000"), has("lit-again", "empty")]},
    {"operation": "lookup", "column": "budget", "filters": [has("coast", "not_equal", "north")]},
]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("given", QUERIES)
def test_a_title_names_its_query(given: dict[str, Any], language: str):
    asked = parse_model_query(query(**given), [TABLE], chinese=language == "zh")
    title = render_query_title(asked, language)

    found = parse_query_title(title, TABLE)
    assert found
    assert found.language == language
    again, first = compute_query(found.query), compute_query(asked)
    assert render_table_answer(again, language) == render_table_answer(first, language)


@pytest.mark.parametrize(
    "title",
    [
        "lights.csv, computed: total of height",
        "other.csv, computed: total of budget",
        "lights.csv, computed: total of budget where coast",
        "lights.csv, computed: total of budget where budget > 9999-99-99",
        "lights.csv, computed: share of rows where coast = “north”",
        "lights.csv",
        "",
    ],
)
def test_a_title_that_does_not_tell_its_query_names_none(title: str):
    assert parse_query_title(title, TABLE) is None
