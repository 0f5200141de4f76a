"""Tell which words are private: those that private texts contain and no public one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from retrieval.common import FRAME, weight
from retrieval.disguises import bare, in_letters, plain, remains, shaped, stems, transcribed
from retrieval.regex import regex
from retrieval.script import CJK
from retrieval.secrets.digits import amounts, runs, western
from retrieval.secrets.identities import identities
from retrieval.words import words

_FILLER = """
analysis answer article best between case cause change common compare comparison cost current
data database date day definition detail difference document effect estimate evidence example
expert explain explanation fact factor figure forum free full guide help history http https
identify impact info information introduction latest level link list main manual mean meaning
method new news number official online overview page paper pdf people percent price question
rate recent reference report research result review role search site source standard statistic
study summary table time tip tutorial type update url value versus vs way web website wiki
wikipedia www year january february march april may june july august september october november
december com org net html htm
"""
FILLER = frozenset(stem for word in _FILLER.split() for stem in words(word))
"""Words of a query that are not its topic; everyone uses them in searches."""

_FILLER_ZH = """
研究 综述 介绍 方法 原因 影响 定义 历史 数据 统计 报告 新闻 官网 资料 比较 区别 最新 分析 案例 总结
含义 意思
"""
FILLER_ZH = frozenset(_FILLER_ZH.split())
"""The same in Chinese."""

NEAR = 30
"""The longest sentence, in words; longer ones, such as rows of a table, are cut."""

PIECE, WHOLE, DIGITS = 4, 5, 5
"""The shortest piece of a private word, the shortest such word, and the shortest such number."""

FEW = 2
"""A number of so many digits says nothing; one with one digit more, or a year, seldom."""

ATOM = regex(rf"[^\W_{CJK}]+")
_FOREIGN = regex(rf"\b(?=\w*[^\W\x00-\x7f])[^\W\d_{CJK}]{{{PIECE},}}")
HAN = regex(f"[{CJK}]")
NUMBER = regex(r"\d(?:[\d ().,'’/-]*\d)?")
_CAPITAL = regex(r"(?<=\S )[A-Z][^\W_]+")
_BREAK = regex(r"[\n.!?。！？；;|]+")
YEAR = regex(r"1\d{3}|20\d\d")


class Statement(NamedTuple):
    """The search words of one sentence in their order, and those of them that are names."""

    words: tuple[str, ...]
    known: frozenset[str]
    names: frozenset[str]


@dataclass(frozen=True)
class Vocabulary:
    """The words, numbers and sentences of one text."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Return its search words."""
        return frozenset(words(self.text))

    @cached_property
    def atoms(self) -> frozenset[str]:
        """Return its runs of letters and digits, as they are compared."""
        return frozenset(ATOM.findall(plain(self.text)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Return its long numbers, without the separators between their digits."""
        found = {digits_of(one) for one in NUMBER.findall(plain(self.text))}
        spelt = (*runs(self.text), *amounts(self.text))
        found |= {one for run in spelt for one in run.readings}
        return frozenset(one for one in found if len(one) >= DIGITS)

    @cached_property
    def identities(self) -> frozenset[str]:
        """Return its numbers of accounts, ID cards and the like."""
        return identities(self.text)

    @cached_property
    def sentences(self) -> tuple[frozenset[str], ...]:
        """Return the search words of each of its sentences."""
        cut = (words(one) for one in _BREAK.split(self.text))
        return tuple(
            frozenset(some[at : at + NEAR]) for some in cut for at in range(0, len(some), NEAR)
        )

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Return its sentences with the order of their words."""
        return tuple(_statement(one) for one in _BREAK.split(self.text) if one.strip())

    @cached_property
    def run(self) -> str:
        """Return its text with everything but Chinese characters replaced by spaces."""
        return "".join(letter if HAN.match(letter) else " " for letter in shaped(self.text))


vocabulary = lru_cache(maxsize=1024)(Vocabulary)
"""The vocabulary of a text, cached: every query of a run is compared with the same pages."""


@dataclass(frozen=True)
class Material:
    """The texts that a query is compared with."""

    own: Sequence[Vocabulary]
    """What the person has said."""
    public: Sequence[Vocabulary]
    """Texts from the web."""
    memory: Sequence[Vocabulary]
    """What is remembered: short texts in which every word counts."""
    files: Sequence[Vocabulary]
    """What was read in files: long texts, in which a number or a word may occur by chance."""
    known: frozenset[str] = frozenset()
    """Numbers that identify the person beside those in these texts."""

    @property
    def private(self) -> list[Vocabulary]:
        """Return all private texts."""
        return [*self.memory, *self.files]

    @cached_property
    def identities(self) -> frozenset[str]:
        """Return the numbers that nobody may search for, whoever has told them."""
        every = (*self.own, *self.memory, *self.files)
        return self.known.union(*(one.identities for one in every))

    def permitted(self) -> Material:
        """Return what stays private if the person permits private words."""
        return Material([], [], [], [], self.identities)

    def free(self, word: str) -> bool:
        """Tell whether anybody may use a search word."""
        return _held(word, self.own) or _held(word, self.public)

    def secret(self, word: str) -> bool:
        """Tell whether a search word is private."""
        # Letters that stand alone are initials, or are joined before they are looked at.
        if (len(word) == 1 and word.isascii()) or self.free(word) or filler(word):
            return False
        if NUMBER.fullmatch(word.rstrip("%")):
            digits = digits_of(word)
            if len(digits) <= FEW:
                return False
            if len(digits) == FEW + 1 or YEAR.fullmatch(digits):
                return _held(word, self.memory)
        elif weight(word) < 1:
            return False
        return _held(word, self.memory) or _held(word, self.files)

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Return the private words that may be looked for in another form."""
        every = {atom for one in self.private for atom in one.atoms if len(atom) >= PIECE}
        secret = {atom for atom in every if any(map(self.secret, words(atom)))}
        whole = {word for one in self.private for word in _FOREIGN.findall(one.text)} | secret
        long = (one for one in whole if any(map(self.secret, words(one))))
        return frozenset(secret.union(*map(transcribed, long)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return what the forms of a private word have in common."""
        return frozenset(stem for one in self.hidden for stem in stems(one))

    @cached_property
    def alike(self) -> frozenset[str]:
        """Return what is left of private words without a letter, their vowels or their order."""
        lettered = filter(None, map(in_letters, self.hidden))
        long = [one for one in lettered if len(one) > WHOLE]
        every = {form for one in long for form in remains(one)}
        return frozenset(every | {bare(one) for one in long if len(bare(one)) >= WHOLE})

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Return the private numbers, each with the length of the shortest piece that tells."""
        shown = {one for some in (*self.own, *self.public) for one in some.numbers}
        every = {one: DIGITS for some in self.files for one in some.numbers}
        every |= {one: PIECE for some in self.memory for one in some.numbers}
        hidden = {one: least for one, least in every.items() if one not in shown}
        return hidden | {one: PIECE for one in self.identities if one.isdecimal()}


def _statement(text: str) -> Statement:
    cut = tuple(words(text))
    # The first word of a sentence is capitalised, name or not.
    names = frozenset(word for one in _CAPITAL.findall(text) for word in words(one))
    return Statement(cut, frozenset(cut), names)


def _held(word: str, some: Iterable[Vocabulary]) -> bool:
    return any(word in one.words for one in some)


def filler(word: str) -> bool:
    """Tell whether a search word is one that everyone uses in searches."""
    return word in FILLER or word in FILLER_ZH or word in FRAME


def digits_of(text: str) -> str:
    """Return the digits of a text."""
    return "".join(filter(str.isdecimal, western(text)))
