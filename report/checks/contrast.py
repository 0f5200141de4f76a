"""Compare a statement with the sentences of its sources that say nearly the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache, wraps
from heapq import nlargest
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from report.checks.word_changes import (
    KnownNames,
    WordChange,
    classify_changes,
    detect_negation,
    tokenize,
)
from report.markdown.markers import MARKER, blank_quotations
from text.pattern_files import PatternFile
from text.script import detect_language, detect_single_language, simplify_chinese
from text.sentences import split_sentences
from text.words import search_words

_PATTERNS = PatternFile("report.checks", "contrast.toml")

MAX_COMPARED_QUOTATIONS = 20
"""How many quotations of its paragraph a statement is compared with; its sources always are."""

MAX_PLACES = 4
"""How many places of a source are compared."""

_MIN_ALIGNED = 0.6  # the share of a statement that a place has in the same order
_MIN_ALIGNED_BUT_ONE = 0.5  # where all the rest of a short statement is one change
_MAX_BEHIND_BEST = 0.08  # by how much less a place may have than the best one
_WORD_GAP_COST = 0.01  # for each word of a place that a statement leaves out
_MIN_CLOSENESS = 0.6  # as a share of what the closest sentence has
_MIN_CLAUSE_WORDS = 6  # a shorter clause is compared with the rest of its sentence
_MIN_UNORDERED_WORDS = 4
_MIN_UNORDERED_SHARE = 0.8
_MAX_UNORDERED_LENGTH = 1.5  # times the words of the clause
_MIN_COPY_CHARS = 12


_Derived = TypeVar("_Derived")


@dataclass(frozen=True, eq=False)
class SourceText:
    """A source, its sentences, and in which of them each of its words is."""

    text: str
    sentences: list[str]
    positions: dict[str, tuple[int, ...]]
    language: str
    """The language of its words; a text in two languages has none."""
    derived: dict[Callable[[SourceText], Any], Any] = field(default_factory=dict, repr=False)
    """Results of the functions in `DERIVATIONS`."""

    def count_words(self, words: Iterable[str]) -> Counter[int]:
        """Count for each sentence how many of some words it has."""
        return Counter(at for word in words for at in self.positions.get(word, ()))


DERIVATIONS: list[Callable[[SourceText], Any]] = []
"""What the checks derive from a source: the functions marked `per_source`."""


def per_source(derive: Callable[[SourceText], _Derived]) -> Callable[[SourceText], _Derived]:
    """Compute something of a source only once, and store it with the source."""

    @wraps(derive)
    def cached(source: SourceText) -> _Derived:
        if derive not in source.derived:
            source.derived[derive] = derive(source)
        result: _Derived = source.derived[derive]
        return result

    DERIVATIONS.append(cached)
    return cached


class _Place(NamedTuple):
    """Some sentences of a source, `sentences[start:end]`, compared with a statement."""

    source: SourceText
    start: int
    end: int
    share: float
    """How much of the statement is there in the same order."""
    left_out: int
    """How many words between the shared ones the statement does not have."""
    changes: list[WordChange]


def index_source(text: str) -> SourceText:
    """Return a source as it is compared; Chinese is converted to simplified characters."""
    text = simplify_chinese(text)
    sentences = [sentence.text for sentence in split_sentences(text)]
    positions: dict[str, dict[int, None]] = {}
    for at, sentence in enumerate(sentences):
        for word in search_words(sentence):
            positions.setdefault(word, {})[at] = None
    indexed = {word: tuple(places) for word, places in positions.items()}
    return SourceText(text, sentences, indexed, detect_single_language(text))


def select_quotations(statement: str, quoted: list[SourceText]) -> list[SourceText]:
    """Return the quotations that share most words with a statement, if there are too many."""
    words = set(search_words(statement))
    if len(quoted) <= MAX_COMPARED_QUOTATIONS or not words:
        return quoted
    return nlargest(
        MAX_COMPARED_QUOTATIONS, quoted, key=lambda source: len(words & source.positions.keys())
    )


def find_contradiction(
    statement: str, sources: Sequence[SourceText], named: str, numbers: Sequence[float] = ()
) -> str:
    """Return in what a statement differs from its sources, or nothing.

    It is one of `date`, `name`, `negation`, `other_number` and `strength`. Only near copies of a
    sentence can be compared like this; a statement in other words is left to a second reader.

    Args:
        statement: A sentence with its marks.
        sources: The sources it cites.
        named: What may be named although no source names it: the question, and their titles.
        numbers: Numbers that no source has to have, sorted.
    """
    said = normalize_statement(statement)
    if any(is_copied(said, source.text) for source in sources):
        return ""
    known = KnownNames("\n".join([named, *(source.text for source in sources)]), named, numbers)
    parts = _PATTERNS.joined.split(said)
    clauses = [part for part in parts if len(tokenize(part)) >= _MIN_CLAUSE_WORDS] or [said]
    differences = (_find_difference(clause, sources, known) for clause in clauses)
    denied = any(_is_negated(clause, sources) for clause in clauses)
    return next(filter(None, differences), "negation" if denied else "")


def _is_negated(statement: str, sources: Sequence[SourceText]) -> bool:
    """Tell whether all sentences with nearly all words of an English clause say the opposite.

    Their order does not matter: one of them may be active and the other passive.
    """
    words, negated = set(search_words(statement)), detect_negation(tokenize(statement))
    if len(words) < _MIN_UNORDERED_WORDS or negated is None:
        return False
    if detect_language(statement) != "en" or _PATTERNS.turn.search(statement):
        return False
    similar = [sentence for source in sources for sentence in _list_similar(words, source)]
    theirs = [detect_negation(tokenize(sentence)) for sentence in similar]
    whole = not any(map(_PATTERNS.turn.search, similar))
    return bool(theirs) and whole and all(one is not None and one != negated for one in theirs)


def _list_similar(words: set[str], source: SourceText) -> list[str]:
    """Return the sentences of a source that have nearly all of some words, and few others."""
    least, most = _MIN_UNORDERED_SHARE * len(words), _MAX_UNORDERED_LENGTH * len(words)
    near = (source.sentences[at] for at, n in source.count_words(words).items() if n >= least)
    return [sentence for sentence in near if len(set(search_words(sentence))) <= most]


def list_closest_sentences(statement: str, source: SourceText) -> list[str]:
    """Return the sentences of a source that share most with a statement; rare words weigh more."""
    scores: dict[int, float] = {}
    for word in filter(source.positions.__contains__, dict.fromkeys(search_words(statement))):
        for at in source.positions[word]:
            scores[at] = scores.get(at, 0.0) + 1 / len(source.positions[word])
    least = _MIN_CLOSENESS * max(scores.values(), default=0.0)
    return [source.sentences[at] for at, score in scores.items() if score >= least]


def list_nearest_sentences(statement: str, source: SourceText) -> list[str]:
    """Return the sentences that share most words with a statement, and their neighbours."""
    shared = source.count_words(dict.fromkeys(search_words(statement)))
    near = {one for at, _ in shared.most_common(MAX_PLACES) for one in (at - 1, at, at + 1)}
    return [source.sentences[at] for at in sorted(near) if 0 <= at < len(source.sentences)]


def list_near_sentences(
    statement: str, sources: Sequence[SourceText], *, alike: bool = True
) -> list[str]:
    """Return what of some sources is near a statement; all if they are in another language."""
    near = (list_nearest_sentences(statement, one) if alike else one.sentences for one in sources)
    return [*chain.from_iterable(near)]


def is_copied(statement: str, text: str) -> bool:
    """Tell whether a text has a statement word for word."""
    bare = statement.strip(" \n-*>|.。!?！？")
    return len(bare) >= _MIN_COPY_CHARS and bare in text


def _find_difference(statement: str, sources: Sequence[SourceText], known: KnownNames) -> str:
    """Return in what a clause differs from the most similar place and from all about as similar."""
    places = [place for source in sources for place in _list_places(statement, source)]
    places = [one for one in places if one.share >= _MIN_ALIGNED or _is_single_change(one)]
    if not places:
        return ""
    best = max(places, key=lambda place: place.share - _WORD_GAP_COST * place.left_out)
    least = best.share - _MAX_BEHIND_BEST
    others = [one for one in places if one.share >= least and not _overlaps(best, one)]
    differences = [classify_changes(place.changes, known) for place in (best, *others)]
    return differences[0] if all(differences) else ""


def _is_single_change(place: _Place) -> bool:
    """Tell whether a place has half of a statement, and one thing in place of all the rest."""
    single = len(place.changes) == 1 and bool(place.changes[0].theirs)
    return single and place.share >= _MIN_ALIGNED_BUT_ONE


def _overlaps(one: _Place, other: _Place) -> bool:
    return one.source is other.source and one.start < other.end and other.start < one.end


@lru_cache(maxsize=1024)
def normalize_statement(statement: str) -> str:
    """Return the own words of a statement: without marks and quotations, in simplified Chinese."""
    bare = MARKER.sub("", blank_quotations(statement)).replace("\0", "")
    return simplify_chinese(re.sub(r"\*\*|__|`", "", bare))


def _list_places(statement: str, source: SourceText) -> Iterator[_Place]:
    """Yield the places of a source that have at least half of the words of a statement."""
    shared = source.count_words(dict.fromkeys(search_words(statement)))
    near = sorted(at for at, _ in shared.most_common(MAX_PLACES))
    ours = tokenize(statement) if near else []
    tokens = _tokenize_sentences(source)
    windows = {(at, end) for at in near for end in (at + 1, at + 2)}
    lower = [word.lower() for word in ours]
    counts = Counter(lower)
    for start, end in sorted(windows | {(at - 1, at + 1) for at in near if at}):
        theirs = [word for words in tokens[start:end] for word in words]
        others = [word.lower() for word in theirs]
        # No order of the words aligns more of them.
        if (counts & Counter(others)).total() < _MIN_ALIGNED_BUT_ONE * len(ours):
            continue
        matcher = SequenceMatcher(None, lower, others, autojunk=False)
        share = sum(block.size for block in matcher.get_matching_blocks()) / max(len(ours), 1)
        changes = _list_changes(matcher, ours, theirs)
        left_out = sum(len(change.theirs) for change in changes)
        yield _Place(source, start, end, share, left_out, changes)


_tokenize_sentences = per_source(lambda source: [*map(tokenize, source.sentences)])


def _list_changes(
    matcher: SequenceMatcher[str], ours: Sequence[str], theirs: Sequence[str]
) -> list[WordChange]:
    """Return what differs in a statement or is left out inside it, but not what surrounds it."""
    codes = matcher.get_opcodes()
    last = len(codes) - 1
    changed = [
        (i, j, m, n)
        for at, (kind, i, j, m, n) in enumerate(codes)
        if kind != "equal" and not (kind == "delete" and at in (0, last))
    ]
    size = sum(j - i + n - m for i, j, m, n in changed)
    return [
        WordChange(
            ours[i:j], theirs[m:n], ours[max(0, i - 3) : i], ours[j : j + 3], size - (j - i + n - m)
        )
        for i, j, m, n in changed
    ]
