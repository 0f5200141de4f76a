"""Tell whether passages of sources cover enough of a question to answer it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from text.keyword_ranking import cached_search_words
from text.regex import regex
from text.script import detect_language
from text.topics import Topic, extract_topic, is_generative_request, named_terms, topic_coverage
from text.words import search_words


class SourcePassage(NamedTuple):
    """A passage of a source: the id and title of the source, the place in it, and the text."""

    id: str
    title: str
    place: str
    text: str
    is_computed: bool = False
    """Whether it was computed over whole documents, so that it answers by itself."""


def document_title(title: str) -> str:
    """Return the title of the whole document; a part of one is titled "document — part"."""
    return title.partition(" — ")[0]


LEAST_COVERAGE = {"en": 0.62, "zh": 0.5}
"""The least share of a topic that one source must have to answer it, by language. Measured by
`evals/extractive.py`. In Chinese, a pair of characters may span two words; a text with the same
words in another order does not have it."""

LEAST_NAME_COVERAGE = 0.4
"""The least share of the names and numbers of a question that one source must have."""

MANY_TERMS = 12
"""A topic with more terms is rarely covered by chance, so less coverage is required."""


def is_answerable(question: str, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a source covers enough of a question to answer it.

    The least share falls with the root of the number of terms, as does the spread of what
    unrelated pages cover by chance.
    """
    about = extract_topic(question)
    if is_generative_request(question) or not _names_known(question, about, pages):
        return False
    chance = min(1.0, math.sqrt(MANY_TERMS / max(len(about.terms), 1)))
    least = LEAST_COVERAGE[detect_language(question)] * chance
    return best_source_coverage(about, question, pages) >= least


def _names_known(question: str, about: Topic, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether a source has enough of the names and numbers of a question, if it has any."""
    asked = {term: about.terms[term] for term in named_terms(question) if term in about.terms}
    bags: dict[str, set[str]] = {}
    for page in pages:
        bags.setdefault(page.id, set()).update(search_words(f"{page.title}\n{page.text}"))
    known = (sum(asked[term] for term in asked if term in bag) for bag in bags.values())
    return not asked or max(known, default=0.0) >= LEAST_NAME_COVERAGE * sum(asked.values())


def best_source_coverage(about: Topic, question: str, pages: Sequence[SourcePassage]) -> float:
    """Return how much of a topic the best source covers with all of its passages together."""
    return max(coverage_by_source(about, question, pages).values(), default=0.0)


def coverage_by_source(
    about: Topic, question: str, pages: Sequence[SourcePassage]
) -> dict[str, float]:
    """Return how much of a topic each source covers with all of its passages together."""
    sources: dict[str, list[str]] = {}
    for page in pages:
        sources.setdefault(page.id, [page.title]).append(page.text)
    whole = (
        SourcePassage(id, title, "", "\n".join(texts)) for id, (title, *texts) in sources.items()
    )
    return {source.id: passage_coverage(about, question, source) for source in whole}


NAMED_TITLE = 0.3
"""The bonus of a page whose whole title the question names."""

TITLE_ASIDE = regex(r"\s*[(（].*|\.\w{2,4}$")


def passage_coverage(about: Topic, question: str, page: SourcePassage) -> float:
    """Return how much of a topic a page and its title cover."""
    title = cached_search_words(TITLE_ASIDE.sub("", page.title))
    named = bool(title) and f" {' '.join(title)} " in f" {' '.join(cached_search_words(question))} "
    weight = min(1.0, sum(about.terms.get(word, 0.0) for word in title)) if named else 0.0
    coverage = topic_coverage(about, cached_search_words(f"{page.title}\n{page.text}"))
    return coverage + NAMED_TITLE * weight
