"""The ways of working that may be recommended from run to run, and the sentences that say them.

Whoever learns from runs names a method; the words that other runs are told are written here alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from prompts.loader import load_prompt_tables


class Method(NamedTuple):
    """A way of working, for one role."""

    role: str
    english: str
    chinese: str

    def sentence(self, language: str) -> str:
        """Return the sentence that recommends it."""
        return self.chinese if language == "zh" else self.english


@cache
def load_methods() -> Mapping[str, Method]:
    """Return all methods by their names."""
    tables = load_prompt_tables("methods").items()
    return {name: Method(role, *said) for role, each in tables for name, said in each.items()}


def find_method(sentence: str) -> Method | None:
    """Return the method that a sentence recommends; `None` for every other sentence."""
    return _by_sentence().get(sentence)


def render_method_list(language: str) -> str:
    """Return all methods as lines for a prompt, by role."""
    roles: dict[str, list[str]] = {}
    for name, method in load_methods().items():
        roles.setdefault(method.role, []).append(f"- {name}: {method.sentence(language)}")
    return "\n".join("\n".join([f"{role}:", *lines]) for role, lines in roles.items())


@cache
def _by_sentence() -> Mapping[str, Method]:
    return {said: one for one in load_methods().values() for said in (one.english, one.chinese)}
