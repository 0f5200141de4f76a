"""Search knowledge bases for the queries of a run; what is found becomes pages of its owner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import select

from calls.ledger import ActionRecord, LedgerCall, call_once, defer_actions
from config.errors import Problem
from config.resources import RecentCache, Resource, SharedTasks
from graph.context import Context
from library.knowledge_records import KNOWLEDGE_KIND, KnowledgeBase
from library.page_metadata import PageMetadata
from library.page_retrieval import FoundPage
from library.page_rows import NewPage, PageOrigin, Provenance, strip_unstorable
from library.recall import read_pages
from library.store import store_unsearched_pages
from library.tables import pages
from prompts.prompt_injection import cut_injections, has_injection
from runs.call_site import CallSite, run_site
from runs.trace import WITHHELD, seconds_since, trace
from storage.engine import read_rows
from tools.knowledge.catalog import find_bases
from tools.knowledge.kinds import UPLOADS_KIND, open_base, read_options
from tools.knowledge.knowledge_source import (
    BasePassage,
    BaseUnanswered,
    BaseUnreachable,
    KnowledgeSource,
    join_by_rank,
)
from tools.web.query_redaction import redact_outgoing_query

QUERY_PASSAGES = 8
"""How many passages one query finds in one base at most."""

BASE_PASSAGES = 24
"""How many passages of one base are looked at for all queries."""

LONGEST_PASSAGE = 20_000
"""The most characters of a passage of a service."""

ROLE = "knowledge"
"""Who searches, in the records of a run."""


AGAIN = 120.0
"""How many seconds a run does not ask a service again that it has not heard of."""

_asking = SharedTasks[str, dict[str, Any]]()
"""The queries that services are asked right now, by the keys of their calls."""

_unreachable: Resource[RecentCache[tuple[str, str, str], tuple[BaseUnreachable, float]]] = Resource(
    lambda: RecentCache(100)
)
"""Which services were not heard of, by owner, run and address, and until when that counts."""


class BaseHits(NamedTuple):
    """What some bases have found for some queries."""

    results: list[list[FoundPage]]
    """The pages of each base, the best first."""
    problems: list[Problem]
    """The bases that could not be searched, with the reasons."""
    sent: Mapping[str, str] = {}
    """The queries that were sent in other words, by how they were written; "" if not sent."""


NO_HITS = BaseHits([], [])


async def search_named_bases(
    here: CallSite, context: Context, names: Sequence[str], queries: Sequence[str]
) -> BaseHits:
    """Search the bases of some names, and no others; what fails is reported, never raised.

    Args:
        here: The point of the run, for the ledger.
        context: What the run may send.
        names: The names of the bases.
        queries: The queries, each in its language.
    """
    if not names:
        return NO_HITS
    try:
        bases = await find_bases(here.owner, names)
    except Problem as problem:
        # A base may have been removed since the plan was made.
        return BaseHits([], [BaseUnanswered(", ".join(names), problem)])
    queries_of = {base.name: queries for base in bases}
    return await search_bases(here, context, bases, queries_of)


async def search_bases(
    here: CallSite,
    context: Context,
    bases: Sequence[KnowledgeBase],
    queries_of: Mapping[str, Sequence[str]],
) -> BaseHits:
    """Search bases side by side, each for its own queries, given by its name."""
    searches = (
        _search_base(here, context, base, list(dict.fromkeys(queries_of[base.name])))
        for base in bases
    )
    hits = await asyncio.gather(*searches)
    return BaseHits(
        [one.results[0] for one in hits if one.results],
        [problem for one in hits for problem in one.problems],
        {query: words for one in hits for query, words in one.sent.items()},
    )


async def _search_base(
    here: CallSite, context: Context, base: KnowledgeBase, queries: Sequence[str]
) -> BaseHits:
    sent: dict[str, str] = {}
    started = time.monotonic()
    try:
        source = open_base(base)
        if source.is_remote:
            asked = (_ask_service(here, context, base, source, one, sent) for one in queries)
        else:
            asked = (source.search(query, QUERY_PASSAGES) for query in queries)
        answers = await asyncio.gather(*asked, return_exceptions=True)
    except Problem as problem:
        return BaseHits([], [BaseUnanswered(base.name, problem)])
    found = [one for one in answers if not isinstance(one, BaseException)]
    failed = [one for one in answers if isinstance(one, BaseException)]
    for error in failed:
        if not isinstance(error, Problem):
            raise error
    # A query that is withheld says nothing against the base.
    failures = [one for one in failed if isinstance(one, Problem) and one.code != WITHHELD]
    problems: list[Problem] = [BaseUnanswered(base.name, one) for one in failures[:1]]
    if not source.is_remote:
        _record_index_hits(here, base, queries, answers)
    for failure in problems:
        await trace(here, ROLE, ROLE, failure.code, base=base.name, why=failure.what)
    if not found:
        return BaseHits([], problems, sent)
    kept = await _keep(here, base, join_by_rank(found)[:BASE_PASSAGES])
    asked_for = [sent.get(query, query) for query in queries]
    shown = {"queries": [*filter(None, asked_for)], "pages": [page.id for page in kept]}
    await trace(here, ROLE, ROLE, "ok", base=base.name, seconds=seconds_since(started), **shown)
    return BaseHits([kept], problems, sent)


def _record_index_hits(
    here: CallSite, base: KnowledgeBase, queries: Sequence[str], answers: Sequence[Any]
) -> None:
    """Put into the ledger what a search of an index has found; it is free, so nobody waits."""
    done = [
        ActionRecord(query, _list_titles(found))
        for query, found in zip(queries, answers, strict=True)
        if not isinstance(found, BaseException) and found
    ]
    if done:
        defer_actions(here, f"{ROLE} {base.name}"[:32], "search", done)


async def _ask_service(
    here: CallSite,
    context: Context,
    base: KnowledgeBase,
    source: KnowledgeSource,
    query: str,
    sent: dict[str, str],
) -> list[BasePassage]:
    """Ask a service once in a run for a query, without its private words.

    Steps that want the same at the same moment share one request.
    """
    said = [base.name, base.kind, base.location, dict(base.options), query]
    call = LedgerCall(run_site(here), "knowledge", ROLE, said)
    work = partial(_asked, here, context, base, source, query)

    def tell(result: Mapping[str, Any]) -> ActionRecord:
        """Summarise the search for later readers of the run."""
        return ActionRecord(query, _list_titles(_read_recorded(result)), here.step)

    try:
        result = await _asking.run(call.key, partial(call_once, call, work, tell))
    except Problem as problem:
        if problem.code == WITHHELD:
            sent[query] = ""
        raise
    if result["query"] != query:
        sent[query] = result["query"]
    return _read_recorded(result)


async def _asked(
    here: CallSite, context: Context, base: KnowledgeBase, source: KnowledgeSource, query: str
) -> dict[str, Any]:
    if read_options(base).trusted:
        context = replace(context, share=[*context.share, "queries"])
    known = await _list_shown(here, base)
    left = await redact_outgoing_query(here, context, query, known=known)
    found = await _search_if_reachable(here, base, source, left.text)
    passages = [one._replace(text=one.text[:LONGEST_PASSAGE])._asdict() for one in found]
    return {"query": left.text, "passages": passages}


async def _search_if_reachable(
    here: CallSite, base: KnowledgeBase, source: KnowledgeSource, query: str
) -> list[BasePassage]:
    """Search a service, unless nothing was heard of it a moment ago in this run."""
    key = (here.owner, here.run, base.location)
    told, until = _unreachable.get().get(key, (None, 0.0))
    if told and time.monotonic() < until:
        raise BaseUnreachable(told.what, told.where)
    try:
        return await source.search(query, QUERY_PASSAGES)
    except BaseUnreachable as problem:
        _unreachable.get()[key] = problem, time.monotonic() + AGAIN
        raise


async def _list_shown(here: CallSite, base: KnowledgeBase) -> list[str]:
    """Return what a base has answered in this run."""
    its = (pages.c.owner == here.owner, pages.c.run == here.run, pages.c.site == base.name)
    shown = select(pages.c.title, pages.c.text).where(*its, pages.c.kind == KNOWLEDGE_KIND)
    return [f"{row.title}\n{row.text}" for row in await read_rows(shown)]


def _read_recorded(result: Mapping[str, Any]) -> list[BasePassage]:
    """Return the passages of a search as the ledger has them."""
    return [
        BasePassage(**{**one, "metadata": PageMetadata(*one["metadata"])})
        for one in result["passages"]
    ]


def _list_titles(found: Sequence[BasePassage]) -> str:
    return "; ".join(dict.fromkeys(cut_injections(one.title) for one in found))


def drop_copies(
    results: Sequence[Sequence[FoundPage]], others: Sequence[str] = ()
) -> list[list[FoundPage]]:
    """Return pages without those whose text is a part of another text; the first ones stay."""
    said = [" ".join(text.split()) for text in others]
    left: list[list[FoundPage]] = []
    for found in results:
        left.append([])
        for page in found:
            words = " ".join(page.text.split())
            if not any(words in text for text in said):
                said.append(words)
                left[-1].append(page)
    return left


async def _keep(
    here: CallSite, base: KnowledgeBase, found: Sequence[tuple[BasePassage, float]]
) -> list[FoundPage]:
    """Store passages as pages that can be cited; no search but that of their base finds them."""
    new = [_new_page(here, base, passage) for passage, _ in found]
    ids = await store_unsearched_pages(here.owner, new)
    scores = {id: score for id, (_, score) in zip(ids, found, strict=True)}
    kept = await read_pages(here.owner, list(scores))
    return [page._replace(score=scores[page.id]) for page in kept]


def _new_page(
    here: CallSite, base: KnowledgeBase, passage: BasePassage
) -> tuple[PageOrigin, NewPage]:
    """Return a passage as a page that names its base as its site."""
    title = " ".join(passage.title.split()) or base.name
    origin = strip_unstorable(passage.location) or f"{base.name}/{title}"
    is_own = base.kind in ("folder", UPLOADS_KIND) and not base.is_shared
    provenance: Provenance = "user" if is_own else "tool"
    source = PageOrigin(here.owner, KNOWLEDGE_KIND, origin, "", provenance, here.run)
    metadata = passage.metadata._replace(site=base.name)
    if has_injection(passage.text):
        metadata = metadata._replace(genre="hostile")
    page = NewPage(title=title, place=passage.place, text=passage.text, metadata=metadata)
    # Two bases may hold the same document.
    page["session"] = f"{KNOWLEDGE_KIND} {base.name}"
    return source, page
