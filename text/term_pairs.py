"""Say the technical terms of a question in the other language, by a list of everyday pairs.

It is no translation: names, numbers and words in Latin letters stay as they are spelt, listed
terms take their counterparts, and everything else is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from functools import cache
from typing import NamedTuple

from text.pattern_files import read_packaged_toml
from text.regex import regex
from text.script import CJK, detect_language, simplify_chinese
from text.topics import key_phrase, named_terms
from text.words import GRAMMAR_CHARACTERS, query_terms, search_words

ALL_WORDS = 99
"""No question has so many words."""

NAME, WORD = 4.0, 2.0
"""What a name and another English word weigh in a question; a Chinese character weighs 1."""

COUNTERPARTS = 2
"""How many words of the other language stand for one term."""

PHRASE = 3
"""The most English words of a term."""

_PIECE = regex(f"[{CJK}]+|[^\\s{CJK}]+")
_HAN_RUN = regex(f"[{CJK}]+")
_MARKS = " ,.;:!?()[]{}，。；：！？（）“”\"'、"
_TECHNICAL = regex(r"\d|[_@/=]|--?\w|\w\.\w|[a-z][A-Z]|^[A-Z]{2,}")
"""What no common English word has."""


class RestatedQuestion(NamedTuple):
    """A question in terms of the other language."""

    text: str = ""
    """Its names and the counterparts of its terms, in their order."""
    names: tuple[str, ...] = ()
    """Those of them that are spelt as in the question."""
    share: float = 0.0
    """The share of what it says that `text` has, in 0..1; small words do not count."""


class _Piece(NamedTuple):
    """A part of a question: its counterpart, or itself where it is a name; and what it weighs."""

    text: str
    weight: float
    is_name: bool = False


def restate_terms(question: str, there: Collection[str] = ()) -> RestatedQuestion:
    """Return the names and terms of a question as texts in the other language may have them.

    An English question is put in Chinese terms, a Chinese one in English terms.

    Args:
        question: The question.
        there: Search words; of several counterparts of a term one is taken that is among them. If
            empty, `COUNTERPARTS` of each are taken.
    """
    restate = _in_english if detect_language(question) == "zh" else _in_chinese
    pieces = list(restate(simplify_chinese(question), frozenset(there)))
    whole = sum(piece.weight for piece in pieces)
    said = [piece for piece in pieces if piece.text]
    share = sum(piece.weight for piece in said) / whole if whole else 0.0
    names = dict.fromkeys(piece.text for piece in said if piece.is_name)
    text = " ".join(dict.fromkeys(piece.text for piece in said))
    return RestatedQuestion(text, tuple(names), share)


def _in_english(question: str, there: frozenset[str]) -> Iterator[_Piece]:
    """Yield the Latin words of a Chinese question, and English words for its terms."""
    asked = set("".join(_HAN_RUN.findall(key_phrase(question, ALL_WORDS))))
    for piece in _PIECE.findall(question):
        if _HAN_RUN.match(piece):
            yield from _english_of(piece, asked - _small_characters(), there)
        elif query_terms(piece):
            yield _Piece(piece.strip(_MARKS), NAME, is_name=True)


def _english_of(run: str, telling: Set[str], there: frozenset[str]) -> Iterator[_Piece]:
    """Yield English words for the terms of a run of Chinese characters, the longest first."""
    known = _english_terms()
    longest = max(map(len, known))
    at = 0
    while at < len(run):
        sizes = range(min(longest, len(run) - at), 0, -1)
        size = next((size for size in sizes if run[at : at + size] in known), 0)
        if size > 1:
            yield _Piece(_choose(known[run[at : at + size]], there), size)
        else:
            yield _Piece("", float(run[at] in telling))
        at += max(size, 1)


def _in_chinese(question: str, there: frozenset[str]) -> Iterator[_Piece]:
    """Yield the names and technical words of an English question, and Chinese words for terms."""
    known, named = _chinese_terms(), named_terms(question)
    words = [word for word in (one.strip(_MARKS) for one in question.split()) if query_terms(word)]
    at = 0
    while at < len(words):
        if _TECHNICAL.search(words[at]) or not named.isdisjoint(query_terms(words[at])):
            yield _Piece(words[at], NAME, is_name=True)
            at += 1
            continue
        sizes = range(min(PHRASE, len(words) - at), 0, -1)
        keys = ((size, " ".join(search_words(" ".join(words[at : at + size])))) for size in sizes)
        size, key = next(((size, key) for size, key in keys if key in known), (1, ""))
        yield _Piece(_choose(known.get(key, []), there), WORD * size)
        at += size


def _choose(counterparts: Sequence[str], there: frozenset[str]) -> str:
    """Return the first counterparts, or the one whose words are there."""
    if there:
        held = (one for one in counterparts if there.issuperset(search_words(one)))
        return next(held, counterparts[0] if counterparts else "")
    return " ".join(counterparts[:COUNTERPARTS])


@cache
def _small_characters() -> frozenset[str]:
    return GRAMMAR_CHARACTERS | set(read_packaged_toml("text", "term_pairs.toml")["small"])


@cache
def _pairs() -> list[tuple[list[str], list[str]]]:
    """Return the terms of the list: English ones, and the Chinese ones that mean the same."""
    text = read_packaged_toml("text", "term_pairs.toml")["pairs"]
    lines = (line.split("|") for line in text.strip().splitlines())
    return [
        ([word.replace("_", " ") for word in english.split()], chinese.split())
        for english, chinese in lines
    ]


@cache
def _english_terms() -> dict[str, list[str]]:
    """Return the English terms for each Chinese one."""
    found: dict[str, list[str]] = {}
    for english, chinese in _pairs():
        for term in chinese:
            found.setdefault(term, []).extend(english)
    return found


@cache
def _chinese_terms() -> dict[str, list[str]]:
    """Return the Chinese terms for each English one, which is given by its search words."""
    found: dict[str, list[str]] = {}
    for english, chinese in _pairs():
        for term in english:
            found.setdefault(" ".join(search_words(term)), []).extend(chinese)
    return found
