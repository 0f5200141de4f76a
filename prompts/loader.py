"""Find and fill the prompts and short texts that live beside this file."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from string import Template
from typing import Any

SENTENCE_TABLES = ("messages", "phrases")
"""The files of short texts: what a person is told, and what completes prompts and answers tools."""


@cache
def load_prompt(name: str, language: str = "en") -> Template:
    """Return the prompt or the short text `name`, in `language` where a translation exists.

    Raises:
        LookupError: If there is no such text in any language.
    """
    if both := load_sentences().get(name):
        return Template(both[language == "zh"])
    folder = resources.files("prompts")
    for file in (folder / f"{name}.{language}.md", folder / f"{name}.md"):
        if file.is_file():
            return Template(file.read_text(encoding="utf-8").rstrip("\n"))
    msg = f"no prompt named {name!r}; add prompts/{name}.md"
    raise LookupError(msg)


@cache
def load_sentences() -> dict[str, tuple[str, str]]:
    """Return all short texts by name, in English and in Chinese."""
    tables = [table for file in SENTENCE_TABLES for table in load_prompt_tables(file).values()]
    return {name: (both[0], both[1]) for table in tables for name, both in table.items()}


def render_prompt(name: str, *, language: str = "en", **values: object) -> str:
    """Fill prompt `name`; a missing value raises `KeyError`, never an empty gap."""
    return load_prompt(name, language).substitute(values).rstrip("\n ")


@cache
def load_prompt_tables(name: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file of prompts."""
    file = resources.files("prompts") / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
