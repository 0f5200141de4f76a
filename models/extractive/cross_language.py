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

LEAST_SHARE = 0.7
"""The least share of a question that must be said in terms of the other language."""

LEAST_TERMS = 2
"""A single term is in pages on anything."""


class ForeignQuotes(NamedTuple):
    """Quotes in the other language than the question, and the question in terms of theirs."""

    question: str
    quotes: list[SourceQuote]


def select_foreign_quotes(question: str, pages: Sequence[SourcePassage]) -> ForeignQuotes | None:
    """Return sentences of pages in the other language that may answer, or `None`.

    Nothing is quoted unless most of the question can be said in their language (`LEAST_SHARE`), one
    source has every name of it, and the source covers it as it must cover any question. A name is
    known by its spelling and a term by a list, so such quotes are never a sure answer.
    """
    own = detect_language(question)
    foreign = [page for page in pages if detect_language(page.text) != own]
    there = {word for page in foreign for word in cached_search_words(f"{page.title}\n{page.text}")}
    restated = restate_terms(question, there) if foreign else RestatedQuestion()
    if restated.share < LEAST_SHARE or len(key_terms(restated.text)) < LEAST_TERMS:
        return None
    named = _with_names(foreign, restated.names)
    if not is_answerable(restated.text, named):
        return None
    quotes = select_quotes(extract_topic(restated.text), restated.text, named)
    return ForeignQuotes(restated.text, quotes) if quotes else None


def _with_names(pages: Sequence[SourcePassage], names: Sequence[str]) -> list[SourcePassage]:
    """Return the passages of the sources that have all of some names."""
    wanted = {word for name in names for word in cached_search_words(name)}
    said: dict[str, set[str]] = {}
    for page in pages:
        said.setdefault(page.id, set()).update(cached_search_words(f"{page.title}\n{page.text}"))
    return [page for page in pages if wanted <= said[page.id]]
