"""Read what a run may choose: `--set name=value`, and the options that say the same shortly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from config.errors import ErrorCode, Problem
from graph.context import (
    CHOICE_BOUNDS,
    CHOICE_LISTS,
    CHOICE_WORDS,
    PROMPT_LANGUAGES,
    Context,
    build_context,
)
from text.regex import regex

KINDS = {bool: "true or false", list: "a JSON list of texts", dict: "a JSON object of texts"}
"""How a value is written that is neither a text nor a number."""

VALUE_EXAMPLES = {bool: "true", list: '\'["A", "B"]\'', dict: '\'{"default": "openai:NAME"}\''}
"""How such a value is written in a shell."""

ELSEWHERE = {
    "files": "give files with --docs",
    "user": "set DOSSIER_USER",
}
"""The choices that are made in another way on the command line."""

SETTABLE_CHOICES = tuple(one for one in fields(Context) if one.name not in ELSEWHERE)
"""The choices that `--set` takes."""

RAISABLE_CAPS = ("max_cost", "max_tokens", "max_calls", "max_minutes")
"""The choices that can be raised for a run that has begun."""

CHOICE_VALUES = {"language": PROMPT_LANGUAGES, **CHOICE_WORDS, **CHOICE_LISTS}
"""What a choice may be, where that is one of a few words."""


def complete_choice(incomplete: str) -> list[tuple[str, str]]:
    """Return what `--set` may go on with, as a shell completes it: a name, or then its values."""
    name, equals, _ = incomplete.partition("=")
    if equals:
        return [(f"{name}={value}", "") for value in CHOICE_VALUES.get(name, _values(name))]
    return [(f"{one.name}=", one.metadata["description"]) for one in SETTABLE_CHOICES]


def _values(name: str) -> tuple[str, ...]:
    return ("true", "false") if isinstance(getattr(Context(), name, None), bool) else ()


def read_choices(
    choices: list[str], *, yes: bool, review: bool, quick: bool, named: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the words of a command choose, by the names of the choices.

    Args:
        choices: What was given with `--set`.
        yes: Whether the plan is approved unseen.
        review: Whether the run stops when the plan is made.
        quick: Whether one search is to do.
        named: The choices that have an option of their name; empty ones were not given.

    Raises:
        Problem: `usage` when two of them contradict each other, or what is wrong with one of them.
    """
    chosen = _read(choices)
    said_by = {name: f"--set {name}" for name in chosen}
    short = [
        ("--quick", quick, "depth", "quick"),
        ("--quick", quick, "auto_accept", True),
        ("--yes", yes, "auto_accept", True),
        ("--review", review, "auto_accept", False),
        *((f"--{name}", bool(value), name, value) for name, value in named.items()),
    ]
    for option, given, name, value in short:
        if given and chosen.setdefault(name, value) != value:
            what = f"{option} and {said_by[name]} contradict each other"
            raise Problem(ErrorCode.USAGE, what, hint="leave one of them out")
        if given:
            said_by.setdefault(name, option)
    return chosen


def read_caps(choices: list[str], allowed: Mapping[str, float]) -> dict[str, Any]:
    """Return the caps that a run is to be continued with.

    Args:
        choices: What was given with `--set`.
        allowed: What the run was allowed so far.

    Raises:
        Problem: `bad_choice` for another choice, or for a cap that is not raised.
    """
    caps = _read(choices)
    for name, value in caps.items():
        if name not in RAISABLE_CAPS:
            hint = f"resume takes {', '.join(RAISABLE_CAPS)}; for other choices ask again"
            what = "a run that has begun keeps its choices"
            raise Problem(ErrorCode.BAD_CHOICE, what, where=name, hint=hint)
        if value <= allowed[name]:
            what = f"the run may use {allowed[name]:.10g} already"
            hint = f"give more: --set {double_cap(name, allowed[name])}"
            raise Problem(ErrorCode.BAD_CHOICE, what, where=name, hint=hint)
    return caps


def double_cap(name: str, value: float) -> str:
    """Return twice a cap, as `--set` takes it, at most what it may be."""
    return f"{name}={min(2 * value, CHOICE_BOUNDS[name][1]):.10g}"


def split_pairs(given: Sequence[str], code: ErrorCode, example: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each `name=value` that an option of a command was given.

    Raises:
        Problem: With this code and example for what is no such pair.
    """
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise Problem(code, f"{one!r} is not name=value", hint=example)
        yield name, value


def _read(choices: list[str]) -> dict[str, Any]:
    """Read `name=value` pairs; a value is JSON unless a text is wanted.

    Raises:
        Problem: `bad_choice`, or `out_of_range` and `unknown_field` for the choice itself.
    """
    read: dict[str, Any] = {}
    for name, value in split_pairs(choices, ErrorCode.BAD_CHOICE, "--set max_steps=2"):
        if name in ELSEWHERE:
            what = f"{name!r} cannot be set in this way"
            raise Problem(ErrorCode.BAD_CHOICE, what, hint=ELSEWHERE[name])
        read[name] = _value(name, value)
    fitting = build_context(read)
    return {name: getattr(fitting, name) for name in read}


def _value(name: str, written: str) -> Any:
    """Read the value of one choice; whether it may be chosen is the context's to say."""
    usual = getattr(Context(), name, None)
    try:
        value = json.loads(written)
        json.dumps(value, ensure_ascii=False).encode()  # JSON can write half a character.
    except (ValueError, RecursionError):
        value = written
    if isinstance(usual, str):
        return value if isinstance(value, str) else written
    if name in CHOICE_LISTS and isinstance(value, str):
        return [word.strip() for word in regex(r"[,|]").split(value) if word.strip()]
    wanted = KINDS.get(type(usual))
    if wanted and type(value) is not type(usual):
        hint = f"write it as --set {name}={VALUE_EXAMPLES[type(usual)]}"
        raise Problem(ErrorCode.BAD_CHOICE, f"{written!r} is not {wanted}", where=name, hint=hint)
    return value
