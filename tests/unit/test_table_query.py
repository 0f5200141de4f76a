"""Queries that a model writes over tables: what is run, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from tests.cases import each_case
from tests.unit.test_table_questions import LIGHTS
from tests.unit.test_tables import table
from tools.tables import answer_text
from tools.tables.query import (
    QueryUnfit,
    TableQuery,
    compute_query,
    describe_table,
    parse_model_query,
)


def query(**given: Any) -> TableQuery:
    return TableQuery.model_validate({"asked": "?", "table": "lights.csv", **given})


def run(**given: Any):
    return compute_query(
        parse_model_query(query(**given), [table(LIGHTS, "lights.csv")], chinese=False)
    )


def has(column: str, sign: str, *values: str) -> dict[str, object]:
    return {"column": column, "is": sign, "values": list(values)}


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"operation": "count", "filters": [has("lit-again", "filled")]}, 2),
        ({"operation": "count", "filters": [has("lit", ">=", "1901-01-01")]}, 3),
        ({"operation": "count", "filters": [has("coast", "equal", "north", "WEST")]}, 3),
        (
            {"operation": "total", "column": "budget", "filters": [has("budget", "<", "1,000")]},
            1600,
        ),
        ({"operation": "max", "column": "lit", "until": "dark", "unit": "years"}, 139),
        (
            {"operation": "average", "column": "number", "until": "range nm", "unit": "difference"},
            12,
        ),
        ({"operation": "total", "column": "range nm", "group_by": "coast", "groups": "max"}, 30),
    ],
)
def test_a_query_is_computed(given: dict[str, object], value: int):
    found = run(**given).value
    assert isinstance(found, Decimal)
    assert round(found) == value


def test_an_answer_shows_the_query_that_was_run():
    found = run(operation="count", filters=[has("keeper", "contains", "Moe"), has("dark", "empty")])

    assert "keeper contains “Moe” and dark empty" in answer_text.render_table_answer(found, "en")


@each_case(
    [
        {"operation": "count", "table": "ships.csv"},
        {"operation": "total", "column": "height"},
        {"operation": "total"},
        {"operation": "average", "column": "coast"},
        {"operation": "max", "column": "light"},
        {"operation": "share"},
        {"operation": "count", "column": "coast"},
        {"operation": "max", "column": "lit", "until": "range nm"},
        {"operation": "count", "filters": [has("coast", "equal", "East")]},
        {"operation": "count", "filters": [has("range nm", ">", "wide")]},
        {"operation": "count", "filters": [has("lit", "<", "once")]},
        {"operation": "count", "filters": [has("coast", "equal")]},
        {"operation": "count", "group_by": "sea"},
    ]
)
def test_a_query_with_what_the_table_has_not_is_refused(given: dict[str, object]):
    with pytest.raises(QueryUnfit):
        run(**given)


def test_all_rows_differ_from_a_value_that_does_not_occur_unless_it_is_misspelt():
    assert run(operation="count", filters=[has("coast", "not_equal", "TOTAL")]).value == 5
    for value in ("Nort", "North coast"):
        with pytest.raises(QueryUnfit):
            run(operation="count", filters=[has("coast", "not_equal", value)])


def test_an_unknown_operation_or_comparison_is_no_query():
    with pytest.raises(ValidationError):
        query(operation="forecast")
    with pytest.raises(ValidationError):
        query(operation="count", filters=[has("coast", "resembles", "North")])


def test_a_model_is_shown_names_kinds_and_a_few_values():
    shown = describe_table(table(LIGHTS, "lights.csv")).splitlines()

    assert shown[0] == "5 rows"
    assert "- coast (text, 0 empty): North, South, West" in shown
    assert "- dark (date, 1 empty): 1990-06-01, 1970-01-01, 1951-03-10, 1943-02-02" in shown


@pytest.mark.parametrize("more", [{}, {"top": 3}])
def test_a_list_with_a_column_is_its_values_row_by_row(more: dict[str, object]):
    found = run(operation="list", column="budget", filters=[has("coast", "equal", "North")], **more)

    assert "- Skerry: €1,200\n- Horn: €900\n" in answer_text.render_table_answer(found, "en")
