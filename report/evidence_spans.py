"""Find the part of a page that supports a citation of a report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from report.checks.quotation_search import MAX_MATCHES, is_whole_span
from report.markdown.markers import MARKER, QUOTE
from text.manuals import ManualEntry, find_entry_at, find_manual_entries
from text.normalization import find_quote
from text.regex import regex
from text.script import CJK, detect_language
from text.sentences import list_sentences
from text.text_blocks import find_headings_above
from text.words import search_words, word_weight

_MAX_SPAN_CHARS = 900
_MIN_CERTAIN_SHARE = 0.4  # of the words of a statement
_MIN_SHORT_SHARE = 0.8  # of a statement with few words
_MIN_NEAR_SHARE = 1 / 3
_MIN_ADDED_SHARE = 0.15  # by a neighbouring sentence
_MIN_SHARED_WORDS = 4  # with a statement that has no name or number
_MIN_FURTHER_SHARE = 0.2  # of the words of a statement, in a second place
_MIN_FURTHER_WORDS = 2
_CONTEXT_WEIGHT = 0.3  # of a word beside a statement or above a sentence
_NAME = regex(r"`[^`\n]+`|(?<![\w-])--?[A-Za-z][\w-]*+|(?<![\w-])[A-Za-z][A-Za-z0-9_.=-]*+")
_NAME_SIGN = regex(r"^[`-]|(?!^)[A-Z_=]|\.\w")  # code, an option, an inner capital or dot
_INNER_MARK = regex(r"\w[^\w\n]+\w")
_LATIN = regex(rf"[^\W{CJK}]")


class CitationUse(NamedTuple):
    """One place of a report that cites a document."""

    number: int
    """The number of the document."""
    sources: tuple[str, ...]
    """The ids of its cited pages."""
    statement: str
    """The quoted words, or the statement."""
    quoted: bool
    context: str = ""
    """The text around it that names its subject."""
    sentence: str = ""
    """The sentence or row of the report that cites it, as Markdown with its marks."""


class EvidenceSpan(NamedTuple):
    """A part of a page, `text[start:end]`, and whether it is certainly the cited one."""

    start: int
    end: int
    certain: bool = True


class _Sentence(NamedTuple):
    """A sentence of a page with its words, and those of the headings and terms above it."""

    start: int
    end: int
    words: frozenset[str]
    heads: frozenset[str]


class _Target(NamedTuple):
    """The search words of a citation."""

    words: frozenset[str]
    """The words of the statement."""
    context: frozenset[str]
    """The words around it."""
    names: frozenset[str]
    """The names and options of the statement."""
    context_names: frozenset[str]
    """The names and options around it, if the statement has none."""


class _Wanted(NamedTuple):
    """The terms of a target by what they count where a sentence or its headings have them."""

    terms: frozenset[str]
    """All of them."""
    own: frozenset[str]
    """The words and names of the statement."""
    plain: frozenset[str]
    """The words of it that are no names."""
    names: frozenset[str]
    context_names: frozenset[str]
    context: frozenset[str]
    """The words around it that are no names."""


def find_evidence(text: str, use: CitationUse) -> EvidenceSpan | None:
    """Return the part of a page that supports a use, or None if no part is close to it.

    A quotation is found where the page comes closest to the rest of its sentence. Otherwise the
    part is the sentence, or the two neighbouring ones, that share most with the statement: words,
    names and numbers, in the sentence or in the heading or term above it. A page in another
    language shares only names and numbers; a match by them is not certain.
    """
    return _find_span(text, use.statement, use.context, use.quoted)


# The Markdown and the HTML rendering of a report ask for the same spans.
@lru_cache(maxsize=512)
def _find_span(text: str, statement: str, context: str, quoted: bool) -> EvidenceSpan | None:
    bare = _strip_marks(statement)
    target = _build_target(bare, _strip_marks(context))
    span = _find_quotation(statement, text, target) if quoted else None
    same_language = detect_language(bare) == detect_language(text)
    span = span or _find_nearest(text, target, same_language=same_language)
    return span and span._replace(end=min(span.end, span.start + _MAX_SPAN_CHARS))


def list_evidence(text: str, use: CitationUse) -> list[EvidenceSpan]:
    """Return the part of a page that supports a use, and the one that has most of what it lacks.

    A statement may sum up two places of a page. The second one is returned if it has at least
    `_MIN_FURTHER_SHARE` of the statement's words.
    """
    first = find_evidence(text, use)
    if first is None or use.quoted:
        return [first] if first else []
    further = _find_further(text, _strip_marks(use.statement), first)
    return [first, further] if further else [first]


@lru_cache(maxsize=512)
def _find_further(text: str, statement: str, first: EvidenceSpan) -> EvidenceSpan | None:
    """Return the sentence outside a span that has most of the words that the span lacks."""
    if detect_language(statement) != detect_language(text):
        return None
    words = _build_target(statement, "").words | extract_name_terms(statement)
    inside = [one for one in _sentences(text) if _touch(one, first)]
    lacking, rarity = words - _terms(inside), _rarity(text)
    if len(lacking) < _MIN_FURTHER_WORDS or _sum(lacking) < _MIN_FURTHER_SHARE * _sum(words):
        return None
    best = max(
        (one for one in _sentences(text) if one.words & lacking and not _touch(one, first)),
        key=lambda one: _sum(one.words & lacking, rarity),
        default=None,
    )
    shared = best.words & lacking if best else frozenset[str]()
    if not best or len(shared) < _MIN_FURTHER_WORDS:
        return None
    enough = _sum(shared) >= _MIN_FURTHER_SHARE * _sum(words)
    return EvidenceSpan(best.start, best.end, certain=False) if enough else None


def _touch(sentence: _Sentence, span: EvidenceSpan) -> bool:
    return sentence.start < span.end and span.start < sentence.end


def find_certain_evidence(text: str, use: CitationUse) -> EvidenceSpan | None:
    """Return the part of a page that certainly supports a use, or None."""
    span = find_evidence(text, use)
    return span if span and span.certain else None


def _strip_marks(text: str) -> str:
    return MARKER.sub("", QUOTE.sub(r"\2", text))


def _build_target(statement: str, context: str) -> _Target:
    """Return the words of a statement and its context; parts of names are not words."""
    names, parts = _split_names(statement)
    context_names, context_parts = _split_names(context)
    words = frozenset(search_words(statement)) - parts
    around = frozenset(search_words(context)) - context_parts - words
    return _Target(words, around, names, frozenset() if names else context_names)


def extract_name_terms(statement: str) -> frozenset[str]:
    """Return the names, options and settings in a text as search words."""
    return _split_names(statement)[0]


def _split_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a text as search words, and those of their parts that are no names."""
    found = [(name, search_words(name)) for name in _NAME.findall(text) if _NAME_SIGN.search(name)]
    # Of one word, `search_words` yields the whole first; of several, only the words.
    names = frozenset(
        word for name, words in found for word in (words if _INNER_MARK.search(name) else words[:1])
    )
    return names, frozenset(word for _, words in found for word in words) - names


def _find_quotation(quote: str, text: str, target: _Target) -> EvidenceSpan | None:
    """Return the place of a quotation in a page that is closest to the rest of its sentence."""
    found = _find_occurrences(quote, text)
    if len(found) < 2:
        return found[0] if found else None
    sentences, rarity = _sentences(text), _rarity(text)
    surroundings = _want(target._replace(words=target.context, context=frozenset()))

    def closeness(span: EvidenceSpan) -> float:
        """Return how well a place fits the context; the sentences around it count less."""
        at = [n for n, one in enumerate(sentences) if one.start < span.end and span.start < one.end]
        around = sentences[max(0, min(at, default=1) - 1) : max(at, default=-1) + 2]
        inside = [sentences[n] for n in at]
        outer = _score(around, surroundings, rarity)
        return _score(inside, surroundings, rarity) + _CONTEXT_WEIGHT * outer

    return max(found, key=closeness)


def _find_occurrences(quote: str, text: str) -> list[EvidenceSpan]:
    """Return where a page has a quotation; matches inside words only if there are no others."""
    found: list[EvidenceSpan] = []
    start = 0
    while len(found) < MAX_MATCHES and (span := find_quote(quote, text[start:])):
        found.append(EvidenceSpan(start + span.start, start + span.end))
        start += span.start + 1
    return [one for one in found if is_whole_span(text, one.start, one.end)] or found


def _find_nearest(text: str, target: _Target, *, same_language: bool) -> EvidenceSpan | None:
    """Return the sentence, or the two neighbouring ones, that share most with a statement."""
    sentences, rarity = _sentences(text), _rarity(text)
    if not same_language:
        words, context = (frozenset(filter(_LATIN.match, one)) for one in target[:2])
        target = target._replace(words=words, context=context)
    wanted = _want(target)
    scores = [_score_terms(one.words, one.heads, wanted, rarity) for one in sentences]
    best = max(range(len(sentences)), key=scores.__getitem__, default=None)
    if best is None or not scores[best]:
        return None
    chosen = [sentences[best]]
    if not same_language and _terms(chosen).isdisjoint(target.names | _numbers(target)):
        return None
    for other in sentences[best + 1 : best + 2], sentences[max(0, best - 1) : best]:
        if len(chosen) == 1 and _adds(other, chosen, target):
            chosen = sorted([*chosen, *other])
    certain = same_language and _is_certain(chosen, target, _vocabulary(text))
    named = not same_language or not _terms(chosen).isdisjoint(target.names)
    near = named or _share(chosen, target) > _MIN_NEAR_SHARE
    return EvidenceSpan(chosen[0].start, chosen[-1].end, certain) if near else None


def _numbers(target: _Target) -> frozenset[str]:
    return frozenset(word for word in target.words if word[:1].isdigit())


def _want(target: _Target) -> _Wanted:
    words, context, names, context_names = target
    own, around = words | names, context - context_names
    terms = own | context | context_names
    return _Wanted(terms, own, words - names, names, context_names, around)


def _score(found: Sequence[_Sentence], wanted: _Wanted, rarity: Mapping[str, float]) -> float:
    """Return the weight of the wanted terms in some sentences and the headings above them."""
    heads = frozenset[str]().union(*(one.heads for one in found))
    return _score_terms(_words(found), heads, wanted, rarity)


def _score_terms(
    words: frozenset[str], heads: frozenset[str], wanted: _Wanted, rarity: Mapping[str, float]
) -> float:
    words, heads = words & wanted.terms, heads & wanted.terms
    if not (words or heads):
        return 0.0
    score = _sum(words & wanted.own, rarity)
    if heads:
        # A sentence under a name says more about it than one that only mentions it.
        named = _sum(heads & wanted.names, rarity) * (1 + _CONTEXT_WEIGHT)
        named += _sum(heads & wanted.context_names, rarity)
        score = named + (score + _CONTEXT_WEIGHT * _sum(heads & wanted.plain, rarity))
    return score + _CONTEXT_WEIGHT * _sum((words | heads) & wanted.context, rarity)


def _adds(other: Sequence[_Sentence], chosen: Sequence[_Sentence], target: _Target) -> bool:
    """Tell whether a neighbouring sentence has enough further terms of a statement."""
    more = _words(other) & target.words - _words(chosen)
    enough = _sum(more) > _MIN_ADDED_SHARE * _sum(target.words) and len(more) > 1
    return enough or bool(more & target.names - _terms(chosen))


def _is_certain(found: Sequence[_Sentence], target: _Target, page: frozenset[str]) -> bool:
    """Tell whether some sentences certainly support a statement.

    They need enough of its words, one of its numbers, and one of its names if the page has any.
    """
    words, terms, numbers = _words(found), _terms(found), _numbers(target)
    common, share = words & target.words, _share(found, target)
    exact = common and not terms.isdisjoint(numbers & words | target.names | target.context_names)
    return (
        share > _MIN_CERTAIN_SHARE
        and (bool(exact) or len(common) >= _MIN_SHARED_WORDS or share > _MIN_SHORT_SHARE)
        and not (numbers and numbers.isdisjoint(words))
        and not (target.names & page and target.names.isdisjoint(terms))
    )


def _share(found: Sequence[_Sentence], target: _Target) -> float:
    """Return the share of a statement's weight in some sentences and the headings above them."""
    terms = _terms(found)
    shared = _sum(terms & target.words) + _sum(terms & target.names)
    return shared / max(_sum(target.words) + _sum(target.names), 1e-9)


def _words(found: Sequence[_Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(one.words for one in found))


def _terms(found: Sequence[_Sentence]) -> frozenset[str]:
    """Return the words of some sentences and of the headings above them."""
    return _words(found).union(*(one.heads for one in found))


def _sum(words: Collection[str], rarity: Mapping[str, float] | None = None) -> float:
    if not words:
        return 0.0
    if rarity is None:
        return sum(map(_half_weight, words))
    return sum(map(rarity.__getitem__, words))


def _half_weight(word: str) -> float:
    return (1 + word_weight(word)) / 2


# Each statement that cites a page asks for its sentences.
@lru_cache(maxsize=128)
def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences of a page without its headings and the terms of its entries."""
    entries = find_manual_entries(text)
    found: list[_Sentence] = []
    for span in list_sentences(text):
        entry = find_entry_at(entries, span.start)
        start = _skip_term(text, span.start, entry)
        words = frozenset(search_words(text[start : span.end]))
        if words.difference(*_split_names(span.text)) and not span.text.startswith("#"):
            above = [*find_headings_above(text, span.start), entry.term if entry else ""]
            heads = frozenset(search_words("\n".join(above)))
            found.append(_Sentence(start, span.end, words, heads))
    return found


def _skip_term(text: str, start: int, entry: ManualEntry | None) -> int:
    """Return the start of a sentence after the term of its entry, if that has its own line."""
    alone = entry and start < entry.body_start and "\n" in text[entry.start : entry.body_start]
    return entry.body_start if entry and alone else start


@lru_cache(maxsize=128)
def _vocabulary(text: str) -> frozenset[str]:
    """Return the words of all sentences of a page and of the headings above them."""
    return _terms(_sentences(text))


@lru_cache(maxsize=128)
def _rarity(text: str) -> dict[str, float]:
    """Return what each word of the sentences of a page, and of the headings above them, counts.

    It is the weight of the word times its smoothed inverse sentence frequency; a word that is only
    in headings counts as one of the rarest.
    """
    sentences = _sentences(text)
    counts = Counter(chain.from_iterable(one.words for one in sentences))
    total = 1 + len(sentences)
    weights = {word: 1 + math.log(total / (1 + count)) for word, count in counts.items()}
    rarest = max(weights.values(), default=1.0)
    return {word: _half_weight(word) * weights.get(word, rarest) for word in _vocabulary(text)}
