"""Find in a question the columns and the values of a table that it names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from retrieval.regex import regex
from retrieval.script import CJK
from tools.tables.table import NO, YES, Column, Table, folded
from tools.tables.vocabulary import ALIKE, BOTH, FILL, FILL_ZH, OPERATIONS

LONGEST = 60
"""The longest value that is looked for in a question, in characters."""

LIKE = 0.85
"""How alike a word and a mistyped one are at the least; both have five letters or more."""

TRANSLATED = 0.8
"""What a name is worth that is said in the other language."""

CLOSE = 0.15
"""Columns whose whole names fit some words about as well are all meant."""

EXACT, MARKED = 1.5, 2.0
"""What a column's name is worth that stands as the table has it, and one in quotation marks."""

_COUNTS = regex(r"(?:total )?number of\b", re.IGNORECASE)
_OPEN, _CLOSE = "[\"'`“‘「『]", "[\"'`”’」』]"
_WORD = regex(f"[a-z]+|\\d+(?:\\.\\d+)?|[{CJK}]+")
_CAMEL = regex(r"(?<=[a-z])(?=[A-Z])")
_BRACKETS = regex(r"[(（\[].*?[)）\]]")
_INNER = frozenset(["of", "the", "in", "per", "a", "for"])


class Mention(NamedTuple):
    """A part of a question, and the columns, or the values of columns, that it may name."""

    start: int
    end: int
    columns: tuple[Column, ...]
    value: str = ""
    """The value as the table writes it first; empty where the column itself is named."""
    whole: bool = True
    """Whether the whole name is said, and not only a part of it."""
    fit: float = 1.0
    """How well the words fit the name."""


class Word(NamedTuple):
    """A word of a text, its stem, and where it stands."""

    stem: str
    start: int
    end: int


def normal(question: str) -> str:
    """Return a question in the form that is looked through; its places are those of the result."""
    return " ".join(unicodedata.normalize("NFKC", question).split())


def stem(word: str) -> str:
    """Return an English word without the ending of a plural."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def words(text: str) -> list[Word]:
    """Return the words of a text with their places."""
    return [Word(stem(one[0]), *one.span()) for one in _WORD.finditer(text.lower())]


class Way(NamedTuple):
    """A way of saying a name, as stems, and what it is worth beside the name itself."""

    stems: tuple[str, ...]
    worth: float = 1.0


def ways(name: str) -> list[Way]:
    """Return the ways of saying a name: as it is, and in the other language."""
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFKC", _BRACKETS.sub("", name)))
    said = [one.stem for one in words(plain) if one.stem not in _INNER]
    whole = "".join(said)
    english = set(BOTH.get(whole, ()))
    other = {zh for zh, means in BOTH.items() if {*means} & ({*said, whole} | english)}
    found = [Way(tuple(said))] if said else []
    return [*found, *(Way((one,), TRANSLATED) for one in [*sorted(other - {whole}), *english])]


def mentions(question: str, table: Table) -> list[Mention]:
    """Return what a question names of a table, in order, none inside or across another."""
    found = [*_exact(question, table), *_columns(question, table), *_values(question, table)]
    found.sort(key=lambda one: (one.start - one.end, bool(one.value), not one.whole, -one.fit))
    chosen: list[Mention] = []
    for one in found:
        if one.fit < MARKED and _COUNTS.match(question, one.start):
            continue
        if all(one.end <= other.start or one.start >= other.end for other in chosen):
            chosen.append(one)
    return sorted(chosen)


def named(question: str, name: str) -> list[Mention]:
    """Return where a question says the whole of a name, in any of the ways of saying it."""
    runs = [run for way in ways(name) for run in _runs(question, way) if run.whole]
    return [Mention(run.start, run.end, (), fit=run.fit) for run in runs]


class Run(NamedTuple):
    """Words of a question that say a name, how well, and whether they say all of it."""

    start: int
    end: int
    fit: float
    whole: bool


def _exact(question: str, table: Table) -> Iterator[Mention]:
    """Yield where a column is named just as the table has it; in marks it can be nothing else."""
    for column in table.columns:
        name = re.escape(normal(column.name))
        bare = rf"(?<![A-Za-z0-9_-]){name}(?![A-Za-z0-9_-])"
        if not re.match("[A-Za-z0-9_]", column.name):
            bare = name
        marked = (
            rf"(?:\b(?:the )?column\s+|列\s*)?{_OPEN}\s*{name}\s*{_CLOSE}(?:\s*(?:column\b|列))?"
        )
        called = rf"\bcolumn\s+{bare}|{bare}\s+column\b|列\s*{bare}|{bare}\s*列"
        for pattern, fit in ((marked, MARKED), (called, MARKED), (bare, EXACT)):
            for one in re.finditer(pattern, question, re.IGNORECASE):
                yield Mention(*one.span(), (column,), fit=fit)


def _columns(question: str, table: Table) -> Iterator[Mention]:
    every = [(column, way) for column in table.columns for way in ways(column.name)]
    fits: dict[tuple[int, int], list[tuple[Run, Column]]] = {}
    for column, way in every:
        for run in _runs(question, way):
            if run.whole or not common(question[run.start : run.end]):
                fits.setdefault((run.start, run.end), []).append((run, column))
    for (start, end), some in fits.items():
        best = max(run.fit for run, _ in some)
        whole = any(run.whole for run, _ in some)
        least = best if best >= 1 else best - CLOSE
        close = [(run, one) for run, one in some if not whole or (run.whole and run.fit >= least)]
        meant = tuple({one.at: one for _, one in close}.values())
        yield Mention(start, end, meant, whole=whole, fit=best)


def _runs(question: str, way: Way) -> Iterator[Run]:
    stems, said = way.stems, words(question)
    if len(stems) == 1 and re.fullmatch(f"[{CJK}]+", stems[0]):
        for part in _ends(stems[0]):
            whole, worth = part == stems[0], way.worth * len(part) / len(stems[0])
            found = re.finditer(re.escape(part), question)
            yield from (Run(*one.span(), worth, whole) for one in found)
        return
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + len(stems) + 2) + 1):
            inside = said[start:end]
            matched = _matched(inside, stems) if _together(question, inside) else []
            if matched:
                fit = way.worth * sum(matched) / len(stems)
                whole = len(matched) == len(stems)
                yield Run(inside[0].start, inside[-1].end, fit, whole)


def _ends(name: str) -> list[str]:
    """Return a Chinese name, and its beginnings and ends of two characters or more."""
    lengths = range(2, len(name))
    parts = [part for at in lengths for part in (name[:at], name[-at:])]
    return [name, *dict.fromkeys(part for part in parts if part != name)]


def _together(question: str, run: Sequence[Word]) -> bool:
    between = [question[a.end : b.start] for a, b in pairwise(run)]
    return all(one.strip(" _-./") == "" for one in between) and not (
        {run[0].stem, run[-1].stem} & _INNER
    )


def _matched(run: Sequence[Word], stems: Sequence[str]) -> list[float]:
    """Return how well each word of a run says a word of a name; nothing if one says none."""
    left, fits = list(stems), []
    for word in run:
        if word.stem in _INNER and word.stem not in left:
            continue
        worth, at = max(
            ((_alike(word.stem, one), -at) for at, one in enumerate(left)), default=(0.0, 0)
        )
        if not worth:
            return []
        fits.append(worth)
        del left[-at]
    return fits


def _alike(word: str, name: str) -> float:
    if word == name:
        return 1.0
    if word in ALIKE.get(name, ()):
        return 0.9
    if min(len(word), len(name)) >= 5 and word[0] == name[0]:
        return 0.95 if SequenceMatcher(None, word, name).ratio() >= LIKE else 0.0
    return 0.0


def _values(question: str, table: Table) -> Iterator[Mention]:
    """Yield the values of text columns that a question names, at the bounds of words."""
    folds: dict[str, list[Column]] = {}
    for column in table.of_kind("text"):
        for value in column.distinct:
            if len(value) <= LONGEST:
                folds.setdefault(value, []).append(column)
    bounds = [at for at in range(len(question) + 1) if _bound(question, at)]
    for start in bounds:
        for end in (one for one in bounds if start < one <= start + LONGEST):
            columns = folds.get(folded(question[start:end]))
            if columns and _says(question[start:end]):
                value = columns[0].distinct[folded(question[start:end])]
                yield Mention(start, end, tuple(columns), value)


def _bound(question: str, at: int) -> bool:
    if at in (0, len(question)):
        return True
    before, after = question[at - 1], question[at]
    latin = re.compile(r"[A-Za-z0-9_]")
    return not (latin.match(before) and latin.match(after))


def _says(value: str) -> bool:
    return len(value) > 1 or bool(re.match(f"[{CJK}]", value))


def common(value: str) -> bool:
    """Tell whether a value is a word that questions have anyway, such as `all`."""
    low = value.lower()
    return (
        bool(FILL_ZH.fullmatch(low))
        or low in FILL | YES | NO
        or any(one.fullmatch(low) for one in OPERATIONS.values())
    )
