"""Tell the same job, study or role at one place from that at another."""

from __future__ import annotations

import re

from memory.learning.patterns import FIELDS
from retrieval.regex import regex
from retrieval.words import words

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


def placed(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the words for what somebody is or does and for where, if a text says both.

    Of what somebody knows about, such as "an expert in Python", no place is named.
    """
    for pattern in _PLACED:
        found = pattern.match(text)
        if found and not FIELDS.search(found["what"].strip()):
            return frozenset(words(found["what"])), frozenset(words(found["where"]))
    return None


def elsewhere(now: str, before: str) -> bool:
    """Tell whether a text says that somebody is or does what another says, at another place."""
    new, old = placed(now), placed(before)
    if new is None or old is None:
        return False
    (what, where), (same, other) = new, old
    return what == same and bool(where and other) and not (where <= other or other <= where)


def work_elsewhere(now: str, before: str) -> bool:
    """Tell the same of sentences on work; bees, houses and shops may be kept at several places."""
    new, old = (_ONESELF.sub("", one, count=1) for one in (now, before))
    return elsewhere(new, old) and (bool(_HELD.match(new)) or not new.isascii())
