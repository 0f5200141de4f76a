"""Patterns for what people say plainly of themselves, their tastes and places of work."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import get_args

from memory.learning import chinese_phrases, english_phrases
from memory.profile.traits import Depth, Detail, Format
from text.regex import regex
from text.words import search_words


def _compile_phrases(name: str) -> re.Pattern[str]:
    """Join all ways of saying something; each group gets a number behind its name."""
    ways = "|".join(
        f"(?:{way})"
        for way in (*english_phrases.ENGLISH_PHRASES[name], *chinese_phrases.CHINESE_PHRASES[name])
    )
    numbers = count()
    named = re.sub(r"\(\?P<(\w+)>", lambda group: f"(?P<{group[1]}{next(numbers)}>", ways)
    return regex(named, re.IGNORECASE)


LEAD_PATTERN = _compile_phrases("lead")
"""Words before what is said; they may come one after the other."""

NOTE_PATTERN = _compile_phrases("note")
"""What asks that the words behind it be remembered."""

ASIDE_PATTERN = _compile_phrases("aside")
"""What stands between something to be remembered and what is asked in the same sentence."""

DENIAL_PATTERN = _compile_phrases("denied")
"""What says that something is wrong."""

CORRECTION_PATTERN = _compile_phrases("right")
"""What says what is right instead, and maybe what is not: `wrong`."""

POSSESSION_PATTERN = _compile_phrases("own")
"""What says how something of theirs is: `thing`, `value`."""

UNIQUE_THING_PATTERN = _compile_phrases("single")
"""What begins a sentence about something that there is one of."""

LANGUAGE_PATTERN = _compile_phrases("tongue")
"""What says in which language answers are wanted: `value`."""

ALSO_PATTERN = _compile_phrases("also")
"""Words that say that it is so beside what was so before."""

EXPERTISE_PATTERN = _compile_phrases("fields")
"""What somebody may be in several things at once: an expert in one, and in another."""

CONTRAST_PATTERN = _compile_phrases("contrast")
"""A correction that needs no word before it."""

WISH_PATTERN = _compile_phrases("wish")
"""A wish for every answer."""

STATEMENT_PATTERNS: Mapping[str, re.Pattern[str]] = {
    kind: _compile_phrases(kind)
    for kind in (
        "name",
        "native",
        "diet",
        "identity",
        "role",
        "home",
        "bond",
        "skill",
        "tool",
        "work",
        "condition",
        "family",
        "origin",
        "goal",
        "habit",
        "preference",
    )
}
"""Statements about oneself, by what they say: `value`."""

FORMER_PATTERN = _compile_phrases("ended")
"""What says that something is so no longer: `before` and `rest` make the sentence that it ends."""

NOT_SO_PATTERN = _compile_phrases("not_so")
"""What says that something is not so, in the same parts."""

RATHER_PATTERN = _compile_phrases("rather")
"""What stands between something that is liked and what is liked less."""

LIST_SEPARATOR_PATTERN = _compile_phrases("several")
"""What stands between several things."""

TASTE_PATTERNS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    field: {value: _compile_phrases(value) for value in get_args(values) if value}
    for field, values in (("detail", Detail), ("depth", Depth), ("format", Format))
}
"""The words for how somebody likes answers, by field and value of a profile."""

ANSWER_PATTERN = _compile_phrases("answers")
"""What a taste must be about, else it is a taste for something else."""

NEGATION_PATTERN = _compile_phrases("negated")

MOMENTARY_PATTERN = _compile_phrases("moment")
"""Words of what holds only for the moment."""

CHANGE_PATTERN = _compile_phrases("changed")
"""Words that say it was different before."""


def get_named_group(match: re.Match[str], name: str) -> str:
    """Return the group of that name in whichever way of saying it was found."""
    groups = (value for key, value in match.groupdict().items() if key.startswith(name) and value)
    return next(groups, "").strip()


def strip_matches(pattern: re.Pattern[str], text: str) -> str:
    """Return a text without what a pattern finds, again and again."""
    while (shorter := pattern.sub("", text, count=1)) != text:
        text = shorter
    return text


NO_TASTES: Mapping[str, str] = MappingProxyType({})


def parse_tastes(text: str) -> Mapping[str, str]:
    """Return how answers are liked, by field of a profile, as far as a text says it plainly.

    What stands behind a "not" is not liked.
    """
    if not ANSWER_PATTERN.search(text):
        return NO_TASTES
    found = _named(_halves(text)[0])
    return {field: values[0] for field, values in found.items() if len(values) == 1}


def parse_unwanted_tastes(text: str) -> Mapping[str, list[str]]:
    """Return how answers are not liked, by field of a profile, where a text is plain about it."""
    found = _named(_halves(text)[1]) if ANSWER_PATTERN.search(text) else {}
    return found if len(found) == 1 and len(NEGATION_PATTERN.findall(text)) == 1 else {}


def _halves(text: str) -> tuple[str, str]:
    negation = NEGATION_PATTERN.search(text)
    if negation is None:
        return text, ""
    return text[: negation.start()], text[negation.end() :]


def _named(text: str) -> dict[str, list[str]]:
    named = {
        field: [value for value, pattern in values.items() if pattern.search(text)]
        for field, values in TASTE_PATTERNS.items()
    }
    return {field: values for field, values in named.items() if values}


_PLACED = (
    regex(r"^(?P<what>.+?) (?:at|for) (?P<where>.+)$", re.IGNORECASE),
    regex(r"^(?P<what>.+?) (?:in|near) (?P<where>(?:the )?(?-i:[A-Z]).*)$", re.IGNORECASE),
    regex(r"^(?P<what>[^A-Z]+?) (?:in|near) (?P<where>[^A-Z]+)$"),
    regex(
        r"^我?(?:[现現]在)?在(?P<where>.{1,20}?)(?P<what>(?:[当當]|做|担任|工作|上班|任教|教|[读讀]|上[学學]).*)$"
    ),
    regex(r"^(?P<where>[^的]{1,20})的(?:一?[名个個位])?(?P<what>[^的]{1,20})$"),
)
_ONESELF = regex(r"^(?:i am|i'm|i)\b ?(?:an? |the )?", re.IGNORECASE)
_HELD = regex(r"^(?:work|study|studying|teach|teaching|working)\b", re.IGNORECASE)


def _split_place(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words for what somebody is or does and for where, if a text says both.

    Of what somebody knows about, such as "an expert in Python", no place is named.
    """
    for pattern in _PLACED:
        found = pattern.match(text)
        if found and not EXPERTISE_PATTERN.search(found["what"].strip()):
            return frozenset(search_words(found["what"])), frozenset(search_words(found["where"]))
    return None


def is_at_other_place(now: str, before: str) -> bool:
    """Tell whether a text says that somebody is or does what another says, at another place."""
    new, old = _split_place(now), _split_place(before)
    if new is None or old is None:
        return False
    (what, where), (same, other) = new, old
    return what == same and bool(where and other) and not (where <= other or other <= where)


def is_at_other_workplace(now: str, before: str) -> bool:
    """Tell the same of sentences on work; bees, houses and shops may be kept at several places."""
    new, old = (_ONESELF.sub("", one, count=1) for one in (now, before))
    return is_at_other_place(new, old) and (bool(_HELD.match(new)) or not new.isascii())
