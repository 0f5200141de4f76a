"""Shorten a conversation without understanding it: keep what was asked, found and left open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.regex import regex
from retrieval.text import heading, language, sentences
from retrieval.tokens import count

MOST = 600
"""How many tokens a digest has at most."""

LONGEST = 300
"""How many characters are kept of what a person said at once, or a page."""

ASKED = {"en": "Asked: ", "zh": "问题："}

_TURN = regex(r"\n\n(?=(?:person|model|[\w-]+ returned): )")
_MATTERS = regex(r"(?:Asked|Decided|Open|问题|决定|未决)[:：]")
_SOURCED = regex(r"\[S\d+\]|<q s=\"S\d+\">")
_PAGE = regex(r'<page id="(S\d+)"[^>]*>\n(.*?)\n</page>', re.DOTALL)


def digest(talk: str) -> str:
    """Return the questions of a conversation, what was left open, and what has a source.

    Questions and open ends are kept first; of what has a source the newest, for it was written with
    the older in sight. The order is that of the conversation.
    """
    asked = ASKED[language(talk)]
    lines = [line for turn in _TURN.split(talk) for line in _lines(turn, asked)]
    kept: set[int] = set()
    room = MOST
    for at in sorted(range(len(lines)), key=lambda one: (lines[one][0], -one)):
        size = count(lines[at][1]) + 1
        if size <= room:
            kept.add(at)
            room -= size
    return "\n".join(dict.fromkeys(lines[at][1] for at in sorted(kept)))


def _lines(turn: str, asked: str) -> Iterator[tuple[int, str]]:
    """Yield what a turn has to keep, each with how much it matters; 0 matters most."""
    who, _, said = turn.partition(": ")
    if who == "person":
        yield 0, f"{asked}{_short(said)}"
        return
    for name, text in _PAGE.findall(turn):
        first = next(iter(sentences(text)), None)
        if first:
            yield 1, f"{_short(first.text)} [{name}]"
    rest = _PAGE.sub("", said if who == "model" else turn)
    for line in _units(rest):
        if _MATTERS.match(line):
            yield 0, line
        elif _SOURCED.search(line) and line.count("<q ") == line.count("</q>"):
            yield 1, line


def _units(text: str) -> Iterator[str]:
    """Yield the lines of a text, and the sentences of those that are long."""
    for line in filter(None, map(str.strip, text.splitlines())):
        if len(line) <= LONGEST:
            yield line
        else:
            yield from (one.text for one in sentences(line) if not heading(one.text))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
