"""Find common words that are private only because they occur together in a private sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from itertools import pairwise

from retrieval.common import GRAMMAR, weight
from retrieval.private_words import HAN, Material, Statement, filler
from retrieval.words import words

TOGETHER = 4
"""This many words that occur together in a private sentence do so not by chance."""

BESIDE, BESIDE_ZH = 3, 6
"""How far apart two words of one remembered statement stand side by side, in search words."""


def together(text: str, material: Material) -> Set[str]:
    """Return the common words of a query that occur together only in a private sentence."""
    own = {word for one in material.own for word in one.words}
    asked = frozenset(
        word for word in words(text) if word not in own and not filler(word) and len(word) > 1
    )
    found: set[str] = set()
    for sentence in (sentence for one in material.private for sentence in one.sentences):
        both = asked & sentence
        if _count(both) >= TOGETHER and not _public(both, material):
            found |= both
    for statement in (statement for one in material.memory for statement in one.statements):
        for pair in _pairs(asked, statement):
            if not _public(frozenset(pair), material):
                found |= _telling(pair, statement)
    return found


def _public(some: Set[str], material: Material) -> bool:
    return any(some <= one.words for one in material.public)


def _count(both: Collection[str]) -> float:
    """Return how many words there are; a Chinese one has about two pairs."""
    return sum(0.5 if HAN.match(word) else 1.0 for word in both)


def _pairs(asked: Set[str], statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield the words of a query that stand side by side in a statement, two at a time."""
    if len(asked & statement.known) < 2:
        return
    places = [(at, word) for at, word in enumerate(statement.words) if word in asked]
    for (first, one), (second, other) in pairwise(places):
        chinese = bool(HAN.match(one) and HAN.match(other))
        if one == other or second - first > (BESIDE_ZH if chinese else BESIDE):
            continue
        if not chinese or (second - first > 1 and GRAMMAR.isdisjoint(one + other)):
            yield one, other


def _telling(pair: tuple[str, str], statement: Statement) -> Set[str]:
    """Return those of two words that the statement writes as names, or the rarer one."""
    return statement.names & {*pair} or {max(pair, key=weight)}
