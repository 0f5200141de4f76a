"""Find the part of a page that a citation of a report rests on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from report.checks.quotation_search import MAX_MATCHES, is_whole_span
from report.markdown.markers import MARKER, QUOTE
from text.manuals import ManualEntry, find_entry_at, find_manual_entries
from text.normalization import find_quote
from text.regex import regex
from text.script import CJK, detect_language
from text.sentences import split_sentences
from text.text_blocks import find_headings_above
from text.words import search_words, word_weight

_MAX_SPAN_CHARS = 900
_MIN_CERTAIN_SHARE = 0.4  # of the words of a statement
_MIN_SHORT_SHARE = 0.8  # of a statement with few words
_MIN_NEAR_SHARE = 1 / 3
_MIN_ADDED_SHARE = 0.15  # by the next sentence
_MIN_SHARED_WORDS = 4  # of a statement without a name or a number
_CONTEXT_WEIGHT = 0.3  # of a word beside a statement or above a sentence
_NAME = regex(r"`[^`\n]+`|(?<![\w-])--?[A-Za-z][\w-]*+|(?<![\w-])[A-Za-z][A-Za-z0-9_.=-]*+")
_CALLED = regex(r"^[`-]|(?!^)[A-Z_=]|\.\w")  # code, an option, a capital or a point inside
_CUT = regex(r"\w[^\w\n]+\w")
_LATIN = regex(rf"[^\W{CJK}]")


class CitationUse(NamedTuple):
    """One place of a report at which a document is cited."""

    number: int
    """The number of the document."""
    sources: tuple[str, ...]
    """The ids of the pages of it that are cited there."""
    statement: str
    """The words that are quoted, or the statement that is made."""
    quoted: bool
    context: str = ""
    """What stands around those words and says what they are about."""


class EvidenceSpan(NamedTuple):
    """A part of a page, `text[start:end]`, and whether it is certain to be what is meant."""

    start: int
    end: int
    certain: bool = True


class _Sentence(NamedTuple):
    """A sentence of a page; its words, and those of the headings and terms that it stands under."""

    start: int
    end: int
    own: frozenset[str]
    heads: frozenset[str]


class _Wanted(NamedTuple):
    """What is looked for in a page."""

    said: frozenset[str]
    beside: frozenset[str]
    names: frozenset[str]
    """The names and options of the statement."""
    near: frozenset[str]
    """Those of what stands beside it, where it has none."""


def find_evidence(text: str, use: CitationUse) -> EvidenceSpan | None:
    """Return the part of a page that a use rests on, or None where none is near it.

    That is what is quoted, where the rest of its sentence is nearest, or else the sentence, or two
    neighbouring ones, with the most of the statement: its words, names and numbers, in itself or in
    the heading or term that it stands under. A page in another language has only the names and the
    numbers; what is found by them is not certain.
    """
    return _placed(text, use.statement, use.context, use.quoted)


# A report is drawn as Markdown and as a page, and each says where what is cited stands.
@lru_cache(maxsize=512)
def _placed(text: str, cited: str, around: str, quoted: bool) -> EvidenceSpan | None:
    said, beside = _bare(cited), _bare(around)
    wanted = _wanted(said, beside)
    place = _quoted(cited, text, wanted) if quoted else None
    place = place or _nearest(text, wanted, same=detect_language(said) == detect_language(text))
    return place and place._replace(end=min(place.end, place.start + _MAX_SPAN_CHARS))


def find_certain_evidence(text: str, use: CitationUse) -> EvidenceSpan | None:
    """Return the part of a page that a use is certain to rest on, or None."""
    place = find_evidence(text, use)
    return place if place and place.certain else None


def _bare(text: str) -> str:
    return MARKER.sub("", QUOTE.sub(r"\2", text))


def _wanted(said: str, beside: str) -> _Wanted:
    """Return what is looked for: words, and names whole, whose parts are words of their own."""
    called, parts = _named(said)
    near, others = _named(beside)
    own = frozenset(search_words(said)) - parts
    around = frozenset(search_words(beside)) - others - own
    return _Wanted(own, around, called, frozenset() if called else near)


def extract_name_terms(said: str) -> frozenset[str]:
    """Return the names, options and settings in a text as search words."""
    return _named(said)[0]


def _named(said: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names in a text as search words, and the parts of them that are none."""
    found = [(name, search_words(name)) for name in _NAME.findall(said) if _CALLED.search(name)]
    # What is one word is cut whole and in parts; what has points and spaces only in parts.
    whole = frozenset(one for name, cut in found for one in (cut if _CUT.search(name) else cut[:1]))
    return whole, frozenset(one for _, cut in found for one in cut) - whole


def _quoted(quote: str, text: str, wanted: _Wanted) -> EvidenceSpan | None:
    """Return where a page has a quotation, near what the rest of its sentence says."""
    found = list(_everywhere(quote, text))
    if len(found) < 2:
        return found[0] if found else None
    said, rarity = _sentences(text), _rarity(text)
    every = wanted._replace(said=wanted.beside, beside=frozenset())

    def near(part: EvidenceSpan) -> float:
        at = [n for n, one in enumerate(said) if one.start < part.end and part.start < one.end]
        around = said[max(0, min(at, default=1) - 1) : max(at, default=-1) + 2]
        here = [said[n] for n in at]
        return _score(here, every, rarity) + _CONTEXT_WEIGHT * _score(around, every, rarity)

    return max(found, key=near)


def _everywhere(quote: str, text: str) -> list[EvidenceSpan]:
    """Return where a page has a quotation; parts of words only where there is nothing else."""
    found: list[EvidenceSpan] = []
    start = 0
    while len(found) < MAX_MATCHES and (span := find_quote(quote, text[start:])):
        found.append(EvidenceSpan(start + span.start, start + span.end))
        start += span.start + 1
    return [one for one in found if is_whole_span(text, one.start, one.end)] or found


def _nearest(text: str, wanted: _Wanted, *, same: bool) -> EvidenceSpan | None:
    """Return the sentence, or two neighbouring ones, with the most of a statement."""
    said, rarity = _sentences(text), _rarity(text)
    if not same:
        wanted = _translated(wanted)
    every = frozenset[str]().union(*wanted)
    scores = [
        0.0
        if one.own.isdisjoint(every) and one.heads.isdisjoint(every)
        else _score([one], wanted, rarity)
        for one in said
    ]
    best = max(range(len(said)), key=scores.__getitem__, default=None)
    if best is None or not scores[best] or not (same or _points(said[best], wanted)):
        return None
    chosen = [said[best]]
    for other in said[best + 1 : best + 2], said[max(0, best - 1) : best]:
        if len(chosen) == 1 and _adds(other, chosen, wanted):
            chosen = sorted([*chosen, *other])
    sure = same and _is_sure(chosen, wanted, _vocabulary(text))
    named = not same or not _every(chosen).isdisjoint(wanted.names)
    near = named or _part(chosen, wanted) > _MIN_NEAR_SHARE
    return EvidenceSpan(chosen[0].start, chosen[-1].end, sure) if near else None


def _points(one: _Sentence, wanted: _Wanted) -> bool:
    """Tell whether a sentence in another language has a name or a number of a statement."""
    numbers = (word for word in wanted.said if word[:1].isdigit())
    return not (one.own | one.heads).isdisjoint({*wanted.names, *numbers})


def _translated(wanted: _Wanted) -> _Wanted:
    """Return of a statement what a page in another language may have, too."""
    said, beside = (frozenset(filter(_LATIN.match, one)) for one in (wanted.said, wanted.beside))
    return wanted._replace(said=said, beside=beside)


def _score(found: Sequence[_Sentence], wanted: _Wanted, rarity: Mapping[str, float]) -> float:
    """Return how much of what is wanted stands in some sentences, and above them."""
    own = _own(found)
    heads = frozenset[str]().union(*(one.heads for one in found))
    # What stands under a name says more of it than what only mentions it.
    named = _sum(heads & wanted.names, rarity) * (1 + _CONTEXT_WEIGHT) + _sum(
        heads & wanted.near, rarity
    )
    told = _sum(own & (wanted.said | wanted.names), rarity)
    told += _CONTEXT_WEIGHT * _sum(heads & (wanted.said - wanted.names), rarity)
    return (
        named + told + _CONTEXT_WEIGHT * _sum((own | heads) & (wanted.beside - wanted.near), rarity)
    )


def _adds(other: Sequence[_Sentence], chosen: Sequence[_Sentence], wanted: _Wanted) -> bool:
    more = _own(other) & wanted.said - _own(chosen)
    enough = _sum(more) > _MIN_ADDED_SHARE * _sum(wanted.said) and len(more) > 1
    return enough or bool(more & wanted.names - _every(chosen))


def _is_sure(found: Sequence[_Sentence], wanted: _Wanted, page: frozenset[str]) -> bool:
    """Tell whether some sentences are certain to be what a statement rests on.

    They have enough of its words, and of the names and numbers that are on the page, one each.
    """
    own, every = _own(found), _every(found)
    numbers = {word for word in wanted.said if word[:1].isdigit()}
    common = own & wanted.said
    exact = bool(common) and not every.isdisjoint({*numbers & own, *wanted.names, *wanted.near})
    return (
        _part(found, wanted) > _MIN_CERTAIN_SHARE
        and (exact or len(common) >= _MIN_SHARED_WORDS or _part(found, wanted) > _MIN_SHORT_SHARE)
        and not (numbers and numbers.isdisjoint(own))
        and not (wanted.names & page and wanted.names.isdisjoint(every))
    )


def _part(found: Sequence[_Sentence], wanted: _Wanted) -> float:
    """Return how much of a statement some sentences have, with what they stand under."""
    every = _every(found)
    told = _sum(every & wanted.said) + _sum(every & wanted.names)
    return told / max(_sum(wanted.said) + _sum(wanted.names), 1e-9)


def _own(found: Sequence[_Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(one.own for one in found))


def _every(found: Sequence[_Sentence]) -> frozenset[str]:
    return _own(found).union(*(one.heads for one in found))


def _sum(found: Collection[str], rarity: Mapping[str, float] | None = None) -> float:
    times = rarity.get("", 1.0) if found and rarity else 1.0
    return sum((1 + word_weight(one)) / 2 * (rarity or {}).get(one, times) for one in found)


# A page is looked through once for each statement that cites it.
@lru_cache(maxsize=128)
def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences of a page but for its headings and the terms of its entries."""
    known = find_manual_entries(text)
    found: list[_Sentence] = []
    for span in split_sentences(text):
        entry = find_entry_at(known, span.start)
        start = _behind(text, span.start, entry)
        own = frozenset(search_words(text[start : span.end]))
        if own.difference(*_named(span.text)) and not span.text.startswith("#"):
            above = [*find_headings_above(text, span.start), entry.term if entry else ""]
            found.append(_Sentence(start, span.end, own, frozenset(search_words("\n".join(above)))))
    return found


def _behind(text: str, start: int, entry: ManualEntry | None) -> int:
    """Return where a sentence begins behind the term of its entry on a line of its own."""
    alone = entry and start < entry.body_start and "\n" in text[entry.start : entry.body_start]
    return entry.body_start if entry and alone else start


@lru_cache(maxsize=128)
def _vocabulary(text: str) -> frozenset[str]:
    """Return the words of all sentences of a page, and of what they stand under."""
    return _every(_sentences(text))


@lru_cache(maxsize=128)
def _rarity(text: str) -> dict[str, float]:
    """Return how much more a word of a page says than one that stands in all its sentences.

    The empty word has what is said by a word that is rarer than any.
    """
    said = _sentences(text)
    counts = Counter(word for one in said for word in one.own)
    rare = {word: 1 + math.log((1 + len(said)) / (1 + count)) for word, count in counts.items()}
    return rare | {"": max(rare.values(), default=1.0)}
