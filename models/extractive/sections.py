"""Tell in which section of a configuration or a program each of its lines stands."""

from __future__ import annotations

from collections.abc import Sequence

from models.extractive.topic import Topic
from retrieval.entries import entry, section, setting
from retrieval.regex import regex
from retrieval.text import Span
from retrieval.words import words

DEEPEST = 3
"""At most so many sections are named for a line, the innermost ones."""

_TABLE = regex(r"\s*\[")
_UNSHOWN = regex(r"[^\w .:/-]+")


def paths(text: str, spans: Sequence[Span]) -> list[str]:
    """Return the sections that each span of `text` stands in, "queue › retries"; of prose nothing.

    What is indented below the line that opens a section belongs to it; a table such as `[server]`
    holds all until the next one.
    """
    found: list[str] = []
    opened: list[tuple[int, str]] = []
    for span in spans:
        depth = span.start - text.rfind("\n", 0, span.start) - 1
        table = bool(_TABLE.match(span.text))
        opened = [one for one in opened if one[0] < depth and not (table and section(span.text))]
        found.append(" › ".join(name for _, name in opened[-DEEPEST:]) if entry(span.text) else "")
        name = _UNSHOWN.sub("", section(span.text)).strip()
        if name:
            opened.append((-1 if table else depth, name))
    return found


def asked_for(about: Topic, line: str, path: str) -> float:
    """Return how much of the key of a setting and of its section a topic names, in 0..1."""
    made = setting(line)
    key = words(f"{path} {made.key}") if made else []
    return sum(word in about.terms for word in key) / len(key) if key else 0.0
