"""The choices that a caller can make for one run; Studio shows them as a form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Literal, cast

from config.errors import ErrorCode, Problem
from graph.depth import ADJUSTABLE, DEPTHS, LENGTHS, LIMITS, RunLimits

CHOICE_BOUNDS: dict[str, tuple[float, float]] = {
    "query_count": (0, 12),
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

AGAIN = ("", "reuse", "refresh", "deepen", "new")
"""What may be done with an earlier answer to the same question; empty asks the person."""

GUIDE_SCOPES = ("every", "once", "none")
"""For which questions of a thread the profile of the person guides the answers."""

WEB_USES = ("", "on", "off", "unreachable")
"""Whether the web is searched; empty leaves it to what else there is to search.

`unreachable` is chosen for a run on a machine without a network: off, and the report says why.
"""

CHOICE_WORDS: dict[str, tuple[str, ...]] = {
    "depth": DEPTHS,
    "length": LENGTHS,
    "guide": GUIDE_SCOPES,
    "again": AGAIN,
    "web": WEB_USES,
}
"""The words that a choice is one of."""

CHOICE_LISTS: dict[str, tuple[str, ...]] = {"share": ("queries", "files")}
"""The words that the texts of a choice are some of."""

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
    ask: bool = _choice(
        True,
        "Let a step ask you what only you know; with auto_accept it goes by what it assumes.",
    )
    allow_tools: list[str] = _choice(
        [],
        "Tools that need your approval and have it beforehand, by name; with auto_accept the "
        "others are refused.",
    )
    stop_to_ask: bool = _choice(
        False,
        "With auto_accept, too, let the run stop for your answer where a step asks or a tool "
        "needs your approval.",
    )
    depth: Literal["quick", "standard", "deep"] = cast(
        "Literal['quick', 'standard', 'deep']",
        _choice(
            "standard",
            "How deep to research: quick (one search, no plan), standard, or deep (more steps).",
        ),
    )
    length: Literal["brief", "standard", "long"] = cast(
        "Literal['brief', 'standard', 'long']",
        _choice("standard", "How long the report is to be: brief, standard or long."),
    )
    query_count: int = _choice(
        8, "The most queries that are searched before planning, beside the question itself (0–12)."
    )
    max_steps: int | None = _choice(None, "The most steps of a plan (1–50); else by depth.")
    max_rounds: int | None = _choice(
        None, "How often steps may be added when something is missing (0–5); else by depth."
    )
    max_reflections: int = _choice(1, "How often a step may be done again (0–5).")
    max_revisions: int = _choice(5, "How often a plan may be rejected (0–20).")
    parallelism: int = _choice(8, "How many steps run side by side (1–32).")
    web: Literal["", "on", "off", "unreachable"] = cast(
        "Literal['', 'on', 'off', 'unreachable']",
        _choice(
            "",
            "Whether the web is searched: on, off, or empty: with providers that have a key, and "
            "without a key where no files are given; unreachable: off, and the report says that it "
            "could not be reached.",
        ),
    )
    search: list[str] = _choice(
        [], "Web search providers, all of which are asked; empty chooses them by query."
    )
    knowledge: list[str] = _choice(
        [],
        "Knowledge bases by name; none: no base; empty: the plan chooses by what each is about.",
    )
    mcp: list[str] = _choice(
        [], "MCP servers whose tools are offered, by name; all if empty, and `none` for none."
    )
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
    again: Literal["", "reuse", "refresh", "deepen", "new"] = cast(
        "Literal['', 'reuse', 'refresh', 'deepen', 'new']",
        _choice(
            "",
            "For a question answered before: reuse the report, refresh what may have changed, "
            "deepen it, or research it as new; empty asks, or refreshes where nobody reviews.",
        ),
    )
    style: str = _choice("", "How the report should be written, in a few words.")
    share: list[str] = _choice(
        [],
        "What of your files and memory may leave this machine without your having said it: queries "
        "(words in web searches), files (what is handed to outside tools and services).",
    )
    learn: bool = _choice(
        True, "Learn of you from the words of the question; off where another program writes it."
    )
    second_reader: bool = _choice(
        True,
        "Have a model compare the report with its sources; off leaves only the checks by words.",
    )
    max_cost: float | None = _choice(
        None, "The most money for this question, in US dollars; else by depth."
    )
    max_tokens: int | None = _choice(
        None, "The most tokens for this question, with remote embeddings; else by depth."
    )
    max_calls: int | None = _choice(
        None, "The most calls of models and remote embedders for this question; else by depth."
    )
    max_minutes: float | None = _choice(
        None, "The most minutes of work for this question; else by depth."
    )

    def __post_init__(self) -> None:
        for choice in fields(self):
            kind = type(_default(choice))
            if kind not in (int, float) and choice.name not in CHOICE_BOUNDS:
                _check_kind(choice.name, getattr(self, choice.name), kind)
        for name in CHOICE_BOUNDS:
            if name not in ADJUSTABLE or getattr(self, name) is not None:
                _check_bounds(name, getattr(self, name))
        for name, words in CHOICE_WORDS.items():
            _check_word(name, getattr(self, name), words)
        for name, words in CHOICE_LISTS.items():
            _check_listed(name, getattr(self, name), words)
        if self.language not in ("", *PROMPT_LANGUAGES):
            hint = f"one of {', '.join(PROMPT_LANGUAGES)}"
            what = f"there are no prompts in {self.language!r}"
            raise Problem(ErrorCode.BAD_LOCALE, what, where="language", hint=hint)

    @property
    def limits(self) -> RunLimits:
        """What the run may do at most: by its depth, where the caller has not chosen."""
        chosen = {name: getattr(self, name) for name in ADJUSTABLE}
        given = {name: value for name, value in chosen.items() if value is not None}
        return LIMITS[self.depth]._replace(**given)


def _check_listed(name: str, values: list[str], allowed: tuple[str, ...]) -> None:
    for value in values:
        _check_word(name, value, allowed)


def _check_word(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        what, hint = f"{value!r} is no {name}", f"one of {', '.join(allowed)}"
        raise Problem(ErrorCode.BAD_CHOICE, what, where=name, hint=hint)


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
    choices = _with_share(_with_depth(choices))
    known = [choice.name for choice in fields(Context)]
    for name in choices:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(known)}"
            raise Problem(ErrorCode.UNKNOWN_FIELD, f"there is no choice {name!r}", hint=hint)
    return Context(**choices)


def _with_depth(choices: dict[str, Any]) -> dict[str, Any]:
    """Return choices with the depth that stands for `deep`, as earlier versions stored it."""
    if not isinstance(choices.get("deep"), bool):
        return choices
    rest = {name: value for name, value in choices.items() if name != "deep"}
    return rest if choices["deep"] else {"depth": "quick", **rest}


def _with_share(choices: dict[str, Any]) -> dict[str, Any]:
    """Return choices with `share` for `private_queries`, as earlier versions stored it."""
    if not isinstance(choices.get("private_queries"), bool):
        return choices
    rest = {name: value for name, value in choices.items() if name != "private_queries"}
    shared = rest.get("share") or []
    return {**rest, "share": [*shared, "queries"]} if choices["private_queries"] else rest


def non_default_choices(context: Context) -> dict[str, Any]:
    """Return the choices that differ from the defaults, as plain data."""
    return {
        choice.name: value
        for choice in fields(context)
        if (value := getattr(context, choice.name)) != _default(choice)
    }


def _default(choice: Any) -> Any:
    return choice.default_factory() if choice.default is MISSING else choice.default
