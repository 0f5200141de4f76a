"""Read the values that a sentence states: measures, dates, years, and of what it states them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from report.checks.numbers import normalize_numerals
from report.checks.quantities import extract_source_numbers
from report.checks.word_changes import tokenize
from text.dates import PartialDate, find_dates
from text.pattern_files import PatternFile
from text.script import HAN, detect_language
from text.words import LEAST_WEIGHT, STOPWORDS, search_words, word_weight

_PATTERNS = PatternFile("report", "stated_values.toml")

_LEAD_CHARS = 160
_ZH_LEAD_CHARS = 4
_WORDS_BEFORE = 30  # characters before a number without a unit, in which it says what it is of
_SAME_VALUE = 0.006  # relative: a length in metres beside the same in feet


class Measure(NamedTuple):
    """A value with what it is of: a unit, money, or the word before a bare number."""

    unit: str
    value: float


class StatedSentence(NamedTuple):
    """A sentence, and what it states."""

    text: str
    words: frozenset[str]
    """Its search words without numbers."""
    measures: frozenset[Measure]
    years: frozenset[int]
    dates: frozenset[PartialDate]
    """Its dates with at least a month."""
    digits: frozenset[str]
    """All numbers in it as they are written, those of its dates among them."""
    ordinals: frozenset[str]
    apart: frozenset[str]
    """Those of its words of which sentences about different things have different ones."""
    names: frozenset[str]
    """The terms of the names in it."""
    lead: str
    """The name that it begins with; in Chinese its first characters."""
    tokens: tuple[str, ...]
    """Its words and signs as they are spelt, in small letters."""
    conditional: bool


def list_topic_words(text: str) -> frozenset[str]:
    """Return the search words of a text without its numbers."""
    return frozenset(word for word in search_words(text) if not word[:1].isdigit())


@lru_cache(maxsize=2048)
def read_stated_sentence(text: str) -> StatedSentence:
    """Return what a sentence states."""
    dates = frozenset(date for date in find_dates(text) if date.month)
    exact = strip_vague_values(text)
    return StatedSentence(
        text=text,
        words=list_topic_words(text),
        measures=frozenset(list_measures(exact)),
        years=frozenset(int(year) for year in _PATTERNS.year.findall(exact)),
        dates=dates,
        digits=frozenset(re.findall(r"\d+", text)),
        ordinals=frozenset(one.lower() for one in _PATTERNS.ordinal.findall(text)),
        apart=frozenset(re.findall(r"[a-z]+", text.lower())) & _PATTERNS.get_words("apart"),
        names=_list_name_terms(text),
        lead=_find_lead(text),
        tokens=tuple(token.lower() for token in tokenize(text)),
        conditional=bool(_PATTERNS.conditional.search(text)),
    )


def strip_vague_values(text: str) -> str:
    """Return a text with its numbers in digits, without ordinals, ranges, bounds and estimates."""
    plain = _to_digits(text)
    return _PATTERNS.bounded.sub(" ", _PATTERNS.range.sub(" ", plain))


def _to_digits(text: str) -> str:
    """Return a text with its numbers in digits, and without ordinals."""
    return normalize_numerals(_PATTERNS.ordinal.sub(" ", text))


def list_measures(text: str) -> list[Measure]:
    """Return the numbers of a text with what they are of; those of known units in its base unit.

    Years, numbers in dates, and numbers of which nothing says what they are of are left out.
    """
    plain = _to_digits(text)
    years = {float(year) for year in _PATTERNS.year.findall(plain)}
    in_dates = {float(part) for date in find_dates(text) if date.month for part in date if part}
    known = extract_source_numbers(plain).quantities
    units = {quantity.number for quantity in known}
    found = [Measure(quantity.kind, quantity.base) for quantity in known]
    found += [
        measure
        for measure in _iter_measures(plain)
        if measure.value not in years | in_dates | units
    ]
    return _merge(found)


def _merge(found: list[Measure]) -> list[Measure]:
    """Return measures without those that repeat another one in another unit."""
    kept: list[Measure] = []
    for one in found:
        if not any(one.unit == other.unit and values_agree(one, other) for other in kept):
            kept.append(one)
    return kept


def values_agree(one: Measure, other: Measure) -> bool:
    """Tell whether two values are equal within the rounding of a conversion."""
    return abs(one.value - other.value) <= _SAME_VALUE * max(abs(one.value), abs(other.value))


def _iter_measures(text: str) -> Iterator[Measure]:
    for found in _PATTERNS.number.finditer(text):
        number = float(found["n"].replace(",", ""))
        if unit := _find_unit(text, found):
            yield Measure(unit, number)


def _find_unit(text: str, number: re.Match[str]) -> str:
    if number["money"]:
        return number["money"].strip()
    if number["percent"]:
        return "%"
    after = _PATTERNS.unit.match(text, number.end())
    if after and after["han"]:
        return str(after["han"])
    if after and after["word"].lower() not in STOPWORDS:
        return (search_words(after["word"]) or [""])[-1]
    before = search_words(text[max(0, number.start() - _WORDS_BEFORE) : number.start()])
    return f"of {before[-1]}" if before and word_weight(before[-1]) > LEAST_WEIGHT else ""


def _list_name_terms(text: str) -> frozenset[str]:
    """Return the terms of the names in a text, without words that only begin a sentence."""
    names = (name[0] for name in _PATTERNS.name.finditer(text) if name.start() or " " in name[0])
    return frozenset(term for name in names for term in search_words(name))


def _find_lead(text: str) -> str:
    """Return the name that a sentence begins with, or "" where it begins with another word."""
    if detect_language(text) == "zh":
        return "".join(re.findall(f"[{HAN}A-Za-z]", text[:30]))[:_ZH_LEAD_CHARS]
    found = _PATTERNS.lead.match(text[:_LEAD_CHARS])
    name = found["name"] if found else ""
    return "" if _PATTERNS.not_name.fullmatch(name) else name
