"""Tell whether a text gives names of a printed result each other's numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, repeat
from typing import NamedTuple

from report.checks.numbers import normalize_numerals
from report.checks.printed_results import MEASURE, PRINTED_NAME, PRINTED_NUMBER
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import HAN

_PATTERNS = PatternFile("report.checks", "swapped_values.toml")

_CELLS = regex(r"[|\t:：;；=,，]| {2,}")
_INDEX = regex(r"^[\s\W]*(?:\d+[.)]?(?:\s+|$))?")
_COMMAS = regex(r"[;；，{}]|,(?!\d{3}(?!\d))")
_PAIR = regex(r"[^\w\n]*[^\W\d_][^\d\n]*\d[\d,]*(?:\.\d+)?[^\w\n]*[A-Za-z%€$]{0,4}\W*")
_MAX_LABEL_CHARS = 60
_MIN_FOLDED_CHARS = 4  # a shorter name is looked for as it is written
_MIN_LABEL_CHARS = 2
_MOST_LINES = 400


class PrintedValues(NamedTuple):
    """The names and the numbers of printed results."""

    by_name: Mapping[str, frozenset[float]]
    """The numbers in all lines with a name."""
    folded: Mapping[str, str]
    """The names by their folded form."""
    numbers: Sequence[float]
    """All numbers, in order."""


class _Number(NamedTuple):
    value: float
    slack: float
    """How much a number that it is rounded from may differ."""


class _Place(NamedTuple):
    """Where a text has a name, or a number."""

    at: int
    name: str
    number: _Number | None = None


class _NamedNumber(NamedTuple):
    name: str
    number: _Number


@lru_cache(maxsize=64)
def map_printed_values(texts: tuple[str, ...]) -> PrintedValues:
    """Return the names in lines and rows of printed results with their numbers.

    A name is what begins a line or a row, or a word with a capital letter in one line only.
    """
    rows = [one for text in texts for one in text.splitlines() if PRINTED_NUMBER.search(one)]
    lines = [part for row in rows[:_MOST_LINES] for part in _split_pairs(row)]
    capitals = Counter(word for line in lines for word in _list_capitals(line))
    named = {word for word, count in capitals.items() if count == 1}
    named.update(filter(None, map(_read_label, lines)))
    folded = [(_fold(line), line, _list_numbers(line)) for line in lines]
    found: dict[str, frozenset[float]] = {}
    for name in named:
        key, pattern = _fold(name), _make_pattern([name])
        its = [own for low, line, own in folded if key in low and pattern.search(line)]
        found[name] = frozenset[float]().union(*its)
    every = sorted(frozenset[float]().union(*found.values()))
    return PrintedValues(found, {_fold(name): name for name in found}, every)


def _split_pairs(line: str) -> list[str]:
    """Return the parts of a line such as "North: 120, South: 140"; else the line."""
    parts = [one for one in _COMMAS.split(line) if one.strip(" '\"")]
    return parts if len(parts) > 1 and all(map(_PAIR.fullmatch, parts)) else [line]


def _list_capitals(line: str) -> set[str]:
    return {*PRINTED_NAME.findall(MEASURE.sub(" ", line))}


def _read_label(line: str) -> str:
    """Return the words before the first number of a line or row that is not its index."""
    bare = line[_INDEX.match(line).end() :]  # type: ignore[union-attr]
    first = next((one for one in _CELLS.split(bare) if re.search(r"[^\W\d_]", one)), "")
    label = PRINTED_NUMBER.split(first)[0].strip(" -–—*_`\"'“”.()（）")
    fits = _MIN_LABEL_CHARS <= len(label) <= _MAX_LABEL_CHARS
    return label if fits and re.search(r"[^\W\d_]", label) else ""


def has_swapped_value(said: str, beside: Sequence[str], printed: tuple[str, ...]) -> bool:
    """Tell whether a statement gives a name the number of another, which has that of the first.

    Args:
        said: The statement, without marks and quotations.
        beside: The items of its list, or the rows of its table.
        printed: The printed results that it cites.
    """
    return any(
        _make_pattern([name]).search(said)
        for texts in ((said,), tuple(beside))
        for name in _list_swapped_names(texts, printed)
    )


@lru_cache(maxsize=256)
def _list_swapped_names(texts: tuple[str, ...], printed: tuple[str, ...]) -> frozenset[str]:
    """Return the names to which texts give the numbers of each other.

    A name counts if no line with it has its number, another one of them has that number, and
    gets in turn a number that is not its own.

    Args:
        texts: A sentence, or the items of a list or the rows of a table.
        printed: The printed results.
    """
    values = map_printed_values(printed).by_name
    scanned = [(text, _list_places(text, printed)) for text in texts]
    told = {one.number for _, places in scanned for one in places if one.number}
    names = {one.name for _, places in scanned for one in places if one.name}
    named = {name for name in names if any(_has(values[name], one) for one in told)}
    given = [one for text, places in scanned for one in _pair(text, places, named)]
    wrong = [one for one in given if not _has(values[one.name], one.number)]
    while wrong:
        left = [
            one
            for one in wrong
            if any(
                _has(values[other.name], one.number) for other in wrong if other.name != one.name
            )
            and any(
                _has(values[one.name], other.number) for other in wrong if other.name != one.name
            )
        ]
        if left == wrong:
            break
        wrong = left
    return frozenset(one.name for one in wrong)


def _has(numbers: frozenset[float], wanted: _Number) -> bool:
    return any(abs(one - wanted.value) <= wanted.slack for one in numbers)


@lru_cache(maxsize=1024)
def _list_places(text: str, printed: tuple[str, ...]) -> list[_Place]:
    """Return where a text has names of printed results, and their numbers, in order."""
    values, text = map_printed_values(printed), normalize_numerals(text)
    folded = _fold(text)
    names = [name for key, name in values.folded.items() if key in folded]
    if not names:
        return []
    places: list[_Place] = []
    bare = list(text)
    for found in _make_pattern(names).finditer(text):
        name = values.folded.get(_fold(found[0]))
        places += [_Place(found.start(), name)] if name else []
        bare[found.start() : found.end()] = " " * len(found[0])
    for found in PRINTED_NUMBER.finditer("".join(bare)):
        number = _Number(_to_number(found[0]), _find_slack(found[0]))
        at = bisect_left(values.numbers, number.value - number.slack)
        if values.numbers[at : at + 1] and values.numbers[at] <= number.value + number.slack:
            places.append(_Place(found.start(), "", number))
    return sorted(places, key=lambda one: one.at)


def _pair(text: str, places: Sequence[_Place], named: set[str]) -> Iterator[_NamedNumber]:
    """Yield each number that a text gives one of some names, where it is clear which one.

    Names and numbers alternate, or the text says that they are in one order.
    """
    kept = [one for one in places if one.number or one.name in named]
    names = [one.name for one in kept if not one.number]
    numbers = [one.number for one in kept if one.number]
    order = "".join("1" if one.number else "n" for one in kept)
    told = _PATTERNS.in_order.search(text) and re.fullmatch("n+1+", order)
    if len({*names}) == 1:
        before = order.index("n")
        yield from (_NamedNumber(names[0], one) for one in numbers[before:] or numbers)
    elif re.fullmatch("(?:n1+)+", order):
        counts = (len(one) for one in order.split("n")[1:])
        spread = chain.from_iterable(map(repeat, names, counts))
        yield from map(_NamedNumber, spread, numbers)
    elif len(names) == len(numbers) and (told or re.fullmatch("(?:1n)+", order)):
        yield from map(_NamedNumber, names, numbers)


def _make_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return what finds names as whole words, longer ones first."""
    written = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(_write_pattern, written)))


def _write_pattern(name: str) -> str:
    words = r"\s+".join(map(re.escape, name.split()))
    folded = f"(?i:{words})" if len(name) >= _MIN_FOLDED_CHARS else words
    start = "" if re.match(f"[{HAN}]", name) else r"(?<!\w)"
    end = "" if re.match(f"[{HAN}]", name[-1]) else r"(?!\w)"
    return f"{start}{folded}{end}"


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())


def _list_numbers(text: str) -> frozenset[float]:
    return frozenset(_to_number(one) for one in PRINTED_NUMBER.findall(normalize_numerals(text)))


def _to_number(written: str) -> float:
    return float(written.replace(",", ""))


def _find_slack(written: str) -> float:
    decimals = len(written.partition(".")[2])
    return 0.5 * 10.0**-decimals + 1e-9
