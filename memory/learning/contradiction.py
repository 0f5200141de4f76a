"""Tell which of the known facts cannot hold beside what a person says now."""

from __future__ import annotations

import re

from memory.learning.gate import akin
from memory.learning.patterns import NEGATED, OWN, RATHER, SEVERAL, SINGLE, TONGUE, group
from memory.learning.rules import ONE_OF, TASTEFUL, Statement, clauses
from memory.learning.tastes import tastes, unwanted
from memory.profile.merging import similarity
from retrieval.words import words

SAME = 0.5
"""Two values that are so similar are the same; so are those of which one holds the other."""

_DIGITS = re.compile(r"\d[\d.,]*")
_BARE = re.compile(r"^(?:it|that|this)\b|^(?:那|[这這])?(?:[应應][该該]?)?是", re.IGNORECASE)

Things = set[frozenset[str]]


def contradicts(one: Statement, fact: str) -> bool:
    """Tell whether a statement and a fact cannot both be so."""
    if one.kind == "correction" and _corrects(one, fact):
        return True
    mine = clauses(one.content) if one.kind in ("correction", "note") else [one]
    held = clauses(fact)
    if any(_against(new, old) for new in mine for old in held):
        return True
    return _other_taste(one, fact) or _other_tongue(one, fact) or _other_value(one, fact)


def bare(one: Statement) -> bool:
    """Tell whether a correction does not say of what it is one: "It is Bergen, not Oslo"."""
    return one.kind == "correction" and bool(one.wrong and _BARE.match(one.content))


def same(one: str, other: str) -> bool:
    """Tell whether two short texts name the same."""
    return bool(one and other) and similarity(one, other) >= SAME


def _against(new: Statement, old: Statement) -> bool:
    if new.kind == "former":
        return _denied(new, old)
    if old.kind == "former":
        # "I am a nurse" says nothing against "I am no longer a head nurse".
        now = new.content if new.kind == "work" else new.value
        return old.of == new.kind and set(words(old.value)) == set(words(now))
    if new.kind != old.kind:
        return False
    if new.kind in ONE_OF or (new.kind == "identity" and new.changed):
        return new.value.casefold() != old.value.casefold()
    if new.kind == "preference":
        (liked, disliked), (before, averse) = _liked(new), _liked(old)
        return bool(liked & averse or disliked & before)
    return False


def _denied(new: Statement, old: Statement) -> bool:
    if old.kind == "preference":
        return new.of == old.kind and bool(_things(new.value) & _liked(old)[0])
    gone, held = set(words(new.value)), set(words(old.value))
    if not new.of or old.kind == "former":
        return bool(gone) and gone == held and old.kind != "former"
    if new.of == old.kind == "work":
        return bool(gone) and gone <= set(words(old.content))
    # Who is a head nurse no longer may still be a nurse.
    return new.of == old.kind and same(old.value, new.value) and not held < gone


def _liked(one: Statement) -> tuple[Things, Things]:
    """Return what a preference says is liked, and what is not."""
    first, *rest = RATHER.split(one.value, maxsplit=1)
    liked, less = _things(first), _things(" ".join(rest))
    before = one.content[: one.content.rfind(one.value)] if one.value else one.content
    return (less, liked) if NEGATED.search(before) else (liked, less)


def _things(text: str) -> Things:
    return {named for part in SEVERAL.split(text) if (named := frozenset(words(part)))}


def _corrects(one: Statement, fact: str) -> bool:
    """Tell whether a fact says what is wrong, of that which the correction is about."""
    if bare(one) or not same(one.wrong, fact):
        return False
    wrong = set(words(one.wrong))
    left = set(words(fact)) - wrong
    about = set(words(one.content)) - wrong
    return not left or akin(" ".join(about), " ".join(left))


def _other_taste(one: Statement, fact: str) -> bool:
    """Tell whether a fact says that answers are liked otherwise."""
    liked = one.tastes
    disliked = unwanted(one.content) if one.kind in TASTEFUL else {}
    if not liked and not disliked:
        return False
    before, averse = tastes(fact), unwanted(fact)
    return (
        any(before.get(field, value) != value for field, value in liked.items())
        or any(value in averse.get(field, []) for field, value in liked.items())
        or any(before.get(field) in values for field, values in disliked.items())
    )


def _other_tongue(one: Statement, fact: str) -> bool:
    new, old = TONGUE.search(one.content), TONGUE.search(fact)
    wish = one.category == "preference" and not NEGATED.search(one.content + fact)
    return bool(wish and new and old) and _value(new) != _value(old)


def _value(match: re.Match[str] | None) -> str:
    return group(match, "value").casefold() if match else ""


def _other_value(one: Statement, fact: str) -> bool:
    """Tell whether a fact says of a thing of theirs that it is otherwise: "My budget is 9"."""
    new, old = OWN.match(one.content), OWN.match(fact)
    if not new or not old or words(group(new, "thing")) != words(group(old, "thing")):
        return False
    now, then = _value(new), _value(old)
    if now in then or then in now:
        return False
    plainly = one.kind == "correction" or bool(SINGLE.match(one.content))
    return plainly or _DIGITS.sub("", now) == _DIGITS.sub("", then)
