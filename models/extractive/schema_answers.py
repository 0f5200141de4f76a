"""Fill the schema that a prompt asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

# What only declares a schema, such as a look into the memory, parses no prompt.
if TYPE_CHECKING:
    from models.extractive.prompt_parser import ParsedPrompt

SchemaAnswer = Callable[["ParsedPrompt"], dict[str, Any]]
"""Returns the fields of an answer to a prompt."""

_Schema = TypeVar("_Schema", bound=type[BaseModel])

_declared: dict[type[BaseModel], SchemaAnswer] = {}


def extractive_answer(answer: SchemaAnswer) -> Callable[[_Schema], _Schema]:
    """Declare, as a decorator of a schema, how the extractive model answers it."""

    def declare(schema: _Schema) -> _Schema:
        _declared[schema] = answer
        return schema

    return declare


def declared_answers() -> Mapping[type[BaseModel], SchemaAnswer]:
    """Return the answers of all schemas that are imported by now."""
    return _declared


def requested_schema(form: Any) -> tuple[str, Mapping[str, Any]] | None:
    """Return the name and the JSON schema that a `response_format` asks for, if it does."""
    if isinstance(form, type) and issubclass(form, BaseModel):
        return form.__name__, form.model_json_schema()
    if not isinstance(form, Mapping) or form.get("type") == "text":
        return None
    form = form.get("json_schema", form)
    schema = form.get("schema", {})
    return form.get("name") or schema.get("title", ""), schema


def make_minimal_value(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return the emptiest value that fits a JSON schema: its default, null, "", 0, false, [] or {}.

    Of an object only the required properties are filled. `root` holds the definitions that a
    `$ref` points to.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return make_minimal_value(_definition(schema["$ref"], root), root)
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        null = any(choice.get("type") == "null" for choice in choices)
        return None if null else make_minimal_value(choices[0], root)
    return _minimal_of_type(schema, root)


def _minimal_of_type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = ("null" if "null" in kind else kind[0]) if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: make_minimal_value(properties.get(name, {}), root)
            for name in schema.get("required", [])
        }
    if kind == "array":
        items = schema.get("items", {})
        return [make_minimal_value(items, root) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return "-" * schema.get("minLength", 0)
    if kind in ("integer", "number"):
        return _nearest_to_zero(schema)
    return False if kind == "boolean" else None


def _nearest_to_zero(schema: Mapping[str, Any]) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", math.inf) - 1)
    nearest: float = min(max(0, low), high)
    return nearest


def _definition(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    definition: Any = root
    for name in reference.removeprefix("#/").split("/"):
        definition = definition[name]
    return definition  # type: ignore[no-any-return]
