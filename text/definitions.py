"""Find the term whose definition a question asks for, and rate how well a sentence defines it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.topics import strip_request_phrases
from text.words import NON_TOPIC_WORDS, search_words

_PATTERNS = PatternFile("text", "definitions.toml")

_NO_PHRASE = NON_TOPIC_WORDS - {"a", "an", "the", "of"}

CONDITIONAL = 0.8
"""The score of a sentence that says when a thing is something."""

_WORTHS = {"names_it": 0.8, "says_what_for": 0.8, "says_how": 0.45, "purpose": 0.6, "begins": 0.4}
"""The scores of sentences that are no definition, by their pattern; the first that fits counts."""


class DefinedTerm(NamedTuple):
    """The term whose meaning a question asks for, as patterns."""

    spelling: str
    """Its name, as it is spelt in the question."""
    terms: frozenset[str]
    pattern: str
    head_pattern: str
    """The noun or the last name that refers to it after its first mention."""


def find_defined_term(question: str) -> DefinedTerm | None:
    """Return what a question like "What is X?", "X是什么？" or a mere "X" asks about, or None."""
    lines = list(map(strip_request_phrases, question.splitlines()))
    found = _PATTERNS.thing.search("\n".join(lines))
    named = next(filter(None, found.groups())) if found else _phrase(lines[0] if lines else "")
    named = named.strip(" “”《》「」\"'")
    words = re.findall(r"[^\W_]+", named)
    noun = re.findall(r"[^\W_]+", re.split(r" (?:of|in|for|on|by) ", named)[0])
    if not search_words(named) or not noun:
        return None
    pattern = r"[\s'’_.-]+".join(map(_form, words))
    return DefinedTerm(named, frozenset(search_words(named)), pattern, _form(noun[-1]))


def _phrase(line: str) -> str:
    """Return the thing that a line of a few words without a verb names, or ""."""
    found = _PATTERNS.phrase.fullmatch(line)
    if not found or _PATTERNS.no_chinese_phrase.search(line):
        return ""
    named = found["en"] or found["zh"]
    return "" if _NO_PHRASE.intersection(named.lower().split()) else named


def score_definition(asked: DefinedTerm, sentence: str, title: str, above: str = "") -> float:
    """Return how well a sentence defines a term, in 0..1.

    The best sentence begins with the term and continues with "is a" or "means"; one that introduces
    its name, says something else about it, or only begins with it scores less. On a page whose
    title has the term, its head ("the curve") is enough. A sentence below a heading (`above`) with
    the term scores more, by the term's share of the heading.
    """
    named = asked.terms <= set(search_words(title))
    worth = _worth(asked.pattern, sentence)
    if named and not worth:
        worth = 0.6 * _worth(asked.head_pattern, sentence)
        described = _has("describes", asked.head_pattern, sentence)
        worth = max(worth, 0.7 if described else 0.0)
    heading = set(search_words(above))
    about = len(asked.terms) / len(heading) if asked.terms <= heading else 0.0
    return min(1.0, worth + 0.6 * about)


def _worth(name: str, sentence: str) -> float:
    if _has("says_what", name, sentence):
        return CONDITIONAL if _PATTERNS.condition.search(sentence) else 1.0
    return next((worth for kind, worth in _WORTHS.items() if _has(kind, name, sentence)), 0.0)


def _has(kind: str, name: str, sentence: str) -> bool:
    return bool(_compile(kind, name).search(sentence))


@lru_cache(maxsize=512)
def _compile(kind: str, name: str) -> re.Pattern[str]:
    """Return a pattern for sentences of one kind about a thing, whose name is a pattern."""
    return re.compile(_PATTERNS.get_text(kind).replace("THING", name))


def _form(word: str) -> str:
    """Return a pattern for a word in the singular and the plural."""
    return rf"{re.escape(word.removesuffix('s'))}(?:e?s)?" if word.isascii() else re.escape(word)
