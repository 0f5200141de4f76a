"""Tell how likely it is that the first quotes of a finding answer what was asked."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from models.extractive.asking import bare
from models.extractive.blocks import Page, Quote
from models.extractive.candidates import document
from models.extractive.kinds import asks_list, asks_meaning, holds
from models.extractive.lists import answers_whole
from models.extractive.meaning import defines, thing
from models.extractive.topic import Topic, key_phrase, key_terms, named, names, topic
from retrieval.common import LEAST
from retrieval.text import language, sentences
from retrieval.words import words

STEM = 6
"""English words that begin with so many equal letters are forms of one: director, directed."""

OPENING = 6
"""The subject of a sentence is among so many words at its beginning."""

NEW = 12
"""A quote of so many words that the question has not says enough that is new."""

COMMON_TERMS = 12
"""The logarithm of this many terms counts as 1."""

_POSSESSIVE = re.compile(
    r"['’]s\b.*['’]s\b|\bof the\b.*\bof\b|\b(?:whose|which .* that)\b|的.+的.+的", re.IGNORECASE
)


_WAY = re.compile(
    r"^\W*(?:explain |describe |show )?how "
    r"(?!many|much|long|far|tall|high|big|large|often|fast|heavy|deep|wide|old)|如何|怎[么麼样樣]",
    re.IGNORECASE,
)
"""What asks for a way of doing something, which one sentence seldom tells whole."""


class Signs(NamedTuple):
    """What speaks for quotes being the answer, and against it, each in 0..1."""

    near: float
    """The share of the question's terms in the first quote, its title and the sentences around."""
    told: float
    """The share of the terms that are no names in the quotes themselves."""
    ahead: float
    """How much more of the terms the first quote has than the best quote of another source."""
    subject: float
    """Whether a name of the question opens the quote or stands in the title of its page."""
    terms: float
    """How many terms the question has, as a logarithm: to cover many by chance is rare."""
    new: float
    """How much the quotes say that the question does not."""
    undefined: float
    """Whether it is asked what something is, and the quotes do not say so."""
    nested: float
    """Whether one thing is asked of another that has to be found first."""
    missing: float
    """Whether a word that matters, a name or the kind of thing asked for is nowhere in them."""


class Weights(NamedTuple):
    """A fitted logistic regression, and from which likelihood on quotes are called an answer."""

    bias: float
    signs: Signs
    least: float


_SIGNS = Signs(2.12, 2.49, 1.41, 2.57, 1.92, 0.86, -0.03, 0.17, 0.0)

WEIGHTS = {"en": Weights(-7.27, _SIGNS, 0.85), "zh": Weights(-7.99, _SIGNS, 0.9)}
"""By language; `python -m evals.calibration --fit` fits them and shows the curve."""

DEFINED = 0.3
"""Where it is asked what a thing is, quotes that say so less well (`meaning.py`) are no answer."""


def signs(question: str, pages: Sequence[Page], quotes: Sequence[Quote], lead: int) -> Signs:
    """Return what speaks for the first `lead` of some quotes being the answer."""
    about, first = topic(question), quotes[0]
    page = next((one for one in pages if one.id == first.source and first.text in one.text), None)
    title, text = (document(page.title), page.text) if page else ("", first.text)
    said = words("\n".join(one.text for one in quotes[:lead]))
    head = words(f"{title}\n{first.under}")
    near = {*head, *words(first.text), *words(_beside(first.text, text))}
    asked = thing(question)
    others = (_share(about.terms, words(one.text)) for one in quotes if one.source != first.source)
    ahead = _share(about.terms, [*words(first.text), *head]) - max(others, default=0.0)
    defined = max(defines(asked, one.text, title) for one in quotes[:lead]) if asked else 1.0
    return Signs(
        near=_share(about.terms, near),
        told=_told(question, about, said),
        ahead=max(ahead, 0.0),
        subject=_subject(question, title, first.text),
        terms=min(1.0, math.log(max(len(about.terms), 1)) / math.log(COMMON_TERMS)),
        new=min(1.0, len({*said} - about.terms.keys()) / NEW),
        undefined=1.0 - defined,
        nested=float(bool(_POSSESSIVE.search(question))),
        missing=float(
            bool(_WAY.search(bare(question)))
            or (asks_meaning(question) and defined < DEFINED)
            or _lost(question, about, f"{title}\n{first.under}\n{first.text}", first.text)
        ),
    )


def likelihood(seen: Signs, tongue: str) -> float:
    """Return how likely it is that quotes with such signs answer, in 0..1."""
    if seen.missing:
        return 0.0
    fitted = WEIGHTS[tongue]
    total = fitted.bias + sum(a * b for a, b in zip(fitted.signs, seen, strict=True))
    return 1.0 / (1.0 + math.exp(-total))


def answered(question: str, pages: Sequence[Page], quotes: Sequence[Quote], lead: int) -> bool:
    """Tell whether the first `lead` quotes are as likely an answer as it takes to be called one.

    Where a list is asked for, a whole one that is about all of the question is an answer.
    """
    if quotes[0].items and asks_list(question):
        return answers_whole(question, quotes[0], pages)
    tongue = language(question)
    return likelihood(signs(question, pages, quotes, lead), tongue) >= WEIGHTS[tongue].least


def missing(question: str, quotes: Sequence[Quote]) -> list[str]:
    """Return the words of a question that no quote has, as they are spelt there."""
    said = words("\n".join(f"{one.under}\n{one.text}" for one in quotes))
    lost = {term for term in key_terms(question) if not _among(term, said)}
    return [word for word in key_phrase(question, 99).split() if lost & set(key_terms(word))]


def _beside(quote: str, text: str) -> str:
    """Return the sentence before a quote and the one after it."""
    before, _, after = text.partition(quote)
    beside = [*list(sentences(before))[-1:], *list(sentences(after))[:1]]
    return "\n".join(one.text for one in beside)


def _share(weights: Mapping[str, float], found: Iterable[str]) -> float:
    there, whole = set(found), sum(weights.values())
    return sum(part for term, part in weights.items() if term in there) / whole if whole else 1.0


def _told(question: str, about: Topic, said: Sequence[str]) -> float:
    known = named(question)
    rest = {term: part for term, part in about.terms.items() if term not in known}
    return _share(rest, [term for term in rest if _among(term, said)])


def _lost(question: str, about: Topic, shown: str, quote: str) -> bool:
    """Tell whether something is nowhere in a quote and what stands above it that must be.

    That is the kind of thing asked for, near to what is said of it, and in English every word that
    says something, and every name, whole and not as a part of a longer one. Chinese is compared in
    pairs of characters, and some of them lie across two words.
    """
    if not holds(question, quote, [term for term in about.terms if term not in named(question)]):
        return True
    if language(question) == "zh":
        return False
    found = words(shown)
    telling = (term for term, part in about.terms.items() if part > LEAST)
    return not (
        all(_among(term, found) for term in telling)
        and all(_stands(name, shown) for name in names(question))
    )


def _stands(name: str, text: str) -> bool:
    """Tell whether a text has a name: whole, and one of several words in no longer name."""
    spelt = r"[\W_]+".join(map(re.escape, re.findall(r"[^\W_]+", name)))
    longer = r"(?! [A-Z][a-z])" if " " in name else r"(?:e?s)?"
    return bool(re.search(rf"(?<![^\W_])(?i:{spelt}){longer}(?![^\W_])", text))


def _among(term: str, found: Collection[str]) -> bool:
    """Tell whether a term or, in English, another form of the word is among some words."""
    if term in found:
        return True
    stem = term[:STEM] if term.isascii() and term.isalpha() else ""
    return len(stem) == STEM and any(one.startswith(stem) for one in found)


def _subject(question: str, title: str, quote: str) -> float:
    asked = [words(name) for name in names(question)] or [[one] for one in topic(question).terms]
    head = f" {' '.join(words(title))} "
    opening = f" {' '.join(words(quote)[:OPENING])} "
    spelt = [f" {' '.join(one)} " for one in asked if one]
    return float(any(one in head or one in opening for one in spelt))
