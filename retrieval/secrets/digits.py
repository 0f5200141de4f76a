"""Read numbers that are spelt: digit words, numerals of Chinese and of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import product
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import HAN

_UNITS = (
    "zero oh null nul zéro cero noll ноль нуль sifr shunya",
    "one eins ein un une uno um uma een én один одна ek",
    "two zwei zwo deux dos due dois duas twee två to два две do",
    "three drei trois tres tre três drie три teen",
    "four vier quatre cuatro quattro quatro fyra fire четыре char",
    "five fünf fuenf cinq cinco cinque vijf fem пять paanch",
    "six sechs seis sei zes sex seks шесть",
    "seven sieben sept siete sette sete zeven sju syv семь",
    "eight acht huit ocho otto oito åtta otte восемь",
    "nine neun neuf nueve nove negen nio ni девять",
)
_TEENS = (
    "ten zehn dix diez dieci dez tien tio десять",
    "eleven elf onze once undici",
    "twelve zwölf zwoelf douze doce dodici doze twaalf",
    "thirteen dreizehn treize trece tredici treze dertien",
    "fourteen vierzehn quatorze catorce quattordici veertien",
    "fifteen fünfzehn quinze quince quindici vijftien",
    "sixteen sechzehn seize dieciséis sedici zestien",
    "seventeen siebzehn diecisiete diciassette zeventien",
    "eighteen achtzehn dieciocho diciotto achttien",
    "nineteen neunzehn diecinueve diciannove negentien",
)
_TENS = (
    "twenty zwanzig vingt veinte venti vinte twintig",
    "thirty dreißig dreissig trente treinta trenta trinta dertig",
    "forty fourty vierzig quarante cuarenta quaranta quarenta veertig",
    "fifty fünfzig cinquante cincuenta cinquanta vijftig",
    "sixty sechzig soixante sesenta sessanta zestig",
    "seventy siebzig setenta settanta zeventig",
    "eighty achtzig ochenta ottanta oitenta tachtig",
    "ninety neunzig noventa novanta negentig",
)
_TIMES = {
    100: "hundred hundert cent cien ciento cento honderd",
    1_000: "thousand tausend mille mil duizend",
    1_000_000: "million millions millionen millones",
}
_SCALES = {
    1_000: "k thousand tausend tsd mille mil duizend тыс тысяч тысячи",
    1_000_000: "m mn mio mln million millions millionen millones млн миллион миллионов",
    1_000_000_000: "bn billion billions mrd milliarden млрд",
}
"""What an amount is short for, by the word or letter behind its figure."""
_HAN_UNITS = (
    "零〇",
    "一壹",
    "二贰貳两兩",
    "三叁參",
    "四肆",
    "五伍",
    "六陆陸",
    "七柒",
    "八捌",
    "九玖",
)
_HAN_TIMES = {10: "十拾", 100: "百佰", 1_000: "千仟", 10_000: "万萬", 100_000_000: "亿億"}
_TOKEN = regex(rf"\d{{1,20}}|[^\W\d_{HAN}]{{1,24}}|[{HAN}]")
_JOIN = regex(r"[\s.,/·、，_-]{0,3}")
_AND = frozenset({"and", "und", "y", "et", "e", "en"})


class Run(NamedTuple):
    """Where numerals stand in a row, and the digits that they may be read as."""

    start: int
    end: int
    readings: tuple[str, ...]


def runs(text: str) -> Iterator[Run]:
    """Yield the numerals in a row of which at least one is not written in digits."""
    row: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        close = not row or _JOIN.fullmatch(text, row[-1].end(), token.start())
        if row and not close:
            yield from _run(row)
            row = []
        if _value(token[0]) is not None or (row and token[0].lower() in _AND):
            row.append(token)
        elif row:
            yield from _run(row)
            row = []
    if row:
        yield from _run(row)


def amounts(text: str) -> Iterator[Run]:
    """Yield figures with a scale behind them, such as 93.5k, 93,5 тыс. or 9.35万."""
    for found in _amount().finditer(text):
        times = _scales()[found["scale"].strip().lower()]
        figure = found["figure"]
        readings = {Decimal(figure.replace(",", ".")) * times}
        if regex(r"\d{1,3}[.,]\d{3}").fullmatch(figure):
            readings.add(Decimal(regex("[.,]").sub("", figure)) * times)
        whole = (f"{one:.0f}" for one in readings if one == one.to_integral_value())
        yield Run(*found.span(), tuple(whole))


def in_digits(text: str) -> str:
    """Return a text of the same length with spelt numbers in digits, filled up with spaces."""
    parts, at = [], 0
    for run in runs(text):
        parts += [text[at : run.start], run.readings[0][: run.end - run.start]]
        parts.append(" " * (run.end - run.start - len(parts[-1])))
        at = run.end
    return "".join([*parts, text[at:]])


def western(text: str) -> str:
    """Return a text with the digits of all scripts as Western ones."""
    if text.isascii():
        return text
    return "".join(
        letter if (digit := unicodedata.digit(letter, None)) is None else str(digit)
        for letter in text
    )


def _run(row: list[re.Match[str]]) -> Iterator[Run]:
    while row[-1][0].lower() in _AND and _value(row[-1][0]) is None:
        row = row[:-1]
    said = [one[0] for one in row if _value(one[0]) is not None]
    if len(said) > 1 and not all(one.isdecimal() for one in said):
        yield Run(row[0].start(), row[-1].end(), (_in_a_row(said), _cardinal(said)))


def _in_a_row(said: list[str]) -> str:
    """Return what words say if each tells its own digits: "forty-eight two one" is 4821."""
    read: list[str] = []
    tens = False
    for one in said:
        value = _value(one)
        unit = value is not None and value[0] < 10 and not one.isdecimal()
        digits = one if one.isdecimal() else str(value[0]) if value else ""
        if tens and unit:
            read[-1] = read[-1][:-1] + digits
        else:
            read.append(digits)
        tens = bool(value and 20 <= value[0] < 100 and value[0] % 10 == 0 and not value[1])
    return "".join(read)


def _cardinal(said: list[str]) -> str:
    """Return what words say as one number: "three hundred and two" is 302."""
    stack: list[int] = []
    for value, times in filter(None, map(_value, said)):
        if not times:
            stack.append(value)
            continue
        counted = 0
        while stack and stack[-1] < value:
            counted += stack.pop()
        stack.append((counted or 1) * value)
    return str(sum(stack))


def _value(word: str) -> tuple[int, bool] | None:
    """Return the value of a numeral, and whether it multiplies what stands before it."""
    return (int(word), False) if word.isdecimal() else _values().get(word.lower())


@cache
def _scales() -> dict[str, int]:
    words = {word: n for n, some in _SCALES.items() for word in some.split()}
    han = {one: n for n, some in _HAN_TIMES.items() if n > 100 for one in some}
    return words | han | dict.fromkeys(("百万", "百萬"), 1_000_000)


@cache
def _amount() -> re.Pattern[str]:
    spelt = sorted((one for one in _scales() if one.isalpha()), key=len, reverse=True)
    letters = "|".join(one for one in spelt if not regex(f"[{HAN}]").match(one) and len(one) > 1)
    han = "|".join(one for one in spelt if regex(f"[{HAN}]").match(one))
    return regex(
        r"(?<![\d.,])(?P<figure>\d{1,9}(?:[.,]\d{1,9})?)"
        rf"(?P<scale>(?:(?<=\d)[km]|\s?(?:{letters}))(?![^\W\d_])|\s?(?:{han}))",
        re.IGNORECASE,
    )


@cache
def _values() -> dict[str, tuple[int, bool]]:
    values = {word: (n, False) for n, some in enumerate(_UNITS) for word in some.split()}
    values |= {word: (n, False) for n, some in enumerate(_TEENS, 10) for word in some.split()}
    tens = {word: n * 10 for n, some in enumerate(_TENS, 2) for word in some.split()}
    values |= {word: (n, False) for word, n in tens.items()}
    units = ("ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun")
    for (n, unit), (word, ten) in product(enumerate(units, 1), tens.items()):
        values[f"{unit}und{word}"] = (ten + n, False)
    values |= {word: (n, True) for n, some in _TIMES.items() for word in some.split()}
    values |= {one: (n, False) for n, some in enumerate(_HAN_UNITS) for one in some}
    return values | {one: (n, True) for n, some in _HAN_TIMES.items() for one in some}
