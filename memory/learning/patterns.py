"""Patterns for what people say plainly of themselves, their tastes and places of work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import get_args

from memory.learning.phrases import CHINESE_PHRASES, ENGLISH_PHRASES
from memory.profile.traits import Depth, Detail, Format
from text.regex import regex
from text.words import search_words


def _compile_phrases(name: str) -> re.Pattern[str]:
    """Join all phrasings of one meaning; each group gets a number after its name."""
    phrasings = (*ENGLISH_PHRASES[name], *CHINESE_PHRASES[name])
    joined = "|".join(f"(?:{phrasing})" for phrasing in phrasings)
    numbers = count()
    numbered = re.sub(r"\(\?P<(\w+)>", lambda group: f"(?P<{group[1]}{next(numbers)}>", joined)
    return regex(numbered, re.IGNORECASE)


LEAD_PATTERN = _compile_phrases("lead")
"""Words that only lead to a statement; several may follow each other."""

NOTE_PATTERN = _compile_phrases("note")
"""A request to remember what follows."""

ASIDE_PATTERN = _compile_phrases("aside")
"""What separates something to remember from a question in the same sentence."""

DENIAL_PATTERN = _compile_phrases("denied")
"""A statement that something is wrong."""

CORRECTION_PATTERN = _compile_phrases("right")
"""A statement of what is right instead, perhaps with what is not: `wrong`."""

POSSESSION_PATTERN = _compile_phrases("own")
"""A statement about something the speaker has: `thing`, `value`."""

UNIQUE_THING_PATTERN = _compile_phrases("single")
"""The start of a sentence about something of which there is only one."""

LANGUAGE_PATTERN = _compile_phrases("tongue")
"""The language in which answers are wanted: `value`."""

ALSO_PATTERN = _compile_phrases("also")
"""Words that add to what was true before instead of replacing it."""

EXPERTISE_PATTERN = _compile_phrases("fields")
"""What somebody may be in several fields at once, such as an expert."""

CONTRAST_PATTERN = _compile_phrases("contrast")
"""A correction that needs no introduction."""

WISH_PATTERN = _compile_phrases("wish")
"""A wish for every answer."""

STATEMENT_PATTERNS: Mapping[str, re.Pattern[str]] = {
    kind: _compile_phrases(kind)
    for kind in (
        *("name", "native", "diet", "identity", "role", "home", "bond", "skill", "tool"),
        *("work", "condition", "family", "origin", "goal", "habit", "preference"),
    )
}
"""Statements about oneself, by what they say: `value`."""

FORMER_PATTERN = _compile_phrases("ended")
"""A statement that something no longer holds: `before` and `rest` form the sentence it ends."""

NOT_SO_PATTERN = _compile_phrases("not_so")
"""A statement that something does not hold, with the same groups."""

RATHER_PATTERN = _compile_phrases("rather")
"""What separates something liked from something liked less."""

LIST_SEPARATOR_PATTERN = _compile_phrases("several")
"""What separates several things."""

TASTE_PATTERNS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    field: {value: _compile_phrases(value) for value in get_args(values) if value}
    for field, values in (("detail", Detail), ("depth", Depth), ("format", Format))
}
"""The words for how somebody likes answers, by field and value of a profile."""

ANSWER_PATTERN = _compile_phrases("answers")
"""What a taste must be about to be a taste in answers."""

NEGATION_PATTERN = _compile_phrases("negated")

MOMENTARY_PATTERN = _compile_phrases("moment")
"""Words of statements that hold only for the moment."""

CHANGE_PATTERN = _compile_phrases("changed")
"""Words that say that something was different before."""


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
    if not ANSWER_PATTERN.search(text):
        return NO_TASTES
    tastes = _find_tastes(_split_at_negation(text)[0])
    return {field: values[0] for field, values in tastes.items() if len(values) == 1}


def parse_unwanted_tastes(text: str) -> Mapping[str, list[str]]:
    """Return how answers are not liked, by field of a profile, where a text is plain about it."""
    tastes = _find_tastes(_split_at_negation(text)[1]) if ANSWER_PATTERN.search(text) else {}
    return tastes if len(tastes) == 1 and len(NEGATION_PATTERN.findall(text)) == 1 else {}


def _split_at_negation(text: str) -> tuple[str, str]:
    negation = NEGATION_PATTERN.search(text)
    return (text[: negation.start()], text[negation.end() :]) if negation else (text, "")


def _find_tastes(text: str) -> dict[str, list[str]]:
    tastes = {
        field: [value for value, pattern in patterns.items() if pattern.search(text)]
        for field, patterns in TASTE_PATTERNS.items()
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
        if match and not EXPERTISE_PATTERN.search(match["what"].strip()):
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
