"""How people say plainly what should be known of them, in both languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import get_args

from memory.learning import chinese, english
from memory.profile.shape import Depth, Detail, Format


def _either(name: str) -> re.Pattern[str]:
    """Join all ways of saying something; each group gets a number behind its name."""
    ways = "|".join(f"(?:{way})" for way in (*english.WAYS[name], *chinese.WAYS[name]))
    numbers = count()
    named = re.sub(r"\(\?P<(\w+)>", lambda group: f"(?P<{group[1]}{next(numbers)}>", ways)
    return re.compile(named, re.IGNORECASE)


LEAD = _either("lead")
"""Words before what is said; they may come one after the other."""

NOTE = _either("note")
"""What asks that the words behind it be remembered."""

DENIED = _either("denied")
"""What says that something is wrong."""

RIGHT = _either("right")
"""What says what is right instead, and maybe what is not: `wrong`."""

CONTRAST = _either("contrast")
"""A correction that needs no word before it."""

WISH = _either("wish")
"""A wish for every answer."""

STATED: Mapping[str, re.Pattern[str]] = {
    kind: _either(kind)
    for kind in ("name", "former", "identity", "role", "home", "work", "preference")
}
"""Statements about oneself, by what they say: `value`."""

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
