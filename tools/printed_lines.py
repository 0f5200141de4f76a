"""Tell what a program has worked out from what it only repeats of its own text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from text.regex import regex

LONG_WORDS = 4
"""A line of so many words that stands in the program as it is printed says nothing new."""

_NUMBER = regex(r"\d+(?:[.,]\d+)*")


def drop_repeated_lines(code: str, output: str, *, reads: bool) -> str:
    """Return what a program printed without the lines that it only repeats of its own text.

    Whoever writes a program can write anything into it, and would have a source for it. So a line
    is left out that stands in a text of the program. Of a program that reads nothing, a line is
    kept only if it has a number that the program does not state.

    Args:
        code: The program.
        output: What it printed.
        reads: Whether it was given any file.
    """
    texts, numbers = _list_constants(code)
    kept = [
        line
        for line in output.splitlines()
        if not line.strip() or not _is_repeated(line.strip(), texts, numbers, reads=reads)
    ]
    return "\n".join(kept).strip("\n")


def _is_repeated(line: str, texts: list[str], numbers: set[float], *, reads: bool) -> bool:
    stated = {_value(found[0]) for found in _NUMBER.finditer(line)}
    if not reads and stated <= numbers:
        return True
    says = bool(stated) or len(line.split()) >= LONG_WORDS
    return says and any(line in text for text in texts)


def _list_constants(code: str) -> tuple[list[str], set[float]]:
    """Return the texts of a program, and the numbers that it states in them or by themselves."""
    found = list(_iter_constants(code))
    texts = [one for one in found if isinstance(one, str)]
    numbers = {float(one) for one in found if isinstance(one, int | float)}
    numbers |= {_value(number[0]) for text in texts for number in _NUMBER.finditer(text)}
    return texts, numbers


def _iter_constants(code: str) -> Iterator[object]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            yield node.value


def _value(number: str) -> float:
    return float(number.replace(",", "").rstrip(".")) if number.count(".") < 2 else 0.0
