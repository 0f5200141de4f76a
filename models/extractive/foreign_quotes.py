"""Quote pages in the other language than the question, by the names and terms that both have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from models.extractive.answer_ranking import select_quotes
from models.extractive.prompt_parser import SourceQuote
from text.answerability import SourcePassage, is_answerable
from text.keyword_ranking import cached_search_words
from text.script import detect_language
from text.term_pairs import RestatedQuestion, restate_terms
from text.topics import extract_topic, key_terms

LEAST_SHARE = 0.6
"""The least share of a question that must be said in terms of the other language."""

LEAST_TERMS = 2
"""A single term is in pages on anything."""


class ForeignQuotes(NamedTuple):
    """Quotes in the other language than the question, and the question in terms of theirs."""

    question: str
    quotes: list[SourceQuote]


def select_named_pages(question: str, pages: Sequence[SourcePassage]) -> list[SourcePassage]:
    """Return passages without those that share only small words with a question across languages.

    A source in the other language must have every name of the question. If one has, and no source
    in the question's language does, nothing else is meant.
    """
    foreign = _foreign_sources(question, pages)
    if not foreign:
        return [*pages]
    named = _named_sources(pages, restate_terms(question).names)
    abroad, at_home = named & foreign, named - foreign
    kept = abroad if abroad and not at_home else {page.id for page in pages} - (foreign - named)
    return [page for page in pages if page.id in kept]


def select_foreign_quotes(question: str, pages: Sequence[SourcePassage]) -> ForeignQuotes | None:
    """Return sentences of pages in the other language that may answer, or `None`.

    Nothing is quoted unless most of the question can be said in their language (`LEAST_SHARE`), one
    source has every name of it, and the source covers it as it must cover any question. A name is
    known by its spelling and a term by a list, so such quotes are never a sure answer.
    """
    sources = _foreign_sources(question, pages)
    foreign = [page for page in pages if page.id in sources]
    there = {word for page in foreign for word in cached_search_words(f"{page.title}\n{page.text}")}
    restated = restate_terms(question, there) if foreign else RestatedQuestion()
    if restated.share < LEAST_SHARE or len(key_terms(restated.text)) < LEAST_TERMS:
        return None
    named = _named_sources(foreign, restated.names)
    meant = [page for page in foreign if page.id in named]
    if not is_answerable(restated.text, meant):
        return None
    quotes = select_quotes(extract_topic(restated.text), restated.text, meant)
    return ForeignQuotes(restated.text, quotes) if quotes else None


def is_only_foreign(question: str, pages: Sequence[SourcePassage]) -> bool:
    """Tell whether all passages are of sources in the other language than the question."""
    return {page.id for page in pages} <= _foreign_sources(question, pages)


def _foreign_sources(question: str, pages: Sequence[SourcePassage]) -> set[str]:
    own = detect_language(question)
    return {page.id for page in pages if detect_language(page.text) != own}


def _named_sources(pages: Sequence[SourcePassage], names: Sequence[str]) -> set[str]:
    """Return the sources that have all of some names."""
    wanted = {word for name in names for word in cached_search_words(name)}
    said: dict[str, set[str]] = {}
    for page in pages:
        said.setdefault(page.id, set()).update(cached_search_words(f"{page.title}\n{page.text}"))
    return {source for source, words in said.items() if wanted <= words}
