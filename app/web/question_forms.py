"""Read a question with its choices and files from a form, inside of what the operator allows."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile

from app.auth.caller_limits import largest_cap
from app.web.console_route import SentForm
from config.errors import ErrorCode, Problem
from config.settings import settings
from graph.context import CHOICE_BOUNDS, CHOICE_WORDS, PROMPT_LANGUAGES, build_context
from runs.lifecycle import check_question

MAX_UPLOAD_BYTES = 50_000_000
"""The most bytes of all files of a question."""

_WORDS = ("depth", "length", "web")


def list_choice_bounds() -> dict[str, float]:
    """Return the largest values that a person may choose."""
    most = largest_cap("max_cost") if settings().has_users else CHOICE_BOUNDS["max_cost"][1]
    return {"max_cost": most}


def read_run_choices(form: SentForm) -> dict[str, Any]:
    """Return the choices of a run in a form; those that were left as they are, are left out.

    Raises:
        Problem: `bad_choice`, `out_of_range` or what else `build_context` tells of.
    """
    chosen: dict[str, Any] = {}
    for name in _WORDS:
        value = form.text(name)
        if value and value in CHOICE_WORDS[name] and value != "standard":
            chosen[name] = value
    if (language := form.text("report_language")) in PROMPT_LANGUAGES:
        chosen["language"] = language
    if bases := form.texts("knowledge"):
        chosen["knowledge"] = bases
    if form.text("review") == "no":
        chosen["auto_accept"] = True
        chosen["stop_to_ask"] = True
    if cost := form.words("max_cost"):
        chosen["max_cost"] = read_form_number("max_cost", cost)
    build_context(chosen)
    return chosen


def read_form_number(name: str, text: str) -> float:
    """Return the number that a person wrote into a field.

    Raises:
        Problem: `out_of_range`.
    """
    try:
        return float(text.replace(",", "."))
    except ValueError as error:
        what, hint = f"{text[:40]!r} is no number", "write it with digits, as in 0.5"
        raise Problem(ErrorCode.OUT_OF_RANGE, what, where=name, hint=hint) from error


async def read_question_form(form: SentForm) -> str | list[dict[str, Any]]:
    """Return the content of the message that a form asks: text, or parts with files.

    Raises:
        Problem: `question_empty`, `question_too_long`, or `request_refused` for too large files.
    """
    question = check_question(form.words("question"))
    files = form.files("files")
    if sum(one.size or 0 for one in files) > MAX_UPLOAD_BYTES:
        what = f"the files have more than {MAX_UPLOAD_BYTES // 1_000_000} MB"
        raise Problem(ErrorCode.REQUEST_REFUSED, what, hint="make a knowledge base of them")
    if not files:
        return question
    parts = [await _make_part(one) for one in files]
    return [{"type": "text", "text": question}, *parts]


async def _make_part(file: UploadFile) -> dict[str, Any]:
    name, data = file.filename or "file", await file.read()
    kind = file.content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    content = base64.b64encode(data).decode()
    return {"type": "file", "mime_type": kind, "base64": content, "filename": name}


def describe_choices(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a run as its page shows them."""
    shown = ("depth", "length", "language", "web", "knowledge", "max_cost")
    return {name: choices[name] for name in shown if choices.get(name)}
