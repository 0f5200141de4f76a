"""Tell how likely it is that the first quotes of a finding answer what was asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from models.extractive.blocks import Page, Quote
from models.extractive.kinds import asks_list
from models.extractive.lists import answers_whole
from models.extractive.signs import MANY, Signs, signs
from models.extractive.topic import key_phrase, key_terms
from models.extractive.wording import among
from retrieval.text import language
from retrieval.words import words


class Weights(NamedTuple):
    """A fitted logistic regression, and from which likelihood on quotes are called an answer."""

    bias: float
    signs: Signs
    least: float


WEIGHTS = {
    "en": Weights(
        -4.14,
        Signs(
            near=1.59,
            told=1.09,
            ahead=1.58,
            subject=1.43,
            terms=1.16,
            defined=0.78,
            undefined=-0.18,
            typed=0.24,
            untyped=-0.76,
            lost=-1.23,
            unnamed=0.56,
            opens=0.79,
            unclassed=-0.74,
            elsewhere=-0.44,
            denied=-0.39,
            limited=-0.28,
            hanging=-0.22,
            long=-0.64,
            broken=-1.01,
            together=0.65,
            disqualified=0.0,
        ),
        0.8,
    ),
    "zh": Weights(
        -4.48,
        Signs(
            near=2.59,
            told=1.62,
            ahead=2.96,
            subject=0.08,
            terms=2.05,
            defined=0.26,
            undefined=0.05,
            typed=0.03,
            untyped=-0.37,
            lost=0.48,
            unnamed=0.74,
            opens=-0.71,
            unclassed=0.0,
            elsewhere=0.7,
            denied=-0.47,
            limited=-0.39,
            hanging=0.03,
            long=0.19,
            broken=-0.46,
            together=0.0,
            disqualified=0.0,
        ),
        0.85,
    ),
}
"""By language; `python -m evals.calibration --fit` fits them and shows the curve.

The threshold of English is chosen by hand (ADR 20).
"""


def likelihood(seen: Signs, tongue: str) -> float:
    """Return how likely it is that quotes with such signs answer, in 0..1."""
    if seen.disqualified:
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
    lost = {term for term in key_terms(question) if not among(term, said)}
    return [word for word in key_phrase(question, MANY).split() if lost & set(key_terms(word))]
