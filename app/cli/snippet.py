"""Cut from a page the part that a query is about, and mark the words that were found."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from rich.text import Text

from app.cli.output import one_line
from retrieval.regex import regex
from retrieval.script import CJK, western
from retrieval.text import sentences
from retrieval.words import terms, words

LONGEST = 240
"""How many characters of a page are shown."""

WORD = regex(f"(?P<eastern>[{CJK}]+)|[^\\W{CJK}]+")

WESTERN_WORD = regex(r"\w+")


def snippet(text: str, query: str, longest: int = LONGEST) -> str:
    """Return the sentences from the one on that holds most of a query's words, on one line."""
    wanted = set(terms(query))
    said = [one_line(sentence.text).lstrip("# ") for sentence in sentences(text)]
    if not said:
        return one_line(text)[:longest]
    held = [len(wanted & set(words(sentence))) for sentence in said]
    best = held.index(max(held))
    part = said[best]
    for sentence in said[best + 1 :]:
        if len(part) + len(sentence) >= longest:
            break
        part = f"{part} {sentence}"
    return part if len(part) <= longest else _around(part, wanted, longest)


def marked(text: str, query: str) -> Text:
    """Return a text with the words of a query set off."""
    shown = Text(text)
    for start, end in places(text, set(terms(query))):
        shown.stylize("bold yellow", start, end)
    return shown


def places(text: str, wanted: set[str]) -> Iterable[tuple[int, int]]:
    """Yield where the words of a search stand in a text; Chinese ones are pairs of characters."""
    for word in (WESTERN_WORD if western(text) else WORD).finditer(text):
        if word.lastgroup and len(word[0]) > 1:
            for at, pair in enumerate(pairwise(word[0]), start=word.start()):
                if "".join(pair) in wanted:
                    yield at, at + 2
        elif wanted & set(words(word[0])):
            yield word.span()


def _around(sentence: str, wanted: set[str], longest: int) -> str:
    """Cut a long sentence so that what was found in it is seen."""
    first = next((start for start, _ in places(sentence, wanted)), 0)
    start = max(0, min(first - longest // 4, len(sentence) - longest))
    cut = sentence[start : start + longest]
    return f"{'…' if start else ''}{cut}{'…' if start + longest < len(sentence) else ''}"
