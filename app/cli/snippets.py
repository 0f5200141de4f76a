"""The part of a page that has most of a query's words, and these words set off in it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from rich.text import Text

from app.cli.output import one_line
from text.regex import regex
from text.script import CJK, is_western
from text.sentences import split_sentences
from text.words import query_terms, search_words

LONGEST_SNIPPET = 240
"""How many characters of a page are shown."""

WORD = regex(f"(?P<eastern>[{CJK}]+)|[^\\W{CJK}]+")

WESTERN_WORD = regex(r"\w+")


def cut_snippet(text: str, query: str, longest: int = LONGEST_SNIPPET) -> str:
    """Return the sentences from the one on that holds most of a query's words, on one line."""
    wanted = set(query_terms(query))
    said = [one_line(sentence.text).lstrip("# ") for sentence in split_sentences(text)]
    if not said:
        return one_line(text)[:longest]
    held = [len(wanted & set(search_words(sentence))) for sentence in said]
    best = held.index(max(held))
    part = said[best]
    for sentence in said[best + 1 :]:
        if len(part) + len(sentence) >= longest:
            break
        part = f"{part} {sentence}"
    return part if len(part) <= longest else _around(part, wanted, longest)


def highlight_terms(text: str, query: str) -> Text:
    """Return a text with the words of a query set off."""
    shown = Text(text)
    for start, end in _find_term_spans(text, set(query_terms(query))):
        shown.stylize("bold yellow", start, end)
    return shown


def _find_term_spans(text: str, wanted: set[str]) -> Iterable[tuple[int, int]]:
    """Yield where the words of a search stand in a text; Chinese ones are pairs of characters."""
    for word in (WESTERN_WORD if is_western(text) else WORD).finditer(text):
        if word.lastgroup and len(word[0]) > 1:
            for at, pair in enumerate(pairwise(word[0]), start=word.start()):
                if "".join(pair) in wanted:
                    yield at, at + 2
        elif wanted & set(search_words(word[0])):
            yield word.span()


def _around(sentence: str, wanted: set[str], longest: int) -> str:
    """Cut a long sentence so that what was found in it is seen."""
    first = next((start for start, _ in _find_term_spans(sentence, wanted)), 0)
    start = max(0, min(first - longest // 4, len(sentence) - longest))
    cut = sentence[start : start + longest]
    return f"{'…' if start else ''}{cut}{'…' if start + longest < len(sentence) else ''}"
