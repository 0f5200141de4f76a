"""Extract the numbers of a text, in digits or words, and compare them with its sources."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from itertools import pairwise, permutations
from typing import NamedTuple

from report.checks.date_sums import reduce_date_sums
from text.pattern_files import PatternFile
from text.words import Memo

_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_UP_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_UP_TO_TWELFTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ONES = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())}
_TENS = {word: 10 * value for value, word in enumerate(_UP_TO_NINETY.split(), 2)}
_ORDINALS = {word: value for value, word in enumerate(_UP_TO_TWELFTH.split(), 1)}
_WORD_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_HAN_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_HAN_DIGITS |= {"〇": 0, "两": 2, "兩": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
NUMBER_WORDS = {
    word: float(value)
    for word, value in (_ONES | _HAN_DIGITS | {"十": 10}).items()
    if 1 <= value <= 12
}
"""The words for small numbers, without the Chinese ones of two characters."""

_PATTERNS = PatternFile(
    "report.checks",
    "numbers.toml",
    word="|".join([*_ONES, *_TENS, *_WORD_SCALES]),
    ordinals="|".join(_ORDINALS),
    han_signs="".join([*_HAN_DIGITS, *_HAN_SCALES]),
)
_SIGNS = {"times": " × ", "over": " ÷ ", "plus": " + ", "minus": " − ", "equals": " = "}

_BYTES = {"k": (1e3, 2.0**10), "m": (1e6, 2.0**20), "g": (1e9, 2.0**30), "t": (1e12, 2.0**40)}
_FACTORS = sorted(
    {factor for both in _BYTES.values() for factor in both}
    | {8.0, 10.0, 12.0, 24.0, 60.0, 100.0, 365.0, 1440.0, 3600.0, 86400.0, 1e4, 1e8}
)
"""Factors of conversions between units, and their inverses."""

MOST = 8
"""How many numbers of a statement are combined to compute others."""

_MAX_FEW = 4  # from more numbers, almost any other could be computed


class TextNumber(NamedTuple):
    """A number, its rounding tolerance, and the bytes in its unit (decimal and binary)."""

    value: float
    tolerance: float
    bytes: tuple[float, ...] = ()


def find_unsupported_number(
    statement: str, known: Sequence[Sequence[float]], more: Sequence[float] = ()
) -> str:
    """Return the first number of a text that is neither known nor computed from known ones.

    Thousands separators, 万 and 亿, k, million and bn are parsed, and a number may be rounded. A
    single digit counts only as a percentage, as money or with a scale. Numbers in labels and file
    names are ignored.

    Args:
        statement: The text, without marks and quotations.
        known: The numbers of each source, sorted.
        more: Other allowed numbers, such as those of the question, sorted.
    """
    found = list_checkable_numbers(statement)
    there = [
        one for one in found if any(is_computed_number(one, values) for values in [*known, more])
    ]
    missing = [one for one in found if one not in there]
    if not missing:
        return ""
    given = [one.value for one in there]
    results = _results(statement, given)
    made = sorted([*compute_results([*given, *results]), *results])
    return next((f"{one.value:g}" for one in missing if not is_computed_number(one, made)), "")


def find_wrong_calculation(statement: str) -> str:
    """Return the first wrong calculation of a text as it is written, or ""."""
    return next((one for one in _equations(statement) if not _holds(one)), "")


def strip_calculations(statement: str) -> str:
    """Return a text without its written-out equations."""
    if not _equations(statement):
        return reduce_date_sums(statement)
    return _PATTERNS.equation.sub(" ", _without_brackets(statement))


def list_calculations(statement: str) -> list[str]:
    """Return the written-out calculations of a text, with their results if it has them."""
    equations = _equations(statement)
    rest = strip_calculations(statement) if equations else _without_brackets(statement)
    return [*equations, *(one[0] for one in _PATTERNS.expression.finditer(rest))]


def evaluate_terms(expression: str) -> list[float]:
    """Return the absolute values of the sides of a calculation and of their products."""
    found = [one for side in _sides(expression) for one in (_value(side), *_products(side))]
    return [*dict.fromkeys(map(abs, found))]


def list_checkable_numbers(statement: str) -> list[TextNumber]:
    """Return the numbers of a statement that need a source, in its order."""
    return [*_read_checkable_numbers(statement)]


@lru_cache(maxsize=512)
def _read_checkable_numbers(statement: str) -> tuple[TextNumber, ...]:
    return tuple(_iter_numbers(_PATTERNS.label.sub(" ", strip_file_names(statement))))


def strip_file_names(text: str) -> str:
    """Return a text without the names of files and paths in it."""
    return _PATTERNS.file_name.sub(" ", text)


def list_values(text: str) -> list[float]:
    """Return the numbers of a text, sorted."""
    return sorted({number.value for number in _iter_numbers(text)})


def _iter_numbers(text: str) -> Iterator[TextNumber]:
    """Yield the numbers of a text, except single digits without a unit."""
    text = _SPELT[text]
    for found in _PATTERNS.number.finditer(text):
        digits, rest = re.sub(r"\D", "", found["digits"]), found["rest"] or ""
        scale = _scales()[(found["scale"] or "").lower()]
        money = _PATTERNS.money.search(text, max(0, found.start() - 2), found.start())
        if len(digits + rest) > 1 or money or found["scale"] or found["unit"]:
            step = scale * 10.0 ** -max(0, len(rest) - 1)
            about = _PATTERNS.about.search(text, max(0, found.start() - 14), found.start())
            slack = max(step / 2, _rounded(digits, rest) * scale if about else 0.0)
            unit = _PATTERNS.in_bytes.match(text, found.end())
            more = _BYTES[unit[1].lower()] if unit else ()
            yield TextNumber(float(digits + rest) * scale, slack + scale * 1e-9, more)


@cache
def _scales() -> dict[str, float]:
    rows = _PATTERNS.get_rows("scales")
    return {"": 1.0} | {word: float(value) for value, *words in rows for word in words}


def _rounded(digits: str, rest: str) -> float:
    """Return half a unit of the last digit of a round number that is not zero."""
    zeros = 0 if rest else len(digits) - len(digits.rstrip("0"))
    return 10.0**zeros / 2


def widen_rounded(number: TextNumber) -> TextNumber:
    """Return a number with a tolerance of half a unit of its last non-zero digit."""
    digits = f"{number.value:.0f}" if number.value == round(number.value) else ""
    return number._replace(tolerance=max(number.tolerance, _rounded(digits, "") if digits else 0.0))


def is_known_number(number: TextNumber, known: Sequence[float]) -> bool:
    """Tell whether a number equals one of some sorted numbers within its tolerance."""
    at = bisect_left(known, number.value - number.tolerance)
    return at < len(known) and known[at] <= number.value + number.tolerance


def is_computed_number(number: TextNumber, made: Sequence[float]) -> bool:
    """Tell whether a number, or its value in bytes, is among some sorted numbers."""
    return any(is_known_number(one, made) for one in _as_bytes(number))


def is_among_numbers(number: TextNumber, made: Iterable[float]) -> bool:
    """Tell whether a number, or its value in bytes, is among lazily computed numbers."""
    spans = [(one.value - one.tolerance, one.value + one.tolerance) for one in _as_bytes(number)]
    return any(least <= one <= most for one in made for least, most in spans)


def _as_bytes(number: TextNumber) -> list[TextNumber]:
    units = (TextNumber(number.value * one, number.tolerance * one) for one in number.bytes)
    return [number, *units]


def _results(statement: str, given: Sequence[float]) -> list[float]:
    """Return the numbers of correct equations whose operands are known."""
    results = _list_bracket_values(statement, given)
    for equation in _equations(statement):
        left, *sides = _sides(equation)
        numbers = [one for one in _iter_numbers(left) if one.value not in _FACTORS]
        known = sorted([*given, *results])
        if _holds(equation) and all(is_computed_number(one, known) for one in numbers):
            results += [one.value for side in (left, *sides) for one in _iter_numbers(f" {side} ")]
            results += [abs(_value(side)) for side in (left, *sides)]
    return results


def _list_bracket_values(statement: str, given: Sequence[float]) -> list[float]:
    """Return the values of the brackets in calculations all of whose numbers are known."""
    known = sorted(given)
    inside = (one[1] or one[2] for one in _PATTERNS.in_brackets.finditer(_SPELT[statement]))
    return [
        _value(one)
        for one in inside
        if all(is_computed_number(number, known) for number in _iter_numbers(one))
    ]


def _equations(statement: str) -> list[str]:
    return [one[0] for one in _PATTERNS.equation.finditer(_without_brackets(statement))]


def _spelt(statement: str) -> str:
    # Inside numbers, a full-width comma is a thousands separator; dots between them mean a range.
    statement = reduce_date_sums(statement)
    statement = _PATTERNS.dots.sub(" – ", statement.replace("：", ": "))
    statement = _PATTERNS.sign_words.sub(lambda found: _SIGNS[found.lastgroup or ""], statement)
    return unicodedata.normalize(
        "NFKC", _PATTERNS.comma.sub(", ", _PATTERNS.thin_space.sub(",", statement))
    )


_SPELT = Memo(_spelt, most=256, longest=2_000)


def _without_brackets(statement: str) -> str:
    """Return a text with the brackets of its calculations evaluated."""
    return _PATTERNS.in_brackets.sub(
        lambda found: f" {_value(found[1] or found[2]):.10g}", _SPELT[statement]
    )


def _sides(equation: str) -> list[str]:
    return _PATTERNS.sides.split(equation)


def compute_results(given: Sequence[float]) -> list[float]:
    """Return the results of one step on a few numbers, and their sum, sorted."""
    found = {sum(given)} if len(given) > 1 else set()
    for one, other in permutations(given[:MOST], 2):
        found.update(combine_numbers(one, other))
    return sorted({abs(one) for one in found})


def compute_few_results(given: Sequence[float]) -> list[float]:
    """Return `compute_results` of two numbers or a few more, and nothing for other ones."""
    return compute_results(given) if 1 < len(given) <= _MAX_FEW else []


def combine_numbers(one: float, other: float) -> Iterator[float]:
    """Yield the results of one step on two numbers, including shares and changes in per cent."""
    yield from (one + other, abs(one - other), one * other)
    if other:
        yield from (one / other, 100 * one / other, abs(100 * (one - other) / other))


def _holds(equation: str) -> bool:
    """Tell whether an equation is correct within the rounding of its results.

    If it has units, its sides may differ by a conversion factor.
    """
    about = bool(re.search("[≈≒≃]|about|[约約]", equation))
    sides = _sides(equation)
    factors = [1.0]
    if re.search(r"\d\s?[A-Za-z%\u4e00-\u9fff]", re.sub(r"(?<=\d)\s*[xX]\s*(?=\d)", "*", equation)):
        factors += [*_FACTORS, *(1 / one for one in _FACTORS)]
    return all(
        any(_equal(_value(one) * factor, other, about=about) for factor in factors)
        for one, other in pairwise(sides)
    )


def _equal(total: float, side: str, *, about: bool) -> bool:
    result = _value(side)
    terms = [one.replace(",", "").partition(".") for _, one, _ in _PATTERNS.term.findall(side)]
    whole, _, rest = terms[-1]
    slack = _rounded(whole, rest) if about else 0.5
    slack = slack if not rest else 0.5 * 10.0 ** -len(rest)
    if len(terms) > 1 and not about:
        # An operand with decimals may be rounded.
        parts = (0.5 / int(whole + rest) for whole, _, rest in terms if rest and int(whole + rest))
        slack = min(0.5, 0.005 * abs(result)) + abs(result) * sum(parts)
    return abs(abs(total) - abs(result)) <= slack + 1e-9 * abs(total)


def _value(side: str) -> float:
    """Return the value of one side of a calculation."""
    total = sum(_products(side))
    return total / 100 if side.rstrip().endswith("%") else total


def _products(side: str) -> list[float]:
    """Return the signed products whose sum is one side of a calculation."""
    found: list[float] = []
    for sign, digits, _ in _PATTERNS.term.findall(side):
        value = float(digits.replace(",", ""))
        if sign in "+-−–":
            found.append(value if sign == "+" or not sign else -value)
        elif sign in "×*xX·":
            found[-1] *= value
        elif value:
            found[-1] /= value
    return found


@lru_cache(maxsize=2048)
def normalize_numerals(text: str) -> str:
    """Return a text with its numbers in digits: "forty-two", "4th", "3.4 million", "七十三"."""
    text = _PATTERNS.scaled.sub(_expand_scale, _PATTERNS.suffix.sub("", text))
    text = _PATTERNS.spelt_number.sub(lambda found: str(_spelt_value(found[0])), text)
    text = _PATTERNS.ordinal.sub(lambda found: str(_ORDINALS[found[0].lower()]), text)
    if text.isascii():
        return text
    text = _PATTERNS.han_percent.sub(lambda found: f"{_han_value(found['n'])}%", text)
    return _PATTERNS.han_spelt.sub(lambda found: _han_value(found[0].lstrip("第")), text)


def _expand_scale(found: re.Match[str]) -> str:
    """Return figures with their scales as one number: "1.5 million", "3万5千"."""
    pairs = _PATTERNS.figure.findall(found[0])
    scales = _scales()
    values = (
        Decimal(figure.replace(",", "")) * int(scales[scale.lower()]) for figure, scale in pairs
    )
    return f"{sum(values, Decimal()).normalize():f}"


def _spelt_value(spelt: str) -> int:
    total = part = 0
    for word in re.findall(r"[a-z]+", spelt.lower()):
        if word in _WORD_SCALES:
            part = max(part, 1) * _WORD_SCALES[word]
            total, part = (total + part, 0) if _WORD_SCALES[word] > 100 else (total, part)
        elif word != "and":
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
    return total + part


def _han_value(spelt: str) -> str:
    if not set(spelt) & set(_HAN_SCALES):
        return "".join(str(_HAN_DIGITS[sign]) for sign in spelt)
    total = part = digit = 0
    for sign in spelt:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif _HAN_SCALES[sign] >= 10**4:
            total, part, digit = (total + (part + digit or 1) * _HAN_SCALES[sign], 0, 0)
        else:
            part, digit = part + (digit or 1) * _HAN_SCALES[sign], 0
    return str(total + part + digit)
