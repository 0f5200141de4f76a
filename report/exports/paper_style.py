"""The style of a page as paper needs it: without rules for screens, with its variables filled in.

A variable in a shorthand such as `font` is read again for each element that has it, which takes a
tenth of the time in which a PDF is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from text.regex import regex

_COMMENT = regex(r"/\*.*?\*/", re.DOTALL)
_DEFINITION = regex(r"(--[\w-]+)\s*:\s*([^;}]+)[;}]")
_USE = regex(r"var\((--[\w-]+)\)")
_SCREEN = regex(r"@media\s*(?:screen|\(prefers|\((?:min|max)-width|[^{]*hover)")
_DEEPEST = 5  # of variables that name variables


class _Rule(NamedTuple):
    """A rule of a style sheet: what it applies to, and all of its text."""

    head: str
    text: str


def flatten_style(css: str, *, chinese: bool) -> str:
    """Return a style sheet without rules for screens, and with values for its variables.

    Args:
        css: The style sheet. Where it defines a variable several times, the last one counts.
        chinese: Whether definitions for pages in Chinese count.
    """
    rules = [one for one in _list_rules(_COMMENT.sub("", css)) if not _SCREEN.match(one.head)]
    values: dict[str, str] = {}
    for one in rules:
        if chinese or ":lang(zh)" not in one.head:
            values |= {name: value.strip() for name, value in _DEFINITION.findall(one.text)}
    flat = "\n".join(one.text for one in rules)
    for _ in range(_DEEPEST):
        flat = _USE.sub(lambda use: values.get(use[1], use[0]), flat)
    return flat


def _list_rules(css: str) -> Iterator[_Rule]:
    """Yield the rules at the top of a style sheet."""
    start = depth = 0
    head = ""
    for at, letter in enumerate(css):
        if letter == "{":
            head = head if depth else css[start:at].strip()
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                yield _Rule(head, css[start : at + 1].strip())
                start = at + 1
