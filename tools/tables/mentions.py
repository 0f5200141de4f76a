"""Find the columns and values of a table that a question names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from text.regex import regex
from text.script import CJK
from tools.tables.typed_table import NO_CELLS, YES_CELLS, TableColumn, TypedTable, fold_cell
from tools.tables.vocabulary import (
    CHINESE_FILLERS,
    COLUMN_SYNONYMS,
    COLUMN_TRANSLATIONS,
    FILLER_WORDS,
    OPERATION_WORDS,
)

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
    columns: tuple[TableColumn, ...]
    value: str = ""
    """The value as the table writes it first; empty where the column itself is named."""
    whole: bool = True
    """Whether the whole name is said, and not only a part of it."""
    fit: float = 1.0
    """How well the words fit the name."""


class QuestionWord(NamedTuple):
    """A word of a text, its stem, and where it stands."""

    stem: str
    start: int
    end: int


def normalise_question(question: str) -> str:
    """Return a question in the form that is looked through; its places are those of the result."""
    return " ".join(unicodedata.normalize("NFKC", question).split())


def stem_question_word(word: str) -> str:
    """Return an English word without the ending of a plural."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


def split_question_words(text: str) -> list[QuestionWord]:
    """Return the words of a text with their places."""
    return [
        QuestionWord(stem_question_word(one[0]), *one.span())
        for one in _WORD.finditer(text.lower())
    ]


class NameVariant(NamedTuple):
    """A way of saying a name, as stems, and what it is worth beside the name itself."""

    stems: tuple[str, ...]
    worth: float = 1.0


def list_name_variants(name: str) -> list[NameVariant]:
    """Return the ways of saying a name: as it is, and in the other language."""
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFKC", _BRACKETS.sub("", name)))
    said = [one.stem for one in split_question_words(plain) if one.stem not in _INNER]
    whole = "".join(said)
    english = set(COLUMN_TRANSLATIONS.get(whole, ()))
    other = {
        zh for zh, means in COLUMN_TRANSLATIONS.items() if {*means} & ({*said, whole} | english)
    }
    found = [NameVariant(tuple(said))] if said else []
    return [
        *found,
        *(NameVariant((one,), TRANSLATED) for one in [*sorted(other - {whole}), *english]),
    ]


def find_mentions(question: str, table: TypedTable) -> list[Mention]:
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


def find_name(question: str, name: str) -> list[Mention]:
    """Return where a question says the whole of a name, in any of the ways of saying it."""
    runs = [run for way in list_name_variants(name) for run in _runs(question, way) if run.whole]
    return [Mention(run.start, run.end, (), fit=run.fit) for run in runs]


class _NameMatch(NamedTuple):
    """Words of a question that say a name, how well, and whether they say all of it."""

    start: int
    end: int
    fit: float
    whole: bool


def _exact(question: str, table: TypedTable) -> Iterator[Mention]:
    """Yield where a column is named just as the table has it; in marks it can be nothing else."""
    for column in table.columns:
        name = re.escape(normalise_question(column.name))
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


def _columns(question: str, table: TypedTable) -> Iterator[Mention]:
    every = [(column, way) for column in table.columns for way in list_name_variants(column.name)]
    fits: dict[tuple[int, int], list[tuple[_NameMatch, TableColumn]]] = {}
    for column, way in every:
        for run in _runs(question, way):
            if run.whole or not is_filler_word(question[run.start : run.end]):
                fits.setdefault((run.start, run.end), []).append((run, column))
    for (start, end), some in fits.items():
        best = max(run.fit for run, _ in some)
        whole = any(run.whole for run, _ in some)
        least = best if best >= 1 else best - CLOSE
        close = [(run, one) for run, one in some if not whole or (run.whole and run.fit >= least)]
        meant = tuple({one.index: one for _, one in close}.values())
        yield Mention(start, end, meant, whole=whole, fit=best)


def _runs(question: str, way: NameVariant) -> Iterator[_NameMatch]:
    stems, said = way.stems, split_question_words(question)
    if len(stems) == 1 and re.fullmatch(f"[{CJK}]+", stems[0]):
        for part in _ends(stems[0]):
            whole, worth = part == stems[0], way.worth * len(part) / len(stems[0])
            found = re.finditer(re.escape(part), question)
            yield from (_NameMatch(*one.span(), worth, whole) for one in found)
        return
    for start in range(len(said)):
        for end in range(start + 1, min(len(said), start + len(stems) + 2) + 1):
            inside = said[start:end]
            matched = _matched(inside, stems) if _together(question, inside) else []
            if matched:
                fit = way.worth * sum(matched) / len(stems)
                whole = len(matched) == len(stems)
                yield _NameMatch(inside[0].start, inside[-1].end, fit, whole)


def _ends(name: str) -> list[str]:
    """Return a Chinese name, and its beginnings and ends of two characters or more."""
    lengths = range(2, len(name))
    parts = [part for at in lengths for part in (name[:at], name[-at:])]
    return [name, *dict.fromkeys(part for part in parts if part != name)]


def _together(question: str, run: Sequence[QuestionWord]) -> bool:
    between = [question[a.end : b.start] for a, b in pairwise(run)]
    return all(one.strip(" _-./") == "" for one in between) and not (
        {run[0].stem, run[-1].stem} & _INNER
    )


def _matched(run: Sequence[QuestionWord], stems: Sequence[str]) -> list[float]:
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
    if word in COLUMN_SYNONYMS.get(name, ()):
        return 0.9
    if min(len(word), len(name)) >= 5 and word[0] == name[0]:
        return 0.95 if SequenceMatcher(None, word, name).ratio() >= LIKE else 0.0
    return 0.0


def _values(question: str, table: TypedTable) -> Iterator[Mention]:
    """Yield the values of text columns that a question names, at the bounds of words."""
    folds: dict[str, list[TableColumn]] = {}
    for column in table.of_kind("text"):
        for value in column.distinct:
            if len(value) <= LONGEST:
                folds.setdefault(value, []).append(column)
    bounds = [at for at in range(len(question) + 1) if _bound(question, at)]
    for start in bounds:
        for end in (one for one in bounds if start < one <= start + LONGEST):
            columns = folds.get(fold_cell(question[start:end]))
            if columns and _says(question[start:end]):
                value = columns[0].distinct[fold_cell(question[start:end])]
                yield Mention(start, end, tuple(columns), value)


def _bound(question: str, at: int) -> bool:
    if at in (0, len(question)):
        return True
    before, after = question[at - 1], question[at]
    latin = re.compile(r"[A-Za-z0-9_]")
    return not (latin.match(before) and latin.match(after))


def _says(value: str) -> bool:
    return len(value) > 1 or bool(re.match(f"[{CJK}]", value))


def is_filler_word(value: str) -> bool:
    """Tell whether a value is a word that questions have anyway, such as `all`."""
    low = value.lower()
    return (
        bool(CHINESE_FILLERS.fullmatch(low))
        or low in FILLER_WORDS | YES_CELLS | NO_CELLS
        or any(one.fullmatch(low) for one in OPERATION_WORDS.values())
    )


DERIVED_COLUMN = -1
"""The place of a column that is in no file."""

_JOINTS = regex(
    r"[\s\"'`”’」]*(?P<joint>\band\b|\bto\b|\buntil\b|\btill\b|\bminus\b|到|至|和|与|跟|减去?"
    r"|[-–−→])"
    r"[\s\"'`“‘「]*(?:the\s+)?(?:column\s+)?",
    re.IGNORECASE,
)
_BEFORE = regex(
    r"(?:\b(?:between|from)|从|自)\s*(?:the\s+)?(?:column\s+)?[\"'`“‘「列]*\s*$", re.IGNORECASE
)
UNITS: Mapping[str, tuple[re.Pattern[str], Decimal, str]] = {
    "days": (regex(r"\bdays?\b|[多少几幾]*天数?", re.I), Decimal(1), "天"),
    "weeks": (regex(r"\bweeks?\b|[多少几幾]*(?:个?星期|周)", re.I), Decimal(7), "周"),
    "months": (
        regex(r"\bmonths?\b|[多少几幾]*个月", re.I),
        Decimal("30.436875"),
        "个月",
    ),
    "years": (regex(r"\byears?\b|多少年|[几幾]年|年数", re.I), Decimal("365.2425"), "年"),
}
"""The units of time: how they are asked for, how many days one has, and its Chinese name."""

_SPANS = regex(
    r"\b(?:how long|how many|(?:the )?number of|time spans?|time|durations?|gaps?|intervals?"
    r"|periods?"
    r"|spans?|differences?|length)\b|相差|间隔|時長|时长|时间|多久|多长|之差|的差距?|差值|差距"
    r"|差|之间|多少",
    re.IGNORECASE,
)
_LONG = regex(r"\b(?:longest|shortest)\b|最[长短久長]", re.IGNORECASE)
_LESS = regex(r"\bminus\b|\bdifferences?\b|减|差|[-–−]", re.IGNORECASE)


class ColumnDifference(NamedTuple):
    """Two columns named with what lies between them."""

    column: TableColumn
    start: int
    end: int
    words: list[tuple[int, int]]
    """The words of the question that ask for it, by their places."""
    named: tuple[Mention, Mention]


def find_difference(question: str, found: Sequence[Mention]) -> ColumnDifference | None:
    """Return what a question asks between two columns that it names one behind the other."""
    named = [one for one in found if not one.value]
    for one, other in pairwise(named):
        joint = _JOINTS.fullmatch(question[one.end : other.start])
        if joint and one.columns != other.columns and len(one.columns) == len(other.columns) == 1:
            made = _made(question, one, other, joint["joint"])
            if made:
                return made
    return None


def _made(question: str, one: Mention, other: Mention, joint: str) -> ColumnDifference | None:
    kinds = {one.columns[0].kind, other.columns[0].kind}
    before = _BEFORE.search(question[: one.start])
    words = list(_words(question, one, other))
    start = before.start() if before else one.start
    name, unit = _unit(question, kinds)
    apart = bool(before or _LONG.search(question)) and joint not in ("和", "与", "跟", "and")
    if kinds == {"date"} and (words or apart):
        column = _time(one.columns[0], other.columns[0], name, unit)
    elif kinds == {"number"} and (_LESS.search(joint) or _LESS.search(question)):
        column = _subtracted(one.columns[0], other.columns[0], joint, unit)
    else:
        return None
    return ColumnDifference(column, start, other.end, words, (one, other))


def make_difference_column(
    one: TableColumn, other: TableColumn, unit: str, *, chinese: bool
) -> TableColumn:
    """Return what lies between two columns: time in a unit of `UNITS`, or else a difference."""
    if unit not in UNITS:
        return _subtracted(one, other, "", "zh" * chinese)
    return _time(one, other, unit, UNITS[unit][2] if chinese else unit)


def _words(question: str, one: Mention, other: Mention) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that ask for a length of time or a difference."""
    patterns = [_SPANS, *(pattern for pattern, _, _ in UNITS.values())]
    for pattern in patterns:
        for found in pattern.finditer(question):
            if found.end() <= one.start or found.start() >= other.end:
                yield found.span()


def _unit(question: str, kinds: Collection[str]) -> tuple[str, str]:
    """Return the unit that is asked for, by its name and as it is shown."""
    chinese = bool(re.search(f"[{CJK}]", re.sub(r"[\w.-]+\.(?:csv|tsv|xlsx)", "", question)))
    name = next((name for name, one in UNITS.items() if one[0].search(question)), "days")
    return name, (UNITS[name][2] if chinese else name) if kinds == {"date"} else "zh" * chinese


def _time(one: TableColumn, other: TableColumn, name: str, unit: str) -> TableColumn:
    cells = []
    for first, last in zip(one.values, other.values, strict=True):
        if isinstance(first, date) and isinstance(last, date):
            spanned = Decimal((last - first).days) / UNITS[name][1]
            cells.append(f"{_short(spanned)} {unit}")
        else:
            cells.append("")
    length = UNITS[name][1]
    if unit == UNITS[name][2]:
        each = "" if length == 1 else f"（每{unit.removeprefix('个')}按 {length} 天）"
        return TableColumn(DERIVED_COLUMN, f"从 {one.name} 到 {other.name} 的{unit}数{each}", cells)
    each = "" if length == 1 else f" (of {length} days)"
    return TableColumn(DERIVED_COLUMN, f"{unit}{each} from {one.name} to {other.name}", cells)


def _subtracted(one: TableColumn, other: TableColumn, joint: str, chinese: str) -> TableColumn:
    """Return one column less the other; a difference is that of the larger and the smaller."""
    signed = bool(re.fullmatch(r"minus|减去?|[-–−]", joint, re.IGNORECASE))
    cells = []
    for first, last in zip(one.values, other.values, strict=True):
        if isinstance(first, Decimal) and isinstance(last, Decimal):
            cells.append(_short(first - last if signed else abs(first - last)))
        else:
            cells.append("")
    between = f"{one.name} 与 {other.name} 之差" if chinese else ""
    between = between or f"difference of {one.name} and {other.name}"
    return TableColumn(DERIVED_COLUMN, f"{one.name} − {other.name}" if signed else between, cells)


def _short(value: Decimal) -> str:
    return f"{round(value, 10).normalize():f}"
