"""Compare the numbers of a report with the numbers of its sources."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

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
_NUMBER = re.compile(
    r"(?P<digits>\d(?<![A-Za-z0-9_.,].)(?:\d{0,2}(?:,\d{3})+(?!\d)|\d*))"
    r"(?P<rest>\.\d+)?"
    r"(?:\s?(?P<scale>thousand|million|billion|trillion|mn|bn|tn|百万|千万|十亿|万亿|[千万萬亿億兆]"
    r"|(?-i:[kMB]))(?![A-Za-z]))?"
    r"(?P<unit>\s?[%‰°]|\s?(?:percent|per cent)\b)?",
    re.IGNORECASE,
)
_DIGITS = r"\d[\d,]*(?:\.\d+)?"
_SIGN = r"\s*[-+−–×*/÷·xX]\s*"
_EQUATION = re.compile(
    rf"(?<![\w.,:/-])(?P<left>{_DIGITS}(?:{_SIGN}{_DIGITS})+)\s*[=＝]\s*(?P<right>{_DIGITS})(?![\d%])"
)
_TERM = re.compile(rf"([-+−–×*/÷·xX]?)\s*({_DIGITS})")
FILE = re.compile(
    r"[\w./\\-]*\w\.(?:md|txt|pdf|docx?|xlsx?|pptx?|csv|tsv|json|ya?ml|toml|xml|html?|log|ini"
    r"|cfg|conf|py|js|ts"
    r"|c|h|cpp|rs|go|java|sh|sql|rst|tex|odt|rtf|eml|epub|ipynb|png|jpe?g|gif|svg|zip|gz)\b"
    r"|(?<=\s)(?:~|\.{0,2})/[\w./-]+",
    re.IGNORECASE | re.ASCII,
)
_PLACE = (
    "step|section|sec|chapter|part|table|tab|figure|fig|page|pp?|option|item|phase|question|line"
    "|appendix|annex|footnote|row|column|slide|§"
)
_LABEL = re.compile(
    rf"(?:(?<![\w])(?:{_PLACE})s?\.?\s*#?\d[\d.]*(?:\s*[-–]\s*\d[\d.]*)?(?!\d|\s*%))"
    r"|[第方步表图圖版][案骤驟]?\s*\d[\d.]*\s*[章节節条條部分页頁版段步款行卷期號号]*"
    r"|^\W*\*\*[^*\n]{1,60}[:：]\*\*|^\W*\*\*[^*\n]{1,60}\*\*\s*[:：—-]"
    r"|^\s*[(（]?\d[\d.]*[)）]\s|^\s*\d+\.\d+\s+(?=[A-Z《“]"
    r"|(?![万亿千百十倍个個米元年月日公吨人名次种])[\u4e00-\u9fff])",
    re.IGNORECASE,
)
MOST = 8
"""From how many numbers of a statement others may be computed."""

_THIN_SPACE = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_MONEY = re.compile(r"[$€£¥₹]\s?$")


class Number(NamedTuple):
    """A number and how far it may be from one that was rounded to it."""

    value: float
    slack: float


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
    found = list(read(_LABEL.sub(" ", FILE.sub(" ", said))))
    there = [one for one in found if any(near(one, values) for values in [*known, more])]
    missing = [one for one in found if one not in there]
    made = _computed([one.value for one in there]) if missing else []
    return next((f"{one.value:g}" for one in missing if not near(one, made)), "")


def wrong_sum(said: str) -> str:
    """Return the first calculation of a text that does not come out, as it is spelt there."""
    text = unicodedata.normalize("NFKC", _THIN_SPACE.sub(",", said))
    return next((one[0] for one in _EQUATION.finditer(text) if not _holds(one)), "")


def values(text: str) -> list[float]:
    """Return the numbers of a text, sorted."""
    return sorted({number.value for number in read(text)})


def read(text: str) -> Iterator[Number]:
    """Yield the numbers of a text, but not single digits without a unit."""
    text = unicodedata.normalize("NFKC", _THIN_SPACE.sub(",", text))
    for found in _NUMBER.finditer(text):
        digits, rest = re.sub(r"\D", "", found["digits"]), found["rest"] or ""
        scale = _SCALES[(found["scale"] or "").lower()]
        money = _MONEY.search(text, max(0, found.start() - 2), found.start())
        if len(digits + rest) > 1 or money or found["scale"] or found["unit"]:
            step = scale * 10.0 ** -max(0, len(rest) - 1)
            yield Number(float(digits + rest) * scale, step / 2 + scale * 1e-9)


def near(number: Number, known: Sequence[float]) -> bool:
    """Tell whether a number is one of some sorted numbers, or one of them rounded."""
    at = bisect_left(known, number.value - number.slack)
    return at < len(known) and known[at] <= number.value + number.slack


def _computed(given: Sequence[float]) -> list[float]:
    """Return what can be computed from a few numbers in one step, sorted, and their sum."""
    found = {sum(given)} if len(given) > 1 else set()
    for one, other in permutations(given[:MOST], 2):
        found |= {one + other, one - other, one * other}
        if other:
            found |= {one / other, 100 * one / other, 100 * (one - other) / other}
    return sorted({abs(one) for one in found})


def _holds(equation: re.Match[str]) -> bool:
    """Tell whether a calculation comes out, as far as its result is rounded."""
    terms, signs = [1.0], [1]
    for sign, digits in _TERM.findall(equation["left"]):
        value = float(digits.replace(",", ""))
        if sign in "+-−–":
            terms.append(value)
            signs.append(1 if sign == "+" or not sign else -1)
        elif sign in "×*xX·":
            terms[-1] *= value
        elif value:
            terms[-1] /= value
    total = sum(sign * value for sign, value in zip(signs[1:], terms[1:], strict=True))
    result = next(read(f"{equation['right']}%"))
    return abs(abs(total) - result.value) <= result.slack + 1e-9 * abs(total)
