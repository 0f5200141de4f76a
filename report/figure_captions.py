"""What a figure shows, as the program says that drew it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from text.regex import regex

_TITLES = frozenset(["title", "suptitle", "set_title"])
"""The functions of Matplotlib and of pandas that give a figure its title."""

_TITLED = frozenset(["plot", "bar", "barh", "hist", "scatter", "line", "area", "pie", "box"])
"""The functions of pandas that take a title, too."""

_NAMELESS = regex(
    r"(?i)(?:fig|figure|plot|chart|graph|image|img|output|out|result|tmp|test|图)?[-_ ]?\d*"
)
_JOINTS = regex(r"[-_\s]+")

MAX_CAPTION = 120
"""The longest caption, in characters."""


@lru_cache(maxsize=32)
def find_figure_caption(code: str, name: str) -> str:
    """Return what a figure shows: the title that it was given, or what its file is called.

    Args:
        code: The program that drew it.
        name: The name of its file.

    Returns:
        A line; empty where neither says anything.
    """
    said = _find_title(code, name) or _read_name(name)
    return said if len(said) <= MAX_CAPTION else f"{said[: MAX_CAPTION - 1]}…"


def _find_title(code: str, name: str) -> str:
    """Return the last title that is set before the program saves a file of this name."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    title = ""
    for call in sorted(_iter_calls(tree), key=lambda one: (one.lineno, one.col_offset)):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        first = _find_text(call.args[0]) if call.args else ""
        if called == "savefig":
            if PurePosixPath(first).name == name:
                return title
            title = ""
        elif called in _TITLES and first:
            title = first
        elif called in _TITLED:
            given = (_find_text(one.value) for one in call.keywords if one.arg == "title")
            title = next(filter(None, given), title)
    return ""


def _iter_calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _find_text(node: ast.AST) -> str:
    """Return a text that is written out in the program, in one line."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return ""
    return " ".join(node.value.split())


def _read_name(name: str) -> str:
    stem = PurePosixPath(name).stem
    if _NAMELESS.fullmatch(stem):
        return ""
    words = _JOINTS.sub(" ", stem).strip()
    return words[:1].upper() + words[1:]
