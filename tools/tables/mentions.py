"""Find the columns and values of a table that a question names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK
from tools.tables.cell_values import fold_cell
from tools.tables.typed_table import NO_CELLS, YES_CELLS, TableColumn, TypedTable

VOCABULARY = PatternFile(__package__, "vocabulary.toml")
"""The words that ask for a computation, and those that add nothing, in English and Chinese."""

OPERATIONS = (
    *("share", "distinct", "average", "median", "total", "min", "max", "count"),
    *("how_much", "ask_list"),
)
"""The operations whose words are looked for, in this order."""

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
_INSIDE_WORD = regex(r"(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])")


@cache
def _read_meanings(table: str) -> Mapping[str, Sequence[str]]:
    """Return the words in a table of the vocabulary, each with what it may mean."""
    return {word: " ".join(meant).split("/") for word, *meant in VOCABULARY.get_rows(table)}


class Mention(NamedTuple):
    """A part of a question, and the columns, or the values of columns, that it may name."""

    start: int
    end: int
    columns: tuple[TableColumn, ...] = ()
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


def split_question_words(text: str) -> list[QuestionWord]:
    """Return the words of a text with their places."""
    return [QuestionWord(_stem(one[0]), *one.span()) for one in _WORD.finditer(text.lower())]


def _stem(word: str) -> str:
    """Return an English word without the ending of a plural."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word.removesuffix(ending) + instead
    return word


class NameVariant(NamedTuple):
    """A way of saying a name, as stems, and what it is worth beside the name itself."""

    stems: tuple[str, ...]
    worth: float = 1.0


def _list_name_variants(name: str) -> list[NameVariant]:
    """Return the ways of saying a name: as it is, and in the other language."""
    plain = _CAMEL.sub(" ", unicodedata.normalize("NFKC", _BRACKETS.sub("", name)))
    stems = tuple(one.stem for one in split_question_words(plain) if one.stem not in _INNER)
    whole = "".join(stems)
    translations = _read_meanings("translations")
    english = set(translations.get(whole, ()))
    other = {zh for zh, means in translations.items() if {*means} & ({*stems, whole} | english)}
    translated = [*sorted(other - {whole}), *english]
    own = [NameVariant(stems)] if stems else []
    return [*own, *(NameVariant((one,), TRANSLATED) for one in translated)]


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
    variants = _list_name_variants(name)
    return [run for variant in variants for run in _runs(question, variant) if run.whole]


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
    fits: dict[tuple[int, int], list[tuple[Mention, TableColumn]]] = {}
    for column in table.columns:
        for variant in _list_name_variants(column.name):
            for run in _runs(question, variant):
                if run.whole or not is_filler_word(question[run.start : run.end]):
                    fits.setdefault((run.start, run.end), []).append((run, column))
    for (start, end), some in fits.items():
        best = max(run.fit for run, _ in some)
        whole = any(run.whole for run, _ in some)
        least = best if best >= 1 else best - CLOSE
        close = [one for run, one in some if not whole or (run.whole and run.fit >= least)]
        meant = tuple({one.index: one for one in close}.values())
        yield Mention(start, end, meant, whole=whole, fit=best)


def _runs(question: str, variant: NameVariant) -> Iterator[Mention]:
    """Yield words of a question that say a name or a part of it, without its column."""
    stems, words = variant.stems, split_question_words(question)
    if len(stems) == 1 and re.fullmatch(f"[{CJK}]+", stems[0]):
        for part in _ends(stems[0]):
            whole, worth = part == stems[0], variant.worth * len(part) / len(stems[0])
            for one in re.finditer(re.escape(part), question):
                yield Mention(*one.span(), whole=whole, fit=worth)
        return
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + len(stems) + 2) + 1):
            inside = words[start:end]
            matched = _match_stems(inside, stems) if _together(question, inside) else []
            if matched:
                fit = variant.worth * sum(matched) / len(stems)
                whole = len(matched) == len(stems)
                yield Mention(inside[0].start, inside[-1].end, whole=whole, fit=fit)


def _ends(name: str) -> list[str]:
    """Return a Chinese name, and its beginnings and ends of two characters or more."""
    parts = [part for at in range(2, len(name)) for part in (name[:at], name[-at:])]
    return [*dict.fromkeys([name, *parts])]


def _together(question: str, run: Sequence[QuestionWord]) -> bool:
    between = (question[a.end : b.start] for a, b in pairwise(run))
    return not {run[0].stem, run[-1].stem} & _INNER and not any(
        one.strip(" _-./") for one in between
    )


def _match_stems(run: Sequence[QuestionWord], stems: Sequence[str]) -> list[float]:
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
    if word in _read_meanings("synonyms").get(name, ()):
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
    bounds = [at for at in range(len(question) + 1) if not _INSIDE_WORD.match(question, at)]
    for start in bounds:
        for end in (one for one in bounds if start < one <= start + LONGEST):
            words = question[start:end]
            columns = folds.get(fold_cell(words))
            if columns and (len(words) > 1 or _is_letter_name(words, start, columns)):
                yield Mention(start, end, tuple(columns), columns[0].distinct[fold_cell(words)])


def _is_letter_name(letter: str, start: int, columns: Sequence[TableColumn]) -> bool:
    """Tell whether a single letter is a value: a Chinese one, or a capital as the table has it."""
    if re.match(f"[{CJK}]", letter):
        return True
    same = any(letter in column.distinct.values() for column in columns)
    return same and start > 0 and letter.isupper() and letter != "I"


def is_filler_word(value: str) -> bool:
    """Tell whether a value is a word that questions have anyway, such as `all`."""
    low = value.lower()
    if len(value) == 1 and value.isupper():
        return False
    return (
        bool(VOCABULARY.chinese_fillers.fullmatch(low))
        or low in VOCABULARY.get_words("fillers") | YES_CELLS | NO_CELLS
        or any(VOCABULARY.get(one).fullmatch(low) for one in OPERATIONS)
    )


DERIVED_COLUMN = -1
"""The place of a column that is in no file."""

UNITS: Mapping[str, tuple[Decimal, str]] = {
    "days": (Decimal(1), "天"),
    "weeks": (Decimal(7), "周"),
    "months": (Decimal("30.436875"), "个月"),
    "years": (Decimal("365.2425"), "年"),
}
"""The units of time: how many days one has, and its Chinese name."""


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
    for one, other in pairwise([one for one in found if not one.value]):
        joint = VOCABULARY.joints.fullmatch(question[one.end : other.start])
        single = len(one.columns) == len(other.columns) == 1 and one.columns != other.columns
        made = _find_difference(question, one, other, joint["joint"]) if joint and single else None
        if made:
            return made
    return None


def _find_difference(
    question: str, one: Mention, other: Mention, joint: str
) -> ColumnDifference | None:
    kinds = {one.columns[0].kind, other.columns[0].kind}
    before = VOCABULARY.before_difference.search(question[: one.start])
    words = list(_find_words(question, one, other))
    apart = before or VOCABULARY.long_spans.search(question)
    if kinds == {"date"} and (words or (apart and joint not in ("和", "与", "跟", "and"))):
        asked = (name for name in UNITS if VOCABULARY.get(name).search(question))
        unit = next(asked, "days")
    elif kinds == {"number"} and VOCABULARY.less.search(question):
        unit = "difference"
    else:
        return None
    chinese = bool(re.search(f"[{CJK}]", re.sub(r"[\w.-]+\.(?:csv|tsv|xlsx)", "", question)))
    signed = bool(re.fullmatch(r"minus|减去?|[-–−]", joint, re.IGNORECASE))
    column = make_difference_column(
        one.columns[0], other.columns[0], unit, chinese=chinese, signed=signed
    )
    start = before.start() if before else one.start
    return ColumnDifference(column, start, other.end, words, (one, other))


def _find_words(question: str, one: Mention, other: Mention) -> Iterator[tuple[int, int]]:
    """Yield the places of the words that ask for a length of time or a difference."""
    for name in ("spans", *UNITS):
        for found in VOCABULARY.get(name).finditer(question):
            if found.end() <= one.start or found.start() >= other.end:
                yield found.span()


def make_difference_column(
    one: TableColumn, other: TableColumn, unit: str, *, chinese: bool, signed: bool = False
) -> TableColumn:
    """Return what lies between two columns: time in a unit of `UNITS`, or else a difference.

    A difference is that of the larger and the smaller, unless it is `signed`.
    """
    pairs: list[tuple[Any, Any]] = [*zip(one.values, other.values, strict=True)]
    gaps = [None if None in pair else pair[0] - pair[1] for pair in pairs]
    if unit in UNITS:
        length, zh = UNITS[unit]
        shown = zh if chinese else unit
        cells = ["" if gap is None else f"{_short(-gap.days / length)} {shown}" for gap in gaps]
        name = _name_time_between(one, other, shown, length, chinese=chinese)
    else:
        cells = ["" if gap is None else _short(gap if signed else abs(gap)) for gap in gaps]
        between = "{} 与 {} 之差" if chinese else "difference of {} and {}"
        name = ("{} − {}" if signed else between).format(one.name, other.name)
    return TableColumn(DERIVED_COLUMN, name, cells)


def _name_time_between(
    one: TableColumn, other: TableColumn, unit: str, length: Decimal, *, chinese: bool
) -> str:
    if chinese:
        each = "" if length == 1 else f"（每{unit.removeprefix('个')}按 {length} 天）"
        return f"从 {one.name} 到 {other.name} 的{unit}数{each}"
    each = "" if length == 1 else f" (of {length} days)"
    return f"{unit}{each} from {one.name} to {other.name}"


def _short(value: Decimal) -> str:
    return f"{round(value, 10).normalize():f}"
