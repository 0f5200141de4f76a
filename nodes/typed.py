"""Say in words which form a typed answer has, and read it however a model wraps it."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, TypeVar

import json_repair
from langchain_core.messages import AIMessage, AnyMessage
from pydantic import AfterValidator, BaseModel, ValidationError

from prompts.complaints import complaint, complaints
from prompts.fields import in_chinese
from prompts.loader import render
from report.markup import shown, sought
from runs.faults import finish_reason, spoken

Answer = TypeVar("Answer", bound=BaseModel)

Shown = Annotated[str, AfterValidator(shown)]
"""What a model writes that a person sees outside a report: in a chat, a review or a terminal."""

Sought = Annotated[str, AfterValidator(sought)]
"""What a model wants searched, which a person sees too."""


def _said(searches: list[str]) -> list[str]:
    return [one for one in searches if one.strip()]


Searches = Annotated[list[Sought], AfterValidator(_said)]
"""Those of several searches that have words."""

MENDABLE = 30_000
"""How many characters of JSON are mended, and shown to the model again.

Mending takes up to the square of the length: 2 seconds for 30,000 open brackets.
"""

CUT = "cut"
"""What is wrong with an answer that ended at the limit."""


class Unreadable(ValueError):
    """An answer has no object that could be read; its one argument says why, as a code."""


@cache
def in_words(schema: type[BaseModel], tongue: str = "en") -> str:
    """Return the form of an answer as a prompt in a language asks for it."""
    form = _untitled(schema.model_json_schema())
    form = in_chinese(form) if tongue == "zh" else form
    return render("typed", language=tongue, schema=json.dumps(form, ensure_ascii=False))


def _untitled(form: Any) -> Any:
    """Return a schema without the titles of its fields, which say the names again."""
    if isinstance(form, list):
        return [_untitled(one) for one in form]
    if not isinstance(form, dict):
        return form
    return {
        name: _untitled(value)
        for name, value in form.items()
        # A field may be called so, too: then its value is a schema.
        if name != "title" or isinstance(value, dict)
    }


def read(reply: AnyMessage, schema: type[Answer]) -> Answer:
    """Read a typed answer.

    Raises:
        Unreadable: If no object is there, or the reply was cut off.
        ValidationError: If it does not fit.
    """
    if isinstance(reply, AIMessage) and finish_reason(reply) == "length":
        raise Unreadable(CUT)
    text = spoken(reply) if isinstance(reply, AIMessage) else str(reply.text)
    try:
        return schema.model_validate_json(text)
    except ValidationError:
        return schema.model_validate_json(_mended(text))


def wrong(error: ValueError, tongue: str) -> str:
    """Say in the language of a prompt what is wrong with an answer that `read` refused."""
    if isinstance(error, ValidationError):
        return complaints(error.errors(include_url=False, include_input=False), tongue)
    return complaint(str(error), tongue)


def _mended(text: str) -> str:
    """Mend what models often get wrong about JSON.

    Raises:
        Unreadable: If no object is there, or it is too long or nested too deep to be mended.
    """
    start = text.find("{")
    if start < 0 or len(text) > MENDABLE:
        raise Unreadable("no_object")
    try:
        return json.dumps(json_repair.loads(text[start:]))
    except RecursionError as error:
        raise Unreadable("too_deep") from error
