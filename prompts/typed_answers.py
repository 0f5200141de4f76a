"""What a model is told is wrong with a typed answer; the words are in `typed_answers.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prompts.loader import load_prompt_tables

MAX_FIELD_ERRORS = 8
"""So many mistakes are named; with them mended, the others are seen the next time."""


def describe_answer_error(name: str, tongue: str) -> str:
    """Return what is wrong with a whole answer: `cut`, `no_object`, `too_deep`, `json_invalid`."""
    return _words(tongue)[name]


def describe_field_errors(errors: Sequence[Mapping[str, Any]], tongue: str) -> str:
    """Return what is wrong with the fields of an answer, a line each.

    Args:
        errors: Mistakes as pydantic tells them: a place, a kind, and what was expected.
        tongue: The language of the prompt.
    """
    return "\n".join(dict.fromkeys(_line(one, _words(tongue)) for one in errors[:MAX_FIELD_ERRORS]))


def _line(error: Mapping[str, Any], words: Mapping[str, str]) -> str:
    if error["type"] == "json_invalid":
        return words["json_invalid"]
    field = ".".join(map(str, error["loc"])) or words["whole"]
    expected = (error.get("ctx") or {}).get("expected", "").replace(" or ", ", ")
    kind = load_prompt_tables("typed_answers")["kinds"].get(error["type"], "other")
    wrong = words[kind].format(expected=expected)
    return words["field"].format(field=field, wrong=wrong)


def _words(tongue: str) -> Mapping[str, str]:
    return load_prompt_tables("typed_answers")["zh" if tongue == "zh" else "en"]
