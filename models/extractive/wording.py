"""Tell whether words say the same, and what a sentence says without the words for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from retrieval.regex import regex
from retrieval.words import words

STEM = 6
"""English words that begin with so many equal letters are forms of one: director, directed."""

_FAMILIES = (
    "write wrote written compose composer author",
    "found founded founder establish start create form formed set begin began",
    "release publish out premiere broadcast debut issue appear launch",
    "own owner belong owned part property",
    "born birth",
    "die died death",
    "direct director",
    "make made develop produce manufacture build built construct create design maker",
    "contain hold held include consist comprise capacity",
    "locate situate base lie stand site",
    "name call known",
    "play star portray role",
    "win won winner champion",
    "lead led head chair leader manage manager coach",
    "study educate attend graduate school",
    "live reside",
    "marry married wife husband spouse",
    "remove delete drop clear",
    "show print display list output",
    "stand short abbreviation",
    "hold held take took place occur happen",
    "acquire acquisition buy bought purchase",
    "job profession occupation living",
)
"""Verbs that are often asked with, and the words that answer them."""

_IMPLIED = tuple(
    (regex(asked, re.IGNORECASE), regex(given), told)
    for asked, given, told in (
        (
            r"\bwhen\b|\bwhat (?:year|date|day)\b",
            r"\([^()]*\d{3,4}[^()\d]{1,4}[^()]*\d{3,4}[^()]*\)",
            "born died",
        ),
        (
            r"\b(?:nationality|citizenship)\b",
            r"\b(?:is|was) an? (?:[a-z]+[- ])?[A-Z][a-z]+(?:an|ese|ish|ch|i)\b",
            "nationality citizenship",
        ),
    )
)
"""What is asked, what a sentence looks like, and the words that it thereby needs no more."""


def _alike() -> dict[str, frozenset[str]]:
    families = [frozenset(words(line)) for line in _FAMILIES]
    every = frozenset[str]().union(*families)
    return {one: frozenset().union(*(some for some in families if one in some)) for one in every}


_ALIKE = _alike()


def forms(term: str) -> frozenset[str]:
    """Return a term and the terms that say the same."""
    return _ALIKE.get(term, frozenset()) | {term}


def among(term: str, found: Collection[str]) -> bool:
    """Tell whether a term or, in English, another word for it is among some words."""
    if not forms(term).isdisjoint(found):
        return True
    stem = term[:STEM] if term.isascii() and term.isalpha() else ""
    return len(stem) == STEM and any(one.startswith(stem) for one in found)


def has(terms: Iterable[str], said: Iterable[str]) -> bool:
    """Tell whether all of some terms, or other words for them, are among the words of a text."""
    found = set(said)
    return all(among(one, found) for one in terms)


def told(question: str, text: str) -> list[str]:
    """Return the words of a text and those that it says without them: years of life, a people."""
    more = (said for given, said in _implied(question) if given.search(text))
    return words(" ".join([text, *more]))


@lru_cache(maxsize=64)
def _implied(question: str) -> list[tuple[re.Pattern[str], str]]:
    """Return what may say the words of a question without them, as told for each clause."""
    return [(given, said) for asked, given, said in _IMPLIED if asked.search(question)]
