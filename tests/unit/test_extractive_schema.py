import json
from typing import Literal

from pydantic import BaseModel, Field

from models.extractive.model import ExtractiveChatModel
from models.extractive.query_rewriting import triage_message
from models.extractive.schema_answers import (
    declared_answers,
    extractive_answer,
    make_minimal_value,
)
from nodes.checker import Checks
from nodes.coordinator import Triage


class Inner(BaseModel):
    words: list[str]


class Odd(BaseModel):
    number: int
    share: float = Field(ge=0.5)
    name: str = Field(min_length=3)
    kind: Literal["b", "a"]
    inner: Inner
    inners: list[Inner] = Field(min_length=1)
    either: int | str
    nothing: str | None
    flag: bool
    table: dict[str, int]
    usual: str = "left out"


def test_every_value_is_the_emptiest_that_the_schema_allows():
    filled = make_minimal_value(Odd.model_json_schema())

    assert Odd.model_validate(filled).usual == "left out"
    assert filled == {
        "number": 0,
        "share": 0.5,
        "name": "---",
        "kind": "b",
        "inner": {"words": []},
        "inners": [{"words": []}],
        "either": 0,
        "nothing": None,
        "flag": False,
        "table": {},
    }


def test_a_default_is_used_where_a_property_is_required():
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"default": 7}}}

    assert make_minimal_value(schema) == {"a": 7}


def test_a_bound_is_kept():
    assert make_minimal_value({"type": "integer", "minimum": 3}) == 3
    assert make_minimal_value({"type": "integer", "maximum": -2}) == -2
    assert make_minimal_value({"type": "integer", "exclusiveMinimum": 0}) == 1
    assert make_minimal_value({"type": ["string", "null"]}) is None


class Renamed(Triage):
    """A schema that was `Triage` before somebody gave it a better name."""


def answer(model: ExtractiveChatModel, schema: type[BaseModel]) -> dict[str, object]:
    named = {"name": schema.__name__, "schema": schema.model_json_schema()}
    form = {"type": "json_schema", "json_schema": named}
    return json.loads(model.bind(response_format=form).invoke("What is HNSW?").text)


def test_a_schema_is_answered_by_what_it_declares_whatever_its_name():
    assert answer(ExtractiveChatModel(), Triage)["research"] is True
    assert answer(ExtractiveChatModel(answers={Renamed: triage_message}), Renamed)["research"]


def test_a_schema_that_declares_nothing_gets_the_emptiest_values():
    assert Checks not in declared_answers()
    assert answer(ExtractiveChatModel(), Checks) == {"verdicts": []}
    assert answer(ExtractiveChatModel(answers={}), Triage) == {"research": False}


def test_a_schema_declares_its_answer_where_it_is_defined():
    @extractive_answer(lambda prompt: {"words": [prompt.last_message]})
    class Echo(Inner):
        """A schema of this test."""

    assert answer(ExtractiveChatModel(), Echo) == {"words": ["What is HNSW?"]}
