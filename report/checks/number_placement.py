"""Tell whether the numbers of a statement stand in its sources with the same things."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from report.checks.contrast import SourceText, per_source
from report.checks.numbers import normalize_numerals
from report.checks.word_changes import tokenize
from text.regex import regex
from text.script import HAN, detect_language
from text.words import LEAST_WEIGHT, search_words, word_weight

FEWEST = {"en": 2, "zh": 5}
"""A clause with fewer words is not looked for."""

RUN = 3
"""So many words in a row are looked for at once where a clause may be a copy."""

COPIED = 0.6
"""A clause is a copy if more of its runs of words stand in a source."""

FEW = 100
"""What is counted in smaller numbers is not rounded."""

YEAR = 4
"""A number of so many digits is a year; years are compared with years."""

BEFORE = 30
"""So many characters before a bracket say what stands in it."""

FARTHER = 2.5
"""So many times as much of a clause stands with another number as stands with the one it has."""

PLACED = 0.6
"""The least part of a clause that stands there."""

SHORT = 3
"""A part of a sentence with no more words belongs to what stands beside it."""

SHORTEST_NAME = 4
"""So many characters at least has a name behind which a number stands in brackets."""

NAME_FACTOR = 2
"""How much more a name counts than another word where a number is looked for."""

_WORD = r"[A-Z][\w'’.-]{0,40}"
_NAME = rf"(?:[\"“‘]?{_WORD}(?:\s+(?:(?:of|the|and|de|la|von|van|for|in)\s+)?{_WORD}){{0,8}})"
_BRACKETS = regex(rf"(?P<name>{_NAME})[\"”’]?\s*\((?P<inside>[^()]{{1,60}})\)")
_SPAN = regex(r"\d\s*(?:[-–—]|--)\s*\d|\b(?:born|died|b\.|d\.)\s|\d{1,2}\s+[A-Z][a-z]+\s+\d{4}")
_PARENTHESIS = regex(r"[(（]([^()（）]{0,200})[)）]")
_PART = regex(r"[,;，；、:：]|\s[-–—]\s|\s(?=(?:and|while|but|although)\s)")
_DIGITS = regex(r"(?<![\d.,A-Za-z-])\d[\d,]*(?:\.\d+)?(?![\d%])")
_COUNTED = regex(
    rf"(?<![\d.,/:第-])(?P<n>\d[\d,]*(?:\.\d+)?)(?:\s*[个個名位项項座部次场場条條种種所家间間人只隻本]?(?P<zh>[{HAN}]{{2}})"
    r"|[\s-]+(?P<en>[a-z]{3,}(?:[\s-][a-z]{3,})?))"
)
_COUNTED_BEFORE = regex(
    rf"(?P<zh>[{HAN}]{{2}})(?:[总總一]?共)?(?:有|[为為达達]到?)(?P<n>\d+)[个個名位项項座部次场場条條种種所家间間人只隻本](?![{HAN}])"
)
_CONJUNCTION = regex(r"\s*(?:although|but|while|whereas|which|though)\b|\s*(?:但|而|不过)")
_WHEN = regex(r"\s*(?:on|in|by|since|during|from)\s[^,;]{0,15}\d", re.IGNORECASE)
_UNITS = frozenset(
    search_words(
        "km kilometre kilometer mile metre meter foot feet pound kilogram kg hectare acre percent"
    )
) | {"公里", "公尺", "千米", "平方", "公顷", "公頃", "英里", "厘米", "公斤"}


class _Part(NamedTuple):
    """A part of a sentence: its words, and the numbers in it."""

    words: frozenset[str]
    numbers: frozenset[str]


def has_misplaced_number(
    part: str, sources: Sequence[SourceText], wanted: Mapping[str, int], asked: str
) -> bool:
    """Tell whether a number of a clause stands in its sources with something else.

    Args:
        part: The clause.
        sources: The sources that it cites.
        wanted: The words of the clause, and how much each counts.
        asked: What may be named although no source names it.
    """
    numbers = set(_numbers(part)) - set(_numbers(asked)) - {"1"}
    if is_near_copy(part, sources):
        numbers = {one for one in numbers if not _in_place(one, part, sources)}
    if (
        not numbers
        or sum(wanted.values()) < FEWEST[detect_language(part)]
        or _only_opens(part, wanted)
    ):
        return False
    parts = [one for source in sources for one in source.memoize(_parts_of)]
    return any(_is_elsewhere(number, wanted, parts) for number in numbers)


def _only_opens(part: str, wanted: Mapping[str, int]) -> bool:
    """Tell whether a clause only says when, and of whom, before another one says what."""
    return bool(_WHEN.match(part)) and min(wanted.values()) == NAME_FACTOR


def _is_elsewhere(number: str, wanted: Mapping[str, int], parts: Sequence[_Part]) -> bool:
    """Tell whether what is said stands with another number of its sort, and far from this one."""
    here = [_overlap(one, wanted) for one in parts if number in one.numbers]
    year = len(number) == YEAR
    others = [
        _overlap(one, wanted)
        for one in parts
        if number not in one.numbers and any((len(n) == YEAR) == year for n in one.numbers)
    ]
    if not here or not others:
        return False
    best = max(others)
    return best >= max(FARTHER * max(here), max(here) + 2, PLACED * sum(wanted.values()))


def has_other_bracketed_number(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a name is given another number than the one behind it in brackets."""
    known = [source.memoize(_bracketed) for source in sources]
    for name in dict.fromkeys(name for one in known for name in one if name in said):
        numbers = set[str]().union(*(one[name] for one in known if name in one))
        for place in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", said):
            rest = said[place.end() : place.end() + 80]
            rest = re.split(r"[;.]|\band\b|[A-Z][a-z]+\s+[A-Z]", rest, maxsplit=1)[0]
            ours = [one for one in _numbers(rest) if len(one) == 4]
            if ours and not set(ours) & numbers and any(len(one) == 4 for one in numbers):
                return True
    return False


@per_source
def _bracketed(source: SourceText) -> dict[str, set[str]]:
    """Return the names of a source behind which numbers stand in brackets, and these."""
    found: dict[str, set[str]] = {}
    for one in _BRACKETS.finditer(source.text):
        name, numbers = _bare(one["name"]), _numbers(one["inside"])
        if numbers and len(name) >= SHORTEST_NAME and not _SPAN.search(one["inside"]):
            found.setdefault(name, set()).update(numbers)
    return found


def has_other_count(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a clause counts something otherwise than every passage that counts it."""
    ours = [(number, what) for number, what in _counted(part) if number != "1"]
    theirs = [source.memoize(_counts) for source in sources] if ours else []
    told = [(number, [one[what] for one in theirs if what in one]) for number, what in ours]
    return any(
        known and not any(number in one for one in known) and not _in_place(number, part, sources)
        for number, known in told
    )


@per_source
def _counts(source: SourceText) -> dict[str, set[str]]:
    """Return what a source counts, and in which numbers."""
    found: dict[str, set[str]] = {}
    for number, what in _counted(source.text):
        found.setdefault(what, set()).add(number)
    return found


def _in_place(number: str, part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a number of a clause stands between the same words in a source."""
    near = [run for run in _runs(normalize_numerals(part)) if f" {number} " in run]
    return any(run in source.memoize(_in_digits) for run in near for source in sources)


def _runs(part: str) -> list[str]:
    """Return the runs of words of a clause, each between spaces."""
    said = [one.lower() for one in tokenize(part)]
    return [f" {' '.join(said[at : at + RUN])} " for at in range(len(said) - RUN + 1)]


@per_source
def _joined(source: SourceText) -> str:
    return f" {' '.join(one.lower() for one in tokenize(source.text))} "


@per_source
def _in_digits(source: SourceText) -> str:
    return f" {' '.join(one.lower() for one in tokenize(normalize_numerals(source.text)))} "


def is_near_copy(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether most of a clause stands in a source in the same order."""
    runs = _runs(part)
    found = (sum(run in source.memoize(_joined) for run in runs) for source in sources)
    return bool(runs) and max(found, default=0) >= COPIED * len(runs)


def _overlap(part: _Part, wanted: Mapping[str, int]) -> int:
    return sum(worth for word, worth in wanted.items() if word in part.words)


@per_source
def _parts_of(source: SourceText) -> list[_Part]:
    """Return the parts with numbers of the sentences of a source, with what is short beside it."""
    found: list[_Part] = []
    for sentence in source.sentences:
        main = [one for one in _PART.split(_PARENTHESIS.sub(" ", sentence)) if one.strip()]
        cut = [_part(one) for one in main]
        for at in range(len(main)):
            beside = [n for n in (at - 1, at + 1) if 0 <= n < len(cut) and _joins(main, n, at)]
            found.append(_union([cut[at], *(cut[n] for n in beside)]))
        found += [
            _part(sentence[max(0, one.start() - BEFORE) : one.end()])
            for one in _PARENTHESIS.finditer(sentence)
        ]
    return [*dict.fromkeys(one for one in found if one.numbers)]


def _joins(parts: Sequence[str], other: int, at: int) -> bool:
    """Tell whether a part of a sentence belongs to the one beside it, being short."""
    first, second = parts[min(other, at)], parts[max(other, at)]
    if _CONJUNCTION.match(second):
        return False
    return min(len(search_words(first)), len(search_words(second))) <= SHORT


def _union(parts: Sequence[_Part]) -> _Part:
    return _Part(
        frozenset[str]().union(*(one.words for one in parts)),
        frozenset[str]().union(*(one.numbers for one in parts)),
    )


def _part(text: str) -> _Part:
    return _Part(frozenset(search_words(text)), frozenset(_numbers(text)))


def _numbers(text: str) -> list[str]:
    return [one.replace(",", "") for one in _DIGITS.findall(normalize_numerals(text))]


def _counted(text: str) -> Iterator[tuple[str, str]]:
    """Yield each number of a text with the word for what it counts."""
    for found in _COUNTED.finditer(normalize_numerals(text)):
        number = found["n"].replace(",", "")
        if len(number) == 4 and not found["zh"]:
            continue
        what = found["zh"] or (search_words(found["en"]) or [""])[-1]
        if what and float(number) < FEW and word_weight(what) > LEAST_WEIGHT and what not in _UNITS:
            yield number, what
    for found in _COUNTED_BEFORE.finditer(normalize_numerals(text)):
        if float(found["n"]) < FEW and word_weight(found["zh"]) > LEAST_WEIGHT:
            yield found["n"], found["zh"]


def _bare(name: str) -> str:
    return name.strip(" \"“”‘’'")
