"""Tell which of the known facts cannot hold beside what a person says now."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from memory.learning.gate import akin
from memory.learning.jobs import elsewhere, work_elsewhere
from memory.learning.patterns import (
    ALSO,
    NEGATED,
    OWN,
    RATHER,
    SEVERAL,
    SINGLE,
    STATED,
    TONGUE,
    group,
)
from memory.learning.rules import ONE_OF, TASTEFUL, Statement, clauses
from memory.learning.tastes import tastes, unwanted
from memory.profile.merging import similarity
from retrieval.regex import regex
from retrieval.words import words

SAME = 0.5
"""Two values that are so similar are the same; so are those of which one holds the other."""

_DIGITS = regex(r"\d[\d.,]*")
_BARE = regex(r"^(?:it|that|this)\b|^(?:那|[这這])?(?:[应應][该該]?)?是", re.IGNORECASE)

_USED = regex(r"\b(?:use|eat|drink|drive)\b|[用吃喝]", re.IGNORECASE)
_EATEN = regex(
    r"vegan|vegetarian|pesc[ae]tarian|omnivore|flexitarian|carnivore|meat(?:[- ]eater)?|素|[荤葷]",
    re.IGNORECASE,
)
"""What somebody eats, of which one excludes the others."""

_COUNTED = regex(
    r"^(?:i|we) have (?P<many>an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+)"
    r" (?P<what>[^,;]+)$"
    r"|^我[们們]?有(?P<number>[一两兩二三四五六七八九十\d]+)(?:[个個只隻条條位名])?"
    r"(?P<thing>[^,;]+)$",
    re.IGNORECASE,
)
_ONE = regex(r"^(?:an?|called|named)\b|^是|^叫", re.IGNORECASE)
"""What somebody else is or is called, of which there is one at a time."""

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
    if _other_number(new.content, old.content):
        return True
    if new.kind != old.kind:
        return _other_use(new, old)
    if new.kind in ONE_OF or (new.kind == "identity" and new.changed):
        return _state(new) != _state(old)
    against = AGAINST.get(new.kind)
    return against is not None and against(new, old)


def _state(one: Statement) -> str:
    """Return that which there is one of; who is married may be told of with more or less."""
    value = one.value.casefold()
    return value.split()[0] if one.kind == "bond" and value else value


def _other_diet(new: Statement, old: Statement) -> bool:
    eaten, before = _EATEN.search(new.value), _EATEN.search(old.value)
    return bool(eaten and before and eaten[0].lower() != before[0].lower())


def _other_place(new: Statement, old: Statement) -> bool:
    return elsewhere(new.value, old.value) and not ALSO.search(new.content)


def _other_work(new: Statement, old: Statement) -> bool:
    return work_elsewhere(new.content, old.content) and not ALSO.search(new.content)


def _other_tool(new: Statement, old: Statement) -> bool:
    gone = _things(new.wrong) & _liked(old)[0] if new.wrong else set()
    return bool(gone) or _other_liking(new, old)


def _other_liking(new: Statement, old: Statement) -> bool:
    (liked, disliked), (before, averse) = _liked(new), _liked(old)
    return bool(liked & averse or disliked & before)


def _other_use(new: Statement, old: Statement) -> bool:
    """Tell whether one says that something is used or eaten, and the other that it is not."""
    uses = [_USED.search(one.content) for one in (new, old)]
    said = [found[0].casefold() for found in uses if found]
    return len(said) == 2 and said[0] == said[1] and _other_liking(new, old)


def _other_number(new: str, old: str) -> bool:
    """Tell whether one says how many of something there are, and the other that it is otherwise."""
    now, before = _COUNTED.match(new), _COUNTED.match(old)
    if not now or not before:
        return False
    what, same = (set(words(one["what"] or one["thing"])) for one in (now, before))
    many, other = ((one["many"] or one["number"]).lower() for one in (now, before))
    return what == same and many.replace("an", "a") != other.replace("an", "a")


def _other_relative(new: Statement, old: Statement) -> bool:
    """Tell whether somebody of theirs is said to be something else, or to be called otherwise."""
    now, before = (STATED["family"].match(one.content) for one in (new, old))
    if not now or not before or words(group(now, "thing")) != words(group(before, "thing")):
        return False
    values = [group(one, "value") for one in (now, before)]
    named = "name" in group(now, "thing") or "名字" in group(now, "thing")
    return values[0] != values[1] and (named or all(_ONE.match(one) for one in values))


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


AGAINST: Mapping[str, Callable[[Statement, Statement], bool]] = {
    "identity": _other_place,
    "work": _other_work,
    "diet": _other_diet,
    "family": _other_relative,
    "tool": _other_tool,
    "preference": _other_liking,
}
"""How two statements of one kind contradict each other, where both may hold otherwise."""
