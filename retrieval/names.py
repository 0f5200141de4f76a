"""The name by which other pages mention a page."""

from __future__ import annotations

import re

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
_WORD = re.compile(r"[^\W_]+")


def title_key(title: str) -> str:
    """Return the words of a title without a closing parenthesis, in lower case."""
    return " ".join(_WORD.findall(_QUALIFIER.sub("", title).lower()))
