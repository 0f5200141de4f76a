"""Extract the topic of a question: its weighted terms and names. Rate how a text covers it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from text.pattern_files import PatternFile
from text.script import detect_language
from text.words import LEAST_WEIGHT, query_terms, spelled_query_terms, word_weight

_PATTERNS = PatternFile("text", "topics.toml")

Term = TypeVar("Term")


def is_generative_request(question: str) -> bool:
    """Tell whether a question asks for what no quote can give: a poem, a translation, a sum."""
    return bool(_PATTERNS.generative.search(strip_request_phrases(question)))


def strip_format_requests(question: str) -> str:
    """Return a question without requests about the language, form or length of the answer.

    A question that is nothing else is returned unchanged.
    """
    text = question.strip()
    while (shorter := _PATTERNS.manner.sub("", text, count=1).strip()) != text and re.search(
        r"\w\w", shorter
    ):
        text = shorter
    return text


@lru_cache(maxsize=1024)
def strip_request_phrases(question: str) -> str:
    """Return a question without the words around it: "Please tell me what X is" is "what X is".

    A question that is nothing else is returned unchanged.
    """
    text = strip_format_requests(question)
    while (shorter := _PATTERNS.polite.sub("", text, count=1)) != text and re.search(
        r"\w\w", shorter
    ):
        text = shorter
    return text


NAME_TERM_WEIGHT = 2.0
"""How much more a name, a number or quoted words weigh than another term."""

STREWN = 0.5
"""The share of its weight that a name loses if its words are apart."""

ALL_WORDS = 99
"""No question has so many words."""


class Topic(NamedTuple):
    """Terms and adjacent pairs of terms, each with its weight."""

    terms: dict[str, float]
    pairs: dict[tuple[str, str], float]
    names: Sequence[Sequence[str]] = ()
    """The terms of each name of several words."""

    @property
    def total_weight(self) -> float:
        """The weight of all terms together."""
        return sum(self.terms.values())


def extract_topic(*texts: str) -> Topic:
    """Return what the texts are about; each text weighs half of the one before it."""
    weights: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    light = _PATTERNS.get_words("light")
    for number, text in enumerate(texts):
        terms = key_terms(text)
        named, parts = named_terms(text), _parts(terms) | _bounds(text)
        for term in terms:
            is_light = term in parts or (term in light and term not in named)
            weight = LEAST_WEIGHT if is_light else word_weight(term)
            weight *= NAME_TERM_WEIGHT if term in named else 1.0
            weights.setdefault(term, weight * 0.5**number)
        if number == 0:
            pairs = {pair: weights[pair[0]] + weights[pair[1]] for pair in pairwise(terms)}
    names = [query_terms(name) for name in extract_names(texts[0])] if texts else []
    joint = [name for name in names if 1 < len(name) < 4 and set(name) <= weights.keys()]
    return Topic(weights, pairs, [name for name in joint if " ".join(name).isascii()])


def extract_cross_language_topic(question: str) -> Topic:
    """Return the part of a topic that a text in another language shares: names, technical terms.

    In a Chinese question those are the terms in Latin letters.
    """
    topic, named = extract_topic(question), named_terms(question)
    chinese = detect_language(question) == "zh"
    terms = {
        term: weight
        for term, weight in topic.terms.items()
        if _PATTERNS.latin.fullmatch(term) and (chinese or term in named)
    }
    pairs = {pair: weight for pair, weight in topic.pairs.items() if terms.keys() >= {*pair}}
    return Topic(terms, pairs, [name for name in topic.names if terms.keys() >= {*name}])


def key_terms(text: str) -> list[str]:
    """Return the terms of a question or a title without words for the task."""
    return query_terms(_PATTERNS.task.sub(" ", strip_request_phrases(text))) or query_terms(text)


def key_phrase(text: str, most: int = 8) -> str:
    """Return the words of a question that name its topic, as they are spelt there, for a search."""
    found = spelled_query_terms(
        _PATTERNS.task.sub(" ", strip_request_phrases(text))
    ) or spelled_query_terms(text)
    if len(found) > most:
        own = named_terms(text)
        worth = {one: _worth(one, at / len(found), own) for at, one in enumerate(found)}
        best = set(sorted(found, key=worth.__getitem__)[-most:])
        found = [one for one in found if one in best]
    return " ".join(found)


def spell_terms(text: str, terms: Collection[str]) -> list[str]:
    """Return the words of a question that hold some of its terms, as they are spelt there."""
    words = key_phrase(text, ALL_WORDS).split()
    return [word for word in words if not set(key_terms(word)).isdisjoint(terms)]


def _worth(phrase: str, place: float, own: set[str]) -> float:
    """Return how much a phrase says about a question; more if its place (0..1) is early.

    `own` has the terms of the names in the question.
    """
    terms = set(query_terms(phrase))
    factor = NAME_TERM_WEIGHT if terms & own else 1.0
    return max(map(word_weight, terms), default=0.0) * factor * (1 - place / 2)


def named_terms(text: str) -> set[str]:
    """Return the terms of names, numbers and quoted words."""
    names = _PATTERNS.name_or_number.finditer(text)
    return {term for name in names for term in query_terms(name[0])} - _bounds(text)


def _bounds(text: str) -> set[str]:
    """Return the numbers that a question compares with; an answer need not contain them."""
    bounds = (next(filter(None, match.groups())) for match in _PATTERNS.bound.finditer(text))
    return {term for bound in bounds for term in query_terms(bound)}


def extract_names(text: str) -> list[str]:
    """Return the names and quoted words of a question, as they are spelt there, each once."""
    found = (
        next(filter(None, match.groups()), "") or _named_only(match[0].split(" "))
        for match in _PATTERNS.name.finditer(text)
    )
    return [name for name in dict.fromkeys(found) if query_terms(name)]


def _named_only(words: list[str]) -> str:
    """Return a name without the words before it that only begin a sentence."""
    while words and not query_terms(words[0]):
        words = words[1:]
    return " ".join(words)


def topic_coverage(topic: Topic, text: Sequence[str]) -> float:
    """Return how much of a topic the words of a text cover, in 0..1.5.

    The weighted share of the terms, and half of the weighted share of the pairs of terms that
    are also adjacent in the text (with at most one word between): a shared phrase says more than
    its words strewn over a paragraph. A name that is strewn counts half.
    """
    there = set(text)
    covered = sum(part for term, part in topic.terms.items() if term in there)
    near = {*pairwise(text), *zip(text, text[2:], strict=False)}
    covered -= STREWN * sum(
        topic.terms[term]
        for name in topic.names
        if there.issuperset(name) and not near.issuperset(pairwise(name))
        for term in name
    )
    together = sum(part for pair, part in topic.pairs.items() if pair in near)
    alone = covered / topic.total_weight if topic.total_weight else 0.0
    phrases = together / sum(topic.pairs.values()) if topic.pairs else alone
    return alone + phrases / 2


def weight_share(weights: Mapping[Term, float], found: Iterable[Term]) -> float:
    """Return the share of all weights that some terms have, in 0..1; 1 if there are none."""
    there, whole = set(found), sum(weights.values())
    return sum(part for term, part in weights.items() if term in there) / whole if whole else 1.0


def _parts(found: Sequence[str]) -> set[str]:
    """Return the terms that are only parts of others: the year of a date, the "6" of "H6"."""
    dates = [term for term in found if re.search(r"\d[,:/-]\d", term)]
    codes = [term for term in found if re.fullmatch(r"[a-z]\d+|\d+[a-z]", term)]
    parts = {part for term in dates for part in re.split(r"[,:/-]", term)}
    return parts | {part for term in codes for part in re.findall(r"[a-z]|\d+", term)}
