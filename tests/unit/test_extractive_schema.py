from typing import Literal

from pydantic import BaseModel, Field

from models.extractive.model import make_minimal_value


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
