"""Patterns for what people say plainly of themselves, their tastes and places of work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from memory.profile.traits import Depth, Detail, Format
from text.pattern_files import PatternFile
from text.regex import regex
from text.words import search_words

PHRASES = PatternFile(__package__, "patterns.toml")

TASTES: Mapping[str, tuple[str, ...]] = {
    field: get_args(values)
    for field, values in (("detail", Detail), ("depth", Depth), ("format", Format))
}
"""The values of a profile that say how somebody likes answers; each names its pattern."""


def get_named_group(match: re.Match[str], name: str) -> str:
    """Return the group of that name in whichever phrasing matched."""
    groups = (value for key, value in match.groupdict().items() if key.startswith(name) and value)
    return next(groups, "").strip()


def strip_matches(pattern: re.Pattern[str], text: str) -> str:
    """Remove the matches of a pattern until none is left."""
    while (shorter := pattern.sub("", text, count=1)) != text:
        text = shorter
    return text


NO_TASTES: Mapping[str, str] = MappingProxyType({})


def parse_tastes(text: str) -> Mapping[str, str]:
    """Return how answers are liked, by field of a profile, as far as a text says it plainly.

    What follows a "not" is not liked.
    """
    if not PHRASES.answer.search(text):
        return NO_TASTES
    tastes = _find_tastes(_split_at_negation(text)[0])
    return {field: values[0] for field, values in tastes.items() if len(values) == 1}


def parse_unwanted_tastes(text: str) -> Mapping[str, list[str]]:
    """Return how answers are not liked, by field of a profile, where a text is plain about it."""
    tastes = _find_tastes(_split_at_negation(text)[1]) if PHRASES.answer.search(text) else {}
    return tastes if len(tastes) == 1 and len(PHRASES.negation.findall(text)) == 1 else {}


def _split_at_negation(text: str) -> tuple[str, str]:
    negation = PHRASES.negation.search(text)
    return (text[: negation.start()], text[negation.end() :]) if negation else (text, "")


def _find_tastes(text: str) -> dict[str, list[str]]:
    tastes = {
        field: [value for value in values if value and PHRASES.get(value).search(text)]
        for field, values in TASTES.items()
    }
    return {field: values for field, values in tastes.items() if values}


_PLACE_PHRASES = (
    regex(r"^(?P<what>.+?) (?:at|for) (?P<where>.+)$", re.IGNORECASE),
    regex(r"^(?P<what>.+?) (?:in|near) (?P<where>(?:the )?(?-i:[A-Z]).*)$", re.IGNORECASE),
    regex(r"^(?P<what>[^A-Z]+?) (?:in|near) (?P<where>[^A-Z]+)$"),
    regex(
        r"^我?(?:[现現]在)?在(?P<where>.{1,20}?)(?P<what>(?:[当當]|做|担任|工作|上班|任教|教|[读讀]|上[学學]).*)$"
    ),
    regex(r"^(?P<where>[^的]{1,20})的(?:一?[名个個位])?(?P<what>[^的]{1,20})$"),
)
_FIRST_PERSON = regex(r"^(?:i am|i'm|i)\b ?(?:an? |the )?", re.IGNORECASE)
_OCCUPATION = regex(r"^(?:work|study|studying|teach|teaching|working)\b", re.IGNORECASE)


def _split_place(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words for what somebody is or does and for where, if a text says both.

    A field of knowledge, as in "an expert in Python", is no place.
    """
    for pattern in _PLACE_PHRASES:
        match = pattern.match(text)
        if match and not PHRASES.expertise.search(match["what"].strip()):
            return frozenset(search_words(match["what"])), frozenset(search_words(match["where"]))
    return None


def is_at_other_place(now: str, before: str) -> bool:
    """Tell whether a text says that somebody is or does what another says, at another place."""
    new, old = _split_place(now), _split_place(before)
    if new is None or old is None:
        return False
    (role, place), (old_role, old_place) = new, old
    moved = not (place <= old_place or old_place <= place)
    return role == old_role and bool(place and old_place) and moved


def is_at_other_workplace(now: str, before: str) -> bool:
    """Tell the same of sentences on work; bees, houses and shops may be kept in several places."""
    new, old = (_FIRST_PERSON.sub("", text, count=1) for text in (now, before))
    return is_at_other_place(new, old) and (bool(_OCCUPATION.match(new)) or not new.isascii())
