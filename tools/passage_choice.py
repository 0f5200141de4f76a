"""Choose the passages of found pages that are worth showing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from graph.records import Passage, ShownSpan
from library.page_metadata import extract_site
from library.page_retrieval import FoundPage
from library.page_scoring import SIGNAL_WEIGHTS
from memory.text_vectors import passage_similarity
from prompts.prompt_injection import has_injection
from report.citations import SECTION_SEPARATOR
from text.boilerplate import asks_for_navigation, is_name_list, is_navigation_page
from text.keyword_ranking import (
    COMPARED_PASSAGES,
    ScoredPassage,
    cached_search_words,
    rank_texts,
    rescore_by_meaning,
    score_texts,
    select_passages,
)
from text.literal_terms import find_literal_terms, share_rare_terms
from text.named_sections import TitledSpan, score_named_sections
from text.passage_splitting import is_breadcrumb, split_passages
from text.question_types import asks_list
from text.sentences import Span
from text.text_blocks import extend_to_list, find_headings_above
from text.topics import named_terms
from text.words import search_words

Ranking = list[tuple[int, float]]
"""The numbers of passages with their scores, the best first."""

PAGE_WORTH = 2.0
"""The weight of the page's score in the score of a passage of memory.

A page may be found through a link from another page, and share few words with the question.
"""

FROM_A_PAGE = 8
"""The most candidate passages of one page, so that a long page cannot crowd out others."""

LIST = 8_000
"""The longest passage that contains a whole list, in characters."""

SEEN = 0.25
"""The relative bonus of a passage that was shown before planning."""

OFF = 0.3
"""The relative penalty of a passage that names none of the documents' subjects asked about."""

HOSTILE = 0.8
"""The relative penalty of a page that gives instructions to the model that reads it."""

NAMED = 1.0
"""What a passage gains whose section a literal term of the query names, as a part of the best."""

NAMES_ALONE = 0.9
"""The relative penalty of a list of names, if no list is asked for."""

LACKING = 0.7
"""The relative penalty of a passage that has none of the rare literal terms, where they count."""


class PassageRequest(NamedTuple):
    """The criteria by which passages are chosen."""

    queries: Sequence[str]
    room: int
    """The most tokens of all passages."""
    page_worth: float = 0.0
    """The weight of the page's score in the score of a passage."""
    before: frozenset[str] = frozenset()
    """Pages to which half of the room is reserved."""
    each: frozenset[str] = frozenset()
    """Pages of which at least one passage is chosen."""
    seen: Sequence[ShownSpan] = ()
    found_first: frozenset[str] = frozenset()
    """Pages that only the first search of the run has found."""
    subject: str = ""
    """The question, for its names."""
    per_page: int = FROM_A_PAGE
    """The most candidate passages of one page."""
    of_document: int = 0
    """The most passages of one document, if there are several; 0 for no limit."""
    literally: bool = False
    """Whether passages with a rare literal term of the queries come before all others."""

    def shows(self, page: str, span: Span) -> bool:
        """Return whether a part of a span was shown before."""
        return any(
            shown["page"] == page and shown["start"] < span.end and span.start < shown["end"]
            for shown in self.seen
        )


def rank_passages(found: Sequence[FoundPage], wanted: PassageRequest) -> list[ScoredPassage]:
    """Split pages into passages and rank them by their words, the best first."""
    query = "\n".join(wanted.queries)
    cut = [
        (at, span)
        for at, page in enumerate(found)
        for span in _best_passages(page, query, wanted.per_page)
    ]
    titled = [f"{found[at].title}\n{span.text}" for at, span in cut]
    names = find_subject_names([page.title for page in found], f"{query}\n{wanted.subject}")
    worth = [
        (1.0 + SEEN * wanted.shows(found[at].id, span))
        * (1.0 - HOSTILE * has_injection(found[at].text))
        * (1.0 - OFF * (bool(names) and names.isdisjoint(cached_search_words(text))))
        for (at, span), text in zip(cut, titled, strict=True)
    ]
    ranked = [(n, score * worth[n]) for n, score in score_texts(wanted.queries, titled)]
    if wanted.page_worth:
        own, most = dict(ranked), max((score for _, score in ranked), default=1.0)
        bonuses = [wanted.page_worth * found[at].score for at, _ in cut]
        ranked = [(n, own.get(n, 0.0) / most + bonus) for n, bonus in enumerate(bonuses)]
    ranked = _demote_navigation(query, [found[at] for at, _ in cut], ranked)
    ranked = _demote_name_lists(query, [span.text for _, span in cut], ranked)
    ranked, named = _promote_named(query, found, cut, ranked)
    if wanted.literally:
        ranked = _promote_literal(query, titled, ranked, list_site_terms(query, found))
    best = max((score for _, score in ranked), default=1.0) or 1.0
    return [
        ScoredPassage(*cut[n], titled[n], score / best, worth[n] * (1.0 + NAMED * named[n]))
        for n, score in ranked
    ]


def _demote_name_lists(query: str, texts: Sequence[str], ranked: Ranking) -> Ranking:
    """Rank passages again with a lower score for lists of names, unless one is asked for."""
    if asks_list(query) or asks_for_navigation(query):
        return ranked
    demoted = ((n, score * (1 - NAMES_ALONE * is_name_list(texts[n]))) for n, score in ranked)
    return sorted(demoted, key=_by_score)


def _promote_named(
    query: str, found: Sequence[FoundPage], cut: Sequence[tuple[int, Span]], ranked: Ranking
) -> tuple[Ranking, list[float]]:
    """Rank passages again with those first whose section a literal term of the query names.

    Returns:
        The ranking, and how well the section of each passage is named, in 0..1.
    """
    pieces = [
        TitledSpan(found[at].text, span, found[at].title.partition(SECTION_SEPARATOR)[2])
        for at, span in cut
    ]
    named = score_named_sections(query, pieces)
    most = max((score for _, score in ranked), default=1.0) or 1.0
    promoted = ((n, score / most + NAMED * named[n]) for n, score in ranked)
    return sorted(promoted, key=_by_score), named


def list_site_terms(query: str, found: Sequence[FoundPage]) -> list[str]:
    """Return the literal terms of a query that name the site of at least half of the pages.

    Such a term tells none of their passages from the others, however few of them contain it.
    """
    sites = [extract_site(page.location).lower() for page in found if page.kind == "web"]
    return [
        term
        for term in find_literal_terms(query)
        if 2 * sum(term.lower() in site for site in sites) >= max(len(found), 1)
    ]


def _promote_literal(
    query: str, texts: Sequence[str], ranked: Ranking, ignored: Sequence[str]
) -> Ranking:
    """Rank passages again, those without any rare literal term of the query behind the others."""
    shares = share_rare_terms(query, texts, ignored)
    scored = [(n, score * (1 - LACKING * (1 - shares[n]))) for n, score in ranked]
    having = [score for n, score in scored if shares[n]]
    least = min(having, default=math.inf)
    return sorted(
        ((n, score if shares[n] else min(score, least)) for n, score in scored), key=_by_score
    )


def _by_score(one: tuple[int, float]) -> float:
    return -one[1]


async def rank_by_meaning(
    found: Sequence[FoundPage], cuts: list[ScoredPassage], wanted: PassageRequest
) -> list[ScoredPassage]:
    """Rank passages also by meaning, if there is an embedder."""
    compared = [(found[cut.page], cut.span) for cut in cuts[:COMPARED_PASSAGES]]
    texts = [
        "\n".join(
            [
                page.title.split(SECTION_SEPARATOR)[-1],
                *find_headings_above(page.text, span.start),
                span.text,
            ]
        )
        for page, span in compared
    ]
    similarity = await passage_similarity(wanted.queries, texts)
    return cuts if similarity is None else rescore_by_meaning(cuts, similarity)


def choose_passages(
    found: Sequence[FoundPage], cuts: Sequence[ScoredPassage], wanted: PassageRequest
) -> list[tuple[FoundPage, Span]]:
    """Choose the best passages, each different from the others."""
    first, each = (
        [at for at, page in enumerate(found) if page.id in ids]
        for ids in (wanted.before, wanted.each)
    )
    spans = select_passages([page.text for page in found], cuts, wanted.room, first, each)
    return [(found[at], span) for at, chosen in spans.items() for span in chosen]


def _demote_navigation(query: str, origins: Sequence[FoundPage], ranked: Ranking) -> Ranking:
    """Rank passages again with a lower score for those of navigation pages."""
    different = {page.id: page for page in origins}.values()
    navigation = {page.id for page in different if is_navigation_page(page.title, page.text)}
    penalty = SIGNAL_WEIGHTS.leading if navigation and not asks_for_navigation(query) else 0.0
    demoted = [(n, score * (1 - penalty * (origins[n].id in navigation))) for n, score in ranked]
    return sorted(demoted, key=_by_score)


def _best_passages(page: FoundPage, query: str, most: int) -> Sequence[Span]:
    """Return the best passages of a page, in the order of the page.

    If the query asks for a list, a passage with the start of a list contains all of it.
    """
    passages = split_passages(page.text)
    spans = [span for span in passages if not is_breadcrumb(span.text)] or [*passages]
    if asks_list(query):
        spans = [extend_to_list(page.text, span, LIST) for span in spans]
    if len(spans) <= most:
        return spans
    ranked = rank_texts(query, [span.text for span in spans])
    return [spans[index] for index in sorted(index for index, _ in ranked[:most])]


def find_subject_names(titles: Iterable[str], asked: str) -> set[str]:
    """Return the names in a question that occur in some of the titles, but not in all."""
    different = {title_words(title) for title in titles}
    if len(different) < 2:
        return set()
    distinctive = frozenset.union(*different) - frozenset.intersection(*different)
    return named_terms(asked) & distinctive


@lru_cache(maxsize=1024)
def title_words(title: str) -> frozenset[str]:
    """Return the words of a document's title, without the section's."""
    return frozenset(search_words(title.partition(SECTION_SEPARATOR)[0]))


def make_passage(source: str, title: str, text: str, span: Span) -> Passage:
    """Return a piece of a page as a passage, with the headings above it that no title says.

    Args:
        source: The id of the page as a source.
        title: The title of the page.
        text: The whole text of the page.
        span: The piece.
    """
    known = title.split(SECTION_SEPARATOR)
    above = [one for one in find_headings_above(text, span.start) if one not in known]
    passage = Passage(source=source, text=span.text, start=span.start)
    if above:
        passage["under"] = " › ".join(above)
    if text[span.end :].strip():
        passage["more"] = True
    return passage
