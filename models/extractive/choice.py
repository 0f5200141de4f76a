"""Choose the quotes of the findings that answer the question, and those that back the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from models.extractive.blocks import Quote
from models.extractive.kinds import answers, asks_list, asks_why_too, gives_cause
from models.extractive.meaning import defines, thing
from models.extractive.questions import is_part, is_simple, sides
from models.extractive.scores import KIND
from models.extractive.titles import titled
from models.extractive.topic import Topic, share, topic
from retrieval.words import words

IN_ANSWER = 2
"""How many quotes the opening paragraph has at most, if no documents are set side by side."""

EARLY = 0.3
"""What it is worth to stand first in a finding; later quotes get a half, a third, …"""

SECOND = 0.5
"""A second quote is in the answer if it is worth this part of the first."""

ALIKE = 0.75
"""A second quote is in the answer to a simple question if it is worth this part of the first."""

LISTED = 1.0
"""What a whole list is worth where one is asked for."""

WEAK = 0.5
"""A quote of a section is left out if it is worth less than this part of the best one."""

SAME = 0.8
"""A quote that shares so many of its words with another one (Jaccard) is not shown beside it."""

Section = tuple[str, list[Quote]]
"""The title of a step and its quotes."""


def answer(question: str, sections: Sequence[Section], titles: Mapping[str, str]) -> list[Quote]:
    """Return the quotes that answer a question.

    The first one of each document, if `titles` sets documents against each other; of each
    sub-question or side of a comparison; or else the best of all.
    """
    return _each(sections, titles) or _of_parts(question, sections) or _best(question, sections)


def backing(title: str, question: str, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes of a section without those that are far below its best."""
    wanted = title if is_part(title, question) else f"{title} {question}"
    about = topic(wanted)
    worth = [_fit(about, wanted, quote) for quote in quotes]
    return [quote for quote, one in zip(quotes, worth, strict=True) if one >= WEAK * max(worth)]


def new(quotes: Iterable[Quote], shown: Sequence[Quote]) -> list[Quote]:
    """Return the quotes that say something no quote that is shown, or comes before, says."""
    left: list[Quote] = []
    for quote in quotes:
        others = (part for other in [*shown, *left] for part in other.parts)
        if not any(_repeats(quote.text, other) for other in others):
            left.append(quote)
    return left


def _each(sections: Sequence[Section], titles: Mapping[str, str]) -> list[Quote]:
    """Return the first quote of each document, if there are several."""
    first: dict[str, Quote] = {}
    for _, quotes in sections:
        for quote in quotes:
            if quote.source in titles:
                first.setdefault(titles[quote.source], quote)
    return list(first.values()) if len(first) > 1 else []


def _of_parts(question: str, sections: Sequence[Section]) -> list[Quote]:
    """Return the best quote of each sub-question, or of each side of a comparison."""
    compared = sides(question)
    names = tuple(titled(name) for name in compared.names) if compared else ()
    parts = [
        quotes
        for title, quotes in sections
        if (title.startswith(names) if names else is_part(title, question))
    ]
    return list(dict.fromkeys(quotes[0] for quotes in parts)) if len(parts) > 1 else []


def _best(question: str, sections: Sequence[Section]) -> list[Quote]:
    """Return the quotes that answer the whole question best, no two of one step if it has more.

    The quotes of a single step are in the order of their worth already.
    """
    about = topic(question)
    scored = [
        (_fit(about, question, quote) + EARLY / (at + 1), -step, quote)
        for step, (_, quotes) in enumerate(sections)
        for at, quote in enumerate(quotes)
    ]
    ranked = sorted(scored, reverse=True) if len(sections) > 1 else scored
    first = ranked[0]
    if first[2].items and asks_list(question):
        return [first[2]]
    others = [one for one in ranked if one[1] != first[1]] or ranked[1:]
    others = [one for one in others if not _repeats(one[2].text, first[2].text)]
    least = ALIKE if len(sections) == 1 and is_simple(question) else SECOND
    good = [one for one in others if one[0] > least * first[0]]
    if asks_why_too(question):
        good = [one for one in ranked[1:] if gives_cause(one[2].text)] or good
    asked = thing(question)
    if asked and len(sections) == 1:
        good = [one for one in good if defines(asked, one[2].text, "") > SECOND]
    return [one[2] for one in [first, *good][:IN_ANSWER]]


def _repeats(one: str, other: str) -> bool:
    """Tell whether one text is a part of the other, or has almost the same words."""
    if one in other or other in one:
        return True
    here, there = set(words(one)), set(words(other))
    return len(here & there) >= SAME * len(here | there)


def _fit(about: Topic, question: str, quote: Quote) -> float:
    whole = LISTED if quote.items and asks_list(question) else 0.0
    return share(about, words(quote.text)) + KIND * answers(question, quote.text) + whole
