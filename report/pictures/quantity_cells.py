"""Read the value of a cell of a table: a number with its unit, or that there is none."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from report.checks.quantities import extract_source_numbers
from text.numerals import to_western_digits
from text.pattern_files import PatternFile
from text.words import search_words

_PATTERNS = PatternFile("report.pictures", "quantity_cells.toml")


class CellValue(NamedTuple):
    """The number of a cell."""

    number: float
    """With its scale; of a known unit in the base unit of its kind, such as metres."""
    unit: str
    """What is measured, or the unit, in one spelling; empty for a bare number."""
    written: str
    """The words of the cell."""
    amount: float
    """The number as it is written, without its scale."""
    scaled: float
    """The number with its scale, in the unit in which it is written."""
    measure: str
    """Its scale and its unit as they are written."""


class _Unit(NamedTuple):
    name: str
    factor: float


def parse_cell(text: str) -> CellValue | None:
    """Return the value of a cell, or None if it is no single number.

    Ranges, bounds ("over 5", "5+"), dates, times and numbers of versions are none.
    """
    plain = _PATTERNS.about_behind.sub("", _PATTERNS.remark.sub("", to_western_digits(text)))
    found = _PATTERNS.number.fullmatch(plain.strip())
    if not found:
        return None
    words, currency = found["unit"].strip(), (found["currency"] or "").strip()
    scale = (found["scale"] or "").strip()
    if currency and words == "m":
        words, scale = "", "million"
    if words and not _PATTERNS.unit.fullmatch(words):
        return None
    is_ambiguous = words == "m" and not found.string[found.end("digits")].isspace()
    if is_ambiguous or _PATTERNS.bounded.search(words):
        return None
    unit = read_unit(f"{currency} {words}")
    sign = -1 if (found["sign"] or found["inner"] or "+") in "-−–" else 1
    digits = float("".join(one for one in found["digits"] if one.isdecimal() or one == "."))
    amount = sign * digits
    scaled = amount * (_scales()[scale.lower()] if scale else 1)
    measure = " ".join(filter(None, (currency, scale, words)))
    return CellValue(scaled * unit.factor, unit.name, text, amount, scaled, measure)


def is_missing_value(text: str) -> bool:
    """Tell whether a cell says that there is no value."""
    return bool(_PATTERNS.missing.fullmatch(text.strip()))


@lru_cache(maxsize=256)
def read_unit(words: str) -> _Unit:
    """Return a unit in one spelling, and its size in the base unit of its kind."""
    words = words.strip()
    known = extract_source_numbers(f"1 {words}").quantities if words else []
    if len(known) == 1:
        return _Unit(known[0].kind, known[0].base)
    spelt = [_spellings().get(one.casefold(), one) for one in words.split()]
    plain = " ".join(one if one in _spellings().values() else _to_stem(one) for one in spelt)
    return _Unit(plain, 1.0)


def is_known_unit(words: str) -> bool:
    """Tell whether words are a unit or a currency of the tables, or a scale."""
    plain = words.strip().casefold()
    if not plain:
        return False
    is_measure = bool(extract_source_numbers(f"1 {plain}").quantities)
    return is_measure or plain in _spellings() or plain.rstrip("s") in _scales()


def _to_stem(word: str) -> str:
    return " ".join(search_words(word)) or word.casefold()


@cache
def _spellings() -> dict[str, str]:
    rows = _PATTERNS.get_rows("same_units")
    return {word.replace("-", " "): first for first, *others in rows for word in (first, *others)}


@cache
def _scales() -> dict[str, float]:
    rows = _PATTERNS.get_rows("scales")
    return {word: float(factor) for factor, *words in rows for word in words}
