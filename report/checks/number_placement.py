"""Tell whether the sources of a statement have its numbers for the same things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from report.checks.numbers import normalize_numerals
from report.checks.source_text import SourceText, per_source
from report.checks.word_changes import tokenize
from text.pattern_files import PatternFile
from text.script import HAN, detect_language
from text.words import LEAST_WEIGHT, search_words, word_weight

_PATTERNS = PatternFile("report.checks", "number_placement.toml")

NAME_FACTOR = 2
"""How much more a name counts than another word where a number is looked for."""

_MIN_WORDS = {"en": 2, "zh": 5}  # of a clause
_RUN_WORDS = 3  # compared at once where a clause may be a copy
_MIN_COPIED_RUNS = 0.6
_MAX_UNROUNDED = 100  # smaller counts are not rounded
_YEAR_DIGITS = 4  # years are compared with years
_CHARS_BEFORE_BRACKET = 30  # say what is in it
_MIN_ELSEWHERE_FACTOR = 2.5  # times the overlap of the clause with the place that has its number
_MIN_ELSEWHERE_SHARE = 0.6  # of the clause
_MAX_SHORT_PART_WORDS = 3  # a shorter part of a sentence belongs to its neighbours
_MIN_NAME_CHARS = 4
_MIN_LISTED_CHARS = 3
_MIN_LISTED = 3  # numbers of a list

_UNITS = frozenset(
    search_words(
        "km kilometre kilometer mile metre meter foot feet pound kilogram kg hectare acre percent"
    )
) | {"公里", "公尺", "千米", "平方", "公顷", "公頃", "英里", "厘米", "公斤"}


class _Part(NamedTuple):
    words: frozenset[str]
    numbers: frozenset[str]


def has_misplaced_number(
    part: str, sources: Sequence[SourceText], weights: Mapping[str, int], asked: str
) -> bool:
    """Tell whether the sources have a number of a clause for something else.

    Args:
        part: The clause.
        sources: The sources that it cites.
        weights: The words of the clause, and how much each counts.
        asked: What may be named although no source names it.
    """
    numbers = set(_list_numbers(part)) - set(_list_numbers(asked)) - {"1"}
    if is_near_copy(part, sources):
        numbers = {number for number in numbers if not _is_in_place(number, part, sources)}
    if not numbers or sum(weights.values()) < _MIN_WORDS[detect_language(part)]:
        return False
    # A clause that only says when, and of whom, leads on to another one.
    if _PATTERNS.when.match(part) and min(weights.values()) == NAME_FACTOR:
        return False
    parts = [one for source in sources for one in _list_parts(source)]
    return any(_is_elsewhere(number, weights, parts) for number in numbers)


def _is_elsewhere(number: str, weights: Mapping[str, int], parts: Sequence[_Part]) -> bool:
    """Tell whether the clause is found with another number of its sort, and far from this one."""

    def overlap(part: _Part) -> int:
        """Return the weight of those words of the statement that a part has."""
        return sum(weight for word, weight in weights.items() if word in part.words)

    is_year = len(number) == _YEAR_DIGITS
    here = [overlap(part) for part in parts if number in part.numbers]
    others = [
        overlap(part)
        for part in parts
        if number not in part.numbers
        and any((len(other) == _YEAR_DIGITS) == is_year for other in part.numbers)
    ]
    if not here or not others:
        return False
    share = _MIN_ELSEWHERE_SHARE * sum(weights.values())
    return max(others) >= max(_MIN_ELSEWHERE_FACTOR * max(here), max(here) + 2, share)


def has_other_bracketed_number(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a name gets another year than the one that follows it in brackets."""
    known = [_map_bracketed(source) for source in sources]
    for name in dict.fromkeys(name for names in known for name in names if name in statement):
        years = _years(chain.from_iterable(names.get(name, ()) for names in known))
        for place in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", statement):
            rest = statement[place.end() : place.end() + 80]
            rest = re.split(r"[;.]|\band\b|[A-Z][a-z]+\s+[A-Z]", rest, maxsplit=1)[0]
            ours = _years(_list_numbers(rest))
            if ours and years and ours.isdisjoint(years):
                return True
    return False


def has_other_listed_number(cell: str, name: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a sentence that lists numbers with names has that of another name in a cell.

    Such is "61 named Fenwick, 34 Birchley": 34 is none of Fenwick.
    """
    ours = set(_list_numbers(cell))
    if not ours or len(name) < _MIN_LISTED_CHARS:
        return False
    before = re.compile(rf"(\d[\d,]*)(?:\s+[a-z]+){{0,2}}\s*[{HAN}]{{0,3}}{re.escape(name)}(?!\w)")
    for sentence in (one for source in sources for one in source.sentences if name in one):
        own = {one.replace(",", "") for one in before.findall(sentence)}
        listed = {one.replace(",", "") for one in _PATTERNS.listed.findall(sentence)}
        if len(listed) >= _MIN_LISTED and own and own.isdisjoint(ours) and ours & listed:
            return True
    return False


def _years(numbers: Iterable[str]) -> set[str]:
    return {number for number in numbers if len(number) == _YEAR_DIGITS}


@per_source
def _map_bracketed(source: SourceText) -> dict[str, set[str]]:
    """Return the names of a source that numbers in brackets follow, and these numbers."""
    found: dict[str, set[str]] = {}
    for match in _PATTERNS.brackets.finditer(source.text):
        name, numbers = match["name"].strip(" \"“”‘’'"), _list_numbers(match["inside"])
        if numbers and len(name) >= _MIN_NAME_CHARS and not _PATTERNS.span.search(match["inside"]):
            found.setdefault(name, set()).update(numbers)
    return found


def has_other_count(part: str, sources: Sequence[SourceText], asked: str = "") -> bool:
    """Tell whether a clause counts something otherwise than every passage that counts it.

    What the question counts, such as its "five people", is not the sources' to count.
    """
    given = {("1", what) for _, what in _iter_counts(part)} | set(_iter_counts(asked))
    counts = [one for one in _iter_counts(part) if one not in given]
    known = [_map_counts(source) for source in sources] if counts else []
    return any(
        any(what in one for one in known)
        and not any(number in one.get(what, ()) for one in known)
        and not _is_in_place(number, part, sources)
        for number, what in counts
    )


@per_source
def _map_counts(source: SourceText) -> dict[str, set[str]]:
    """Return what a source counts, and in which numbers."""
    found: dict[str, set[str]] = {}
    for number, what in _iter_counts(source.text):
        found.setdefault(what, set()).add(number)
    return found


def _is_in_place(number: str, part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a number of a clause is between the same words in a source."""
    near = [run for run in _list_runs(normalize_numerals(part)) if f" {number} " in run]
    return any(run in _join_tokens_in_digits(source) for run in near for source in sources)


def _list_runs(part: str) -> list[str]:
    """Return the runs of words of a clause, each between spaces."""
    words = [word.lower() for word in tokenize(part)]
    return [
        f" {' '.join(words[at : at + _RUN_WORDS])} " for at in range(len(words) - _RUN_WORDS + 1)
    ]


def _join_tokens(text: str) -> str:
    return f" {' '.join(word.lower() for word in tokenize(text))} "


_join_source_tokens = per_source(lambda source: _join_tokens(source.text))
_join_tokens_in_digits = per_source(lambda source: _join_tokens(normalize_numerals(source.text)))


def is_near_copy(part: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a source has most of a clause in the same order."""
    runs = _list_runs(part)
    found = (sum(run in _join_source_tokens(source) for run in runs) for source in sources)
    return bool(runs) and max(found, default=0) >= _MIN_COPIED_RUNS * len(runs)


@per_source
def _list_parts(source: SourceText) -> list[_Part]:
    """Return the parts with numbers of the sentences of a source, each with short neighbours."""
    found: list[_Part] = []
    for sentence in source.sentences:
        if _PATTERNS.pairs.match(sentence):
            found.append(_to_part(sentence))  # a row of a table, as pairs of head and cell
        pieces = _PATTERNS.part.split(_PATTERNS.parenthesis.sub(" ", sentence))
        found += _iter_parts([*filter(str.strip, pieces)])
        found += [
            _to_part(sentence[max(0, one.start() - _CHARS_BEFORE_BRACKET) : one.end()])
            for one in _PATTERNS.parenthesis.finditer(sentence)
        ]
    return [*dict.fromkeys(one for one in found if one.numbers)]


def _iter_parts(texts: Sequence[str]) -> Iterator[_Part]:
    """Yield the parts of a sentence with their neighbours, if any of them has a number."""
    if not any(map(_list_numbers, texts)):
        return
    parts = [*map(_to_part, texts)]
    lengths = [len(search_words(one)) for one in texts]
    for at in range(len(texts)):
        beside = [
            n for n in (at - 1, at + 1) if 0 <= n < len(texts) and _joins(texts, lengths, n, at)
        ]
        near = zip(*(parts[n] for n in (at, *beside)), strict=True)
        yield _Part(*(frozenset[str]().union(*sets) for sets in near))


def _joins(parts: Sequence[str], lengths: Sequence[int], other: int, at: int) -> bool:
    """Tell whether a part of a sentence belongs to its neighbour, since one of them is short."""
    short = min(lengths[other], lengths[at]) <= _MAX_SHORT_PART_WORDS
    return short and not _PATTERNS.conjunction.match(parts[max(other, at)])


def _to_part(text: str) -> _Part:
    return _Part(frozenset(search_words(text)), frozenset(_list_numbers(text)))


def _list_numbers(text: str) -> list[str]:
    return [one.replace(",", "") for one in _PATTERNS.digits.findall(normalize_numerals(text))]


def _iter_counts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each number of a text with the word for what it counts; an ordinal counts nothing."""
    text = normalize_numerals(_PATTERNS.ordinal.sub(" ", text))
    for found in _PATTERNS.counted.finditer(text):
        number = found["n"].replace(",", "")
        what = found["zh"] or (search_words(found["en"]) or [""])[-1]
        year = len(number) == _YEAR_DIGITS and not found["zh"]
        if what not in _UNITS and not year and _is_countable(number, what):
            yield number, what
    for found in _PATTERNS.counted_before.finditer(text):
        if _is_countable(found["n"], found["zh"]):
            yield found["n"], found["zh"]


def _is_countable(number: str, what: str) -> bool:
    return bool(what) and float(number) < _MAX_UNROUNDED and word_weight(what) > LEAST_WEIGHT
