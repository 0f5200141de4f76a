"""Tell inline code from prose, so that what only prose may not have is not taken out of code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from retrieval.regex import regex

_RUN = regex(r"(?<!\\)`+")
_IDENTIFIER = regex(r"(?<![\w./-])(?:--[a-z][\w-]*\w|[A-Za-z]\w*_\w+)(?![\w-])")
_PATTERN = regex(r"[*{}<>…]|\.\.\.")
_AROUND = ("\ue010", "\ue011")
"""Characters around the number of a piece of code in its placeholder."""

_PLACEHOLDER = regex(f"{_AROUND[0]}(\\d+){_AROUND[1]}")


class Code(NamedTuple):
    """A piece of inline code, and what is between its backticks."""

    start: int
    end: int
    string: str
    inside: str


def inline(text: str) -> Iterator[Code]:
    """Yield the pieces of inline code: each ends with the next run of as many backticks."""
    runs = list(_RUN.finditer(text))
    at = 0
    while at < len(runs):
        opening = runs[at]
        rest = range(at + 1, len(runs))
        closing = next((one for one in rest if len(runs[one][0]) == len(opening[0])), 0)
        if closing:
            end = runs[closing]
            inside = text[opening.end() : end.start()]
            yield Code(opening.start(), end.end(), text[opening.start() : end.end()], inside)
        at = closing + 1 if closing else at + 1


def changed(text: str, change: Callable[[Code], str]) -> str:
    """Return `text` with each piece of inline code changed."""
    parts: list[str] = []
    done = 0
    for code in inline(text):
        parts += [text[done : code.start], change(code)]
        done = code.end
    return "".join([*parts, text[done:]])


def without_code(text: str) -> tuple[str, list[str]]:
    """Return `text` with a placeholder for each piece of inline code, and the pieces."""
    kept: list[str] = []

    def keep(code: Code) -> str:
        kept.append(code.string)
        return f"{_AROUND[0]}{len(kept) - 1}{_AROUND[1]}"

    bare = re.sub("[\ue010\ue011]", "", text)
    return changed(bare, keep), kept


def with_code(text: str, kept: list[str]) -> str:
    """Put pieces of inline code back where `without_code` took them from."""
    return _PLACEHOLDER.sub(lambda sign: kept[int(sign[1])], text)


def unknown(text: str, known: Iterable[str]) -> str:
    """Return the first name in inline code that no text has, or nothing.

    A name is an option, or a word with an underscore; it is exact, save for small and capital
    letters. A pattern for several names is none.
    """
    found = [code.inside for code in inline(text) if not _PATTERN.search(code.inside)]
    names = [name.lower() for one in found for name in _IDENTIFIER.findall(one)]
    texts = [one.lower() for one in known] if names else []
    return next((name for name in names if not any(name in one for one in texts)), "")
