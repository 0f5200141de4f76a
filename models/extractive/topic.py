"""What a question is about: its terms, what each weighs, and how much of them a text has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from models.extractive.asking import bare
from retrieval.common import LEAST, weight
from retrieval.regex import regex
from retrieval.script import language
from retrieval.words import phrases, terms

NAMED = 2.0
"""How much more a name, a number or quoted words say than another term."""

_NAMED = regex(
    r"(?<![A-Za-z])[A-Z][a-zA-Z0-9'’-]*|\d[\d.,:/-]*\d"
    r"|《([^《》]+)》|「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\""
)
_NAME = regex(
    r"(?<![A-Za-z.])[A-Z][\w'’.-]*\b(?:(?: (?:of|the|de|van|von|&))* [A-Z0-9][\w'’.-]*\b)*"
    r"|《([^《》]+)》|「([^「」]+)」|『([^『』]+)』|“([^“”]+)”|\"([^\"]+)\""
)
_BOUND = regex(
    r"\b(?:than|over|under|above|below|at least|at most|exceed(?:s|ing)?) +[$€£]?(\d[\d.,]*)"
    r"|(?:超[过過]|多[于於]|少[于於]|高[于於]|低[于於]|大[于於]|小[于於]|不到) *(\d[\d.,]*)",
    re.IGNORECASE,
)
STREWN = 0.5
"""What a name of several words loses where its words do not stand together."""

_LIGHT = frozenset(
    re.findall(
        r"\w+",
        "allow bring come exist get go kind make often possibl put requir sort take thing type"
        " use way",
    )
)
"""Stems of words that a question needs for its grammar more than for its topic."""

_LATIN = regex(r"(?=.*[a-z])[a-z0-9][a-z0-9._+#-]+")

_TASK = regex(
    r"\b(?:(?:my|our|your|the|any|that|this) )*(?:earlier|previous|prior|past|last)"
    r" (?:research(?:es)?|reports?|runs?|work|findings?|results?)"
    r"(?: (?:find|found|say|said|show|shown|conclude|concluded))?\b"
    r"|\b(?:overview|background|introduction|summar(?:y|i[sz]e|ies)|reports?|research|investigat\w+"
    r"|compar(?:e|es|ed|ing|isons?)|analy[sz](?:e|es|ing|is)|discuss(?:ion)?|evaluat(?:e|es|ing)"
    r"|assess(?:ment)?|review|outline|elaborate|provide|write|draft|conduct"
    r"|(?:dis)?agree(?:s|d|ments?)?|contradict(?:s|ed|ions?)?|differ(?:s|ed|ent|ences?)?"
    r"|(?:(?:the|these|those|both|two|three|my|our|all|several) )+"
    r"(?:papers?|articles?|documents?|sources?|authors?|files?|texts?|notes))\b"
    r"|[这這那]?[两兩这這那几幾各][篇个個些份](?:[论論]文|文章|文[档檔件]|[资資]料)|分歧"
    r"|(?:收集整理|整理|收集|研究)一?下|收集整理|整理|收集|[調调]研|分析|[評评]估|[撰編编]?[寫写]一[份篇]|[報报][告]|[對对]比|比[較较]|介[紹绍]"
    r"|[總总][結结]|概述|[說说]明|解[釋释]|[詳详][細细]|列[舉举]|相[關关][資资]料",
    re.IGNORECASE,
)


class Topic(NamedTuple):
    """Terms and adjacent pairs of terms, each with its weight."""

    terms: dict[str, float]
    pairs: dict[tuple[str, str], float]
    names: Sequence[Sequence[str]] = ()
    """The terms of each name of several words."""

    @property
    def whole(self) -> float:
        """The weight of all terms together."""
        return sum(self.terms.values())


def topic(*texts: str) -> Topic:
    """Return what the texts are about; each text weighs half of the one before it."""
    weights: dict[str, float] = {}
    pairs: dict[tuple[str, str], float] = {}
    for number, text in enumerate(texts):
        found = key_terms(text)
        own, parts = named(text), _parts(found) | _bounds(text)
        for term in found:
            little = term in parts or (term in _LIGHT and term not in own)
            part = (LEAST if little else weight(term)) * (NAMED if term in own else 1.0)
            weights.setdefault(term, part * 0.5**number)
        if number == 0:
            pairs = {pair: weights[pair[0]] + weights[pair[1]] for pair in pairwise(found)}
    whole = [terms(name) for name in names(texts[0])] if texts else []
    joint = [name for name in whole if 1 < len(name) < 4 and set(name) <= weights.keys()]
    return Topic(weights, pairs, [name for name in joint if " ".join(name).isascii()])


def across(question: str) -> Topic:
    """Return what a text in another language has too of a question: names and technical terms.

    In a Chinese question that is what stands in Latin letters.
    """
    about, own = topic(question), named(question)
    latin = {term: part for term, part in about.terms.items() if _LATIN.fullmatch(term)}
    chinese = language(question) == "zh"
    kept = {term: part for term, part in latin.items() if chinese or term in own}
    pairs = {pair: part for pair, part in about.pairs.items() if kept.keys() >= {*pair}}
    return Topic(kept, pairs, [name for name in about.names if kept.keys() >= {*name}])


def key_terms(text: str) -> list[str]:
    """Return the terms of a question or a title without words for the work itself."""
    return terms(_TASK.sub(" ", bare(text))) or terms(text)


def key_phrase(text: str, most: int = 8) -> str:
    """Return the words of a question that name its topic, as they are spelt there, for a search."""
    found = phrases(_TASK.sub(" ", bare(text))) or phrases(text)
    if len(found) > most:
        own = named(text)
        worth = {one: _worth(one, at / len(found), own) for at, one in enumerate(found)}
        best = set(sorted(found, key=worth.__getitem__)[-most:])
        found = [one for one in found if one in best]
    return " ".join(found)


def _worth(phrase: str, place: float, own: set[str]) -> float:
    """Return what a phrase says about a question; what stands early in it (0..1) says more.

    `own` has the terms of the names in the question.
    """
    said = set(terms(phrase))
    more = NAMED if said & own else 1.0
    return max(map(weight, said), default=0.0) * more * (1 - place / 2)


def named(text: str) -> set[str]:
    """Return the terms of names, numbers and quoted words."""
    return {term for name in _NAMED.finditer(text) for term in terms(name[0])} - _bounds(text)


def _bounds(text: str) -> set[str]:
    """Return the numbers that a question compares with; what answers it need not name them."""
    bounds = (next(filter(None, match.groups())) for match in _BOUND.finditer(text))
    return {term for bound in bounds for term in terms(bound)}


def names(text: str) -> list[str]:
    """Return the names and quoted words of a question, as they are spelt there, each once."""
    found = (
        next(filter(None, match.groups()), "") or _named_only(match[0].split(" "))
        for match in _NAME.finditer(text)
    )
    return [name for name in dict.fromkeys(found) if terms(name)]


def _named_only(spelt: list[str]) -> str:
    """Return a name without the words before it that only begin a sentence."""
    while spelt and not terms(spelt[0]):
        spelt = spelt[1:]
    return " ".join(spelt)


def share(topic: Topic, text: Sequence[str]) -> float:
    """Return how much of a topic the words of a text cover, in 0..1.5.

    The weighted share of the terms, and half of the weighted share of the pairs of terms that
    also stand together in the text (with at most one word between): a shared phrase says more
    than its words strewn over a paragraph. Of a name that is strewn only half counts.
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
    alone = covered / topic.whole if topic.whole else 0.0
    phrases = together / sum(topic.pairs.values()) if topic.pairs else alone
    return alone + phrases / 2


def _parts(found: Sequence[str]) -> set[str]:
    """Return the terms that are only parts of others: the year of a date, the "6" of "H6"."""
    dates = [term for term in found if re.search(r"\d[,:/-]\d", term)]
    codes = [term for term in found if re.fullmatch(r"[a-z]\d+|\d+[a-z]", term)]
    parts = {part for term in dates for part in re.split(r"[,:/-]", term)}
    return parts | {part for term in codes for part in re.findall(r"[a-z]|\d+", term)}
