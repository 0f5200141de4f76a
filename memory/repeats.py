"""Leave out what one call would be told twice: a fact that the profile says already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memory.base import Note
from memory.budget import Part
from memory.learning.patterns import ANSWERS, TASTES
from memory.learning.portrait import IDENTITY
from memory.learning.rules import LIKING, Statement, noted
from memory.learning.tastes import unwanted
from retrieval.common import GRAMMAR
from retrieval.words import words

PROFILE, FACTS = "profile", "facts"
"""The names of the memories that may say the same."""

Says = frozenset[str]


def once(parts: Sequence[Part]) -> list[Part]:
    """Return what a call is told without facts of which each word stands in its profile.

    What of the profile found no room counts for nothing here; a correction is always told.
    """
    told = [note.says for part in parts if part.name == PROFILE for note in part.notes]
    if not told:
        return list(parts)
    left = [
        part._replace(notes=[note for note in part.notes if not _repeats(note, told)])
        if part.name == FACTS
        else part
        for part in parts
    ]
    return [part for part in left if part.notes]


def identity(text: str) -> Says:
    """Return what a trait or a statement says somebody is, by its words."""
    return frozenset(words(text))


def taste(name: str, value: str) -> Says:
    """Return what a profile says of how answers are liked."""
    return frozenset([f"{name}={value}"])


def _repeats(note: Note, told: Sequence[Says]) -> bool:
    said = () if note.must else _said(note.text)
    return bool(said) and all(any(one <= other for other in told) for one in said)


@lru_cache(maxsize=4096)
def _said(text: str) -> tuple[Says, ...]:
    """Return what a fact says; nothing where it says anything that no profile does."""
    statements = noted(text)
    if statements and all(one.kind in IDENTITY and one.value for one in statements):
        return tuple(identity(one.value) for one in statements)
    if statements and all(one.kind in LIKING and _only_tastes(one) for one in statements):
        liked = [pair for one in statements for pair in one.tastes.items()]
        return tuple(taste(name, value) for name, value in liked)
    return ()


def _only_tastes(one: Statement) -> bool:
    """Tell whether a statement says only how answers are liked, by words that a profile has."""
    rest = one.value
    for name, value in one.tastes.items():
        rest = TASTES[name][value].sub(" ", rest)
    left = (word for word in words(ANSWERS.sub(" ", rest)) if word not in GRAMMAR)
    return bool(one.tastes and one.value) and not unwanted(one.content) and not any(left)
