"""Tell whether two questions ask the same, in other words as little as politeness and articles."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from text.pattern_files import PatternFile
from text.regex import regex

_PATTERNS = PatternFile("text", "question_matching.toml")

_SHORT_FORMS = {
    "can't": "can not",
    "won't": "will not",
    "n't": " not",
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
}
_WHOSE = regex(r"(?i)\b(what|who|where|when|how|why|which|that|there|it)'s\b")
_ES = regex(r"(?:s|x|z|ch|sh)es$")
_THOUSANDS = regex(r",(?=\d{3}\b)")

SHORTEST_PLURAL = 4
"""A word with fewer letters is no plural here: "gas", "is", "bus"."""


def is_same_question(one: str, other: str) -> bool:
    """Tell whether two questions ask the same.

    They have the same words in the same order, apart from politeness, articles, number of nouns
    and verbs, and punctuation; "In winter, what do bees eat?" is "What do bees eat in winter?". A
    name, number, year, negation or question word that differs makes another question.
    """
    key = question_key(one)
    return bool(key) and key == question_key(other)


@lru_cache(maxsize=4096)
def question_key(question: str) -> tuple[str, ...]:
    """Return the words of a question that tell it from others, in order."""
    text = unicodedata.normalize("NFKC", question).replace("’", "'").strip()
    while (shorter := _PATTERNS.before.sub("", text, count=1)) != text and shorter.strip():
        text = shorter
    text = _PATTERNS.after.sub("", text, count=1)
    if moved := _PATTERNS.leading.match(text):
        text = f"{moved['rest']} {moved['where']}"
    if defined := _PATTERNS.zh_definition.match(text):
        text = f"{defined['thing']}是什么"
    return tuple(_words(_PATTERNS.zh_fill.sub("", _spell_out(text))))


def _spell_out(text: str) -> str:
    """Return a text with the short forms of verbs spelt out; a possessive stays."""
    for short, whole in _SHORT_FORMS.items():
        text = text.replace(short, whole)
    return _WHOSE.sub(r"\1 is", text)


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, in the form in which they are compared."""
    forms = {word: row[0] for row in _PATTERNS.get_rows("forms") if row for word in row}
    articles = _PATTERNS.get_words("articles")
    for at, found in enumerate(_PATTERNS.token.finditer(text)):
        word = found[0]
        # A name has no plural: Williams is not William.
        name = at > 0 and word[0].isupper()
        lower = word.casefold()
        if lower in articles and not name:
            continue
        if lower[0].isdigit():
            yield _THOUSANDS.sub("", lower)
        else:
            yield lower if name else forms.get(lower, _singular(lower))


def _singular(word: str) -> str:
    """Return a word without the ending of an English plural, or of a verb in the third person."""
    if len(word) < SHORTEST_PLURAL or not word.isascii() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > SHORTEST_PLURAL:
        return f"{word[:-3]}y"
    if _ES.search(word):
        return word[:-2]
    return word[:-1] if word.endswith("s") else word
