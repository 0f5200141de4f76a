"""Compare a statement with the sentences of its sources that say nearly the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from typing import Any, NamedTuple, TypeVar

from report.checks.word_changes import (
    KnownNames,
    WordChange,
    classify_changes,
    detect_negation,
    tokenize,
)
from report.markdown.markers import MARKER, blank_quotations
from text.regex import regex
from text.script import detect_language, detect_single_language, simplify_chinese
from text.sentences import split_sentences
from text.words import search_words

MAX_COMPARED_QUOTATIONS = 20
"""A statement is compared with so many quotations of its paragraph, and always with its sources."""


def select_quotations(said: str, quoted: list[SourceText]) -> list[SourceText]:
    """Return the quotations with most words of a statement, if there are too many for all."""
    wanted = set(search_words(said))
    if len(quoted) <= MAX_COMPARED_QUOTATIONS or not wanted:
        return quoted
    return nlargest(
        MAX_COMPARED_QUOTATIONS, quoted, key=lambda one: len(wanted & one.positions.keys())
    )


ALIKE = 0.6
"""The least part of a statement that stands in the same order in what it is compared with."""

HALF = 0.5
"""The least part of a short statement that stands there, where one thing of it is another one."""

NEARLY = 0.08
"""A place counts if it is at most so much less alike than the best one."""

CLOSE = 0.6
"""A sentence is close to a statement if it shares so much of what the closest one does."""

MAX_PLACES = 4
"""How many places of a source are compared."""

GAP = 0.01
"""How much less alike a place is for each of its words that a statement leaves out."""

FEWEST = 6
"""From how many words on a clause is compared for itself."""

WHOLE = 0.8
"""The least part of the words of a clause that stand in one sentence, in whatever order."""

MOST = 1.5
"""How many times as many words such a sentence may have."""

LEAST = 4
"""From how many words on a clause is compared in whatever order they stand."""

SHORTEST = 12
"""From how many characters on a copy is a copy."""

_JOINED = regex(
    r"[;；]\s*|,\s*(?=(?:while|whereas|although|but)\b)|，(?=而(?!且)|但|不过|不過|并且|並且)"
)

_TURN = regex(
    r"\b(?:but|or|otherwise|unless|although|though|while|whereas|if|until|only|except|so|because"
    r"|since|not\s+only)\b|[;:]",
    re.IGNORECASE,
)
"""What may part a sentence in two, of which one may say no and the other may not."""

_Made = TypeVar("_Made")


@dataclass(frozen=True, eq=False)
class SourceText:
    """A source, its sentences, and in which of them each of its words stands."""

    text: str
    sentences: list[str]
    positions: dict[str, tuple[int, ...]]
    language: str
    """The language of its words; of a text in two languages there is none."""
    _kept: dict[Callable[[SourceText], Any], Any] = field(default_factory=dict, repr=False)

    def memoize(self, work: Callable[[SourceText], _Made]) -> _Made:
        """Return what some work makes of this source, which is done for the first statement."""
        if work not in self._kept:
            self._kept[work] = work(self)
        found: _Made = self._kept[work]
        return found


PER_SOURCE: list[Callable[[SourceText], Any]] = []
"""What is made of a source once, for the first statement that needs it or before there is one."""


def per_source(work: Callable[[SourceText], _Made]) -> Callable[[SourceText], _Made]:
    """Note that some work is done once for each source (see `SourceText.memoize`)."""
    PER_SOURCE.append(work)
    return work


class _Place(NamedTuple):
    """Some sentences of a source, `said[start:end]`, as they are beside a statement."""

    source: SourceText
    start: int
    end: int
    share: float
    """How much of the statement stands there, in the same order."""
    left_out: int
    """How many of its words are not in the statement, between some that are."""
    changes: list[WordChange]


def index_source(text: str) -> SourceText:
    """Return a source as it is compared, in simplified characters where it is Chinese."""
    text = simplify_chinese(text)
    said = [sentence.text for sentence in split_sentences(text)]
    places: dict[str, dict[int, None]] = {}
    for at, sentence in enumerate(said):
        for word in search_words(sentence):
            places.setdefault(word, {})[at] = None
    return SourceText(
        text, said, {word: tuple(at) for word, at in places.items()}, detect_single_language(text)
    )


def find_contradiction(
    statement: str, sources: Sequence[SourceText], named: str, numbers: Sequence[float] = ()
) -> str:
    """Return in what a statement differs from its sources, or nothing.

    It is one of `date`, `name`, `negation`, `other_number` and `strength`. Only what is nearly a
    copy of a sentence can be compared so; what was said in quite other words is left to a reader.

    Args:
        statement: A sentence with its marks.
        sources: The sources it cites.
        named: What may be named although no source names it: the question, and their titles.
        numbers: Those that may be told although no source has them, sorted.
    """
    said = normalize_statement(statement)
    if any(is_copied(said, source.text) for source in sources):
        return ""
    known = KnownNames("\n".join([named, *(source.text for source in sources)]), named, numbers)
    clauses = _clauses(said)
    differences = (_differs(clause, sources, known) for clause in clauses)
    denied = any(_denied(clause, sources) for clause in clauses)
    return next(filter(None, differences), "negation" if denied else "")


def _denied(said: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether all sentences that have nearly all words of an English clause say the opposite.

    They may stand in another order there, as where a verb is active or passive.
    """
    wanted, ours = set(search_words(said)), detect_negation(tokenize(said))
    if len(wanted) < LEAST or ours is None or detect_language(said) != "en" or _TURN.search(said):
        return False
    found = [one for source in sources for one in _having(wanted, source)]
    theirs = [detect_negation(tokenize(one)) for one in found]
    whole = not any(map(_TURN.search, found))
    return bool(theirs) and whole and all(one is not None and one != ours for one in theirs)


def _having(wanted: set[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have nearly all of some words, and few others."""
    found = Counter(at for word in wanted for at in source.positions.get(word, ()))
    near = [source.sentences[at] for at, count in found.items() if count >= WHOLE * len(wanted)]
    return [one for one in near if len(set(search_words(one))) <= MOST * len(wanted)]


def list_closest_sentences(said: str, source: SourceText) -> list[str]:
    """Return the sentences of a source that share most with what is said; rare words count more."""
    found: dict[int, float] = {}
    for word in filter(source.positions.__contains__, dict.fromkeys(search_words(said))):
        for at in source.positions[word]:
            found[at] = found.get(at, 0.0) + 1 / len(source.positions[word])
    most = max(found.values(), default=0.0)
    return [source.sentences[at] for at, worth in found.items() if worth >= CLOSE * most]


def list_nearest_sentences(said: str, source: SourceText) -> list[str]:
    """Return the sentences of a source that have most words of what is said, and those beside."""
    found = Counter(
        at for word in dict.fromkeys(search_words(said)) for at in source.positions.get(word, ())
    )
    near = {one for at, _ in found.most_common(MAX_PLACES) for one in (at - 1, at, at + 1)}
    return [source.sentences[at] for at in sorted(near) if 0 <= at < len(source.sentences)]


def is_copied(said: str, text: str) -> bool:
    """Tell whether a text has what is said, word for word."""
    bare = said.strip(" \n-*>|.。!?！？")
    return len(bare) >= SHORTEST and bare in text


def _differs(said: str, sources: Sequence[SourceText], known: KnownNames) -> str:
    """Return in what a clause differs from the place that is most alike, and from all like it."""
    found = [place for source in sources for place in _compared(said, source)]
    found = [place for place in found if place.share >= ALIKE or _is_short(place)]
    if not found:
        return ""
    best = max(found, key=_rank)
    others = [
        place for place in found if place.share >= best.share - NEARLY and _apart(best, place)
    ]
    told = [classify_changes(place.changes, known) for place in (best, *others)]
    return told[0] if all(told) else ""


def _is_short(place: _Place) -> bool:
    """Tell whether a place has half of a statement, and one thing in place of all the rest."""
    return place.share >= HALF and len(place.changes) == 1 and bool(place.changes[0].theirs)


def _rank(place: _Place) -> float:
    return place.share - GAP * place.left_out


def _apart(one: _Place, other: _Place) -> bool:
    return one.source is not other.source or one.end <= other.start or other.end <= one.start


def _clauses(said: str) -> list[str]:
    """Return what is said, cut where sentences were joined."""
    parts = _JOINED.split(said)
    return [part for part in parts if len(tokenize(part)) >= FEWEST] or [said]


def normalize_statement(statement: str) -> str:
    """Return what a statement says itself: without its marks and its quotations.

    Its Chinese is in simplified characters, as that of sources that are compared.
    """
    return simplify_chinese(
        re.sub(r"\*\*|__|`", "", MARKER.sub("", blank_quotations(statement)).replace("\0", ""))
    )


def _compared(said: str, source: SourceText) -> Iterator[_Place]:
    """Yield the places of a source that have at least half of the words of what is said."""
    found = Counter(
        at for word in dict.fromkeys(search_words(said)) for at in source.positions.get(word, ())
    )
    near = sorted({at for at, _ in found.most_common(MAX_PLACES)})
    ours = tokenize(said) if near else []
    windows = {(at, end) for at in near for end in (at + 1, at + 2)}
    lower = _lower(ours)
    count = Counter(lower)
    for start, end in sorted(windows | {(at - 1, at + 1) for at in near if at}):
        theirs = tokenize(" ".join(source.sentences[start:end]))
        others = _lower(theirs)
        # No order of its words makes more of a statement stand there.
        if (count & Counter(others)).total() < HALF * len(ours):
            continue
        matcher = SequenceMatcher(None, lower, others, autojunk=False)
        share = sum(one.size for one in matcher.get_matching_blocks()) / max(len(ours), 1)
        changes = _changes(matcher, ours, theirs)
        left_out = sum(len(one.theirs) for one in changes)
        yield _Place(source, start, end, share, left_out, changes)


def _changes(
    matcher: SequenceMatcher[str], said: Sequence[str], there: Sequence[str]
) -> list[WordChange]:
    """Return what is other in a statement, and left out inside it; what stands around it is not."""
    codes = matcher.get_opcodes()
    last = len(codes) - 1
    other = [
        (i, j, m, n)
        for at, (kind, i, j, m, n) in enumerate(codes)
        if kind != "equal" and not (kind == "delete" and at in (0, last))
    ]
    every = sum(j - i + n - m for i, j, m, n in other)
    return [
        WordChange(
            said[i:j],
            there[m:n],
            said[max(0, i - 3) : i],
            said[j : j + 3],
            every - (j - i + n - m),
        )
        for i, j, m, n in other
    ]


def _lower(said: Sequence[str]) -> list[str]:
    return [one.lower() for one in said]
