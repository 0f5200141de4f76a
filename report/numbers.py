"""Compare the numbers of a report with the numbers of its sources."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from report.blocks import blocks
from report.marks import MARKER, blank, cites
from report.statements import statements

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
_THIN_SPACE = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_MONEY = re.compile(r"[$€£¥₹]\s?$")


class Number(NamedTuple):
    """A number and how far it may be from one that was rounded to it."""

    value: float
    slack: float


def numbers(body: str, texts: Mapping[str, str]) -> list[str]:
    """Return the sentences with a number that stands in none of the sources they cite.

    Thousands separators, 万 and 亿, k, million and bn are read, and a number may be rounded. A
    single digit counts where it is a percentage, money or has a scale.
    """
    known: dict[str, list[float]] = {}
    return [
        statement.strip()
        for statement in _sentences(body)
        if cites(statement) and not _supported(statement, texts, known)
    ]


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


def _sentences(body: str) -> Iterator[str]:
    for block in blocks(body):
        if block.kind == "row":
            yield block.text
        elif block.kind in ("text", "item", "quote"):
            yield from statements(block.text)


def _supported(statement: str, texts: Mapping[str, str], known: dict[str, list[float]]) -> bool:
    sources = [name for name in dict.fromkeys(cites(statement)) if name in texts]
    for name in sources:
        if name not in known:
            known[name] = sorted({number.value for number in read(texts[name])})
    said = read(MARKER.sub("", blank(statement)))
    return all(any(_near(number, known[name]) for name in sources) for number in said)


def _near(number: Number, values: list[float]) -> bool:
    at = bisect_left(values, number.value - number.slack)
    return at < len(values) and values[at] <= number.value + number.slack
