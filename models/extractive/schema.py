"""Fill any JSON schema with the emptiest values that it allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def emptiest(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return the emptiest value that fits a JSON schema: its default, null, "", 0, false, [] or {}.

    Of an object only the required properties are filled. `root` holds the definitions that a
    `$ref` points to.
    """
    root = schema if root is None else root
    if "$ref" in schema:
        return emptiest(_definition(schema["$ref"], root), root)
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    if "enum" in schema:
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if choices:
        null = any(choice.get("type") == "null" for choice in choices)
        return None if null else emptiest(choices[0], root)
    return _of_type(schema, root)


def _of_type(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = ("null" if "null" in kind else kind[0]) if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: emptiest(properties.get(name, {}), root) for name in schema.get("required", [])
        }
    if kind == "array":
        items = schema.get("items", {})
        return [emptiest(items, root) for _ in range(schema.get("minItems", 0))]
    if kind == "string":
        return "-" * schema.get("minLength", 0)
    if kind in ("integer", "number"):
        return _least(schema)
    return False if kind == "boolean" else None


def _least(schema: Mapping[str, Any]) -> float:
    """Return 0, or the number nearest to it that is allowed."""
    low = schema.get("minimum", schema.get("exclusiveMinimum", -math.inf) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", math.inf) - 1)
    nearest: float = min(max(0, low), high)
    return nearest


def _definition(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found  # type: ignore[no-any-return]
