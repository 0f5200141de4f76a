"""Measure how hard a text is to read.

English: the grade level of Kincaid, Fishburne, Rogers and Chissom, "Derivation of new readability
formulas for Navy enlisted personnel", Research Branch Report 8-75, 1975. Syllables are counted by
their vowels, which is right for about nine words in ten.

Chinese has no such formula that is generally accepted, and no syllables to count: each character is
one. What formulas for Chinese have in common is the length of sentences, so that is measured, in
characters, and the length of clauses beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from text.regex import regex
from text.script import CJK

_WORD = regex(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|\d+(?:[.,]\d+)*")
_CHARACTER = regex(f"[{CJK}]")
_VOWELS = regex(r"[aeiouy]+")
_SILENT_END = regex(r"(?:[^aeiouyl]e|[^aeiouytd]ed|[^aeiouyscgxz]es)$")
_CLAUSE_END = regex(r"[，、；：。！？,;:.!?]+")


def count_syllables(word: str) -> int:
    """Return the syllables of an English word, at least one; a number counts as one."""
    low = word.lower()
    groups = len(_VOWELS.findall(low))
    if groups > 1 and _SILENT_END.search(low):
        groups -= 1
    return max(groups, 1)


def list_english_words(text: str) -> list[str]:
    """Return the words and numbers in Latin script."""
    return _WORD.findall(text)


def count_text_words(text: str) -> int:
    """Return the length of a text: its words in Latin script and its Chinese characters."""
    return len(_WORD.findall(text)) + len(_CHARACTER.findall(text))


def grade_english(sentences: Sequence[str]) -> float | None:
    """Return the Flesch-Kincaid grade of some sentences; `None` if there are no words.

    0.39 · words / sentences + 11.8 · syllables / words - 15.59: years of school in the USA.
    """
    words = [list_english_words(sentence) for sentence in sentences]
    words = [some for some in words if some]
    count = sum(map(len, words))
    if not count:
        return None
    syllables = sum(count_syllables(word) for some in words for word in some)
    return 0.39 * count / len(words) + 11.8 * syllables / count - 15.59


def measure_chinese(sentences: Sequence[str]) -> tuple[float, float] | None:
    """Return the mean length of sentences and of clauses, in characters; a word counts as one.

    `None` if there are no characters.
    """
    lengths = [count_text_words(sentence) for sentence in sentences]
    lengths = [length for length in lengths if length]
    clauses = [one for sentence in sentences for one in _CLAUSE_END.split(sentence)]
    parts = [length for clause in clauses if (length := count_text_words(clause))]
    if not lengths or not any(_CHARACTER.search(one) for one in sentences):
        return None
    return sum(lengths) / len(lengths), sum(parts) / len(parts)
