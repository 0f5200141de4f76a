"""Say in plain words what is wrong with a value that a form or a setting refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

WORDS = {
    "missing": "it is missing",
    "extra_forbidden": "there is no such field",
    "string_too_short": "it is empty",
    "string_too_long": "it has more than {max_length} characters",
    "string_pattern_mismatch": "it holds characters that it may not, or is too long",
    "literal_error": "it is not one of {expected}",
    "too_short": "it has fewer than {min_length} entries",
    "too_long": "it has more than {max_length} entries",
    "greater_than": "it is not more than {gt}",
    "greater_than_equal": "it is less than {ge}",
    "less_than": "it is not less than {lt}",
    "less_than_equal": "it is more than {le}",
    "finite_number": "it is not a finite number",
    "value_error": "{error}",
}
"""What is said of each kind of error; of the others it says the sort of value that is wanted."""

SORTS = {
    "string": "it is not a text",
    "str": "it is not UTF-8",
    "list": "it is not a list",
    "tuple": "it is not a list",
    "dict": "it is not a table of names and values",
    "model": "it is not a table of names and values",
    "int": "it is not a whole number",
    "float": "it is not a number",
    "bool": "it is neither true nor false",
    "path": "it is not a path",
    "json": "it is not JSON",
    "hosts": "it is not a list of host names without ports, such as: box.example.org, box2",
    "origins": "it is not a list of origins, such as: http://localhost:3000, https://a.example.org",
}
"""The same by the first word of an error's kind."""


def first_error(error: ValidationError) -> tuple[str, str]:
    """Return where the first error is, such as `steps.0.title`, and what is wrong there."""
    first = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]), _said(first["type"], first.get("ctx", {}))


def _said(kind: str, about: dict[str, Any]) -> str:
    if kind in WORDS:
        return WORDS[kind].format(**about)
    return SORTS.get(kind.partition("_")[0], "it cannot be used")
