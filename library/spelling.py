"""Correct words of a question that occur nowhere in a store to the words there that are nearest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from string import ascii_lowercase
from typing import NamedTuple

from library.page_scoring import PageCollection
from text.regex import regex
from text.words import NON_TOPIC_WORDS, search_words, word_weight

SHORTEST = 5
"""A shorter word is not corrected; too many words are near it."""

LONGEST = 60
"""A longer word is not corrected: it is in no language, and comparing it takes long."""

LONG = 8
"""A word of so many letters may have two mistakes, a shorter one has one."""

BEGINNING = 3
"""Words are compared that have so many first letters in common, or differ once among them."""

COMMON = 0.85
"""A word that weighs less (`text/words.py`) is neither a mistake nor a correction."""

MOST = 8
"""So many words of a question are corrected at most."""

_QUOTED = regex(r"`[^`\n]*`|\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|(?<!\w)'[^'\n]*'(?!\w)")
_WORD = regex(r"(?<![\w.@/\\:$#~+=<>*{}\[\]()-])[A-Za-z]+(?![\w@/\\:$#~+=<>*{}\[\](-]|\.\w|['’]\w)")

_WHOLE = regex(r"\w+")


class CorrectedQuestion(NamedTuple):
    """A question, and which of its words were put in another spelling."""

    text: str
    changed: dict[str, str]


def correct_question(question: str, store: PageCollection) -> CorrectedQuestion:
    """Return a question with the words that no page holds in the spelling of the nearest that does.

    Left as they are: what pages hold, English words, names, numbers, what stands in quotation marks
    or is code, common words, short ones, and every writing but Latin.
    """
    changed: dict[str, str] = {}
    for word in _unknown(question, store):
        found = _nearest(word, store)
        if found and found.lower() != word.lower() and word.lower() not in _english():
            changed[word] = found.capitalize() if word[0].isupper() else found
    return CorrectedQuestion(apply_corrections(question, changed), changed)


@cache
def _english() -> frozenset[str]:
    """Return the words of English; they take a moment to read, and few questions need them."""
    from spellchecker import SpellChecker  # noqa: PLC0415

    return frozenset(SpellChecker(language="en").word_frequency.words())


def apply_corrections(question: str, changed: Mapping[str, str]) -> str:
    """Return a question with words in another spelling."""
    return _WHOLE.sub(lambda word: changed.get(word[0], word[0]), question)


def describe_corrections(changed: Mapping[str, str]) -> str:
    """Return what was put for which words, as a person is told."""
    return ", ".join(f"{word} → {found}" for word, found in changed.items())


def edit_distance(one: str, other: str, most: int) -> int:
    """Return how many letters have to be changed, left out, put in or swapped; at most `most` + 1.

    That is the optimal string alignment distance.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    far = [most + 1] * len(other)
    before, row = [0, *far], list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, before, row = before, row, [i, *far]
        # Cells further from the diagonal are more than `most` away.
        for j in range(max(1, i - most), min(len(other), i + most) + 1):
            b = other[j - 1]
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], last[j - 2] + 1)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


def _unknown(question: str, store: PageCollection) -> list[str]:
    """Return the words that may be misspelt: plain ones that no page holds."""
    open_text = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), question)
    found = [word for word in _WORD.finditer(open_text) if _plain(word, open_text)]
    stems = {word[0]: search_words(word[0])[:1] for word in found}
    held = store.counts([stem for some in stems.values() for stem in some])
    return [word for word, stem in stems.items() if stem and stem[0] not in held][:MOST]


def _plain(found: re.Match[str], text: str) -> bool:
    """Tell whether a word is neither short nor endless, and neither a name nor a common word."""
    word = found[0]
    begins = not re.search(r"\w", text[: found.start()].rpartition("\n")[2].rpartition(". ")[2])
    cased = word.islower() or (begins and word.istitle())
    stem = search_words(word)
    known = word.lower() in NON_TOPIC_WORDS or not stem or _common(stem[0])
    return cased and SHORTEST <= len(word) <= LONGEST and not known


def _nearest(word: str, store: PageCollection) -> str:
    """Return the word of the store that is nearest to a word, as it is spelt there, or nothing.

    Those that begin alike are looked at first, then those that would with one mistake less.
    """
    stem = search_words(word)[0]
    most = 2 if len(stem) >= LONG else 1
    for candidates in (store.beginning(stem[:BEGINNING]), _mistaken(stem)):
        plain = (one for one in candidates if one.isalpha() and not _common(one))
        near = {one: edit_distance(stem, one, most) for one in plain}
        held = store.counts([one for one, far in near.items() if far <= most])
        ranked = sorted(held, key=lambda one: (near[one], -held[one], one))
        if ranked:
            return _as_spelt(ranked[0], word, store)
    return ""


def _common(stem: str) -> bool:
    """Tell whether a word is found in so many texts that it is not taken for another one."""
    return word_weight(stem) < COMMON


def _mistaken(stem: str) -> Iterator[str]:
    """Yield a word with one letter changed, left out, put in or swapped near its beginning."""
    for at in range(BEGINNING):
        head, rest = stem[:at], stem[at:]
        yield head + rest[1:]
        yield head + rest[1:2] + rest[:1] + rest[2:]
        for letter in ascii_lowercase:
            yield head + letter + rest
            yield head + letter + rest[1:]


def _as_spelt(stem: str, word: str, store: PageCollection) -> str:
    """Return a word of the index as a page spells it; nearest to how the question does."""
    pages = store.rows(store.matching([stem], 3))
    spelt = {
        one.lower()
        for page in pages
        for one in set(re.findall(r"[^\W\d_]+", f"{page.title}\n{page.text}"))
        if search_words(one)[:1] == [stem]
    }
    asked = word.lower()

    def distance(one: str) -> tuple[int, bool, str]:
        """Return the order of spellings: fewest edits, the same last letter, the alphabet."""
        return edit_distance(asked, one, len(asked)), one[-1] != asked[-1], one

    return min(spelt, key=distance, default="")
