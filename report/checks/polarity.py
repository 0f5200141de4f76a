"""Tell whether a statement affirms what its sources deny, or is more certain than they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from report.checks.contrast import (
    SourceText,
    is_copied,
    list_closest_sentences,
    list_near_sentences,
)
from report.checks.overlap import CLAUSE_SPLIT, filter_by_other_names
from report.checks.quantities import has_other_duration
from report.checks.word_changes import detect_negation, tokenize
from text.pattern_files import PatternFile
from text.script import detect_language
from text.words import STOPWORDS, search_words

_PATTERNS = PatternFile("report.checks", "polarity.toml")

_MIN_CLAUSE_WORDS = {"en": 4, "zh": 4}
_MIN_PASSAGE_SHARE = 0.5  # of the words of a clause
_MIN_SHARED_WORDS = 3  # with the clause of a passage that denies them
_NEGATED_WORDS = 4  # after a negation
_NOT = frozenset(["not", "never", "cannot", "n't", "n’t", "no"])
_BETWEEN = STOPWORDS | {"actually", "really"}


def is_denied_by_sources(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether a clause of a statement affirms what its sources only deny.

    Args:
        statement: The statement, without marks and quotations.
        sources: The sources that it cites, in its language.
    """
    parts = dict.fromkeys([statement, *CLAUSE_SPLIT.split(statement)])
    return any(
        _is_clause_denied(part, sources) for part in parts if not _PATTERNS.turn.search(part)
    )


def _is_clause_denied(part: str, sources: Sequence[SourceText]) -> bool:
    wanted = sorted(set(search_words(part)))
    if any(_is_clause_copied(part, source) for source in sources):
        return False
    few = len(wanted) < _MIN_CLAUSE_WORDS[detect_language(part)]
    if few or detect_negation(tokenize(part)) is not False:
        return False
    close = [one for source in sources for one in _close(wanted, source)]
    return any(_only_denied(word, close) for word in wanted)


def _is_clause_copied(part: str, source: SourceText) -> bool:
    """Tell whether a source has a clause word for word in a sentence that denies nothing."""
    if not is_copied(part, source.text):
        return False
    bare = part.strip(" \n-*>|.。!?！？")
    return any(bare in one and not any(_denials(one)) for one in source.sentences)


def _only_denied(word: str, close: Sequence[str]) -> bool:
    """Tell whether every clause that has a word denies it."""
    having = [one for one in close if word in search_words(one)]
    return bool(having) and all(word in set(_denials(one)) for one in having)


def _close(wanted: Collection[str], source: SourceText) -> Iterator[str]:
    """Yield the clauses with most of some words from sentences without a condition."""
    least = max(_MIN_SHARED_WORDS, _MIN_PASSAGE_SHARE * len(wanted))
    found = Counter(at for word in wanted for at in source.positions.get(word, ()))
    for passage in (source.sentences[at] for at, count in found.items() if count > least):
        if not _PATTERNS.turn.search(passage):
            for clause in CLAUSE_SPLIT.split(passage):
                if len(set(search_words(clause)) & set(wanted)) >= _MIN_SHARED_WORDS:
                    yield clause


def _denials(text: str) -> Iterator[str]:
    """Yield the search words that a text negates."""
    said, not_all = [one.lower() for one in tokenize(text)], _PATTERNS.get_words("not_all")
    for at, one in enumerate(said):
        after = said[at + 1 : at + 1 + _NEGATED_WORDS]
        if one in _NOT and not not_all.intersection(after[:1]):
            negated = (word for word in after if word not in _BETWEEN and not word.endswith("ly"))
            yield from search_words(next(negated, ""))
    yield from _PATTERNS.zh_denied.findall(text)


_MIN_STATEMENT_WORDS = 6


def find_overstatement(statement: str, sources: Sequence[SourceText], *, alike: bool = True) -> str:
    """Return how a statement goes beyond the passages most similar to it, or "".

    Args:
        statement: The statement, without marks and quotations.
        sources: The sources that it cites.
        alike: Whether they are in its language, so that their words can be compared.
    """
    near = list_near_sentences(statement, sources, alike=alike)
    close = filter_by_other_names(statement, near) or [
        one for text in sources for one in list_closest_sentences(statement, text)
    ]
    sure = _affirmed(_PATTERNS.sure, statement)
    if sure and any(map(_PATTERNS.denies_surety.search, near)):
        return "strength"
    if alike and _is_too_strong(statement, close, near):
        return "strength"
    return "other_number" if has_other_duration(statement, [text.text for text in sources]) else ""


def _is_too_strong(statement: str, close: Sequence[str], near: Sequence[str]) -> bool:
    """Tell whether a statement says "always", "never" or "guaranteed" and no passage does.

    Args:
        statement: The statement, without marks and quotations.
        close: The most similar passages of its sources.
        near: Those passages with the sentences around them.
    """
    if not near or len(set(search_words(statement))) < _MIN_STATEMENT_WORDS:
        return False
    there = " ".join([*close, *near])
    if _PATTERNS.never.search(statement):
        return not _PATTERNS.never_there.search(" ".join(close)) and not _is_denied(statement, near)
    if _affirmed(_PATTERNS.promises, statement):
        return not _PATTERNS.promised.search(" ".join(close))
    return _affirmed(_PATTERNS.sure, statement) and not _PATTERNS.sure_there.search(there)


def _is_denied(statement: str, near: Sequence[str]) -> bool:
    """Tell whether a passage denies one of the words that follow "never" in a statement."""
    found = _PATTERNS.never.search(statement)
    negated = set(search_words(statement[found.end() :])) if found else set()
    return any(
        _PATTERNS.never_there.search(one) and negated & set(search_words(one)) for one in near
    )


def _affirmed(pattern: re.Pattern[str], statement: str) -> bool:
    """Tell whether a pattern matches a statement without a negation ("does not guarantee")."""
    found = pattern.search(statement)
    return found is not None and not _PATTERNS.surety_negation.search(
        statement, max(0, found.start() - 24), found.start()
    )
