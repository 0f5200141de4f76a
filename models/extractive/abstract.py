"""Say in a few sentences of a text what it is about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from models.extractive.source_code import described, is_code
from retrieval.boilerplate import boilerplate
from retrieval.common import weight
from retrieval.keyword import one_by_one
from retrieval.regex import regex
from retrieval.text import heading, language, sentences
from retrieval.words import terms

if TYPE_CHECKING:
    from models.extractive.blocks import Prompt

_DIGITS = regex(r"\d+")

LONGEST = {"en": 300, "zh": 150}
"""The longest abstract, in characters."""

LOOKED_AT = 12_000
"""How many characters of a text are looked at."""

REFRAIN = 0.2
"""A word in a greater share of the sentences than this does not tell them apart,"""

FEW = 8
"""unless it is in so few of them at all."""

MOST = 20
"""Of so many sentences some are chosen."""

FIRST = 0.5
"""How much more the first sentence is worth; the second half of that, and so on."""


def abstract_of(text: str, beside: Sequence[str] = ()) -> str:
    """Return the sentences with the words that matter most in a text, in its order.

    What stands in a text `beside` it as well, such as the header of every page of a document, does
    not tell them apart, and is left out where there is anything else.

    A sentence scores by the frequency of its words in the text, as in SumBasic (Nenkova and
    Vanderwende 2005), less for words found in any text, more near the beginning; the choice is
    spread by maximal marginal relevance.
    """
    text = text[:LOOKED_AT].strip()
    text = (described(text) if is_code(text) else "") or text
    text = _own(text, beside) if beside else text
    most = LONGEST[language(text)]
    short = [span.text for span in sentences(text) if span.end - span.start <= most]
    told = [one for one in short if not heading(one)]
    said = [one for one in told if not boilerplate(one)] or told
    bags = _without_refrain([terms(one) for one in said])
    counts = Counter(word for bag in bags for word in bag)
    worth = {word: weight(word) * math.log1p(times) for word, times in counts.items()}
    scores = [
        (at, _worth(bag, worth) * (1 + FIRST / (1 + at))) for at, bag in enumerate(bags) if bag
    ]
    best = sorted(scores, key=lambda one: -one[1])[:MOST]
    chosen = _fitting(best, said, most)
    return " ".join(said[at] for at in sorted(chosen)) or text[:most]


def _own(text: str, beside: Sequence[str]) -> str:
    """Return the lines and sentences of a text that are in none beside it, or else all of it."""
    others = [" ".join(one[:LOOKED_AT].split()) for one in beside]
    lines = {_folded(line) for one in beside for line in one[:LOOKED_AT].split("\n")} - {""}
    own = "\n".join(line for line in text.split("\n") if _folded(line) not in lines)
    repeated = (
        span for span in sentences(own) if any(" ".join(span.text.split()) in one for one in others)
    )
    for span in reversed([*repeated]):
        own = own[: span.start] + own[span.end :]
    said = own.strip()
    return said if any(not heading(span.text) for span in sentences(said)) else text


def _folded(line: str) -> str:
    """Return a line as it is compared: no number tells one header of a page from the next."""
    return _DIGITS.sub("0", " ".join(line.split()).casefold())


def _fitting(best: Sequence[tuple[int, float]], said: Sequence[str], most: int) -> list[int]:
    """Return the places of good sentences, unlike each other and not too long together."""
    shortest = min((len(said[at]) for at, _ in best), default=0)
    chosen: list[int] = []
    room = most
    for at, _ in one_by_one(best, said):
        if len(said[at]) <= room:
            chosen.append(at)
            room -= len(said[at]) + 1
            if room < shortest:
                break
    return chosen


def abstract(prompt: Prompt) -> dict[str, Any]:
    """Return the abstract of the page that is shown."""
    return {"abstract": abstract_of(prompt.pages[0].text if prompt.pages else "")}


def _without_refrain(bags: list[list[str]]) -> list[list[str]]:
    """Leave out words that stand in every few sentences, as the speakers of a dialogue do."""
    counts = Counter(word for bag in bags for word in bag)
    most = max(REFRAIN * len(bags), FEW)
    return [[word for word in bag if counts[word] <= most] for bag in bags]


def _worth(bag: list[str], worth: Mapping[str, float]) -> float:
    return sum(worth[word] for word in bag) / math.sqrt(len(bag) + 2)
