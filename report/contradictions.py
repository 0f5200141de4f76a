"""Find where passages of different documents contradict each other.

Only what code can tell is compared: two sentences about the same thing in nearly the same words,
each of which states one value of a kind, and not the same one; or of which one denies what the
other says. This finds some contradictions, and hardly ever one that is none: sentences about other
things, times or parts, with bounds or estimates, are left alone, and so is a value that the other
document has anywhere. How good it is: `python -m evals.source_contradictions`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from graph.records import Source, SourceContradiction
from report.checks.word_changes import detect_negation
from report.citations import SECTION_SEPARATOR, get_document_key
from report.markdown.markdown_blocks import iter_statements, parse_blocks
from report.markdown.markers import list_cited_ids
from report.stated_values import (
    Measure,
    StatedSentence,
    list_measures,
    list_topic_words,
    read_stated_sentence,
    values_agree,
)
from text.dates import PartialDate
from text.regex import regex
from text.script import detect_language
from text.sentences import is_heading, list_sentences, split_sentences
from text.topics import named_terms
from text.words import search_words, word_weight

Reason = Literal["number", "date", "negation"]

MOST = 12
"""The most contradictions that are returned."""

_MIN_SHARED_WORDS = 3
_MIN_USED_SHARE = 0.5  # of the words of a sentence, or of the statement that makes use of it
_MOST_STATEMENTS = 3  # that a sentence is compared with
_MIN_SHARE = 0.7  # of the words of the shorter sentence, by their weight
_MIN_LONGER_SHARE = 0.4
_MAX_MUTUAL_REST = 0.35  # of the shared weight, that both sentences have beside it
_MIN_DENIED_SHARE = 0.85
_MIN_DENIED_WORDS = 4
_MIN_REPEATED_WORDS = 2  # where both sentences have the same words
_MIN_TITLE_SHARE = 0.5
_LONGEST = 400  # characters of a sentence
_MOST_COMMON = 150  # sentences with a word by which others are found
_PRONOUN = regex(r"\b(?:he|him|his|she|hers?|it|its|they|them|their)\b", re.IGNORECASE)
_PARTICULAR = regex(
    r"\b(?:the|this|that|these|those|here|there|I|me|my|we|us|our|you|your|he|him|his|she|hers?|its?"
    r"|they|them|their)\b",
    re.IGNORECASE,
)
_DENYING = frozenset({"cannot"})
_SUFFIX = regex(r"(?<=\w)\.(?:md|txt|pdf|docx?|pptx?|xlsx?|csv|html?|rtf|odt|epub)\Z")
_PLURAL = regex(r"[A-Z][a-z]+[^s\W]s")
_SUBJECT = regex(
    r"The (?P<noun>[a-z]+)\b(?: of the "
    r"(?:(?P<of>[a-z]+)|(?:[A-Z][\w’-]+ )*(?P<name>[A-Z][\w’-]+)))?"
    r"(?! of\b)"
)
_LONG_NAME = regex(r"\b(?!The |A |An )[A-Z][\w’-]+(?: [A-Z][\w’-]+)+")
_NUMBERED = regex(r"\d+")
_YEAR_OF_NAME = regex(
    r"\b(?:[Tt]he|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er)\s+(?:1[0-9]|20)\d\d\s|^(?:1[0-9]|20)\d\d\s[A-Z]"
)


class ComparedSentence(NamedTuple):
    """A sentence that may be compared, and its search words without numbers."""

    text: str
    words: frozenset[str]
    wanted: bool


@dataclass(frozen=True, eq=False)
class ComparedPassage:
    """A passage as it is compared with those of other documents."""

    source: str
    document: str
    title: str
    text: str
    sentences: Sequence[ComparedSentence]


def find_contradictions(
    texts: Mapping[str, str],
    sources: Mapping[str, Source],
    wanted: Callable[[frozenset[str]], bool] = bool,
) -> list[SourceContradiction]:
    """Return where passages of different documents contradict each other.

    Args:
        texts: The texts to compare, by the ids of their sources.
        sources: The sources by id.
        wanted: Tells by the search words of a sentence whether a contradiction with it is of
            interest; by default every one is.
    """
    passages = [_read_passage(sources[name], text, wanted) for name, text in texts.items()]
    different: dict[frozenset[str], SourceContradiction] = {}
    for passage, one, beside, other in _iter_candidates(passages):
        found = _compare(passage, one, beside, other)
        if found:
            different.setdefault(frozenset((found["one_says"], found["other_says"])), found)
        if len(different) == MOST:
            break
    return list(different.values())


def about_statements(text: str) -> Callable[[frozenset[str]], bool]:
    """Return what tells by its words whether a sentence is one that a text makes use of."""
    statements = [frozenset(search_words(one.text)) for one in split_sentences(text)]
    places: dict[str, list[int]] = defaultdict(list)
    for at, words in enumerate(statements):
        for word in words:
            places[word].append(at)

    def is_used(words: frozenset[str]) -> bool:
        """Tell whether a statement shares enough words, by the shorter of the two."""
        shared = Counter(chain.from_iterable(places[word] for word in words if word in places))
        near = [(count, at) for at, count in shared.items() if count >= _MIN_SHARED_WORDS]
        return any(
            count >= _MIN_USED_SHARE * min(len(words), len(statements[at]))
            for count, at in sorted(near, key=itemgetter(0), reverse=True)[:_MOST_STATEMENTS]
        )

    return is_used


def _read_passage(
    source: Source, text: str, wanted: Callable[[frozenset[str]], bool]
) -> ComparedPassage:
    title = _SUFFIX.sub("", source["title"].partition(SECTION_SEPARATOR)[0])
    sentences = [ComparedSentence(one, words, wanted(words)) for one, words in _split_text(text)]
    return ComparedPassage(source["id"], get_document_key(source), title, text, sentences)


@lru_cache(maxsize=128)
def _split_text(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the sentences of a text, each with its search words without numbers."""
    split = (one.text.strip() for one in list_sentences(text))
    kept = (one for one in split if len(one) <= _LONGEST and not _is_no_sentence(one))
    return tuple((one, list_topic_words(one)) for one in kept)


def _is_no_sentence(text: str) -> bool:
    return text.startswith(("|", "#", "```", "    ")) or is_heading(text)


@lru_cache(maxsize=128)
def _read_measures(text: str) -> frozenset[Measure]:
    return frozenset(list_measures(text))


Candidate = tuple[ComparedPassage, ComparedSentence, ComparedPassage, ComparedSentence]


def _iter_candidates(passages: Sequence[ComparedPassage]) -> Iterator[Candidate]:
    """Yield pairs of sentences of different documents that share most of their words.

    At least one of the two is wanted.
    """
    sentences = [(passage, sentence) for passage in passages for sentence in passage.sentences]
    every: dict[str, list[int]] = defaultdict(list)
    wanted: dict[str, list[int]] = defaultdict(list)
    for at, (passage, sentence) in enumerate(sentences):
        known = every if sentence.wanted else wanted
        both = [word for word in sentence.words if word in known]
        rare = (known[word] for word in both if len(every[word]) <= _MOST_COMMON)
        shared = Counter(chain.from_iterable(rare))
        for word in sentence.words:
            every[word].append(at)
            if sentence.wanted:
                wanted[word].append(at)
        near = (sentences[there] for there, count in shared.items() if count >= _MIN_REPEATED_WORDS)
        for other in near:
            if _is_candidate(*other, passage, sentence):
                yield *other, passage, sentence


def _is_candidate(
    passage: ComparedPassage,
    one: ComparedSentence,
    beside: ComparedPassage,
    other: ComparedSentence,
) -> bool:
    if passage.document == beside.document:
        return False
    if len(one.words & other.words) < _MIN_SHARED_WORDS and not (
        one.words <= other.words or other.words <= one.words
    ):
        return False
    return _has_like_words(one.words, other.words)


def _has_like_words(one: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether two sentences share nearly all words of one of them, by their weight."""
    shared = one & other
    both, rests = _weigh(shared), (_weigh(one - shared), _weigh(other - shared))
    shorter, longer = both + min(rests), both + max(rests)
    if both < _MIN_SHARE * shorter or both < _MIN_LONGER_SHARE * longer:
        return False
    return min(rests) <= _MAX_MUTUAL_REST * both


def _compare(
    passage: ComparedPassage,
    first: ComparedSentence,
    beside: ComparedPassage,
    second: ComparedSentence,
) -> SourceContradiction | None:
    """Return the contradiction between two sentences, or None."""
    one, other = read_stated_sentence(first.text), read_stated_sentence(second.text)
    if one.apart != other.apart or one.ordinals != other.ordinals or _names_others(one, other):
        return None
    reason = _find_reason(passage, one, beside, other)
    if reason is None:
        return None
    general = reason == "negation" and _are_general(one, other)
    if not general and not _has_same_subject(passage, one, beside, other):
        return None
    return SourceContradiction(
        about=_name_topic(one, other),
        one=passage.source,
        one_says=one.text,
        other=beside.source,
        other_says=other.text,
        reason=reason,
    )


def _name_topic(one: StatedSentence, other: StatedSentence) -> str:
    """Return the lead of one of the sentences, or the words of the first that both have."""
    if one.lead and detect_language(one.text) == "en":
        return one.lead
    words = (word.strip(".,;:()") for word in one.text.split())
    return " ".join(word for word in words if set(search_words(word)) & other.words)[:60]


def _weigh(words: Iterable[str]) -> float:
    return sum(map(word_weight, words))


def _names_others(one: StatedSentence, other: StatedSentence) -> bool:
    """Tell whether each sentence has a name that the other one has not."""
    return bool(one.names - other.words) and bool(other.names - one.words)


def _has_same_subject(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> bool:
    """Tell whether two sentences are about one subject: the name they begin with, or the title."""
    if detect_language(one.text) == "zh":
        return _has_same_chinese_subject(passage, one, beside, other)
    if _NUMBERED.findall(passage.title) != _NUMBERED.findall(beside.title):
        return False
    same = _is_same_named_thing(passage, one, beside, other)
    if same is not None or len(one.words & other.words) < _MIN_SHARED_WORDS:
        return bool(same)
    if not (one.lead or other.lead):
        return _are_same_titles(passage.title, beside.title)
    ours = _find_subject(passage.title, one) or passage.title
    theirs = _find_subject(beside.title, other) or beside.title
    if not _is_same_name(ours, theirs):
        return False
    return _is_named_fully(ours, one, other, (passage.title, beside.title)) or _are_same_titles(
        passage.title, beside.title
    )


def _is_same_named_thing(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> bool | None:
    """Tell whether "the bridge" of two sentences is one bridge, by the names in their documents.

    It is if each document names only this one, and is not if they name none in common; else
    nobody knows.
    """
    if _PRONOUN.search(one.text) or _PRONOUN.search(other.text):
        return None
    ours, theirs = (_map_names(f"{each.title}\n{each.text}") for each in (passage, beside))
    for noun in one.words & other.words & ours.keys() & theirs.keys():
        if _is_about(one, noun, ours[noun]) and _is_about(other, noun, theirs[noun]):
            if ours[noun].isdisjoint(theirs[noun]):
                return False
            if len(ours[noun] | theirs[noun]) == 1:
                return True
    return None


@lru_cache(maxsize=128)
def _map_names(text: str) -> dict[str, frozenset[frozenset[str]]]:
    """Return the names of several words in a text, each as its words, by their last word."""
    found: dict[str, set[frozenset[str]]] = defaultdict(set)
    for name in _LONG_NAME.findall(text):
        words = search_words(name)
        if len(words) > 1:
            found[words[-1]].add(frozenset(words))
    return {noun: frozenset(names) for noun, names in found.items()}


def _is_about(sentence: StatedSentence, noun: str, names: Iterable[frozenset[str]]) -> bool:
    """Tell whether a sentence begins with a name, or with its noun in its place."""
    found = _SUBJECT.match(sentence.text)
    if found:
        return noun in search_words(found["of"] or found["name"] or found["noun"])
    begins = frozenset(search_words(sentence.lead))
    return any(begins <= name <= sentence.words for name in names) and noun in begins


def _are_general(one: StatedSentence, other: StatedSentence) -> bool:
    """Tell whether two sentences are of the same things in general: "Piles …", not "The pile"."""
    if one.words - _DENYING != other.words - _DENYING or detect_language(one.text) == "zh":
        return False
    plural = all(not each.lead or _PLURAL.fullmatch(each.lead) for each in (one, other))
    return plural and not (_PARTICULAR.search(one.text) or _PARTICULAR.search(other.text))


def _find_subject(title: str, sentence: StatedSentence) -> str:
    """Return the title of a document where a sentence begins with it, or else its lead."""
    start = sentence.text.lstrip("\"“‘'([*# ").removeprefix("The ").lower()
    return title if title and start.startswith(title.lower()) else sentence.lead


def _is_same_name(one: str, other: str) -> bool:
    """Tell whether two names are the same, or one of them is a shorter form of the other."""
    ours, theirs = search_words(one), search_words(other)
    shorter, longer = sorted((ours, theirs), key=len)
    if not shorter or not set(shorter) <= set(longer):
        return False
    return len(shorter) < len(longer) or shorter == longer


def _is_named_fully(
    name: str, one: StatedSentence, other: StatedSentence, titles: Sequence[str]
) -> bool:
    """Tell whether two sentences are clear without their documents: by a name and no pronoun."""
    words = set(search_words(name))
    if any(words & set(search_words(title)) for title in titles):
        return True
    pronouns = _PRONOUN.search(one.text) or _PRONOUN.search(other.text)
    return len(words) > 1 and not pronouns


def _are_same_titles(one: str, other: str) -> bool:
    """Tell whether two titles name one thing: not each of them has a name that the other lacks."""
    ours, theirs = set(search_words(one)), set(search_words(other))
    shared = _weigh(ours & theirs)
    if not shared or shared < _MIN_TITLE_SHARE * min(_weigh(ours), _weigh(theirs)):
        return False
    names = [named_terms(one) - theirs, named_terms(other) - ours]
    return not all(names)


def _has_same_chinese_subject(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> bool:
    """Tell whether two Chinese sentences begin alike and their documents are about one thing."""
    if one.lead != other.lead:
        return False
    ours, theirs = passage.title, beside.title
    if not ours or not theirs:
        return False
    return ours == theirs or ours in other.text or theirs in one.text


def _find_reason(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> Reason | None:
    if _denies(one, other):
        return "negation"
    if _differs_in_date(passage, one, beside, other):
        return "date"
    same_time = one.years == other.years and one.dates == other.dates
    return "number" if same_time and _differs_in_measure(passage, one, beside, other) else None


def _denies(one: StatedSentence, other: StatedSentence) -> bool:
    """Tell whether one of two sentences with nearly the same words is the negation of the other."""
    both = set(one.tokens) & set(other.tokens)
    ours, theirs = (
        detect_negation([token for token in sentence.tokens if token not in both])
        for sentence in (one, other)
    )
    if None in (ours, theirs) or ours == theirs:
        return False
    if one.conditional or other.conditional or not _is_part(one.measures, other.measures):
        return False
    if not (_is_part(one.years, other.years) and _is_part(one.dates, other.dates)):
        return False
    shared, every = one.words & other.words, (one.words | other.words) - _DENYING
    least = _MIN_SHARED_WORDS if shared == every else _MIN_DENIED_WORDS
    return len(shared) >= least and _weigh(shared) >= _MIN_DENIED_SHARE * _weigh(every)


def _is_part(ours: frozenset[Any], theirs: frozenset[Any]) -> bool:
    return ours <= theirs or theirs <= ours


def _differs_in_date(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> bool:
    """Tell whether two sentences that are alike otherwise state one date or year each."""
    if one.measures != other.measures or not _is_part(*_list_other_digits(one, other)):
        return False
    if len(one.dates) == len(other.dates) == 1:
        (ours,), (theirs,) = one.dates, other.dates
        return _are_different_dates(ours, theirs)
    if one.dates or other.dates or not len(one.years) == len(other.years) == 1:
        return False
    (our_year,), (their_year,) = one.years, other.years
    if _names_year(one) or _names_year(other):
        return False
    if our_year == their_year:
        return False
    return str(our_year) not in beside.text and str(their_year) not in passage.text


def _list_other_digits(
    one: StatedSentence, other: StatedSentence
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the numbers of two sentences without the parts of their dates and years."""
    parts = {str(part) for date in one.dates | other.dates for part in date}
    parts |= {part.zfill(2) for part in parts} | {str(year) for year in one.years | other.years}
    return one.digits - parts, other.digits - parts


def _names_year(sentence: StatedSentence) -> bool:
    """Tell whether the year of a sentence is a part of a name, as in "the 2008 season"."""
    return bool(_YEAR_OF_NAME.search(sentence.text))


def _are_different_dates(one: PartialDate, other: PartialDate) -> bool:
    """Tell whether two dates differ in a part that both have."""
    return any(ours and theirs and ours != theirs for ours, theirs in zip(one, other, strict=True))


def _differs_in_measure(
    passage: ComparedPassage, one: StatedSentence, beside: ComparedPassage, other: StatedSentence
) -> bool:
    """Tell whether two sentences state one value each of something, and not the same one."""
    ours, theirs = _single_measures(one), _single_measures(other)
    both = ours.keys() & theirs.keys()
    if {unit for unit, _ in one.measures} != {unit for unit, _ in other.measures}:
        return False
    return any(
        not values_agree(ours[unit], theirs[unit])
        and not _has_value(beside, ours[unit])
        and not _has_value(passage, theirs[unit])
        for unit in both
    )


def _single_measures(sentence: StatedSentence) -> dict[str, Measure]:
    """Return the measures of a sentence whose unit is in it once, by their units."""
    counts = Counter(unit for unit, _ in sentence.measures)
    return {one.unit: one for one in sentence.measures if counts[one.unit] == 1}


def _has_value(passage: ComparedPassage, measure: Measure) -> bool:
    return any(
        one.unit == measure.unit and values_agree(one, measure)
        for one in _read_measures(passage.text)
    )


def names_both(body: str, found: SourceContradiction) -> bool:
    """Tell whether a statement of a report, or the next one, cites both sides."""
    statements = [set(list_cited_ids(one)) for one in iter_statements(parse_blocks(body))]
    both = {found["one"], found["other"]}
    near = [one | other for one, other in pairwise([set[str](), *statements])]
    return any(both <= cited for cited in near)
