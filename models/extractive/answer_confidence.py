"""Estimate how likely it is that the first quotes of a finding answer what was asked.

Features of the quotes, and a logistic regression fitted to them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from models.extractive.exact_answers import find_answer_form
from models.extractive.lists_and_tables import is_complete_list_answer
from models.extractive.manual_answers import entry_gives_default
from models.extractive.prompt_parser import SourceQuote
from models.extractive.quote_wording import (
    all_variants,
    has_all_variants,
    has_variant,
    is_disqualified,
    is_negated,
    opens_with_condition,
    stated_words,
)
from models.extractive.sentence_scoring import locate_quote
from text.answerability import SourcePassage, document_title
from text.definitions import DefinedTerm, find_defined_term, score_definition
from text.manuals import begins_entry, find_asked_purpose, is_entry_of
from text.pattern_files import PatternFile, read_packaged_toml
from text.question_types import (
    asks_answer_type,
    asks_list,
    asks_meaning,
    asks_where,
    has_answer_type,
    has_answer_type_near,
)
from text.regex import regex
from text.script import detect_language
from text.sentences import split_sentences
from text.topics import (
    ALL_WORDS,
    Topic,
    extract_names,
    extract_topic,
    key_phrase,
    key_terms,
    named_terms,
    spell_terms,
    strip_request_phrases,
    weight_share,
)
from text.words import search_words

_PATTERNS = PatternFile("models.extractive", "answer_confidence.toml")


OPENING = 8
"""The subject of a sentence is among so many words at its beginning."""

OPENED = 0.5
"""What a title is worth that does not say the name with which a full quote opens."""

LONG = 300
"""A quote of so many characters counts as long."""

COMMON_TERMS = 12
"""The logarithm of this many terms counts as 1."""

APART = 0.95
"""A Chinese phrase of which more is nowhere to be found is missing."""

DEFINED = 0.5
"""Quotes that say less well what a thing is (`text/definitions.py`) do not answer what it is."""

_ORDINAL = regex(r"第[一二三四五六七八九十百\d]+|\d+")

_ENDS = regex(r"(?<!\W)(?>\W*?(?<!\.\.)[.!?。！？])\W*$")
"""What ends like a sentence, and not with dots or a colon."""
_BEFORE = regex(r"(?:^|\n|[.!?:]\W*\s)[^\w\n]*$")
"""What stands before a whole sentence."""


class AnswerFeatures(NamedTuple):
    """What speaks for quotes being the answer, and against it, each in 0..1."""

    near: float
    """The share of the question's terms in the first quote, its title and the sentences around."""
    stated: float
    """The share of the terms that are no names in the quotes themselves."""
    ahead: float
    """How much more of the terms the first quote has than the best quote of another source."""
    subject: float
    """Whether a name of the question, or else one of its terms, stands in the title of the page.

    It is half as good if the first quote opens with it and lacks no telling word.
    """
    terms: float
    """How many terms the question has, as a logarithm: to cover many by chance is rare."""
    defined: float
    """How well the quotes say what something is, if that is asked."""
    undefined: float
    """Whether it is asked what something is, and the quotes do not say so."""
    typed: float
    """Whether the kind of thing asked for stands near what is said of it."""
    untyped: float
    """Whether a kind of thing is asked for that is nowhere in the first quote, or far off."""
    lost: float
    """What the telling word weighs that is nowhere in the first quote and what stands above it."""
    unnamed: float
    """The share of the names that do not stand there whole, or only in a longer name."""
    opens: float
    """Whether the first quote begins with a name of the question, or else with one of its terms."""
    unclassed: float
    """Whether the first quote lacks what the thing asked for is called, as in "which club"."""
    elsewhere: float
    """The share of the names that only the longer title of the page has."""
    denied: float
    """Whether the first quote denies something, and the question does not."""
    limited: float
    """Whether the first quote begins with a condition or a concession."""
    hanging: float
    """Whether the first quote begins with what stands for something before it."""
    long: float
    """How long the first quote is: much of a question stands in it by chance."""
    broken: float
    """Whether the first quote is no whole sentence."""
    together: float
    """The share of the neighbours in the question that are neighbours in or above the quote."""
    disqualified: float
    """Whether something is not there without which no quote is an answer: in English its form."""


_COVERED = {"near": 1.0, "stated": 1.0, "subject": 1.0, "opens": 1.0, "lost": 0.0, "unnamed": 0.0}
"""The signs of what the entry of a manual says of the very thing that is asked for."""


def extract_answer_features(
    question: str, pages: Sequence[SourcePassage], quotes: Sequence[SourceQuote], lead: int
) -> AnswerFeatures:
    """Return what speaks for the first `lead` of some quotes being the answer."""
    about, first = extract_topic(question), quotes[0]
    whole, text = locate_quote(first, pages)
    title = document_title(whole)
    head = search_words(f"{title}\n{first.section}")
    near = {*head, *stated_words(question, first.text), *search_words(_beside(first.text, text))}
    asked, explained = _defined(question), _explained(question, first, title, text)
    defined = 1.0 if explained else _definition_score(asked, quotes[:lead], title)
    held = _has_type_near(question, about, first.text)
    shown = f"{title}\n{first.section}\n{first.text}"
    lost = _lost(question, about, shown)
    opens = _subject(question, " ".join(first.text.split()[:OPENING]))
    seen = AnswerFeatures(
        near=weight_share(about.terms, [one for one in about.terms if has_variant(one, near)]),
        stated=_stated_share(question, about, quotes[:lead]),
        ahead=_lead_over_others(about.terms, quotes, [*search_words(first.text), *head]),
        subject=max(_subject(question, title), 0.0 if lost else OPENED * opens),
        terms=min(1.0, math.log(max(len(about.terms), 1)) / math.log(COMMON_TERMS)),
        defined=defined or 0.0,
        undefined=0.0 if defined is None else 1.0 - defined,
        typed=float(held is True),
        untyped=float(held is False),
        lost=lost,
        unnamed=_unnamed(question, shown),
        opens=opens,
        unclassed=_unclassed(question, first.text),
        elsewhere=_elsewhere(question, title, first.text),
        **_worded(question, first, text),
        together=_together(about, shown),
        disqualified=float(
            (defined is not None and defined < DEFINED)
            or (held is False and _without_kind(question, quotes[:lead]))
            or not _near_names(question, near)
            or _is_unfit(question, pages, quotes[:lead], lost)
        ),
    )
    told_of_term = explained or entry_gives_default(question, first, pages)
    return seen._replace(**_COVERED) if told_of_term else seen


def _definition_score(
    asked: DefinedTerm | None, quotes: Sequence[SourceQuote], title: str
) -> float | None:
    """Return how well the best quote defines what is asked for; `None` where nothing is."""
    if not asked:
        return None
    return max(score_definition(asked, one.text, title) for one in quotes)


def _lead_over_others(
    terms: Mapping[str, float], quotes: Sequence[SourceQuote], near: Sequence[str]
) -> float:
    """Return how much more of the terms the first quote's page has than quotes of other pages."""
    others = (one.text for one in quotes if one.source != quotes[0].source)
    best = max((weight_share(terms, search_words(text)) for text in others), default=0.0)
    return max(weight_share(terms, near) - best, 0.0)


def _is_unfit(
    question: str, pages: Sequence[SourcePassage], lead: Sequence[SourceQuote], lost: float
) -> bool:
    """Tell whether quotes are of a sort that never answers, or lack the form of an answer."""
    if is_disqualified(question, lead):
        return True
    if detect_language(question) == "zh":
        return lost > APART
    return find_answer_form(question, pages, lead) is None


def _worded(question: str, first: SourceQuote, text: str) -> dict[str, float]:
    """Return the signs that lie in how a quote is worded, by their names."""
    quote, before = first.text, text.partition(first.text)[0]
    whole = _ENDS.search(quote) and (
        not quote[0].islower() or first.section or _BEFORE.search(before)
    )
    return {
        "denied": float(is_negated(quote) and not is_negated(question)),
        "limited": float(opens_with_condition(quote)),
        "hanging": float(bool(_PATTERNS.back.search(quote)) and not first.section),
        "long": min(1.0, len(quote) / LONG),
        "broken": float(not whole),
    }


def _explained(question: str, quote: SourceQuote, title: str, text: str) -> bool:
    """Tell whether a quote is the first of the entry of a manual that is asked for."""
    return is_entry_of(quote.section, find_asked_purpose(question), title) and begins_entry(
        quote.section, quote.text, text
    )


def _together(about: Topic, shown: str) -> float:
    """Return the share of the neighbours in a question that stand together in a text, too."""
    said = search_words(shown)
    near = {*pairwise(said), *zip(said, said[2:], strict=False)}
    return weight_share(about.pairs, near)


def _beside(quote: str, text: str) -> str:
    """Return the sentence before a quote and the one after it."""
    before, _, after = text.partition(quote)
    beside = [*list(split_sentences(before))[-1:], *list(split_sentences(after))[:1]]
    return "\n".join(one.text for one in beside)


def _stated_share(question: str, about: Topic, quotes: Sequence[SourceQuote]) -> float:
    statements = stated_words(question, "\n".join(one.text for one in quotes))
    known = named_terms(question)
    rest = {term: part for term, part in about.terms.items() if term not in known}
    return weight_share(rest, [term for term in rest if has_variant(term, statements)])


def _defined(question: str) -> DefinedTerm | None:
    """Return what a question wants to be told the meaning of, or who somebody is.

    What it asks of something, such as its capital or its author, is no meaning.
    """
    line = _PATTERNS.does_of.sub(r"\1 \2", question.split("\n")[0])
    asked = find_defined_term(_PATTERNS.within.sub(r"\1", line))
    if not asked or _PATTERNS.of.search(asked.spelling):
        return None
    is_name = set(search_words(asked.spelling)) <= named_terms(question)
    return asked if is_name or asks_meaning(question) else None


def _near_names(question: str, near: Collection[str]) -> bool:
    """Tell whether every word of a name is near; a Chinese pair may lie across two words."""
    return detect_language(question) == "zh" or has_all_variants(
        named_terms(question) & set(key_terms(question)), near
    )


def _elsewhere(question: str, title: str, quote: str) -> float:
    """Return the share of the names that a quote lacks, and a title has beside other words."""
    is_named = set(search_words(title)) <= set(search_words(question))
    return 0.0 if is_named else _unnamed(question, quote)


def _has_type_near(question: str, about: Topic, quote: str) -> bool | None:
    """Tell whether a quote has the kind of thing asked for, near what is said of it, if any is."""
    if not asks_answer_type(question) or _defined(question):
        return None
    beside = [term for term in about.terms if term not in named_terms(question)]
    return has_answer_type_near(question, quote, all_variants(beside))


def _without_kind(question: str, lead: Sequence[SourceQuote]) -> bool:
    """Tell whether no quote has the kind of thing asked for; a place must also stand near."""
    return asks_where(question) or not any(has_answer_type(question, one.text) for one in lead)


def _lost(question: str, about: Topic, shown: str) -> float:
    """Return the weight of the most telling word that is nowhere in a text.

    What names the kind of thing asked for need not be there: "in which city".
    """
    if detect_language(question) == "zh":
        if any(not re.search(rf"(?<!\d){number}", shown) for number in _ORDINAL.findall(question)):
            return 1.0
        parts = [part for part in key_phrase(question, ALL_WORDS).split() if len(part) > 1]
        return max((_apart(part, shown) for part in parts), default=0.0)
    found, apart = stated_words(question, shown), named_terms(question).union(_called(question))
    lost = [term for term in about.terms if term not in apart and not has_variant(term, found)]
    return min(1.0, max((about.terms[term] for term in lost), default=0.0))


def _called(question: str) -> list[str]:
    """Return the words by which a question calls what it asks for: "which club"."""
    return search_words("".join(_PATTERNS.called.findall(strip_request_phrases(question))[:1]))


def _unclassed(question: str, quote: str) -> float:
    called, said = _called(question), search_words(quote)
    if not called or asks_answer_type(question):
        return 0.0
    return float(not any(has_variant(one, said) for one in called))


def _apart(part: str, shown: str) -> float:
    """Return how much of a phrase is left beside its longest piece that a text has."""
    found = SequenceMatcher(None, part, shown, autojunk=False).find_longest_match()
    return 1.0 - found.size / len(part)


def _unnamed(question: str, shown: str) -> float:
    spelt = extract_names(question)
    return sum(not _stands(name, shown) for name in spelt) / len(spelt) if spelt else 0.0


def _stands(name: str, text: str) -> bool:
    """Tell whether a text has a name: whole, and one of several words in no longer name."""
    spelt = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", name)))
    longer = r"(?! [A-Z][a-z])" if " " in name else r"(?:e?s)?"
    return bool(re.search(rf"(?<![^\W_])(?i:{spelt}){longer}(?![^\W_])", text))


def _subject(question: str, text: str) -> float:
    """Tell whether a title or the opening of a quote has a name of the question whole.

    Of a question without names it is any of its terms.
    """
    spelt = extract_names(question)
    if spelt:
        return float(any(_stands(name, text) for name in spelt))
    return float(not extract_topic(question).terms.keys().isdisjoint(search_words(text)))


class ConfidenceModel(NamedTuple):
    """A fitted logistic regression, and from which likelihood on quotes are called an answer."""

    bias: float
    weights: AnswerFeatures
    threshold: float


@cache
def load_confidence_models() -> dict[str, ConfidenceModel]:
    """Return the fitted models of `confidence_models.toml` by language."""
    tables = read_packaged_toml("models.extractive", "confidence_models.toml")
    return {
        language: ConfidenceModel(one["bias"], AnswerFeatures(**one["weights"]), one["threshold"])
        for language, one in tables.items()
    }


def answer_likelihood(seen: AnswerFeatures, tongue: str) -> float:
    """Return how likely it is that quotes with such signs answer, in 0..1."""
    if seen.disqualified:
        return 0.0
    fitted = load_confidence_models()[tongue]
    total = fitted.bias + sum(a * b for a, b in zip(fitted.weights, seen, strict=True))
    return 1.0 / (1.0 + math.exp(-total))


def is_confident_answer(
    question: str, pages: Sequence[SourcePassage], quotes: Sequence[SourceQuote], lead: int
) -> bool:
    """Tell whether the first `lead` quotes are as likely an answer as it takes to be called one.

    Where a list is asked for, a whole one that is about all of the question is an answer.
    """
    if quotes[0].items and asks_list(question):
        return is_complete_list_answer(question, quotes[0], pages)
    tongue = detect_language(question)
    features = extract_answer_features(question, pages, quotes, lead)
    return answer_likelihood(features, tongue) >= load_confidence_models()[tongue].threshold


def list_missing_words(question: str, quotes: Sequence[SourceQuote]) -> list[str]:
    """Return the words of a question that no quote has, as they are spelt there."""
    said = search_words("\n".join(f"{one.section}\n{one.text}" for one in quotes))
    lost = [term for term in key_terms(question) if not has_variant(term, said)]
    return spell_terms(question, lost)
