"""Gather passages that may answer queries from files, the web and memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from sqlalchemy import func, select

from calls.ledger import ActionRecord, defer_actions
from calls.run_budget import run_within_budget
from calls.run_progress import tell_progress
from config.errors import Problem
from graph.context import Context
from graph.records import Passage, ShownSpan, Source
from library import page_retrieval
from library.page_retrieval import FoundPage, document_location, find_misspellings
from library.page_rows import RETIRED
from library.recall import (
    EARLIER_KINDS,
    REPORT_PAGES,
    drop_repeated_turns,
    locate_below,
    read_pages,
    recall_documents,
    recall_pages,
    trace_reports,
)
from library.scope import Scope, parse_scope
from library.tables import pages
from library.uploaded_files import list_uploaded_files
from report.citations import get_document_key, to_whole_document
from report.source_registry import get_source_kind, register_sources
from runs.call_site import CallSite
from storage.engine import read_rows
from text.keyword_ranking import limit_by_document
from text.sentences import Span
from tools.computed_pages import make_citable
from tools.knowledge.base_search import BaseHits, drop_copies, search_named_bases
from tools.knowledge.knowledge_source import BaseUnanswered
from tools.mcp.tool_failures import ToolUnanswered
from tools.passage_choice import (
    PAGE_WORTH,
    PassageRequest,
    choose_passages,
    find_subject_names,
    make_passage,
    rank_by_meaning,
    rank_passages,
    title_words,
)
from tools.reading_choice import choose_reading
from tools.web.provider_choice import is_keyless, list_run_providers
from tools.web.providers.provider_registry import SearchUnanswered
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
    named = [page.id for page in found if not names.isdisjoint(title_words(page.title))]
    if not named:
        return []
    origins = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(named))
    live = (pages.c.owner == owner, pages.c.origin.in_(origins), pages.c.indexed > RETIRED)
    firsts = select(func.min(pages.c.number)).where(*live).group_by(pages.c.origin)
    wanted = select(pages.c.id).where(pages.c.number.in_(firsts)).limit(MOST)
    return await read_pages(owner, list((await read_rows(wanted)).scalars()))


PAGES = 12
"""The most pages from one search for one query."""

WIDE_PAGES = 60
"""The most pages from one search whose hits are read with their sections."""

ALL = 1_000
"""More candidate passages than a page has."""

EVIDENCE_TOKENS = 2_000
"""The most tokens of passages in a prompt."""


_DECEIVING = ("farm", "hostile")


class Evidence(NamedTuple):
    """The chosen passages, their sources, and the problems of the search."""

    passages: list[Passage]
    sources: dict[str, Source]
    problems: list[Problem]
    sent: Mapping[str, str] = {}
    """The changed web queries as sent, by their original wording; "" if not sent."""
    skipped: tuple[str, ...] = ()
    """The titles of documents that were found and are not among the passages."""

    @property
    def unsearched(self) -> dict[str, str]:
        """The reasons why providers, tools and knowledge bases did not answer, by their names."""
        return {
            name: reason
            for problem in self.problems
            if isinstance(problem, SearchUnanswered | ToolUnanswered | BaseUnanswered)
            for name, reason in problem.failures.items()
        }


EvidenceChooser = Callable[
    [CallSite, Context, Sequence[list[FoundPage]], PassageRequest, Sequence[str]],
    Awaitable[Evidence],
]
"""Chooses what is shown of found pages."""


@dataclass(frozen=True)
class SearchRequest:
    """What is searched for, where, and how the passages are chosen."""

    queries: Sequence[str]
    about: str
    """The purpose of the passages; they are ranked by it and the queries."""
    web: bool = True
    """Whether the web may be searched."""
    max_tokens: int = EVIDENCE_TOKENS
    """The most tokens of all passages."""
    seen: Sequence[ShownSpan] = ()
    """The spans shown before planning; their pages are always candidates."""
    subject: str = ""
    """The question; documents that it names are preferred."""
    widely: bool = False
    """Whether documents are read whole or hits with their sections, where they fit."""
    of_document: int = 0
    """The most passages of one document, if there are several; 0 for no limit."""
    choose: EvidenceChooser | None = None
    """What chooses among the found pages, if neither best passages nor a reading are wanted."""
    bases: Sequence[str] = ()
    """The names of the knowledge bases that are searched, too."""
    read: Sequence[str] = ()
    """The ids of pages of the web whose documents are searched where the web is not."""

    @property
    def wanted(self) -> list[str]:
        """Return by what passages are ranked."""
        return [self.about, *self.queries]

    @property
    def chooser(self) -> EvidenceChooser:
        """Return what chooses among the found pages."""
        return self.choose or (_choose_reading if self.widely else _choose_evidence)

    @property
    def most_pages(self) -> int:
        """Return how many pages one search for one query finds at the most."""
        return WIDE_PAGES if self.widely or self.choose else PAGES


async def gather_evidence(here: CallSite, context: Context, request: SearchRequest) -> Evidence:
    """Search for all queries at once and choose the best passages of all results.

    Uploads of the thread come first. If there are neither files nor web searches, memory is
    searched; without web searches, so is what was read of the web. The first pages of documents
    that the queries name are candidates, too.

    Args:
        here: The point of the run, for the ledger.
        context: The files and web searches that may be used.
        request: What is searched for.
    """
    queries = request.queries
    for query in dict.fromkeys(queries):
        tell_progress(here, "searching", query=query)
    uploads = await list_uploaded_files(here.owner, here.thread)
    own = [upload.root for upload in uploads if not upload.code]
    web = request.web
    names = list_run_providers(context, os.environ, has_uploads=bool(own)) if web else []
    on_web = WebSearch(here, context, names)
    searched = _search_all(here, context, queries, on_web, own, request.most_pages)
    known = () if on_web.providers else request.read
    in_read = recall_documents(here.owner, queries, request.most_pages, known)
    in_bases = search_named_bases(here, context, request.bases, queries)
    found, found_in_read, found_in_bases = await asyncio.gather(searched, in_read, in_bases)
    said = [page.text for result in found.results for page in result]
    results = [*found.results, *found_in_read, *drop_copies(found_in_bases.results, said)]
    candidates, choice = await _list_candidates(here.owner, request, results, found.uploaded)
    evidence = await request.chooser(here, context, candidates, choice, found.folders)
    problems = [*on_web.problems, *found_in_bases.problems]
    tell_found(here, evidence)
    return evidence._replace(problems=problems, sent={**found_in_bases.sent, **on_web.sent})


def tell_found(here: CallSite, evidence: Evidence) -> None:
    """Tell how much a search has found, and of which documents."""
    titles = list(dict.fromkeys(one["title"] for one in evidence.sources.values()))
    values = {"passages": len(evidence.passages), "sources": len(titles), "titles": titles}
    tell_progress(here, "found" if titles else "found_nothing", **values)


async def _list_candidates(
    owner: str,
    request: SearchRequest,
    results: list[list[FoundPage]],
    uploaded: frozenset[str],
) -> tuple[list[list[FoundPage]], PassageRequest]:
    """Return the pages among which passages are chosen, and what is wanted of them.

    Pages that were shown before, and the first ones of documents that the queries name, are added
    to what was found.
    """
    shown = list(dict.fromkeys(span["page"] for span in request.seen))
    known = await read_pages(owner, shown)
    found_now = {page.id for result in results for page in result}
    every = [page for result in [*results, known] for page in result]
    named = "\n".join([*request.wanted, request.subject])
    opened = await find_opening_pages(owner, every, named)
    choice = PassageRequest(
        request.wanted,
        request.max_tokens,
        before=uploaded,
        seen=request.seen,
        found_first=frozenset(page.id for page in known if page.id not in found_now),
        subject=request.subject,
        of_document=request.of_document,
    )
    return [*results, known, opened], choice


async def gather_from_bases(
    here: CallSite,
    context: Context,
    hits: BaseHits,
    queries: Sequence[str],
    *,
    about: str,
    choose: EvidenceChooser | None = None,
) -> Evidence:
    """Choose the best passages of what knowledge bases alone have found.

    Args:
        here: The point of the run.
        context: The choices of the run.
        hits: What the bases have found.
        queries: The queries.
        about: The purpose of the passages.
        choose: What chooses among the found pages, if not the best passages are wanted.
    """
    wanted = PassageRequest([about, *queries], EVIDENCE_TOKENS, subject=about)
    chooser = choose or _choose_evidence
    evidence = await chooser(here, context, drop_copies(hits.results), wanted, [])
    return evidence._replace(problems=hits.problems, sent=dict(hits.sent))


class _SearchHits(NamedTuple):
    """What one search of all places found."""

    results: list[list[FoundPage]]
    """The pages found for each query: in uploads, in files, then on the web or in memory."""
    uploaded: frozenset[str]
    """The ids of the pages that are from uploads."""
    folders: list[str]
    """The folders that were searched, uploads first."""


async def _search_all(
    here: CallSite,
    context: Context,
    queries: Sequence[str],
    on_web: WebSearch,
    own: Sequence[str],
    most: int,
) -> _SearchHits:
    """Search uploads, files and the web at once.

    Without files, and without a search of the web that somebody has set up, memory is searched.
    """
    searches = [on_web.find_pages(query) for query in queries] if on_web.providers else []
    if not (own or context.files) and (not on_web.providers or is_keyless(context, os.environ)):
        searches += [_search_memory(here, context, query) for query in queries]
    in_own = page_retrieval.find_pages_many(here.owner, queries, most, own)
    in_files = page_retrieval.find_pages_many(here.owner, queries, most, context.files)
    uploaded, filed, found = await asyncio.gather(in_own, in_files, asyncio.gather(*searches))
    _record_file_hits(here, queries, uploaded, filed)
    ids = frozenset(page.id for result in uploaded for page in result)
    return _SearchHits([*uploaded, *filed, *found], ids, [*own, *context.files])


def _record_file_hits(
    here: CallSite,
    queries: Sequence[str],
    uploaded: Sequence[list[FoundPage]],
    filed: Sequence[list[FoundPage]],
) -> None:
    """Put into the ledger which documents each query found in uploads and files."""
    actions = [
        ActionRecord(query, "; ".join(dict.fromkeys(page.title for page in (*first, *second))))
        for query, first, second in zip(queries, uploaded, filed, strict=True)
        if first or second
    ]
    if actions:
        defer_actions(here, "files", "search", actions)


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
    titled = [about, *queries, *titles]
    wanted = PassageRequest(titled, EVIDENCE_TOKENS, page_worth=PAGE_WORTH, each=each)
    return await _choose_evidence(here, context, [candidates], wanted, context.files)


def _scaled(found: list[FoundPage]) -> list[FoundPage]:
    """Return pages with their scores relative to the best one's."""
    most = max((page.score for page in found), default=0.0)
    return [page._replace(score=page.score / most if most > 0 else 0.0) for page in found]


async def _choose_evidence(
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: PassageRequest,
    files: Sequence[str],
) -> Evidence:
    """Choose passages of the found pages, and register their pages as sources of the thread.

    A file with copies is cited by its path in the folders of the run, if it has one there.
    """
    found = list_distinct_pages(results)
    do = partial(
        run_within_budget,
        here,
        context,
        "researcher",
        characters=sum(len(page.text) for page in found),
    )
    ranked = await do(rank_passages, found, wanted)
    cuts = await rank_by_meaning(found, ranked, wanted)
    if wanted.of_document:
        documents = [document_location(page.location) or page.id for page in found]
        cuts = limit_by_document(cuts, documents, wanted.of_document)
    chosen = await do(choose_passages, found, cuts, wanted)
    return _order_by_standing(await register_spans(here, chosen, files))


async def _choose_reading(
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: PassageRequest,
    files: Sequence[str],
) -> Evidence:
    """Choose what is read of the found pages, and register their pages as sources of the thread."""
    wanted = wanted._replace(per_page=ALL)
    reading = await choose_reading(here, context, list_distinct_pages(results), wanted, files)
    chosen = [*reading.shared, *reading.own]
    evidence = await register_spans(here, chosen, files)
    for passage in evidence.passages[: len(reading.shared)]:
        passage["shared"] = True
    evidence = _order_by_standing(evidence)
    skipped = _list_unread_titles(list_distinct_pages(results), [page for page, _ in chosen])
    return evidence._replace(skipped=tuple(skipped))


def _list_unread_titles(found: Sequence[FoundPage], read: Sequence[FoundPage]) -> list[str]:
    """Return the titles of the documents that were found and of which no page is read."""
    known = {get_document_key(_cite(page)) for page in read}
    sources = (_cite(page) for page in found)
    unread = (one for one in sources if get_document_key(one) not in known)
    return list(dict.fromkeys(to_whole_document(one)["title"] for one in unread))


def _cite(page: FoundPage) -> Source:
    """Return a page as a source that has no number yet."""
    one = make_citable(page)
    kind = get_source_kind(one.kind)
    return Source(id="", page=one.page, title=one.title, location=one.location, kind=kind)


def list_distinct_pages(results: Sequence[list[FoundPage]]) -> list[FoundPage]:
    """Return the found pages once each; a report proves nothing and is none of them."""
    by_id = {page.id: page for result in results for page in result if page.kind != REPORT_PAGES}
    return list(by_id.values())


async def register_spans(
    here: CallSite, chosen: Sequence[tuple[FoundPage, Span]], files: Sequence[str]
) -> Evidence:
    """Return chosen spans as passages, their pages registered as sources of the thread.

    Args:
        here: The point of the run.
        chosen: Pages, and the piece of each that is shown.
        files: The folders of the run, below which a file with copies is cited.
    """
    shown = await locate_below(here.owner, [page for page, _ in chosen], files)
    sources = await register_sources(here.thread, [*map(make_citable, shown)])
    passages = [
        make_passage(source["id"], page.title, page.text, span)
        for source, (page, span) in zip(sources, chosen, strict=True)
    ]
    return Evidence(passages, {source["id"]: source for source in sources}, [])


def _order_by_standing(evidence: Evidence) -> Evidence:
    """Return evidence with the passages of deceiving sources last, what steps share before all."""

    def key(one: Passage) -> tuple[bool, bool]:
        """Order passages: shared ones first, and in both halves deceiving sources last."""
        genre = evidence.sources[one["source"]].get("genre")
        return not one.get("shared"), genre in _DECEIVING

    return evidence._replace(passages=sorted(evidence.passages, key=key))


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
    if searches_web(context):
        return {}
    part = (
        Scope(groups=context.files) if context.files else parse_scope(list_recalled_parts(context))
    )
    return await find_misspellings(owner, question, part.kinds, part.groups)


def searches_web(context: Context) -> bool:
    """Tell whether a run has a provider with which it can search the web."""
    return bool(list_run_providers(context, os.environ))
