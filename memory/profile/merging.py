"""Join what one turn tells of a person with what was known before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory.learning.jobs import elsewhere
from memory.learning.patterns import ALSO
from memory.profile.shape import Profile, Told, Trait
from retrieval.words import words

ALIKE = 0.8
"""Two wordings that are so similar mean the same."""

LEAST = 0.6
"""What is less sure changes nothing."""

HALF_LIFE = 90 * 86_400.0
"""Seconds after which what was only understood weighs half against what is understood now."""

MOST = 6
"""How many identities, and as many characteristics, are kept; the oldest go first."""


def merge(known: Profile, told: Told) -> Profile:
    """Return the profile with what a turn tells.

    What was stated takes the place of what was there at once, however sure that was: people change.
    What was only understood does so when it is at least as sure as the other, which counts less as
    it grows old.
    """
    before = [] if told["instead"] and told["identities"] else known["identities"]
    return Profile(
        identities=_joined(before, told["identities"], told["gone"]),
        characteristics=_joined(known["characteristics"], told["characteristics"], told["gone"]),
        tastes=_tastes(_wanted(known["tastes"], told["unwanted"]), told["tastes"]),
    )


def similarity(one: str, other: str) -> float:
    """Return how much two short texts say the same, in 0..1.

    The cosine of their words and letter trigrams; 1 where one holds every word of the other, so
    that "nurse" and "paediatric nurse" are alike.
    """
    left, right = set(words(one)), set(words(other))
    if left and right and (left <= right or right <= left):
        return 1.0
    # Whoever only reads a profile compares nothing, and needs no numpy.
    from models.hashing import hashed  # noqa: PLC0415

    first, second = hashed([one, other])
    return max(0.0, float(first @ second))


def _joined(known: Sequence[Trait], told: Sequence[Trait], gone: Sequence[str]) -> list[Trait]:
    left = [one for one in known if not any(_alike(one["text"], text) for text in gone)]
    for new in told:
        if new["confidence"] < LEAST:
            continue
        left = [one for one in left if not _moved(new, one)]
        same = [one for one in left if _alike(one["text"], new["text"])]
        left = [_more_specific(new, same), *(one for one in left if one not in same)]
    return left[:MOST]


def _moved(new: Trait, old: Trait) -> bool:
    """Tell whether somebody is now at another place what they were: "a nurse in Oslo"."""
    return elsewhere(new["text"], old["text"]) and not ALSO.search(new["quote"])


def _alike(one: str, other: str) -> bool:
    return similarity(one, other) >= ALIKE


def _more_specific(new: Trait, same: Sequence[Trait]) -> Trait:
    """Return the wording that says most; it is as sure as the surest of them."""
    best = max([new, *same], key=lambda one: len(set(words(one["text"]))))
    sure = max(one["confidence"] for one in [new, *same])
    return Trait(**{**best, "confidence": sure})


def _tastes(known: Mapping[str, Trait], told: Mapping[str, Trait]) -> dict[str, Trait]:
    return {**known, **{name: new for name, new in told.items() if _wins(new, known.get(name))}}


def _wanted(known: Mapping[str, Trait], unwanted: Mapping[str, Sequence[str]]) -> dict[str, Trait]:
    return {name: one for name, one in known.items() if one["text"] not in unwanted.get(name, [])}


def _wins(new: Trait, old: Trait | None) -> bool:
    if new["confidence"] < LEAST:
        return False
    if old is None or new["stated"]:
        return True
    age = max(0.0, new["at"] - old["at"])
    weight: float = 0.5 ** (age / HALF_LIFE)
    return new["confidence"] >= old["confidence"] * weight
