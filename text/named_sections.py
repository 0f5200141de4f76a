"""Find the sections of texts whose headings are terms of a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from text.literal_terms import contains_term, find_literal_terms
from text.regex import regex
from text.sentences import Span
from text.text_blocks import Heading, find_headings

INSIDE = 0.5
"""The worth of a heading that contains a term behind other words; one that begins with it has 1."""

_NUMBERING = regex(r"(?i)(?:[\W_]|\d+(?:\.\d+)*\.?\s|(?:the|a|an)\s)*")


class TitledSpan(NamedTuple):
    """A piece of a text, and the title of the text's section."""

    text: str
    span: Span
    title: str = ""


def score_named_sections(query: str, pieces: Sequence[TitledSpan]) -> list[float]:
    """Return how well the section of each piece is named by a literal term of a query, in 0..1.

    A term that names the sections of many of the pieces counts less, by their share.
    """
    names = [_list_names(piece) for piece in pieces]
    best = [0.0] * len(pieces)
    for term in find_literal_terms(query):
        fits = [max((_fit(name, term) for name in some), default=0.0) for some in names]
        rarity = 1 - sum(fit > 0 for fit in fits) / max(len(fits), 1)
        best = [max(one, fit * rarity) for one, fit in zip(best, fits, strict=True)]
    return best


def find_named_heading(query: str, text: str, span: Span) -> Heading | None:
    """Return the lowest heading of a piece of a text that begins with a literal term of a query."""
    terms = find_literal_terms(query)
    named = (
        heading
        for heading in reversed(_headings_of(text, span))
        if any(_fit(heading.text, term) == 1 for term in terms)
    )
    return next(named, None)


def _list_names(piece: TitledSpan) -> list[str]:
    names = [heading.text for heading in _headings_of(piece.text, piece.span)]
    return [*names, piece.title] if piece.title else names


def _headings_of(text: str, span: Span) -> list[Heading]:
    """Return the headings above a piece of a text, the highest first, and those in it."""
    above: list[Heading] = []
    inside: list[Heading] = []
    for heading in find_headings(text):
        if heading.start >= span.end:
            break
        if heading.start > span.start:
            inside.append(heading)
        else:
            above = [one for one in above if one.level < heading.level] + [heading]
    return above + inside


def _fit(heading: str, term: str) -> float:
    """Return how well a heading fits a term: 1 if it begins with it."""
    if not contains_term(heading, term):
        return 0.0
    found = _NUMBERING.match(heading)
    bare = heading[found.end() :] if found else heading
    return 1.0 if contains_term(bare[: len(term)], term) else INSIDE
