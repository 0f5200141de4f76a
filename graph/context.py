"""The choices that a caller can make for one run; Studio shows them as a form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, cast

from config.errors import ErrorCode, Problem

CHOICE_BOUNDS: dict[str, tuple[float, float]] = {
    "query_count": (0, 5),
    "max_steps": (1, 50),
    "max_rounds": (0, 5),
    "max_reflections": (0, 5),
    "max_revisions": (0, 20),
    "parallelism": (1, 32),
    "max_cost": (0.0001, 1000),
    "max_tokens": (1000, 50_000_000),
    "max_calls": (1, 10_000),
    "max_minutes": (0.01, 1440),
}
"""The minimum and maximum of each number."""

PROMPT_LANGUAGES = ("en", "zh")
"""The languages of the prompts."""

GUIDE_SCOPES = ("every", "once", "none")
"""For which questions of a thread the profile of the person guides the answers."""

KINDS: dict[type, str] = {
    bool: "yes or no (true, false)",
    str: "text",
    list: "list of texts",
    dict: "table of texts",
}


def _choice(default: Any, description: str) -> Any:
    """Declare one choice with the description that Studio shows."""
    metadata = {"description": description}
    if isinstance(default, (list, dict)):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Context:
    """The choices of one run.

    Raises:
        Problem: `out_of_range` when a number is no number or outside its bounds, `bad_locale` or
            `bad_choice`.
    """

    project: str = _choice("", "The project whose memory is used; empty for none.")
    user: str = _choice("", "Who asks; a server takes it from the login instead.")
    models: dict[str, str] = _choice({}, "Models by role, as provider:name; `default` for all.")
    auto_accept: bool = _choice(False, "Research the plan without showing it first.")
    deep: bool = _choice(True, "Plan and research in steps; off answers from one search.")
    query_count: int = _choice(3, "How many ways of asking are searched before planning (0–5).")
    max_steps: int = _choice(4, "The most steps of a plan (1–50).")
    max_rounds: int = _choice(1, "How often steps may be added when something is missing (0–5).")
    max_reflections: int = _choice(1, "How often a step may be done again (0–5).")
    max_revisions: int = _choice(5, "How often a plan may be rejected (0–20).")
    parallelism: int = _choice(8, "How many steps run side by side (1–32).")
    search: list[str] = _choice([], "Web search providers in order; empty for those with a key.")
    knowledge: list[str] = _choice([], "Knowledge bases; there are none yet, so it stays empty.")
    memory: list[str] = _choice(
        [],
        "Parts of the memory to recall: file, web, report, chat, or names of chats; all if empty.",
    )
    files: list[str] = _choice([], "Folders and files, already read in, that are searched.")
    language: Literal["", "en", "zh"] = cast(
        "Literal['', 'en', 'zh']", _choice("", "Language of the report; empty for the question's.")
    )
    guide: Literal["every", "once", "none"] = cast(
        "Literal['every', 'once', 'none']",
        _choice("every", "When the profile guides: every question of a thread, once, or none."),
    )
    style: str = _choice("", "How the report should be written, in a few words.")
    private_queries: bool = _choice(
        False,
        "Let web searches contain words from your files and memory that you have not said.",
    )
    second_reader: bool = _choice(
        True,
        "Have a model compare the report with its sources; off leaves only the checks by words.",
    )
    max_cost: float = _choice(0.5, "The most money for this question, in US dollars.")
    max_tokens: int = _choice(200_000, "The most tokens for this question, with remote embeddings.")
    max_calls: int = _choice(
        150, "The most calls of models and remote embedders for this question."
    )
    max_minutes: float = _choice(20.0, "The most minutes of work for this question.")

    def __post_init__(self) -> None:
        for choice in fields(self):
            kind = type(_default(choice))
            if kind not in (int, float):
                _check_kind(choice.name, getattr(self, choice.name), kind)
        for name in CHOICE_BOUNDS:
            _check_bounds(name, getattr(self, name))
        if self.knowledge:
            hint = "leave it out: files (--docs), the web and what was read before are searched"
            what = "there are no knowledge bases yet"
            raise Problem(ErrorCode.BAD_CHOICE, what, where="knowledge", hint=hint)
        if self.language not in ("", *PROMPT_LANGUAGES):
            hint = f"one of {', '.join(PROMPT_LANGUAGES)}"
            what = f"there are no prompts in {self.language!r}"
            raise Problem(ErrorCode.BAD_LOCALE, what, where="language", hint=hint)
        if self.guide not in GUIDE_SCOPES:
            what = f"{self.guide!r} is no scope of the profile"
            raise Problem(
                ErrorCode.BAD_CHOICE, what, where="guide", hint=f"one of {', '.join(GUIDE_SCOPES)}"
            )


def _check_bounds(name: str, value: Any) -> None:
    least, most = CHOICE_BOUNDS[name]
    allowed = (int, float) if name in {"max_cost", "max_minutes"} else int
    is_number = isinstance(value, allowed) and not isinstance(value, bool)
    if not (is_number and least <= value <= most):
        what = f"{_to_json(value)} is not a number from {least} to {most}"
        raise Problem(ErrorCode.OUT_OF_RANGE, what, where=name, hint=f"choose {least}..{most}")


def _check_kind(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind) or not all(isinstance(item, str) for item in _items(value)):
        what = f"{_to_json(value)} is not a {KINDS[kind]}"
        hint = "docs/reference.md lists the choices"
        raise Problem(ErrorCode.BAD_CHOICE, what, where=name, hint=hint)


def _to_json(value: Any) -> str:
    """Return a value as JSON, as a person would write it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _items(value: Any) -> Iterable[Any]:
    """Return the items of a list or the values of a table; none for other values."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def build_context(choices: dict[str, Any]) -> Context:
    """Build a context from plain data, such as the stored choices of a run.

    Raises:
        Problem: `unknown_field` with the closest name, or `out_of_range`.
    """
    known = [choice.name for choice in fields(Context)]
    for name in choices:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(known)}"
            raise Problem(ErrorCode.UNKNOWN_FIELD, f"there is no choice {name!r}", hint=hint)
    return Context(**choices)


def non_default_choices(context: Context) -> dict[str, Any]:
    """Return the choices that differ from the defaults, as plain data."""
    return {
        choice.name: value
        for choice in fields(context)
        if (value := getattr(context, choice.name)) != _default(choice)
    }


def _default(choice: Any) -> Any:
    return choice.default_factory() if choice.default is MISSING else choice.default
