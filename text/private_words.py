"""Find private words: those that private texts contain, alone or together, and no public one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from text.disguises import (
    comparison_form,
    digits_to_letters,
    letter_variants,
    strip_endings,
    strip_vowels,
    umlaut_variants,
    unify_characters,
)
from text.numerals import find_amounts, find_identity_numbers, find_numeral_runs, to_western_digits
from text.pattern_files import PatternFile
from text.regex import regex
from text.script import CJK
from text.words import FRAME_WORDS, GRAMMAR_CHARACTERS, search_words, word_weight

_PATTERNS = PatternFile("text", "private_words.toml")

NEAR = 30
"""The longest sentence, in words; longer ones, such as rows of a table, are cut."""

PIECE, WHOLE, DIGITS = 4, 5, 5
"""The shortest piece of a private word, the shortest private word, and the shortest number."""

FEW = 2
"""A number of this many digits is never private; one with another digit, or a year, rarely is."""

WORD_ATOM = regex(rf"[^\W_{CJK}]+")
_FOREIGN = regex(rf"\b(?=\w*[^\W\x00-\x7f])[^\W\d_{CJK}]{{{PIECE},}}")
HAN_CHARACTER = regex(f"[{CJK}]")
GROUPED_NUMBER = regex(r"\d(?:[\d ().,'’/-]*\d)?")
_CAPITAL = regex(r"(?<=\S )[A-Z][^\W_]+")
_BREAK = regex(r"[\n.!?。！？；;|]+")
YEAR_NUMBER = regex(r"1\d{3}|20\d\d")


class _SentenceWords(NamedTuple):
    """The search words of one sentence in their order, and those of them that are names."""

    words: tuple[str, ...]
    known: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True)
class TextVocabulary:
    """The words, numbers and sentences of one text."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Return its search words."""
        return frozenset(search_words(self.text))

    @cached_property
    def atoms(self) -> frozenset[str]:
        """Return its runs of letters and digits, as they are compared."""
        return frozenset(WORD_ATOM.findall(comparison_form(self.text)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Return its long numbers, without the separators between their digits."""
        found = map(extract_digits, GROUPED_NUMBER.findall(comparison_form(self.text)))
        runs = (*find_numeral_runs(self.text), *find_amounts(self.text))
        readings = (one for run in runs for one in run.readings)
        return frozenset(one for one in (*found, *readings) if len(one) >= DIGITS)

    @cached_property
    def identities(self) -> frozenset[str]:
        """Return its numbers of accounts, ID cards and the like."""
        return find_identity_numbers(self.text)

    @cached_property
    def sentences(self) -> tuple[frozenset[str], ...]:
        """Return the search words of each of its sentences."""
        cut = (search_words(one) for one in _BREAK.split(self.text))
        return tuple(
            frozenset(some[at : at + NEAR]) for some in cut for at in range(0, len(some), NEAR)
        )

    @cached_property
    def statements(self) -> tuple[_SentenceWords, ...]:
        """Return its sentences with the order of their words."""
        return tuple(_statement(one) for one in _BREAK.split(self.text) if one.strip())

    @cached_property
    def run(self) -> str:
        """Return its text with everything but Chinese characters replaced by spaces."""
        return "".join(
            letter if HAN_CHARACTER.match(letter) else " " for letter in unify_characters(self.text)
        )


cached_vocabulary = lru_cache(maxsize=1024)(TextVocabulary)
"""The vocabulary of a text, cached: every query of a run is compared with the same pages."""


@dataclass(frozen=True)
class RedactionMaterial:
    """The texts that a query is compared with."""

    own: Sequence[TextVocabulary]
    """What the person has said."""
    public: Sequence[TextVocabulary]
    """Texts from the web."""
    memory: Sequence[TextVocabulary]
    """What is remembered: short texts in which every word counts."""
    files: Sequence[TextVocabulary]
    """What was read in files: long texts, in which a number or a word may occur by chance."""
    known: frozenset[str] = frozenset()
    """Numbers that identify the person beside those in these texts."""

    @property
    def private(self) -> list[TextVocabulary]:
        """Return all private texts."""
        return [*self.memory, *self.files]

    @cached_property
    def identities(self) -> frozenset[str]:
        """Return the numbers that nobody may search for, whatever text they are from."""
        texts = (*self.own, *self.memory, *self.files)
        return self.known.union(*(text.identities for text in texts))

    def permitted(self) -> RedactionMaterial:
        """Return what stays private if the person permits private words."""
        return RedactionMaterial([], [], [], [], self.identities)

    def free(self, word: str) -> bool:
        """Tell whether a search word is public."""
        return any(word in text.words for text in (*self.own, *self.public))

    def secret(self, word: str) -> bool:
        """Tell whether a search word is private."""
        # Single letters are initials, or are joined before they are compared.
        if (len(word) == 1 and word.isascii()) or self.free(word) or is_filler(word):
            return False
        if GROUPED_NUMBER.fullmatch(word.rstrip("%")):
            digits = extract_digits(word)
            if len(digits) <= FEW:
                return False
            if len(digits) == FEW + 1 or YEAR_NUMBER.fullmatch(digits):
                return any(word in text.words for text in self.memory)
        elif word_weight(word) < 1:
            return False
        return any(word in text.words for text in self.private)

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Return the private words that are also recognized in another form."""
        atoms = {atom for text in self.private for atom in text.atoms if len(atom) >= PIECE}
        secret = {atom for atom in atoms if any(map(self.secret, search_words(atom)))}
        foreign = {word for text in self.private for word in _FOREIGN.findall(text.text)}
        words = (one for one in foreign | secret if any(map(self.secret, search_words(one))))
        return frozenset(secret.union(*map(umlaut_variants, words)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of private words."""
        return frozenset(stem for word in self.hidden for stem in strip_endings(word))

    @cached_property
    def variants(self) -> frozenset[str]:
        """Return private words without a letter, their vowels or the order of their letters."""
        words = [one for one in map(digits_to_letters, self.hidden) if len(one) > WHOLE]
        variants = {form for word in words for form in letter_variants(word)}
        voweless = {one for one in map(strip_vowels, words) if len(one) >= WHOLE}
        return frozenset(variants | voweless)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Return the private numbers, each with the length of the shortest telling piece."""
        public = {one for text in (*self.own, *self.public) for one in text.numbers}
        pieces = {one: DIGITS for text in self.files for one in text.numbers}
        pieces |= {one: PIECE for text in self.memory for one in text.numbers}
        private = {one: least for one, least in pieces.items() if one not in public}
        return private | {one: PIECE for one in self.identities if one.isdecimal()}


def _statement(text: str) -> _SentenceWords:
    cut = tuple(search_words(text))
    # The first word of a sentence is capitalised, name or not.
    names = frozenset(word for one in _CAPITAL.findall(text) for word in search_words(one))
    return _SentenceWords(cut, frozenset(cut), names)


@cache
def _list_fillers() -> frozenset[str]:
    stems = (stem for word in _PATTERNS.get_words("filler") for stem in search_words(word))
    return FRAME_WORDS.union(stems, _PATTERNS.get_words("chinese_filler"))


def is_filler(word: str) -> bool:
    """Tell whether a search word is one that everyone uses in searches."""
    return word in _list_fillers()


def extract_digits(text: str) -> str:
    """Return the digits of a text."""
    return "".join(filter(str.isdecimal, to_western_digits(text)))


TOGETHER = 4
"""The fewest words that do not occur together in a private sentence by chance."""

BESIDE, BESIDE_ZH = 3, 6
"""The largest distance of two neighbouring words of a remembered statement, in search words."""


def find_telltale_words(text: str, material: RedactionMaterial) -> Set[str]:
    """Return the common words of a query that occur together only in a private sentence."""
    own = {word for one in material.own for word in one.words}
    own |= _list_fillers()
    asked = frozenset(word for word in search_words(text) if len(word) > 1) - own
    telltale: set[str] = set()
    for sentence in chain.from_iterable(text.sentences for text in material.private):
        shared = asked & sentence
        if _count(shared) >= TOGETHER and not _is_public(shared, material):
            telltale |= shared
    for statement in chain.from_iterable(text.statements for text in material.memory):
        for pair in _pairs(asked, statement):
            if not _is_public(frozenset(pair), material):
                # The names among the two words, or the rarer one.
                telltale |= statement.names & {*pair} or {max(pair, key=word_weight)}
    return telltale


def _is_public(words: Set[str], material: RedactionMaterial) -> bool:
    return any(words <= text.words for text in material.public)


def _count(words: Collection[str]) -> float:
    """Return how many words there are; a Chinese one has about two pairs of characters."""
    return sum(0.5 if HAN_CHARACTER.match(word) else 1.0 for word in words)


def _pairs(asked: Set[str], statement: _SentenceWords) -> Iterator[tuple[str, str]]:
    """Yield pairs of words of a query that are neighbours in a statement."""
    if len(asked & statement.known) < 2:
        return
    places = [(at, word) for at, word in enumerate(statement.words) if word in asked]
    for (first, one), (second, other) in pairwise(places):
        chinese = bool(HAN_CHARACTER.match(one) and HAN_CHARACTER.match(other))
        if one == other or second - first > (BESIDE_ZH if chinese else BESIDE):
            continue
        if not chinese or (second - first > 1 and GRAMMAR_CHARACTERS.isdisjoint(one + other)):
            yield one, other
