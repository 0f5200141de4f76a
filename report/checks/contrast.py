"""Tell in what a statement differs from its sources, denies them, or goes beyond them."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from report.checks.overlap import CLAUSE_SPLIT, filter_by_other_names
from report.checks.quantities import has_other_duration
from report.checks.source_text import (
    MAX_PLACES,
    SourceText,
    index_source,
    is_copied,
    list_closest_sentences,
    list_near_sentences,
    normalize_statement,
    per_source,
    select_quotations,
)
from report.checks.word_changes import (
    KnownNames,
    WordChange,
    classify_changes,
    detect_negation,
    tokenize,
)
from report.markdown.markers import QUOTE, list_cited_ids
from text.pattern_files import PatternFile
from text.script import detect_language
from text.words import STOPWORDS, search_words

_PATTERNS = PatternFile("report.checks", "contrast.toml")

_MIN_ALIGNED = 0.6  # the share of a statement that a place has in the same order
_MIN_ALIGNED_BUT_ONE = 0.5  # where all the rest of a short statement is one change
_MAX_BEHIND_BEST = 0.08  # by how much less a place may have than the best one
_WORD_GAP_COST = 0.01  # for each word of a place that a statement leaves out
_MIN_CLAUSE_WORDS = 6  # a shorter clause is compared with the rest of its sentence
_MIN_UNORDERED_WORDS = 4
_MIN_UNORDERED_SHARE = 0.8
_MAX_UNORDERED_LENGTH = 1.5  # times the words of the clause


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


_MIN_DENIED_WORDS = {"en": 4, "zh": 4}
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
        _is_clause_denied(part, sources) for part in parts if not _PATTERNS.condition.search(part)
    )


def _is_clause_denied(part: str, sources: Sequence[SourceText]) -> bool:
    wanted = sorted(set(search_words(part)))
    if any(_is_clause_copied(part, source) for source in sources):
        return False
    few = len(wanted) < _MIN_DENIED_WORDS[detect_language(part)]
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
    shared = source.count_words(wanted)
    for passage in (source.sentences[at] for at, count in shared.items() if count > least):
        if not _PATTERNS.condition.search(passage):
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


def list_denied_by_quotations(statements: Sequence[str], paragraph: str, named: str) -> list[str]:
    """Return the statements that say the opposite of a quotation in their paragraph.

    Args:
        statements: Statements of the paragraph, with their marks.
        paragraph: The paragraph; only quotations from the own sources of a statement count.
        named: What may be named although no source names it.
    """
    found = dict.fromkeys((one[1], html.unescape(one[2])) for one in QUOTE.finditer(paragraph))
    quoted = [(name, index_source(text)) for name, text in found]
    denied: list[str] = []
    for statement in statements if quoted else []:
        said, names = normalize_statement(statement), set(list_cited_ids(statement))
        own = [source for name, source in quoted if name in names]
        own = [source for source in own if source.language == detect_language(said)]
        sources = select_quotations(said, own)
        parts = [said, *CLAUSE_SPLIT.split(said)] if sources else []
        if "negation" in (find_contradiction(part, sources, named) for part in parts):
            denied.append(statement)
    return denied


_MIN_STATEMENT_WORDS = 6


def find_overstatement(statement: str, sources: Sequence[SourceText], *, alike: bool = True) -> str:
    """Return how a statement goes beyond the passages most similar to it, or "".

    Args:
        statement: The statement, without marks and quotations.
        sources: The sources that it cites.
        alike: Whether they are in its language, so that their words can be compared.
    """
    near = list_near_sentences(statement, sources, alike=alike)
    sure = _affirmed(_PATTERNS.sure, statement)
    if sure and any(map(_PATTERNS.denies_surety.search, near)):
        clauses = (part for one in near for part in CLAUSE_SPLIT.split(one))
        if not any(_affirmed(_PATTERNS.sure, one) for one in clauses):
            return "strength"
    if alike and _is_too_strong(statement, sources, near):
        return "strength"
    return "other_number" if has_other_duration(statement, [text.text for text in sources]) else ""


def _is_too_strong(statement: str, sources: Sequence[SourceText], near: Sequence[str]) -> bool:
    """Tell whether a statement says "always", "never" or "guaranteed" and no passage does.

    Args:
        statement: The statement, without marks and quotations.
        sources: The sources that it cites.
        near: The most similar passages of these, with the sentences around them.
    """
    if not near or len(set(search_words(statement))) < _MIN_STATEMENT_WORDS:
        return False
    never = bool(_PATTERNS.never.search(statement))
    promises = not never and _affirmed(_PATTERNS.promises, statement)
    if not (never or promises or _affirmed(_PATTERNS.sure, statement)):
        return False
    close = filter_by_other_names(statement, near) or [
        one for text in sources for one in list_closest_sentences(statement, text)
    ]
    there = " ".join(close)
    if never:
        return not _PATTERNS.never_there.search(there) and not _is_denied(statement, near)
    if promises:
        return not _PATTERNS.promised.search(there)
    return not _PATTERNS.sure_there.search(" ".join([*close, *near]))


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
