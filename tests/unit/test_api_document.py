"""The OpenAPI document of the API is whole, and fits the one of LangGraph's server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from app.api.application import make_api


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return make_api().openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_reference_leads_somewhere(document: dict[str, Any]):
    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        for one in value.values() if isinstance(value, dict) else value:
            if isinstance(one, dict | list):
                yield from references(one)

    named = set(references(document))
    schemas = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert named
    assert named <= schemas


def test_every_operation_says_what_it_does_and_how_it_is_refused(document: dict[str, Any]):
    for name, operation in operations(document):
        assert operation["summary"], name
        assert operation["tags"], name
        refused = operation["responses"].get("422", {})
        assert "application/problem+json" in refused.get("content", {}), name


def test_every_parameter_is_described(document: dict[str, Any]):
    for name, operation in operations(document):
        for parameter in operation.get("parameters", []):
            said = parameter.get("description") or parameter["schema"].get("description")
            assert said, f"{name}: {parameter['name']}"


def test_no_form_or_path_is_taken_from_langgraphs_server(document: dict[str, Any]):
    from langgraph_api.validation import openapi as theirs  # noqa: PLC0415

    schemas = document["components"]["schemas"]
    assert not schemas.keys() & theirs["components"]["schemas"].keys()
    assert not document["paths"].keys() & theirs["paths"].keys()
    assert json.dumps(document)


def test_langgraphs_server_can_put_its_login_around_every_route():
    assert all(isinstance(route, APIRoute) for route in make_api().routes)
