"""Gather passages that may answer queries from files, the web and memory."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache, partial
from typing import NamedTuple

from sqlalchemy import func, select

from calls.ledger import ActionRecord, defer_actions
from calls.run_budget import run_within_budget
from config.errors import Problem
from graph.context import Context
from graph.records import Passage, ShownSpan, Source
from library import page_retrieval
from library.page_retrieval import FoundPage, find_misspellings
from library.page_rows import RETIRED
from library.page_scoring import SIGNAL_WEIGHTS
from library.recall import (
    EARLIER_KINDS,
    REPORT_PAGES,
    drop_repeated_turns,
    locate_below,
    read_pages,
    recall_pages,
    trace_reports,
)
from library.scope import Scope, parse_scope
from library.tables import pages
from library.uploaded_files import list_uploaded_files
from memory.text_vectors import passage_similarity
from report.checks.source_preparation import prepare_sources
from report.citations import SECTION_SEPARATOR
from report.source_registry import CitablePage, register_sources
from runs.call_site import CallSite
from storage.engine import read_rows
from text.boilerplate import asks_for_navigation, is_navigation_page
from text.keyword_ranking import (
    COMPARED_PASSAGES,
    ScoredPassage,
    cached_search_words,
    rank_texts,
    rescore_by_meaning,
    score_texts,
    select_passages,
)
from text.passage_splitting import is_breadcrumb, split_passages
from text.question_types import asks_list
from text.sentences import Span
from text.text_blocks import extend_to_list, find_headings_above
from text.topics import named_terms
from text.words import search_words
from tools.source_checks import load_source_texts
from tools.web.search_providers import SearchUnanswered, list_available_providers
from tools.web.web_search import WebSearch

MOST = 4
"""The most documents whose first page is read."""


async def find_opening_pages(owner: str, found: Sequence[FoundPage], asked: str) -> list[FoundPage]:
    """Return the first pages of the found documents that a question names.

    Args:
        owner: The owner of the pages.
        found: The found pages, the best first.
        asked: The question and the queries.
    """
    names = find_subject_names([page.title for page in found], asked)
    named = [page.id for page in found if not names.isdisjoint(_title_words(page.title))]
    if not named:
        return []
    origins = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(named))
    live = (pages.c.owner == owner, pages.c.origin.in_(origins), pages.c.indexed > RETIRED)
    firsts = select(func.min(pages.c.number)).where(*live).group_by(pages.c.origin)
    wanted = select(pages.c.id).where(pages.c.number.in_(firsts)).limit(MOST)
    return await read_pages(owner, list((await read_rows(wanted)).scalars()))


def find_subject_names(titles: Iterable[str], asked: str) -> set[str]:
    """Return the names in a question that occur in some of the titles, but not in all."""
    different = {_title_words(title) for title in titles}
    if len(different) < 2:
        return set()
    distinctive = frozenset.union(*different) - frozenset.intersection(*different)
    return named_terms(asked) & distinctive


@lru_cache(maxsize=1024)
def _title_words(title: str) -> frozenset[str]:
    """Return the words of a document's title, without the section's."""
    return frozenset(search_words(title.partition(SECTION_SEPARATOR)[0]))


PAGES = 12
"""The most pages from one search for one query."""

PAGE_WORTH = 2.0
"""The weight of the page's score in the score of a passage of memory.

A page may be found through a link from another page, and share few words with the question.
"""

FROM_A_PAGE = 8
"""The most candidate passages of one page, so that a long page cannot crowd out others."""

LIST = 8_000
"""The longest passage that contains a whole list, in characters."""

EVIDENCE_TOKENS = 2_000
"""The most tokens of passages in a prompt."""

SEEN = 0.25
"""The relative bonus of a passage that was shown before planning."""

OFF = 0.3
"""The relative penalty of a passage that names none of the documents' subjects asked about."""


class Evidence(NamedTuple):
    """The chosen passages, their sources, and the problems of the search."""

    passages: list[Passage]
    sources: dict[str, Source]
    problems: list[Problem]
    sent: Mapping[str, str] = {}
    """The changed web queries as sent, by their original wording; "" if not sent."""

    @property
    def unsearched(self) -> dict[str, str]:
        """The reasons why web search providers did not answer, by provider."""
        return {
            name: reason
            for problem in self.problems
            if isinstance(problem, SearchUnanswered)
            for name, reason in problem.failures.items()
        }


class _PassageRequest(NamedTuple):
    """The criteria by which passages are chosen."""

    queries: Sequence[str]
    room: int = EVIDENCE_TOKENS
    """The most tokens of all passages."""
    page_worth: float = 0.0
    """The weight of the page's score in the score of a passage."""
    before: frozenset[str] = frozenset()
    """Pages to which half of the room is reserved."""
    each: frozenset[str] = frozenset()
    """Pages of which at least one passage is chosen."""
    seen: Sequence[ShownSpan] = ()
    subject: str = ""
    """The question, for its names."""

    def shows(self, page: str, span: Span) -> bool:
        """Return whether a part of a span was shown before."""
        return any(
            shown["page"] == page and shown["start"] < span.end and span.start < shown["end"]
            for shown in self.seen
        )


async def gather_evidence(
    here: CallSite,
    context: Context,
    queries: Sequence[str],
    *,
    about: str,
    web: bool = True,
    max_tokens: int = EVIDENCE_TOKENS,
    seen: Sequence[ShownSpan] = (),
    subject: str = "",
) -> Evidence:
    """Search for all queries at once and choose the best passages of all results.

    Uploads of the thread come first. If there are neither files nor web searches, memory is
    searched. The first pages of documents that the queries name are candidates, too.

    Args:
        here: The point of the run, for the ledger.
        context: The files and web searches that may be used.
        queries: The queries.
        about: The purpose of the passages; they are ranked by it and the queries.
        web: Whether the web may be searched.
        max_tokens: The most tokens of all passages.
        seen: The spans shown before planning; their pages are always candidates.
        subject: The question; documents that it names are preferred.
    """
    names = (list(context.search) or list_available_providers(os.environ)) if web else []
    on_web = WebSearch(here, context, names)
    searches = [on_web.find_pages(query) for query in queries] if names else []
    uploads = await list_uploaded_files(here.owner, here.thread)
    own = [upload.root for upload in uploads if not upload.code]
    if not (own or context.files or names):
        searches = [_search_memory(here, context, query) for query in queries]
    in_own = page_retrieval.find_pages_many(here.owner, queries, PAGES, own)
    in_files = page_retrieval.find_pages_many(here.owner, queries, PAGES, context.files)
    uploaded, filed, found = await asyncio.gather(in_own, in_files, asyncio.gather(*searches))
    actions = [
        ActionRecord(query, "; ".join(dict.fromkeys(page.title for page in (*first, *second))))
        for query, first, second in zip(queries, uploaded, filed, strict=True)
        if first or second
    ]
    if actions:
        defer_actions(here, "files", "search", actions)
    before = frozenset(page.id for result in uploaded for page in result)
    wanted = [about, *queries]
    known = await read_pages(here.owner, list(dict.fromkeys(shown["page"] for shown in seen)))
    results = [*uploaded, *filed, *found, known]
    candidates = [page for result in results for page in result]
    opened = await find_opening_pages(here.owner, candidates, "\n".join([*wanted, subject]))
    choice = _PassageRequest(wanted, max_tokens, before=before, seen=seen, subject=subject)
    files = [*own, *context.files]
    evidence = await _choose_evidence(here, context, [*results, opened], choice, files)
    return evidence._replace(problems=on_web.problems, sent=on_web.sent)


async def recall_evidence(
    here: CallSite,
    context: Context,
    queries: Sequence[str],
    named: Sequence[str] = (),
    *,
    about: str,
    part: Scope,
    run: str = "",
) -> Evidence:
    """Search memory for all queries and choose the best passages.

    Args:
        here: The point of the run.
        context: The folders of the run, preferred as the location of a file with copies.
        queries: The queries.
        named: The ids of pages that are always candidates.
        about: The purpose of the passages.
        part: The part of the memory to search.
        run: A run whose own pages are left out.
    """
    searches = [
        recall_pages(here.owner, query, PAGES, part, run) for query in dict.fromkeys(queries)
    ]
    picked, *results = await asyncio.gather(read_pages(here.owner, named), *searches)
    titles = [page.title for page in picked]
    chosen = await trace_reports(here.owner, "\n".join([about, *titles]), picked)
    worth: dict[str, FoundPage] = {page.id: page._replace(score=1.0) for page in chosen}
    for page in (page for result in results for page in _scaled(result)):
        if page.id not in worth or page.score > worth[page.id].score:
            worth[page.id] = page
    candidates = drop_repeated_turns(list(worth.values()))
    each = frozenset(page.id for page in chosen)
    wanted = _PassageRequest([about, *queries, *titles], page_worth=PAGE_WORTH, each=each)
    return await _choose_evidence(here, context, [candidates], wanted, context.files)


def _scaled(found: list[FoundPage]) -> list[FoundPage]:
    """Return pages with their scores relative to the best one's."""
    most = max((page.score for page in found), default=0.0)
    return [page._replace(score=page.score / most if most > 0 else 0.0) for page in found]


async def _choose_evidence(
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: _PassageRequest,
    files: Sequence[str],
) -> Evidence:
    """Choose passages of the found pages, and register their pages as sources of the thread.

    A file with copies is cited by its path in the folders of the run, if it has one there.
    """
    by_id = {page.id: page for result in results for page in result if page.kind != REPORT_PAGES}
    found = list(by_id.values())
    do = partial(
        run_within_budget,
        here,
        context,
        "researcher",
        characters=sum(len(page.text) for page in found),
    )
    ranked = await do(_rank_passages, found, wanted)
    cuts = await _rank_by_meaning(found, ranked, wanted)
    chosen = await do(_choose, found, cuts, wanted)
    shown = await locate_below(here.owner, [page for page, _ in chosen], files)
    citable = [CitablePage(page.id, page.title, page.location, page.kind) for page in shown]
    sources = await register_sources(here.thread, citable)
    passages = [
        _passage(source["id"], page, span)
        for source, (page, span) in zip(sources, chosen, strict=True)
    ]
    return Evidence(passages, {source["id"]: source for source in sources}, [])


def _passage(source: str, page: FoundPage, span: Span) -> Passage:
    """Return a passage with the headings above it that are not in the page's title."""
    known = page.title.split(SECTION_SEPARATOR)
    headings = find_headings_above(page.text, span.start)
    above = [heading for heading in headings if heading not in known]
    passage = Passage(source=source, text=span.text, start=span.start)
    if above:
        passage["under"] = " › ".join(above)
    return passage


async def _search_memory(here: CallSite, context: Context, query: str) -> list[FoundPage]:
    return await recall_pages(
        here.owner, query, PAGES, parse_scope(list_recalled_parts(context)), here.run
    )


def list_recalled_parts(context: Context) -> list[str]:
    """Return the parts of memory that a run recalls; its files are searched separately."""
    return list(context.memory or (EARLIER_KINDS if context.files else ()))


async def suggest_spellings(owner: str, context: Context, question: str) -> dict[str, str]:
    """Return known spellings for the words of a question that occur in none of the searched pages.

    If the web is searched, return none, since its words are unknown.
    """
    if context.search or list_available_providers(os.environ):
        return {}
    part = (
        Scope(groups=context.files) if context.files else parse_scope(list_recalled_parts(context))
    )
    return await find_misspellings(owner, question, part.kinds, part.groups)


def _rank_passages(found: Sequence[FoundPage], wanted: _PassageRequest) -> list[ScoredPassage]:
    """Split pages into passages and rank them by their words, the best first."""
    query = "\n".join(wanted.queries)
    cut = [(at, span) for at, page in enumerate(found) for span in _best_passages(page, query)]
    titled = [f"{found[at].title}\n{span.text}" for at, span in cut]
    names = find_subject_names([page.title for page in found], f"{query}\n{wanted.subject}")
    worth = [
        (1.0 + SEEN * wanted.shows(found[at].id, span))
        * (1.0 - OFF * (bool(names) and names.isdisjoint(cached_search_words(text))))
        for (at, span), text in zip(cut, titled, strict=True)
    ]
    ranked = [(n, score * worth[n]) for n, score in score_texts(wanted.queries, titled)]
    if wanted.page_worth:
        own, most = dict(ranked), max((score for _, score in ranked), default=1.0)
        bonuses = [wanted.page_worth * found[at].score for at, _ in cut]
        ranked = [(n, own.get(n, 0.0) / most + bonus) for n, bonus in enumerate(bonuses)]
    ranked = _demote_navigation(query, [found[at] for at, _ in cut], ranked)
    best = max((score for _, score in ranked), default=1.0) or 1.0
    return [ScoredPassage(*cut[n], titled[n], score / best, worth[n]) for n, score in ranked]


async def _rank_by_meaning(
    found: Sequence[FoundPage], cuts: list[ScoredPassage], wanted: _PassageRequest
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


def _choose(
    found: Sequence[FoundPage], cuts: Sequence[ScoredPassage], wanted: _PassageRequest
) -> list[tuple[FoundPage, Span]]:
    """Choose the best passages, each different from the others."""
    first, each = (
        [at for at, page in enumerate(found) if page.id in ids]
        for ids in (wanted.before, wanted.each)
    )
    spans = select_passages([page.text for page in found], cuts, wanted.room, first, each)
    return [(found[at], span) for at, chosen in spans.items() for span in chosen]


def _demote_navigation(
    query: str, origins: Sequence[FoundPage], ranked: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Rank passages again with a lower score for those of navigation pages."""
    different = {page.id: page for page in origins}.values()
    navigation = {page.id for page in different if is_navigation_page(page.title, page.text)}
    penalty = SIGNAL_WEIGHTS.leading if navigation and not asks_for_navigation(query) else 0.0
    demoted = [(n, score * (1 - penalty * (origins[n].id in navigation))) for n, score in ranked]
    return sorted(demoted, key=lambda pair: -pair[1])


def _best_passages(page: FoundPage, query: str) -> list[Span]:
    """Return the best passages of a page, in the order of the page.

    If the query asks for a list, a passage with the start of a list contains all of it.
    """
    passages = split_passages(page.text)
    spans = [span for span in passages if not is_breadcrumb(span.text)] or passages
    if asks_list(query):
        spans = [extend_to_list(page.text, span, LIST) for span in spans]
    if len(spans) <= FROM_A_PAGE:
        return spans
    ranked = rank_texts(query, [span.text for span in spans])
    return [spans[index] for index in sorted(index for index, _ in ranked[:FROM_A_PAGE])]


@asynccontextmanager
async def preparing_checks(
    here: CallSite, context: Context, role: str, sources: Mapping[str, Source]
) -> AsyncIterator[None]:
    """Make what a text will be compared with while a model still writes it.

    Nothing waits for that: what is not made when the text is there is made with the checks.
    """
    written = threading.Event()

    async def prepared() -> None:
        with suppress(Problem):
            pages = await load_source_texts(here.owner, sources)
            texts = list(pages.values())
            await run_within_budget(
                here,
                context,
                role,
                prepare_sources,
                texts,
                written.is_set,
                characters=sum(map(len, texts)),
            )

    work = asyncio.create_task(prepared())
    try:
        yield
    finally:
        written.set()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
