"""Find and fill the prompts that live beside this file, and read tables of words."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from string import Template
from typing import Any


@cache
def load_prompt(name: str, language: str = "en") -> Template:
    """Return the prompt `name`, in `language` where a translation exists.

    Raises:
        LookupError: If there is no such prompt in any language.
    """
    folder = resources.files("prompts")
    for file in (folder / f"{name}.{language}.md", folder / f"{name}.md"):
        if file.is_file():
            return Template(file.read_text(encoding="utf-8").rstrip("\n"))
    msg = f"no prompt named {name!r}; add prompts/{name}.md"
    raise LookupError(msg)


def render_prompt(name: str, *, language: str = "en", **values: object) -> str:
    """Fill prompt `name`; a missing value raises `KeyError`, never an empty gap."""
    return load_prompt(name, language).substitute(values)


@cache
def load_prompt_tables(name: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file of prompts."""
    file = resources.files("prompts") / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
