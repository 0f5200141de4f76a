"""The words of small talk, each with what it is about."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from retrieval.script import CJK
from retrieval.words import QUESTION_WORDS, STOPWORDS

STOP = STOPWORDS | QUESTION_WORDS
"""Words that carry no topic at all."""


def latin(text: str) -> list[str]:
    """Return the words of letters in a text, lower-cased, contractions in one ("im", "whats")."""
    return re.findall(f"[^\\W\\d_{CJK}]+", text.lower().replace("'", "").replace("’", ""))


def themes(word: str) -> frozenset[str]:
    """Return the themes of a word, also of one drawn out like "hellooo"."""
    spelt = (word, *(re.sub(r"(.)\1{2,}", short, word) for short in (r"\1\1", r"\1")))
    if not STOP.isdisjoint(spelt):
        return frozenset(["stop"])
    return next((vocabulary()[one] for one in spelt if one in vocabulary()), frozenset())


@cache
def vocabulary() -> dict[str, frozenset[str]]:
    """Return the words of small talk, each with its themes; a Chinese theme is named `zh-`."""
    text = (resources.files(__package__) / "small_talk.txt").read_text(encoding="utf-8")
    found: dict[str, frozenset[str]] = {}
    for line in filter(None, text.splitlines()):
        theme, _, words = line.partition(":")
        for word in words.split():
            found[word] = found.get(word, frozenset()) | {theme.removeprefix("zh-")}
    return found


@cache
def chinese() -> re.Pattern[str]:
    """Return a pattern for the Chinese phrases of small talk, the longest first."""
    phrases = [word for word in vocabulary() if re.search(f"[{CJK}]", word)]
    return re.compile("|".join(sorted(map(re.escape, phrases), key=len, reverse=True)))
