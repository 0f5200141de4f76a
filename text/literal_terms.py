"""Find the terms of a query that a text has to contain as they are written: identifiers, names."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from text.pattern_files import PatternFile
from text.regex import regex
from text.script import detect_language
from text.words import QUESTION_WORDS, STOPWORDS, is_common

_PATTERNS = PatternFile("text", "literal_terms.toml")

_HYPHEN = regex(r"\\-")
_LOWER = regex(r"[a-z]")

RARE = 0.25
"""The largest share of some texts that contain a rare term."""

FEW = 3
"""A term that so many texts contain at most is rare, however few texts there are."""

SHORTEST = 3
"""The fewest letters of a Latin word that is a term in a Chinese query."""


@lru_cache(maxsize=1024)
def find_literal_terms(query: str) -> tuple[str, ...]:
    """Return the literal terms of a query as they are spelt there, each once.

    They are quoted words, identifiers, acronyms, numbers, capitalised words that are not everyday
    English, and the Latin words of a Chinese query.
    """
    found = (term for line in query.split("\n") for term in _terms(line))
    return tuple({term.casefold(): term for term in reversed([*found])}.values())[::-1]


def _terms(line: str) -> Iterator[str]:
    quoted = [next(filter(None, one.groups())) for one in _PATTERNS.quoted.finditer(line)]
    yield from (one.strip() for one in quoted if one.strip())
    rest = _PATTERNS.quoted.sub(" ", line)
    chinese, shouted = detect_language(line) == "zh", not _LOWER.search(line)
    tokens = list(_PATTERNS.token.finditer(rest))
    for token in tokens:
        first = len(tokens) > 1 and not rest[: token.start()].strip()
        for word in _parts(token[0]):
            everyday = word.lower() in STOPWORDS | QUESTION_WORDS or is_common(word)
            if _is_coded(word):
                if not (shouted and everyday) or word[0].isdigit():
                    yield word.removesuffix("s") if _PATTERNS.acronym.match(word) else word
            elif not everyday and _is_named(word, chinese, first):
                yield word


def _parts(token: str) -> list[str]:
    """Return an identifier whole, and another word with hyphens in parts."""
    return [token] if _PATTERNS.identifier.fullmatch(token) else _split(token)


def _split(token: str) -> list[str]:
    return [token] if _PATTERNS.number.fullmatch(token) else re.split(r"[-.]+", token)


def _is_coded(word: str) -> bool:
    """Tell whether the spelling of a word shows that it is no everyday word."""
    if _PATTERNS.number.fullmatch(word) or _PATTERNS.identifier.fullmatch(word):
        return True
    acronym = _PATTERNS.acronym.match(word)
    return acronym is not None and word.removesuffix("s") == acronym[0]


def _is_named(word: str, chinese: bool, first: bool) -> bool:
    """Tell whether a word is a name: capitalised inside a line, or Latin in a Chinese line."""
    if chinese:
        return len(word) >= SHORTEST
    return not first and bool(_PATTERNS.name.fullmatch(word))


def contains_term(text: str, term: str) -> bool:
    """Tell whether a text contains a term as a whole, in any case, perhaps in the plural."""
    return bool(_term_pattern(term).search(text))


@lru_cache(maxsize=1024)
def _term_pattern(term: str) -> re.Pattern[str]:
    """Return the pattern of a term; that of an acronym or a number includes its versions."""
    words = _HYPHEN.sub(r"[-\\s]", re.escape(term))
    if term[0].isdigit():
        return re.compile(rf"(?<![\d.]){words}(?!\d|\.\d)", re.IGNORECASE)
    before = r"(?<![A-Za-z0-9_])" if term[0].isascii() else ""
    after = r"(?:e?s|v?\d[\w.]*)?(?![A-Za-z0-9_])" if term[-1].isascii() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE)


def list_missing_terms(query: str, texts: Iterable[str]) -> list[str]:
    """Return the literal terms of a query that none of some texts contains."""
    there = "\n".join(texts)
    return [term for term in find_literal_terms(query) if not contains_term(there, term)]


def find_term(text: str, term: str) -> int | None:
    """Return where a text first contains a term as a whole, in any case; `None` if it does not."""
    found = _term_pattern(term).search(text)
    return found.start() if found else None


def share_rare_terms(
    query: str, texts: Sequence[str], ignored: Collection[str] = ()
) -> list[float]:
    """Return which share of the rare literal terms of a query each text contains, in 0..1.

    A term counts by its inverse document frequency among the texts. One that no text contains, or
    that many do, tells none of them from the others and does not count; 1 everywhere if none does.

    Args:
        query: The query.
        texts: The texts.
        ignored: Terms that do not count either.
    """
    terms = [term for term in find_literal_terms(query) if term not in ignored]
    found = {term: [contains_term(text, term) for text in texts] for term in terms}
    most = max(FEW, RARE * len(texts))
    weights = {
        term: math.log((len(texts) + 1) / sum(there))
        for term, there in found.items()
        if 0 < sum(there) <= most
    }
    whole = sum(weights.values())
    return [
        sum(part for term, part in weights.items() if found[term][at]) / whole if whole else 1.0
        for at in range(len(texts))
    ]
