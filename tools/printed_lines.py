"""Tell what a program has worked out from what it only repeats of its own text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from text.regex import regex

LONG_WORDS = 4
"""A line of so many words that stands in the program as it is printed says nothing new."""

HEADING_WORDS = 12
"""A longer line is no heading."""

_NUMBER = regex(r"\d+(?:[.,]\d+)*")


def drop_repeated_lines(code: str, output: str, *, reads: bool) -> str:
    """Return what a program printed without the lines that it only repeats of its own text.

    Whoever writes a program can write anything into it, and would have a source for it. So a line
    is left out that stands in a text of the program. Of a program that reads nothing, a line is
    kept only if it has a number that the program does not state. A heading without numbers stays
    where it leads on to a line that is kept, since it says what that is.

    Args:
        code: The program.
        output: What it printed.
        reads: Whether it was given any file.
    """
    texts, numbers = _list_constants(code)
    kept: list[str] = []
    leads = False
    for line in reversed(output.splitlines()):
        said = line.strip()
        heads = leads and _is_heading(said)
        if said and not heads and _is_repeated(said, texts, numbers, reads=reads):
            leads = False
            continue
        leads = leads if not said else not heads
        kept.append(line)
    return "\n".join(reversed(kept)).strip("\n")


def _is_heading(line: str) -> bool:
    short = len(line.split()) <= HEADING_WORDS and len(line) <= 8 * HEADING_WORDS
    return short and line.endswith((":", "：")) and not _NUMBER.search(line)


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
