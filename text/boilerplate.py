"""Recognize text without content: licenses, notices, redirects, lists of links or names."""

from __future__ import annotations

from text.pattern_files import PatternFile

_PATTERNS = PatternFile("text", "boilerplate.toml")


def is_boilerplate(line: str) -> bool:
    """Tell whether a line or sentence is a notice that any document may begin with."""
    return _PATTERNS.any_found(line, "made", "licensed", "edited")


STUB = 400
"""A page of at most this many characters that mentions a move is only a redirect."""

PROSE = 0.25
"""An index has less than this share of its text in sentences."""

LINES = 8
"""The fewest lines of an index."""


def is_navigation_page(title: str, text: str) -> bool:
    """Tell whether a page is only a redirect, a list of links, an index or a table of contents."""
    if len(text) <= STUB and _PATTERNS.moved.search(text):
        return True
    if is_contents_title(_PATTERNS.document.sub("", title)):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < LINES:
        return False
    prose = sum(len(line) for line in lines if _PATTERNS.sentence.search(line))
    if prose > PROSE * len(text):
        return False
    addresses = sum(bool(_PATTERNS.address.search(line)) for line in lines)
    named = f"{title}\n{lines[0]}"
    return bool(_PATTERNS.register.search(named)) or 2 * addresses > len(lines)


LISTED = 0.8
"""The least share of the lines of a list of names that are names alone."""


def is_name_list(passage: str) -> bool:
    """Tell whether a passage is only a list of links or names that no sentence says a thing of.

    Its items are a few words long and have no value. A sentence that introduces a list makes it
    an answer.
    """
    lines = [line.strip() for line in passage.splitlines() if line.strip()]
    items = [line for line in lines if _PATTERNS.bare.fullmatch(line)]
    if len(items) < LINES or len(items) < LISTED * len(lines):
        return False
    return not any(_PATTERNS.sentence.search(f"{line.rstrip(':：')}.") for line in lines)


def is_contents_title(line: str) -> bool:
    """Tell whether a line is only the title of a table of contents."""
    return bool(_PATTERNS.contents.fullmatch(line))


def asks_for_navigation(question: str) -> bool:
    """Tell whether a question asks for a page of this kind."""
    return bool(_PATTERNS.register.search(question)) or "redirect" in question.lower()
