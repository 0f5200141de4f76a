"""What the sources of one text have: words, numbers, versions, names and code."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from report.checks.calculations import CalculationChecker
from report.checks.claims import strip_transition
from report.checks.date_sums import KnownDates
from report.checks.entailment import has_misplaced_row_number, has_most_words
from report.checks.numbers import find_unsupported_number, list_values, strip_file_names
from report.checks.overlap import compute_share
from report.checks.quantities import list_derivable_numbers, strip_dates
from report.checks.source_preparation import load_source, load_source_numbers
from report.checks.source_text import list_near_sentences, normalize_statement
from report.checks.synonyms import render_nation_names
from text.regex import regex
from text.script import detect_language, simplify_chinese
from text.words import search_words

_MIN_SHARE = {"en": 2 / 3, "zh": 1 / 2}
"""A source bears out a sentence if two neighbouring sentences of it have more of its words.

Chinese is compared in pairs of characters, and one other character breaks two of them.
"""

ANSWERS = "answers"
"""The name of the person's answers among the sources."""

_MIN_DISTINCTIVE_WORDS = {"en": 4, "zh": 6}
_ISO = regex(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")  # compared as a date, not number by number
_VERSION = regex(r"(?<![\w.])\d{1,3}(?:\.\d+){2,}[a-z]?(?![\w.]*\w)")
_HASH = regex(r"(?<![\w.-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])")
_CODED = regex(r"`[^`\n]+`")
_FIRST_WORD = regex(r"[\W_]*([A-Z][a-z]+),?\s(?=[a-z])", re.ASCII)
_NAME = regex(r"(?<![A-Za-z])[A-Z][a-z]{2,}(?![A-Za-z])")


class SourceContents:
    """Tells which words, numbers, names and code the sources of one text have.

    Args:
        texts: The full text of each source by its id.
        names: The title and the place of each source by its id.
        asked: What may be named although no source names it: the question, and the headings.
        told: What the person answered to questions of the run, or nothing.
    """

    def __init__(
        self, texts: Mapping[str, str], names: Mapping[str, str], asked: str, told: str = ""
    ) -> None:
        self.texts, self.asked = texts, simplify_chinese(asked)
        self.known = {**texts, ANSWERS: told} if told else texts
        """The sources, and beside them the person's answers, which are cited as none."""
        self.names = {name: simplify_chinese(title) for name, title in names.items()}
        self.code = ""
        """The code that the text shows, which its prose may name."""
        self.abouts: dict[tuple[str, ...], str] = {}
        self.counted: dict[tuple[str, ...], list[float]] = {}
        self.derived: dict[tuple[str, tuple[str, ...]], list[float]] = {}
        self.get_source = cache(lambda name: load_source(self.known[name]))
        """Returns a source as statements are compared with it."""
        self.get_source_numbers = cache(lambda name: load_source_numbers(self.known[name]))
        """Returns the numbers and dates of a source."""
        self.reckoner = CalculationChecker(asked)
        self.dates = KnownDates()
        """Tells which dates may be named although no source has them."""

    def is_comparable(self, statement: str, names: Sequence[str]) -> bool:
        """Tell whether sources are all in the language of what is said."""
        return all(self.get_source(name).language == detect_language(statement) for name in names)

    def get_nameable_text(self, names: Sequence[str]) -> str:
        """Return what may be named beside what sources say: the question, and their names."""
        key = tuple(names)
        if key not in self.abouts:
            nations_too = (render_nation_names(self.known[name]) for name in names)
            titles = (self.names.get(name, "") for name in names)
            self.abouts[key] = "\n".join([self.asked, *titles, *nations_too])
        return self.abouts[key]

    def source_has_words(self, statement: str, name: str, *, reworded: bool = False) -> bool:
        """Tell whether a source has most words of a statement together, and all its numbers.

        If the statement may be `reworded`, most of it may be there in whatever words.
        """
        said = strip_transition(normalize_statement(statement))
        if not self.is_comparable(said, [name]):
            return False
        wanted, source = set(search_words(said)), self.get_source(name)
        least = _MIN_SHARE[detect_language(said)]
        enough = len(wanted & source.positions.keys()) > least * len(wanted)
        having = enough and compute_share(wanted, source.positions) > least
        if not having and not (reworded and has_most_words(said, source)):
            return False
        return not self.has_unsupported_number(said, [name])

    def is_distinctive(self, statement: str) -> bool:
        """Tell whether a statement has a name, or enough words and long numbers to be known by."""
        said = strip_transition(normalize_statement(statement))
        wanted = {word for word in search_words(said) if not word[:1].isdigit() or len(word) > 1}
        named = _CODED.search(statement) or _NAME.search(said.strip().partition(" ")[2])
        return bool(named) or len(wanted) >= _MIN_DISTINCTIVE_WORDS[detect_language(said)]

    def is_only_source(self, statement: str, name: str) -> bool:
        """Tell whether no other source has most words of what is said together."""
        wanted = {
            word for word in search_words(strip_transition(statement)) if not word[:1].isdigit()
        }
        others = [one for one in self.texts if one != name and self.is_comparable(statement, [one])]
        shares = (compute_share(wanted, self.get_source(one).positions) for one in others)
        return max(shares, default=0.0) <= _MIN_SHARE[detect_language(statement)]

    def begins_with_word(self, statement: str) -> bool:
        """Tell whether English begins with a word that is no name inside a sentence of a source."""
        first = _FIRST_WORD.match(statement)
        if not first:
            return False
        inside = re.compile(rf"[a-z,;]\s{first[1]}\b")
        return not any(map(inside.search, self.texts.values()))

    def has_unknown_latin_name(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether Chinese has a Latin name that no word of its English sources begins like."""
        sources = [self.get_source(name) for name in cited]
        if detect_language(statement) != "zh" or any(one.language != "en" for one in sources):
            return False
        texts = (source.text for source in sources)
        known = "\n".join([self.get_nameable_text(cited), *texts]).lower()
        names = _NAME.findall(strip_file_names(statement))
        starts = (name[: max(4, len(name) - 3)].lower() for name in names)
        return any(not re.search(rf"\b{start}", known) for start in starts)

    def has_unknown_version(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether no source has a number with two dots or more, such as that of a version."""
        versions = _VERSION.findall(strip_file_names(statement))
        known = self.join_texts(cited) if versions else ""
        return any(
            not re.search(rf"(?<![\d.]){re.escape(one)}(?!\w|\.\d)", known) for one in versions
        )

    def has_unknown_hash(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether no source has a hash that begins like one of a statement.

        Such are the short names of commits.
        """
        hashes = _HASH.findall(statement)
        known = self.join_texts(cited) if hashes else ""
        return any(not re.search(rf"(?<!\w){one}", known) for one in hashes)

    def join_texts(self, names: Sequence[str]) -> str:
        """Return sources, what may be named beside them, and the code that the text shows."""
        sources = (self.known[one] for one in names)
        return "\n".join([self.get_nameable_text(names), self.code, *sources])

    def quotes_code(self, statement: str, cited: Sequence[str]) -> bool:
        """Tell whether the code of a statement stands in its sources, some of it in two words."""
        code = [one.strip("` ") for one in _CODED.findall(statement)]
        there = all(any(one in self.known[name] for name in cited) for one in code)
        return there and any(" " in one for one in code)

    def list_source_values(self, names: Sequence[str]) -> list[float]:
        """Return the numbers of some sources, sorted."""
        key = tuple(names)
        if key not in self.counted:
            self.counted[key] = sorted(
                number for name in names for number in self.get_source_numbers(name).numbers
            )
        return self.counted[key]

    def list_derivable_numbers(self, statement: str, names: Sequence[str]) -> list[float]:
        """Return the numbers of a statement that follow from others of its sources, sorted."""
        key = statement, tuple(names)
        if key not in self.derived:
            near = list_near_sentences(statement, [*map(self.get_source, names)])
            measures = [self.get_source_numbers(name) for name in names]
            self.derived[key] = sorted(list_derivable_numbers(statement, near, measures))
        return self.derived[key]

    def has_unsupported_number(
        self, statement: str, names: Sequence[str], also: Sequence[float] = ()
    ) -> bool:
        """Tell whether a statement has a number that follows from none of some sources."""
        numbers = [self.get_source_numbers(name).numbers for name in names]
        more = sorted([*also, *_values(self.get_nameable_text(names)), *self.reckoner.results])
        alike = self.is_comparable(statement, names)
        if self.has_unknown_hash(statement, names):
            return True
        statement = self.dates.strip(_HASH.sub(" ", statement))
        statement = _ISO.sub(" ", statement) if alike else strip_dates(statement)
        if not find_unsupported_number(statement, numbers, more):
            return False
        more = sorted([*more, *self.list_derivable_numbers(statement, names)])
        return bool(find_unsupported_number(statement, numbers, more))

    def has_misplaced_number(self, row: str, cited: Sequence[str], named: str = "") -> bool:
        """Tell whether the sources of a row of a table have a number of it for something else.

        The numbers of what is `named` in it are not looked at.
        """
        sources, about = [self.get_source(name) for name in cited], self.get_nameable_text(cited)
        return self.is_comparable(row, cited) and has_misplaced_row_number(
            row, sources, about, named
        )


_values = lru_cache(maxsize=64)(list_values)
