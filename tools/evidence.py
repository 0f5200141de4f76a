"""Gather the passages that may answer some queries: from files, the web and memory."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import func, select

from calls.ledger import ActionRecord, record_actions
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
"""How many documents are opened."""


async def find_opening_pages(owner: str, found: Sequence[FoundPage], asked: str) -> list[FoundPage]:
    """Return the first pages of those documents with found pages that a question names.

    Args:
        owner: Whose pages.
        found: Pages that were found, the best first.
        asked: The question, and what is searched for.
    """
    names = find_subject_names([page.title for page in found], asked)
    of = [page.id for page in found if not names.isdisjoint(_title(page.title))]
    if not of:
        return []
    its = select(pages.c.origin).where(pages.c.owner == owner, pages.c.id.in_(of))
    live = (pages.c.owner == owner, pages.c.origin.in_(its), pages.c.indexed > RETIRED)
    firsts = select(func.min(pages.c.number)).where(*live).group_by(pages.c.origin)
    wanted = select(pages.c.id).where(pages.c.number.in_(firsts)).limit(MOST)
    return await read_pages(owner, list((await read_rows(wanted)).scalars()))


def find_subject_names(titles: Iterable[str], asked: str) -> set[str]:
    """Return the names in a question by which it tells some of the documents from the others."""
    different = {_title(title) for title in titles}
    if len(different) < 2:
        return set()
    telling = frozenset.union(*different) - frozenset.intersection(*different)
    return named_terms(asked) & telling


@lru_cache(maxsize=1024)
def _title(title: str) -> frozenset[str]:
    """Return the words of a document's title, without those of the section."""
    return frozenset(search_words(title.partition(SECTION_SEPARATOR)[0]))


PAGES = 12
"""How many pages of the person's files are looked at for one query."""

PAGE_WORTH = 2.0
"""What the score of its page is worth to a passage of memory, beside the words it shares itself.

A page may be found because another one leads to it, and share few words with the question.
"""

FROM_A_PAGE = 8
"""How many passages of one page are looked at, so that a long page cannot crowd out the others."""

LIST = 8_000
"""How long a passage with a whole list may be, in characters."""

EVIDENCE_TOKENS = 2_000
"""How many tokens the passages of a prompt may take."""

SEEN = 0.25
"""How much more a passage is worth that was shown before the plan was made, as part of itself."""

OFF = 0.3
"""How much less a passage is worth that names none of the documents' subjects that are asked of."""


class Evidence(NamedTuple):
    """The passages that fit, the sources they are from, and what could not be searched."""

    passages: list[Passage]
    sources: dict[str, Source]
    problems: list[Problem]
    sent: Mapping[str, str] = {}
    """The web queries that were sent in other words, by how they were written; "" if not sent."""

    @property
    def unsearched(self) -> dict[str, str]:
        """Return why providers of web search did not answer, by their names."""
        unanswered = (one for one in self.problems if isinstance(one, SearchUnanswered))
        return {name: why for one in unanswered for name, why in one.failures.items()}


class _PassageRequest(NamedTuple):
    """What passages are chosen for, and how many tokens they may take."""

    queries: Sequence[str]
    room: int = EVIDENCE_TOKENS
    page_worth: float = 0.0
    """What the score of its page is worth to a passage."""
    before: frozenset[str] = frozenset()
    """Pages that half of the room belongs to."""
    each: frozenset[str] = frozenset()
    """Pages of which something is shown in any case."""
    seen: Sequence[ShownSpan] = ()
    subject: str = ""
    """The question, for the names in it."""

    def shows(self, page: str, span: Span) -> bool:
        """Tell whether a piece of a page was shown before."""
        its = (one for one in self.seen if one["page"] == page)
        return any(one["start"] < span.end and span.start < one["end"] for one in its)


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
    """Search for every query at once and choose the best passages over all of them.

    What was uploaded into the thread comes first. Where there are neither files nor a web to
    search, what was read before is searched. How a document opens that the queries name is looked
    at, too.

    Args:
        here: The point of the run, for the ledger.
        context: Which files and which web searches may be used.
        queries: What to search for.
        about: What the passages are for; they are ranked by it and the queries.
        web: Whether the web may be searched.
        max_tokens: How many tokens the passages may take.
        seen: What was shown before the plan was made; it is looked at in any case.
        subject: The question; documents that it names go before others.
    """
    names = (list(context.search) or list_available_providers(os.environ)) if web else []
    on_web = WebSearch(here, context, names)
    searches = [on_web.find_pages(query) for query in queries] if names else []
    own = [one.root for one in await list_uploaded_files(here.owner, here.thread) if not one.code]
    if not (own or context.files or names):
        searches = [_in_memory(here, context, query) for query in queries]
    in_own = page_retrieval.find_pages_many(here.owner, queries, PAGES, own)
    in_files = page_retrieval.find_pages_many(here.owner, queries, PAGES, context.files)
    first, read, found = await asyncio.gather(in_own, in_files, asyncio.gather(*searches))
    both = zip(queries, first, read, strict=True)
    done = [_files_said(query, [*one, *other]) for query, one, other in both if one or other]
    if done:
        await record_actions(here, "files", "search", done)
    before = frozenset(page.id for some in first for page in some)
    wanted = [about, *queries]
    known = await read_pages(here.owner, list(dict.fromkeys(one["page"] for one in seen)))
    results = [*first, *read, *found, known]
    every = [page for some in results for page in some]
    opened = await find_opening_pages(here.owner, every, "\n".join([*wanted, subject]))
    choice = _PassageRequest(wanted, max_tokens, before=before, seen=seen, subject=subject)
    files = [*own, *context.files]
    evidence = await _chosen(here, context, [*results, opened], choice, files)
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
    """Search what was read before for every query, and choose the best passages.

    Args:
        here: The point of the run.
        context: Which folders the run has, whose copy of a file is named before others.
        queries: What to search for.
        named: The ids of pages that are looked at in any case.
        about: What the passages are for.
        part: The part of the memory that is searched.
        run: A run whose own pages are left out.
    """
    different = dict.fromkeys(queries)
    searches = [recall_pages(here.owner, one, PAGES, part, run) for one in different]
    picked, *results = await asyncio.gather(read_pages(here.owner, named), *searches)
    titles = [page.title for page in picked]
    chosen = await trace_reports(here.owner, "\n".join([about, *titles]), picked)
    worth: dict[str, FoundPage] = {page.id: page._replace(score=1.0) for page in chosen}
    for page in (page for result in results for page in _scaled(result)):
        if page.id not in worth or page.score > worth[page.id].score:
            worth[page.id] = page
    left = drop_repeated_turns(list(worth.values()))
    each = frozenset(page.id for page in chosen)
    wanted = _PassageRequest([about, *queries, *titles], page_worth=PAGE_WORTH, each=each)
    return await _chosen(here, context, [left], wanted, context.files)


def _scaled(found: list[FoundPage]) -> list[FoundPage]:
    """Return pages with their scores as parts of the best one's."""
    most = max((page.score for page in found), default=0.0)
    return [page._replace(score=page.score / most if most > 0 else 0.0) for page in found]


async def _chosen(
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: _PassageRequest,
    files: Sequence[str],
) -> Evidence:
    """Choose passages of what was found, and give their pages a number in this thread.

    A file is named by the path that it has in the folders of the run, where it is in one of them.
    """
    by_id = {page.id: page for result in results for page in result if page.kind != REPORT_PAGES}
    found = list(by_id.values())
    cut = await run_within_budget(here, context, "researcher", _cut, found, wanted)
    cuts = await _by_meaning(found, cut, wanted)
    chosen = await run_within_budget(here, context, "researcher", _choose, found, cuts, wanted)
    shown = await locate_below(here.owner, [page for page, _ in chosen], files)
    citable = [CitablePage(page.id, page.title, page.location, page.kind) for page in shown]
    sources = await register_sources(here.thread, citable)
    kept = [_passage(source["id"], *one) for source, one in zip(sources, chosen, strict=True)]
    return Evidence(kept, {source["id"]: source for source in sources}, [])


def _passage(source: str, page: FoundPage, span: Span) -> Passage:
    """Return a piece of a page with the headings above it that the page's title does not name."""
    known = page.title.split(SECTION_SEPARATOR)
    above = [one for one in find_headings_above(page.text, span.start) if one not in known]
    passage = Passage(source=source, text=span.text, start=span.start)
    if above:
        passage["under"] = " › ".join(above)
    return passage


async def _in_memory(here: CallSite, context: Context, query: str) -> list[FoundPage]:
    return await recall_pages(
        here.owner, query, PAGES, parse_scope(list_recalled_parts(context)), here.run
    )


def list_recalled_parts(context: Context) -> list[str]:
    """Return the parts of the memory that a run recalls; its own files are searched anyway."""
    return list(context.memory or (EARLIER_KINDS if context.files else ()))


async def suggest_spellings(owner: str, context: Context, question: str) -> dict[str, str]:
    """Return the words of a question that nothing of what is searched holds, as they are held.

    Of what the web holds nothing is known.
    """
    if context.search or list_available_providers(os.environ):
        return {}
    part = (
        Scope(groups=context.files) if context.files else parse_scope(list_recalled_parts(context))
    )
    return await find_misspellings(owner, question, part.kinds, part.groups)


def _files_said(query: str, found: Sequence[FoundPage]) -> ActionRecord:
    return ActionRecord(query, "; ".join(dict.fromkeys(page.title for page in found)))


def _cut(found: Sequence[FoundPage], wanted: _PassageRequest) -> list[ScoredPassage]:
    """Cut pages into passages and rank them by their words, the best first."""
    query = "\n".join(wanted.queries)
    cut = [(at, span) for at, page in enumerate(found) for span in _best_of(page, query)]
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
        more = [wanted.page_worth * found[at].score for at, _ in cut]
        ranked = [(n, own.get(n, 0.0) / most + add) for n, add in enumerate(more)]
    ranked = _leading_last(query, [found[at] for at, _ in cut], ranked)
    best = max((score for _, score in ranked), default=1.0) or 1.0
    return [ScoredPassage(*cut[n], titled[n], score / best, worth[n]) for n, score in ranked]


async def _by_meaning(
    found: Sequence[FoundPage], cuts: list[ScoredPassage], wanted: _PassageRequest
) -> list[ScoredPassage]:
    """Rank passages by what they mean, too, where an embedder can tell."""
    above = [(found[cut.page], cut.span) for cut in cuts[:COMPARED_PASSAGES]]
    told = [
        "\n".join(
            [
                page.title.split(SECTION_SEPARATOR)[-1],
                *find_headings_above(page.text, span.start),
                span.text,
            ]
        )
        for page, span in above
    ]
    like = await passage_similarity(wanted.queries, told)
    return cuts if like is None else rescore_by_meaning(cuts, like)


def _choose(
    found: Sequence[FoundPage], cuts: Sequence[ScoredPassage], wanted: _PassageRequest
) -> list[tuple[FoundPage, Span]]:
    """Choose the best passages, each different from the others."""
    first, each = (
        [at for at, page in enumerate(found) if page.id in ids]
        for ids in (wanted.before, wanted.each)
    )
    spans = select_passages([page.text for page in found], cuts, wanted.room, first, each)
    return [(found[at], span) for at, some in spans.items() for span in some]


def _leading_last(
    query: str, of: Sequence[FoundPage], ranked: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Return ranked passages, those of pages that only lead to others worth less."""
    every = {page.id: page for page in of}.values()
    leading = {one.id for one in every if is_navigation_page(one.title, one.text)}
    worth = SIGNAL_WEIGHTS.leading if leading and not asks_for_navigation(query) else 0.0
    less = [(at, score * (1 - worth * (of[at].id in leading))) for at, score in ranked]
    return sorted(less, key=lambda one: -one[1])


def _best_of(page: FoundPage, query: str) -> list[Span]:
    """Return the passages of a page that fit best, in the order of the page.

    Where a list is asked for, a passage that begins one has all of it.
    """
    whole = split_passages(page.text)
    spans = [span for span in whole if not is_breadcrumb(span.text)] or whole
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
            await run_within_budget(
                here, context, role, prepare_sources, list(pages.values()), written.is_set
            )

    work = asyncio.create_task(prepared())
    try:
        yield
    finally:
        written.set()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
