"""Read numbers in any script or in words, and find those that identify a person."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex, replace_spans
from text.script import HAN

_PATTERNS = PatternFile("text", "numerals.toml")

_AND = frozenset({"and", "und", "y", "et", "e", "en"})


class _NumeralRun(NamedTuple):
    """Numerals in a row, and the digits that they may be read as."""

    start: int
    end: int
    readings: tuple[str, ...]


def find_numeral_runs(text: str) -> Iterator[_NumeralRun]:
    """Yield runs of numerals of which at least one is not written in digits."""
    row: list[re.Match[str]] = []
    for token in _PATTERNS.token.finditer(text):
        is_numeral = _value(token[0]) is not None
        joins = row and (is_numeral or token[0].lower() in _AND)
        if row and not (joins and _PATTERNS.join.fullmatch(text, row[-1].end(), token.start())):
            yield from _run(row)
            row = []
        if row or is_numeral:
            row.append(token)
    if row:
        yield from _run(row)


def find_amounts(text: str) -> Iterator[_NumeralRun]:
    """Yield figures followed by a scale, such as 93.5k, 93,5 тыс. or 9.35万."""
    for match in _amount().finditer(text):
        scale, figure = _scales()[match["scale"].strip().lower()], match["figure"]
        readings = {Decimal(figure.replace(",", ".")) * scale}
        if re.fullmatch(r"\d{1,3}[.,]\d{3}", figure):
            readings.add(Decimal(re.sub("[.,]", "", figure)) * scale)
        whole = (f"{one:.0f}" for one in readings if one == one.to_integral_value())
        yield _NumeralRun(*match.span(), tuple(whole))


def _in_digits(text: str) -> str:
    """Return a text of the same length with spelt numbers in digits, padded with spaces."""
    sizes = ((run, run.end - run.start) for run in find_numeral_runs(text))
    return replace_spans(
        text, ((run.start, run.end, run.readings[0][:size].ljust(size)) for run, size in sizes)
    )


def to_western_digits(text: str) -> str:
    """Return a text with the digits of all scripts as Western ones."""
    if text.isascii():
        return text
    return "".join(
        letter if (digit := unicodedata.digit(letter, None)) is None else str(digit)
        for letter in text
    )


def _run(row: list[re.Match[str]]) -> Iterator[_NumeralRun]:
    while row[-1][0].lower() in _AND and _value(row[-1][0]) is None:
        row = row[:-1]
    words = [token[0] for token in row if _value(token[0]) is not None]
    if len(words) > 1 and not all(word.isdecimal() for word in words):
        readings = _read_digit_by_digit(words), _read_cardinal(words)
        yield _NumeralRun(row[0].start(), row[-1].end(), readings)


def _read_digit_by_digit(words: list[str]) -> str:
    """Read words that each give their own digits: "forty-eight two one" is 4821."""
    read: list[str] = []
    after_tens = False
    for word in words:
        value, multiplies = _value(word) or (0, False)
        digits = word if word.isdecimal() else str(value)
        if after_tens and value < 10 and not word.isdecimal():
            read[-1] = read[-1][:-1] + digits
        else:
            read.append(digits)
        after_tens = 20 <= value < 100 and value % 10 == 0 and not multiplies
    return "".join(read)


def _read_cardinal(words: list[str]) -> str:
    """Read words as one number: "three hundred and two" is 302."""
    stack: list[int] = []
    for value, multiplies in filter(None, map(_value, words)):
        if not multiplies:
            stack.append(value)
            continue
        counted = 0
        while stack and stack[-1] < value:
            counted += stack.pop()
        stack.append((counted or 1) * value)
    return str(sum(stack))


def _value(word: str) -> tuple[int, bool] | None:
    """Return the value of a numeral, and whether it multiplies the one before it."""
    return (int(word), False) if word.isdecimal() else _values().get(word.lower())


@cache
def _scales() -> dict[str, int]:
    han = {one: n for one, n in _multiples("han_times").items() if n > 100}
    return _multiples("scales") | han | dict.fromkeys(("百万", "百萬"), 1_000_000)


def _multiples(table: str) -> dict[str, int]:
    """Return the words of a table, each with the number at the beginning of its line."""
    rows = _PATTERNS.get_rows(table)
    return {word: int(number) for number, *words in rows for word in words}


def _counted(table: str, first: int, step: int = 1) -> dict[str, int]:
    """Return the words of a table whose lines are for equidistant numbers."""
    rows = _PATTERNS.get_rows(table)
    return {word: first + step * at for at, words in enumerate(rows) for word in words}


@cache
def _amount() -> re.Pattern[str]:
    words = sorted((one for one in _scales() if one.isalpha()), key=len, reverse=True)
    letters = "|".join(one for one in words if not regex(f"[{HAN}]").match(one) and len(one) > 1)
    han = "|".join(one for one in words if regex(f"[{HAN}]").match(one))
    return regex(
        r"(?<![\d.,])(?P<figure>\d{1,9}(?:[.,]\d{1,9})?)"
        rf"(?P<scale>(?:(?<=\d)[km]|\s?(?:{letters}))(?![^\W\d_])|\s?(?:{han}))",
        re.IGNORECASE,
    )


@cache
def _values() -> dict[str, tuple[int, bool]]:
    tens = _counted("tens", 20, 10)
    counts = _counted("units", 0) | _counted("teens", 10) | tens
    units = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
    for (n, unit), (word, ten) in product(enumerate(units, 1), tens.items()):
        counts[f"{unit}und{word}"] = ten + n
    values = {word: (n, False) for word, n in counts.items()}
    values |= {word: (n, True) for word, n in _multiples("times").items()}
    values |= {one: (n, False) for one, n in _counted("han_units", 0).items()}
    return values | {one: (n, True) for one, n in _multiples("han_times").items()}


LONG, BRIEF = 5, 4
"""The fewest characters of a number, and of one of a short kind."""


def mask_identity_numbers(text: str) -> str:
    """Return a text with numbers that identify a person replaced by a mark."""
    text = _PATTERNS.identity.sub(lambda one: "[number removed]" if _checked(one) else one[0], text)
    return replace_spans(text, ((*place, "[number removed]") for place in sorted(_places(text))))


def find_identity_numbers(text: str) -> frozenset[str]:
    """Return the numbers beside an identifying word, without separators and in lower case."""
    if not _PATTERNS.noun.search(text):
        return frozenset()
    digits = _in_digits(to_western_digits(text))
    return frozenset(_without_separators(digits[start:end]) for start, end in _places(text))


def find_known_numbers(text: str, known: Collection[str]) -> set[int]:
    """Return the places of numbers that are known to identify a person, wherever they are."""
    if not known:
        return set()
    matches = (match for form in (_PATTERNS.bare, _PATTERNS.part) for match in form.finditer(text))
    spans = (match.span() for match in matches if _without_separators(match[0]) in known)
    return {place for span in spans for place in range(*span)}


def _without_separators(number: str) -> str:
    """Return a number without separators, in lower case."""
    return "".join(filter(str.isalnum, number)).lower()


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of numbers after or before an identifying word."""
    if not _PATTERNS.noun.search(text):
        return
    digits = _in_digits(to_western_digits(text))
    for match in _PATTERNS.stated.finditer(digits):
        if _identifies(match) and not _PATTERNS.amount.match(digits, match.end()):
            yield _spelt_out(match, text)
    for match in _PATTERNS.stated_before.finditer(digits):
        own = match["gap"].strip(" ,")
        if (own or match["long"]) and _identifies(match):
            yield _spelt_out(match, text)


def _spelt_out(match: re.Match[str], text: str) -> tuple[int, int]:
    """Return the place of a number in a text; one in words is longer than its digits."""
    start, end = match.span("value")
    rest = regex(r"\S+").match(text, end) if text[start:end] != match["value"] else None
    spaces = len(match.string) - len(match.string[end:].lstrip()) if rest else end
    return start, max(end, len(text[:spaces].rstrip()))


def _identifies(match: re.Match[str]) -> bool:
    """Tell whether a number beside an identifying word is long enough, and no date."""
    value = _without_separators(match["value"])
    digits = sum(map(str.isdigit, value))
    linked = bool(match["gap"].strip(" #-,"))
    if match["code"] and not _opens(match):
        return False
    if match["long"]:
        least = LONG if value.isdigit() or linked else LONG + 1
        return len(value) >= least and digits >= 2 and not _PATTERNS.date.fullmatch(match["value"])
    year = _PATTERNS.date.fullmatch(match["value"]) and not linked
    return len(value) >= BRIEF and digits >= 2 and not year


def _opens(match: re.Match[str]) -> bool:
    """Tell whether a code opens something, unlike an error code or a ZIP code."""
    at = match.start("code")
    last = _PATTERNS.last.search(match.string, max(at - 24, 0), at)
    alone = not match.string[:at].strip()
    kind = bool(last and _PATTERNS.coded.fullmatch(last[0]))
    if alone or (last and _PATTERNS.any.fullmatch(last[0])):
        return match["value"].isdecimal() or bool(match["gap"].strip(" #-"))
    return kind


def _checked(match: re.Match[str]) -> bool:
    if china := match["china"]:
        # ISO 7064, MOD 11-2: X stands for 10.
        last = 10 if china[-1] in "Xx" else int(china[-1])
        weighed = sum(int(digit) << (17 - at) for at, digit in enumerate(china[:-1]))
        return (weighed + last) % 11 == 1
    if account := match["account"]:
        # ISO 7064, MOD 97-10, with the first four characters moved to the end.
        turned = (account[4:] + account[:4]).replace(" ", "")
        return int("".join(str(int(letter, 36)) for letter in turned)) % 97 == 1
    return True
