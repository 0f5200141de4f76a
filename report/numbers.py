"""Compare the numbers of a report with the numbers of its sources."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, permutations
from typing import NamedTuple

from retrieval.memo import Memo
from retrieval.regex import regex

_SCALES = {
    "": 1.0,
    "k": 1e3,
    "thousand": 1e3,
    "千": 1e3,
    "万": 1e4,
    "萬": 1e4,
    "m": 1e6,
    "mn": 1e6,
    "million": 1e6,
    "百万": 1e6,
    "千万": 1e7,
    "亿": 1e8,
    "億": 1e8,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "十亿": 1e9,
    "trillion": 1e12,
    "tn": 1e12,
    "万亿": 1e12,
    "兆": 1e12,
}
_NUMBER = regex(
    r"(?P<digits>\d(?<![A-Za-z0-9_.,].)(?:\d{0,2}(?:,\d{3})+(?!\d)|\d*))"
    r"(?P<rest>\.\d+)?"
    r"(?:\s?(?P<scale>thousand|million|billion|trillion|mn|bn|tn|百万|千万|十亿|万亿|[千万萬亿億兆]"
    r"|(?-i:[kMB]))(?![A-Za-z]))?"
    r"(?P<unit>\s?[%‰°]|\s?(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_DIGITS = r"\d[\d,]*(?:\.\d+)?"
_SIGN = r"\s*[-+−–×*/÷·xX]\s*"
_UNIT = r"(?:\s?(?:(?![xX]\s?\d)[A-Za-z]{1,12}|[\u4e00-\u9fff]{1,4}))?"
_SIDE = rf"{_DIGITS}{_UNIT}(?:{_SIGN}{_DIGITS}{_UNIT})*"
_EQUALS = r"(?<!\s)\s*[=≈≒≃]\s*(?:about\s+|约|約|大约|大約)?"
_EQUATION = regex(
    rf"(?<![\w.,:/-]){_DIGITS}{_UNIT}{_SIGN}{_SIDE}(?:{_EQUALS}{_SIDE}%?)+(?![\d.]*\d)"
)
_EXPRESSION = regex(
    rf"(?<![\w.,:/-]){_DIGITS}{_UNIT}(?:(?:\s*[+×÷·*]\s*|(?<=\d)\s?[xX]\s?(?=\d)){_DIGITS}{_UNIT})+"
)
_IN_BRACKETS = regex(
    rf"(?<=[-+−–×*/÷·=])\s?[(（]({_SIDE})[)）]|[(（]({_SIDE})[)）](?=\s?[-+−–×*/÷·])"
)
_TERM = regex(rf"(?:([-+−–×*/÷·xX])\s*)?({_DIGITS})({_UNIT})")
_ABOUT = regex(
    r"(?:\b(?:about|around|roughly|approximately|nearly|almost|some|circa|ca\.)|[≈~～]|大?[约約]|[将將]近|近|[约約][为為合])\s*$",
    re.IGNORECASE,
)
_BYTES = {"k": (1e3, 2.0**10), "m": (1e6, 2.0**20), "g": (1e9, 2.0**30), "t": (1e12, 2.0**40)}
_IN_BYTES = regex(r"\s?([KkMGT])i?B\b")
_FACTORS = sorted(
    {factor for both in _BYTES.values() for factor in both}
    | {8.0, 10.0, 12.0, 24.0, 60.0, 100.0, 365.0, 1440.0, 3600.0, 86400.0, 1e4, 1e8}
)
"""What a number is multiplied with, or divided by, where its unit is changed."""

FILE = regex(
    r"(?<![\w./\\-])[\w./\\-]*\w\.(?:md|txt|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|log|ini"
    r"|cfg|conf|py|js|ts"
    r"|c|h|cpp|rs|go|java|sh|sql|rst|tex|odt|rtf|eml|epub|ipynb|png|jpe?g|gif|svg|zip|gz)\b"
    r"|(?<=\s)(?:~|\.{0,2})/[\w./-]+",
    re.IGNORECASE | re.ASCII,
)
_PLACE = (
    "step|section|sec|chapter|part|table|tab|figure|fig|page|pp?|option|item|phase|question|line"
    "|appendix|annex|footnote|row|column|slide|§"
)
_LABEL = regex(
    rf"(?:(?<![\w])(?:{_PLACE})s?\.?\s*#?\d[\d.]*(?:\s*[-–]\s*\d[\d.]*)?(?!\d|\s*%))"
    r"|[第方步表图圖版][案骤驟]?\s*\d[\d.]*\s*[章节節条條部分页頁版段步款行卷期號号]*"
    r"|^\W*\*\*[^*\n]{1,60}[:：]\*\*|^\W*\*\*[^*\n]{1,60}\*\*\s*[:：—-]"
    r"|^\s*[(（]?\d[\d.]*[)）]\s|^\s*\d+\.\d+\s+(?=[A-Z《“]"
    r"|(?![万亿千百十倍个個米元年月日公吨人名次种])[\u4e00-\u9fff])",
    re.IGNORECASE,
)
MOST = 8
"""From how many numbers of a statement others may be computed."""

_THIN_SPACE = regex("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_COMMA = regex(r"，(?!\d{3}(?!\d))|(?<!\d)，|(?<=\d{4})，")
_DOTS = regex(r"(?<=\d)\s?(?:…|\.{2,3})\s?(?=\d)")
_IN_WORDS = [
    (regex(rf"(?<=\d)\s*(?:{words})\s*(?=\d)", re.IGNORECASE), sign)
    for words, sign in (
        (r"(?<=\s)(?:times|multiplied\s+by)(?=\s)|乘以?|乘上", " × "),
        (r"(?<=\s)(?:divided\s+by|over)(?=\s)|除以", " ÷ "),
        (r"(?<=\s)plus(?=\s)|加上?", " + "),
        (r"(?<=\s)minus(?=\s)|[减減]去?", " − "),
        (r"(?<=\s)(?:equals|makes|gives)(?=\s)|等[于於]|得", " = "),
    )
]
_MONEY = regex(r"[$€£¥₹]\s?$")


class Number(NamedTuple):
    """A number, how far it may be from one rounded to it, and how many bytes are in its unit."""

    value: float
    slack: float
    bytes: tuple[float, ...] = ()


def unsupported(said: str, known: Sequence[Sequence[float]], more: Sequence[float] = ()) -> str:
    """Return the first number of a text that is neither known nor computed from those that are.

    Thousands separators, 万 and 亿, k, million and bn are read, and a number may be rounded. A
    single digit counts where it is a percentage, money or has a scale. Let be are the numbers of
    labels and file names.

    Args:
        said: What is said, without marks and quotations.
        known: The numbers of each source, sorted.
        more: Other numbers that may be named, such as those of the question, sorted.
    """
    found = listed(said)
    there = [one for one in found if any(is_near(one, values) for values in [*known, more])]
    missing = [one for one in found if one not in there]
    if not missing:
        return ""
    given = [one.value for one in there]
    results = _results(said, given)
    made = sorted([*computed([*given, *results]), *results])
    return next((f"{one.value:g}" for one in missing if not is_near(one, made)), "")


def wrong_sum(said: str) -> str:
    """Return the first calculation of a text that does not come out, as it is spelt there."""
    return next((one for one in _equations(said) if not _holds(one)), "")


def without_sums(said: str) -> str:
    """Return a text without the calculations that are written out in it."""
    return _EQUATION.sub(" ", _without_brackets(said)) if _equations(said) else said


def expressions(said: str) -> list[str]:
    """Return the calculations of a text that are written out, with their results where named."""
    equations = _equations(said)
    rest = without_sums(said) if equations else _without_brackets(said)
    return [*equations, *(one[0] for one in _EXPRESSION.finditer(rest))]


def terms(expression: str) -> list[float]:
    """Return what the sides of a calculation come to, and each of their products."""
    found = [one for side in _sides(expression) for one in (_value(side), *_products(side))]
    return [*dict.fromkeys(map(abs, found))]


def listed(said: str) -> list[Number]:
    """Return the numbers of a statement that must come from somewhere, in its order."""
    return list(read(_LABEL.sub(" ", FILE.sub(" ", said))))


def values(text: str) -> list[float]:
    """Return the numbers of a text, sorted."""
    return sorted({number.value for number in read(text)})


def read(text: str) -> Iterator[Number]:
    """Yield the numbers of a text, but not single digits without a unit."""
    text = _SPELT[text]
    for found in _NUMBER.finditer(text):
        digits, rest = re.sub(r"\D", "", found["digits"]), found["rest"] or ""
        scale = _SCALES[(found["scale"] or "").lower()]
        money = _MONEY.search(text, max(0, found.start() - 2), found.start())
        if len(digits + rest) > 1 or money or found["scale"] or found["unit"]:
            step = scale * 10.0 ** -max(0, len(rest) - 1)
            slack = max(step / 2, _rounded(digits, rest) * scale if _is_about(found) else 0.0)
            unit = _IN_BYTES.match(text, found.end())
            more = _BYTES[unit[1].lower()] if unit else ()
            yield Number(float(digits + rest) * scale, slack + scale * 1e-9, more)


def _is_about(found: re.Match[str]) -> bool:
    return bool(_ABOUT.search(found.string, max(0, found.start() - 14), found.start()))


def _rounded(digits: str, rest: str) -> float:
    """Return half a unit of the last digit of a round number that is not zero."""
    zeros = 0 if rest else len(digits) - len(digits.rstrip("0"))
    return 10.0**zeros / 2


def rounded(number: Number) -> Number:
    """Return a number as one that is only about right, as far as it ends with zeros."""
    digits = f"{number.value:.0f}" if number.value == round(number.value) else ""
    return number._replace(slack=max(number.slack, _rounded(digits, "") if digits else 0.0))


def near(number: Number, known: Sequence[float]) -> bool:
    """Tell whether a number is one of some sorted numbers, or one of them rounded."""
    at = bisect_left(known, number.value - number.slack)
    return at < len(known) and known[at] <= number.value + number.slack


def is_near(number: Number, made: Sequence[float]) -> bool:
    """Tell whether a number was computed, perhaps as bytes in a larger unit."""
    return any(near(one, made) for one in _as_bytes(number))


def is_one(number: Number, made: Iterable[float]) -> bool:
    """Tell whether a number is one of some that are only looked at until it is found."""
    spans = [(one.value - one.slack, one.value + one.slack) for one in _as_bytes(number)]
    return any(least <= one <= most for one in made for least, most in spans)


def _as_bytes(number: Number) -> list[Number]:
    units = (Number(number.value * one, number.slack * one) for one in number.bytes)
    return [number, *units]


def _results(said: str, given: Sequence[float]) -> list[float]:
    """Return the numbers of calculations that are written out, hold, and begin with known ones."""
    results: list[float] = []
    for equation in _equations(said):
        left, *sides = _sides(equation)
        numbers = [one for one in read(left) if one.value not in _FACTORS]
        if _holds(equation) and all(is_near(one, sorted([*given, *results])) for one in numbers):
            results += [one.value for side in (left, *sides) for one in read(f" {side} ")]
            results += [abs(_value(side)) for side in (left, *sides)]
    return results


def _equations(said: str) -> list[str]:
    return [one[0] for one in _EQUATION.finditer(_without_brackets(said))]


def _spelt(said: str) -> str:
    # A full-width comma becomes one that may stand inside a number; dots between two part them.
    said = _DOTS.sub(" – ", said.replace("：", ": "))
    for words, sign in _IN_WORDS:
        said = words.sub(sign, said)
    return unicodedata.normalize("NFKC", _COMMA.sub(", ", _THIN_SPACE.sub(",", said)))


_SPELT = Memo(_spelt, most=256, longest=2_000)


def _without_brackets(said: str) -> str:
    """Return a text with what stands in the brackets of a calculation worked out."""
    return _IN_BRACKETS.sub(lambda found: f" {_value(found[1] or found[2]):.10g}", _SPELT[said])


def _sides(equation: str) -> list[str]:
    return re.split(_EQUALS, equation)


def computed(given: Sequence[float]) -> list[float]:
    """Return what can be computed from a few numbers in one step, sorted, and their sum."""
    found = {sum(given)} if len(given) > 1 else set()
    for one, other in permutations(given[:MOST], 2):
        found.update(made_of(one, other))
    return sorted({abs(one) for one in found})


def made_of(one: float, other: float) -> Iterator[float]:
    """Yield what two numbers make in one step; parts and differences in per cent, too."""
    yield from (one + other, abs(one - other), one * other)
    if other:
        yield from (one / other, 100 * one / other, abs(100 * (one - other) / other))


def _holds(equation: str) -> bool:
    """Tell whether a calculation comes out, as far as its results are rounded.

    Where a unit is changed on the way, it may come out in the other unit.
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
    last = _TERM.findall(side)[-1][1].replace(",", "")
    whole, _, rest = last.partition(".")
    slack = _rounded(whole, rest) if about else 0.5
    slack = slack if not rest else 0.5 * 10.0 ** -len(rest)
    return abs(abs(total) - abs(result)) <= slack + 1e-9 * abs(total)


def _value(side: str) -> float:
    """Return what one side of a calculation comes to."""
    total = sum(_products(side))
    return total / 100 if side.rstrip().endswith("%") else total


def _products(side: str) -> list[float]:
    """Return the products that one side of a calculation adds up, each with its sign."""
    found: list[float] = []
    for sign, digits, _ in _TERM.findall(side):
        value = float(digits.replace(",", ""))
        if sign in "+-−–":
            found.append(value if sign == "+" or not sign else -value)
        elif sign in "×*xX·":
            found[-1] *= value
        elif value:
            found[-1] /= value
    return found
