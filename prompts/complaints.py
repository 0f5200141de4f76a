"""Say what is wrong with a typed answer, in the language of the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST = 8
"""So many mistakes are named; with them mended, the others are seen the next time."""

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "cut": "The answer was cut off at the limit. Give a shorter answer.",
        "no_object": "There is no JSON object in it.",
        "too_deep": "Its JSON is nested too deep.",
        "json_invalid": "Its JSON cannot be read.",
        "missing": "is missing",
        "text": "has to be text",
        "list": "has to be a list",
        "object": "has to be an object",
        "int": "has to be a whole number",
        "number": "has to be a number",
        "bool": "has to be true or false",
        "literal": "has to be one of {expected}",
        "other": "has a value that is not allowed",
        "whole": "the answer",
        "field": "`{field}` {wrong}.",
    },
    "zh": {
        "cut": "回答因达到长度上限而被截断，请写得更短。",
        "no_object": "其中没有 JSON 对象。",
        "too_deep": "其中的 JSON 嵌套过深。",
        "json_invalid": "其中的 JSON 无法读取。",
        "missing": "缺失",
        "text": "必须是文本",
        "list": "必须是列表",
        "object": "必须是对象",
        "int": "必须是整数",
        "number": "必须是数字",
        "bool": "必须是 true 或 false",
        "literal": "必须是以下之一：{expected}",
        "other": "的值不符合要求",
        "whole": "回答",
        "field": "`{field}` {wrong}。",
    },
}

_KINDS = {
    "missing": "missing",
    **dict.fromkeys(("string_type",), "text"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "list"),
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "object"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "int"),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "bool"),
    **dict.fromkeys(("literal_error", "enum"), "literal"),
}
"""What the kinds of pydantic's errors are called here; any other is `other`."""


def complaint(name: str, tongue: str) -> str:
    """Return what is wrong with a whole answer: `cut`, `no_object`, `too_deep`, `json_invalid`."""
    return _words(tongue)[name]


def complaints(errors: Sequence[Mapping[str, Any]], tongue: str) -> str:
    """Return what is wrong with the fields of an answer, a line each.

    Args:
        errors: Mistakes as pydantic tells them: a place, a kind, and what was expected.
        tongue: The language of the prompt.
    """
    return "\n".join(dict.fromkeys(_line(one, _words(tongue)) for one in errors[:MOST]))


def _line(error: Mapping[str, Any], words: Mapping[str, str]) -> str:
    if error["type"] == "json_invalid":
        return words["json_invalid"]
    field = ".".join(map(str, error["loc"])) or words["whole"]
    expected = (error.get("ctx") or {}).get("expected", "")
    expected = expected.replace(" or ", ", ")
    wrong = words[_KINDS.get(error["type"], "other")].format(expected=expected)
    return words["field"].format(field=field, wrong=wrong)


def _words(tongue: str) -> Mapping[str, str]:
    return WORDS["zh" if tongue == "zh" else "en"]
