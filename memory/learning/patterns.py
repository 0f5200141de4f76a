"""How people say plainly what should be known of them, in both languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import get_args

from memory.learning import chinese, english
from memory.profile.shape import Depth, Detail, Format
from retrieval.regex import regex


def _either(name: str) -> re.Pattern[str]:
    """Join all ways of saying something; each group gets a number behind its name."""
    ways = "|".join(f"(?:{way})" for way in (*english.WAYS[name], *chinese.WAYS[name]))
    numbers = count()
    named = re.sub(r"\(\?P<(\w+)>", lambda group: f"(?P<{group[1]}{next(numbers)}>", ways)
    return regex(named, re.IGNORECASE)


LEAD = _either("lead")
"""Words before what is said; they may come one after the other."""

NOTE = _either("note")
"""What asks that the words behind it be remembered."""

ASIDE = _either("aside")
"""What stands between something to be remembered and what is asked in the same sentence."""

DENIED = _either("denied")
"""What says that something is wrong."""

RIGHT = _either("right")
"""What says what is right instead, and maybe what is not: `wrong`."""

OWN = _either("own")
"""What says how something of theirs is: `thing`, `value`."""

SINGLE = _either("single")
"""What begins a sentence about something that there is one of."""

TONGUE = _either("tongue")
"""What says in which language answers are wanted: `value`."""

ALSO = _either("also")
"""Words that say that it is so beside what was so before."""

FIELDS = _either("fields")
"""What somebody may be in several things at once: an expert in one, and in another."""

CONTRAST = _either("contrast")
"""A correction that needs no word before it."""

WISH = _either("wish")
"""A wish for every answer."""

STATED: Mapping[str, re.Pattern[str]] = {
    kind: _either(kind)
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

ENDED = _either("ended")
"""What says that something is so no longer: `before` and `rest` make the sentence that it ends."""

NOT_SO = _either("not_so")
"""What says that something is not so, in the same parts."""

RATHER = _either("rather")
"""What stands between something that is liked and what is liked less."""

SEVERAL = _either("several")
"""What stands between several things."""

TASTES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    field: {value: _either(value) for value in get_args(values) if value}
    for field, values in (("detail", Detail), ("depth", Depth), ("format", Format))
}
"""The words for how somebody likes answers, by field and value of a profile."""

ANSWERS = _either("answers")
"""What a taste must be about, else it is a taste for something else."""

NEGATED = _either("negated")

MOMENT = _either("moment")
"""Words of what holds only for the moment."""

CHANGED = _either("changed")
"""Words that say it was different before."""


def group(match: re.Match[str], name: str) -> str:
    """Return the group of that name in whichever way of saying it was found."""
    groups = (value for key, value in match.groupdict().items() if key.startswith(name) and value)
    return next(groups, "").strip()


def without(pattern: re.Pattern[str], text: str) -> str:
    """Return a text without what a pattern finds, again and again."""
    while (shorter := pattern.sub("", text, count=1)) != text:
        text = shorter
    return text
