"""Classify how the words of a statement differ from those of the sentence that it repeats."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from report.checks.numbers import NUMBER_WORDS, TextNumber, is_known_number, widen_rounded
from text.dates import MONTH_NAMES
from text.pattern_files import PatternFile
from text.script import HAN
from text.words import STOPWORDS, is_common, word_weight

_PATTERNS = PatternFile("report.checks", "word_changes.toml")


_COUNTS = {"zero": 0.0} | NUMBER_WORDS
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDER = {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
_JOINTS = {"of", "the", "and", "de", "la", "von", "van", "for", "in"}

_MAX_OTHER_WORDS = 16  # that differ beside a Chinese name; more make a paraphrase
_MAX_REWORDED = 24  # English words that differ beside a strong word or a hedge
_MIN_NAME_WEIGHT = 0.95  # of a pair of characters
_MAX_NAME_WORDS = 8  # a longer change is another clause


class KnownNames(NamedTuple):
    """The texts whose names a statement may use."""

    text: str
    """The sources it cites, with what is in `named`."""
    named: str
    """The question, and the titles of its sources."""
    numbers: Sequence[float] = ()
    """Numbers that follow from others of its sources, sorted."""

    def has_prefix(self, start: str) -> bool:
        """Tell whether a word begins with `start`."""
        return start in self.text and bool(re.search(rf"\b{re.escape(start)}", self.text))

    def has_word(self, word: str) -> bool:
        """Tell whether the text has a whole word."""
        return word in self.text and bool(re.search(rf"\b{re.escape(word)}\b", self.text))


class WordChange(NamedTuple):
    """Words of a statement that replace words of the sentence it repeats."""

    ours: Sequence[str]
    theirs: Sequence[str]
    before: Sequence[str]
    """The words of the statement before them."""
    after: Sequence[str]
    beside: int = 0
    """How many words differ in the other changes of the statement."""


def tokenize(text: str) -> list[str]:
    """Return the words, numbers and Chinese characters of a text as they are spelt.

    A word is one object in all texts, since the words of many sources are kept.
    """
    return [*map(sys.intern, _PATTERNS.token.findall(text))]


def detect_negation(statements: Sequence[str]) -> bool | None:
    """Tell whether words are negated; None if one of them may imply a negation."""
    if _all(_PATTERNS.like_not, statements):
        return None
    return bool(_all(_PATTERNS.negation, statements))


def classify_changes(changes: Sequence[WordChange], known: KnownNames) -> str:
    """Return the kind of the first change that alters the meaning, or ""."""
    for kind, is_of_kind in _KINDS.items():
        compared = _unmoved(changes) if kind == "strength" else changes
        if kind == "negation" and _is_balanced(changes):
            continue
        if any(is_of_kind(change, known) for change in compared):
            return kind
    return ""


def _is_balanced(changes: Sequence[WordChange]) -> bool:
    """Tell whether both sides have as many negations, or one of them has a condition."""
    said = sum(len(_all(_PATTERNS.negation, one.ours)) for one in changes)
    there = sum(len(_all(_PATTERNS.negation, one.theirs)) for one in changes)
    return said == there or any(
        _has(_PATTERNS.condition, one.ours or one.theirs) for one in changes
    )


def _unmoved(changes: Sequence[WordChange]) -> list[WordChange]:
    """Return changes without the words that were only moved."""
    ours = chain.from_iterable(change.ours for change in changes)
    theirs = chain.from_iterable(change.theirs for change in changes)
    moved = _lower(ours) & _lower(theirs)

    def unmoved(words: Sequence[str]) -> list[str]:
        return [word for word in words if word.lower() not in moved]

    return [one._replace(ours=unmoved(one.ours), theirs=unmoved(one.theirs)) for one in changes]


def _negation(change: WordChange, _: KnownNames) -> bool:
    """Tell whether one side is a negation of a few words and the other is not."""
    said, there = _all(_PATTERNS.negation, change.ours), _all(_PATTERNS.negation, change.theirs)
    if bool(said) == bool(there) or _all(_PATTERNS.like_not, [*change.ours, *change.theirs]):
        return False
    if change.after and change.after[0].lower() in ("only", "仅", "僅", "只", "least"):
        return False
    side = change.ours if said else change.theirs
    other = change.theirs if said else change.ours
    more = [
        one
        for one in side
        if not _PATTERNS.negation.fullmatch(one) and not _PATTERNS.beside_not.fullmatch(one)
    ]
    if more and any(len(one) > 1 and not _PATTERNS.beside_not.fullmatch(one) for one in other):
        # "Off" in place of "not enabled" has the same meaning.
        return False
    return len(more) <= max(1, len(other)) and len(side) <= 4 and len(other) <= 3


def _number(change: WordChange, known: KnownNames) -> bool:
    """Tell whether a number, in digits or in words, replaces another one."""
    said, there = list(map(_value, change.ours)), list(map(_value, change.theirs))
    ours = [one for one in said if one is not None]
    theirs = [one for one in there if one is not None]
    scaled = _has(_PATTERNS.scale, [*change.ours, *change.theirs, *change.after[:1]])
    follows = any(is_known_number(one, known.numbers) for one in ours)
    if not ours or len(ours) != len(theirs) or scaled or follows:
        return False
    about = _has(_PATTERNS.about, [*change.before[-1:], *change.ours])
    ours = [widen_rounded(one) for one in ours] if about else ours
    units, their_units = _units(change.ours), _units(change.theirs)
    if units and their_units and units != their_units:
        return False
    exact = all(
        not is_known_number(number, sorted(other.value for other in theirs)) for number in ours
    )
    return exact and len(change.ours) <= 4 and len(change.theirs) <= 4


def _units(statements: Sequence[str]) -> set[str]:
    return {one.rstrip("s") for one in _lower(_all(_PATTERNS.unit, statements))}


def _value(token: str) -> TextNumber | None:
    lower = token.lower()
    if lower in _COUNTS:
        return TextNumber(_COUNTS[lower], 0.0)
    if lower in _ORDER:
        return TextNumber(1000.5 + _ORDER[lower], 0.0)
    if re.fullmatch(r"\d+(?:st|nd|rd|th)", lower):
        return TextNumber(1000.5 + int(lower[:-2]), 0.0)
    digits = token.replace(",", "").rstrip(".")
    if not re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return None
    return TextNumber(float(digits), 10.0 ** -len(digits.partition(".")[2]) / 2)


def _date(change: WordChange, _: KnownNames) -> bool:
    said = _lower(change.ours) & set(MONTH_NAMES)
    there = _lower(change.theirs) & set(MONTH_NAMES)
    return bool(said and there and not said & there)


def _strength(change: WordChange, _: KnownNames) -> bool:
    """Tell whether a strong word replaces a weak one, or a hedge was omitted."""
    said, there = change.ours, change.theirs
    if change.beside > _MAX_REWORDED and "".join([*said, *there]).isascii():
        return False
    strong = _strong(said) - _strong(there)
    if _has(_PATTERNS.negation, [*change.before[-1:], *said]) or _has(_PATTERNS.exceptions, there):
        strong -= {"所有", "全部", "只", "仅", "唯一"}
    if "should" in _lower(there):
        strong -= {"must"}
    if _has(_PATTERNS.restricting, there):
        strong -= {"only"}
    if strong and (_has(_PATTERNS.weak, there) or not there) and len(change.ours) <= 4:
        return bool(there) or len(strong) == len(said)
    hedges = [one for one in there if not _PATTERNS.own_hedge.fullmatch(one)]
    return not said and bool(hedges) and len(_all(_PATTERNS.hedge, there)) == len(there)


def _strong(words: Sequence[str]) -> set[str]:
    return _lower(_all(_PATTERNS.strong, words))


def _name(change: WordChange, known: KnownNames) -> bool:
    """Tell whether a name was added or replaces another one."""
    return _latin_name(change, known) or _chinese_name(change, known)


def _latin_name(change: WordChange, known: KnownNames) -> bool:
    # A statement may begin with any word, and only there a capital does not tell a name.
    begins = not change.before and is_common(change.ours[0]) if change.ours else False
    ours = [one for one in change.ours[begins:] if _is_name(one, known)]
    theirs = [one for one in change.theirs if _is_name(one, known)]
    if max(len(change.ours), len(change.theirs)) > _MAX_NAME_WORDS:
        return False
    if not ours or _initials(ours, change.theirs) or _initials(theirs, change.ours):
        return False
    if _initials(change.before[-len(ours[0]) :], change.ours):
        return False
    new = [one for one in ours if not known.has_prefix(one[: max(4, len(one) - 3)])]
    if new and (change.before or len(ours) > 1):
        return True
    spelt = [one for one in (*change.ours, *change.theirs) if not _PATTERNS.capital.match(one)]
    both = bool(theirs or change.before) and all(one.lower() in _JOINTS for one in spelt)
    return both and bool(change.theirs) and not _lower(change.ours) & _lower(change.theirs)


def _is_name(token: str, known: KnownNames) -> bool:
    """Tell whether a word is always capitalized like a name."""
    lower = token.lower()
    if not _PATTERNS.capital.match(token) or len(token) < 2 or _PATTERNS.scale.fullmatch(token):
        return False
    if lower in STOPWORDS or lower in MONTH_NAMES:
        return False
    return not known.has_word(lower)


def _initials(names: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether one of some words is an acronym of names, such as "US"."""
    first = "".join(one[0] for one in names if one[:1].isalpha()).lower()
    return len(first) > 1 and first in _lower(words)


def _chinese_name(change: WordChange, known: KnownNames) -> bool:
    """Tell whether uncommon characters replace others, or are part of a changed title."""
    said, there = "".join(change.ours), "".join(change.theirs)
    single = all(len(one) == 1 for one in change.ours)
    if not single or len(said) < 2 or not re.fullmatch(f"[{HAN}《]+", said):
        return False
    if not re.search(f"[{HAN}A-Za-z]", there):
        return False
    if "《" in change.before[-2:] or "《" in said:
        return True
    return change.beside <= _MAX_OTHER_WORDS and _is_other_name(said, there, change, known)


def _is_other_name(statement: str, there: str, change: WordChange, known: KnownNames) -> bool:
    """Tell whether characters that replace others name something else."""
    text = _PATTERNS.dot.sub("", known.text)
    if not change.beside and statement in text and there in text:
        return len(there) > 1 and not _usual(there, _MIN_NAME_WEIGHT)
    long = len(statement) > _MAX_NAME_WORDS or len(there) > 2 * _MAX_NAME_WORDS
    if long or _PATTERNS.generic.match(statement):
        return False
    if len(there) > 1 and there in known.named:
        return statement not in known.named
    if _usual(statement) or statement in text:
        return False
    return not _usual(there) or bool(
        _PATTERNS.place.search(statement) and _PATTERNS.place.search(there)
    )


def _usual(run: str, rare: float = 1.0) -> bool:
    """Tell whether at least half of the pairs of some characters are common words."""
    pairs = [run[at : at + 2] for at in range(len(run) - 1)]
    return 2 * sum(word_weight(pair) < rare for pair in pairs) >= len(pairs)


def _lower(words: Iterable[str]) -> set[str]:
    return {word.lower() for word in words}


def _all(pattern: re.Pattern[str], statements: Sequence[str]) -> list[str]:
    return [one for one in statements if pattern.fullmatch(one)]


def _has(pattern: re.Pattern[str], statements: Sequence[str]) -> bool:
    return bool(_all(pattern, statements))


_KINDS: dict[str, Callable[[WordChange, KnownNames], bool]] = {
    "negation": _negation,
    "other_number": _number,
    "date": _date,
    "name": _name,
    "strength": _strength,
}
