"""Gather the passages that may answer some queries, from the person's files and the web."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import NamedTuple

from config.errors import Problem
from graph.context import Context
from graph.records import Passage, Seen, Source
from graph.state import State
from memory.meanings import likeness
from memory.pages import store as pages
from memory.pages.finding import spelling
from memory.pages.recollection import EARLIER, REPORT, below, recollected, traced, without_turns_of
from memory.pages.recollection import named as pages_named
from memory.pages.store import Page
from memory.pages.uploads import uploaded
from memory.pages.within import Scope, scope
from models.extractive.kinds import asks_list
from report.citations import SECTION
from report.comparison import prepare
from report.rulings import NO_RULING, Ruling
from report.sources import Citable, register
from report.support import Proven, proven
from retrieval.choosing import CLOSE, Cut, by_meaning, choose
from retrieval.headings import under
from retrieval.keyword import rank, rank_for, words
from retrieval.leading import asks_way, leads_on
from retrieval.listing import with_lists
from retrieval.passages import passages, scrap
from retrieval.text import Span
from retrieval.weights import WEIGHTS
from runs.budget import beside
from runs.ledger import Said, note
from runs.place import Here
from runs.trace import trace
from tools.openings import openings, subjects
from tools.search import Unanswered, available
from tools.web_search import WebSearch

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

ROOM = 2_000
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
        unanswered = (one for one in self.problems if isinstance(one, Unanswered))
        return {name: why for one in unanswered for name, why in one.failures.items()}


class Wanted(NamedTuple):
    """What passages are chosen for, and how many tokens they may take."""

    queries: Sequence[str]
    room: int = ROOM
    page_worth: float = 0.0
    """What the score of its page is worth to a passage."""
    before: frozenset[str] = frozenset()
    """Pages that half of the room belongs to."""
    each: frozenset[str] = frozenset()
    """Pages of which something is shown in any case."""
    seen: Sequence[Seen] = ()
    subject: str = ""
    """The question, for the names in it."""

    def shows(self, page: str, span: Span) -> bool:
        """Tell whether a piece of a page was shown before."""
        its = (one for one in self.seen if one["page"] == page)
        return any(one["start"] < span.end and span.start < one["end"] for one in its)


async def gather(
    here: Here,
    context: Context,
    queries: Sequence[str],
    *,
    about: str,
    web: bool = True,
    room: int = ROOM,
    seen: Sequence[Seen] = (),
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
        room: How many tokens the passages may take.
        seen: What was shown before the plan was made; it is looked at in any case.
        subject: The question; documents that it names go before others.
    """
    names = (list(context.search) or available(os.environ)) if web else []
    on_web = WebSearch(here, context, names)
    searches = [on_web.pages(query) for query in queries] if names else []
    own = [one.root for one in await uploaded(here.owner, here.thread) if not one.code]
    if not (own or context.files or names):
        searches = [_in_memory(here, context, query) for query in queries]
    in_own = pages.find_each(here.owner, queries, PAGES, own)
    in_files = pages.find_each(here.owner, queries, PAGES, context.files)
    first, read, found = await asyncio.gather(in_own, in_files, asyncio.gather(*searches))
    both = zip(queries, first, read, strict=True)
    done = [_files_said(query, [*one, *other]) for query, one, other in both if one or other]
    if done:
        await note(here, "files", "search", done)
    before = frozenset(page.id for some in first for page in some)
    wanted = [about, *queries]
    known = await pages_named(here.owner, list(dict.fromkeys(one["page"] for one in seen)))
    results = [*first, *read, *found, known]
    every = [page for some in results for page in some]
    opened = await openings(here.owner, every, "\n".join([*wanted, subject]))
    choice = Wanted(wanted, room, before=before, seen=seen, subject=subject)
    files = [*own, *context.files]
    evidence = await _chosen(here, context, [*results, opened], choice, files)
    return evidence._replace(problems=on_web.problems, sent=on_web.sent)


async def recollect(
    here: Here,
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
    searches = [recollected(here.owner, one, PAGES, part, run) for one in different]
    picked, *results = await asyncio.gather(pages_named(here.owner, named), *searches)
    titles = [page.title for page in picked]
    chosen = await traced(here.owner, "\n".join([about, *titles]), picked)
    worth: dict[str, Page] = {page.id: page._replace(score=1.0) for page in chosen}
    for page in (page for result in results for page in _scaled(result)):
        if page.id not in worth or page.score > worth[page.id].score:
            worth[page.id] = page
    left = without_turns_of(list(worth.values()))
    each = frozenset(page.id for page in chosen)
    wanted = Wanted([about, *queries, *titles], page_worth=PAGE_WORTH, each=each)
    return await _chosen(here, context, [left], wanted, context.files)


def _scaled(found: list[Page]) -> list[Page]:
    """Return pages with their scores as parts of the best one's."""
    most = max((page.score for page in found), default=0.0)
    return [page._replace(score=page.score / most if most > 0 else 0.0) for page in found]


async def _chosen(
    here: Here,
    context: Context,
    results: Sequence[list[Page]],
    wanted: Wanted,
    files: Sequence[str],
) -> Evidence:
    """Choose passages of what was found, and give their pages a number in this thread.

    A file is named by the path that it has in the folders of the run, where it is in one of them.
    """
    by_id = {page.id: page for result in results for page in result if page.kind != REPORT}
    found = list(by_id.values())
    cut = await beside(here, context, "researcher", _cut, found, wanted)
    cuts = await _by_meaning(found, cut, wanted)
    chosen = await beside(here, context, "researcher", _choose, found, cuts, wanted)
    shown = await below(here.owner, [page for page, _ in chosen], files)
    citable = [Citable(page.id, page.title, page.location, page.kind) for page in shown]
    sources = await register(here.thread, citable)
    kept = [_passage(source["id"], *one) for source, one in zip(sources, chosen, strict=True)]
    return Evidence(kept, {source["id"]: source for source in sources}, [])


def _passage(source: str, page: Page, span: Span) -> Passage:
    """Return a piece of a page with the headings above it that the page's title does not name."""
    known = page.title.split(SECTION)
    above = [one for one in under(page.text, span.start) if one not in known]
    passage = Passage(source=source, text=span.text, start=span.start)
    if above:
        passage["under"] = " › ".join(above)
    return passage


async def _in_memory(here: Here, context: Context, query: str) -> list[Page]:
    return await recollected(here.owner, query, PAGES, scope(remembered(context)), here.run)


def remembered(context: Context) -> list[str]:
    """Return the parts of the memory that a run recalls; its own files are searched anyway."""
    return list(context.memory or (EARLIER if context.files else ()))


async def misspelt(owner: str, context: Context, question: str) -> dict[str, str]:
    """Return the words of a question that nothing of what is searched holds, as they are held.

    Of what the web holds nothing is known.
    """
    if context.search or available(os.environ):
        return {}
    part = Scope(groups=context.files) if context.files else scope(remembered(context))
    return await spelling(owner, question, part.kinds, part.groups)


def _files_said(query: str, found: Sequence[Page]) -> Said:
    return Said(query, "; ".join(dict.fromkeys(page.title for page in found)))


def _cut(found: Sequence[Page], wanted: Wanted) -> list[Cut]:
    """Cut pages into passages and rank them by their words, the best first."""
    query = "\n".join(wanted.queries)
    cut = [(at, span) for at, page in enumerate(found) for span in _best_of(page, query)]
    titled = [f"{found[at].title}\n{span.text}" for at, span in cut]
    names = subjects([page.title for page in found], f"{query}\n{wanted.subject}")
    worth = [
        (1.0 + SEEN * wanted.shows(found[at].id, span))
        * (1.0 - OFF * (bool(names) and names.isdisjoint(words(text))))
        for (at, span), text in zip(cut, titled, strict=True)
    ]
    ranked = [(n, score * worth[n]) for n, score in rank_for(wanted.queries, titled)]
    if wanted.page_worth:
        own, most = dict(ranked), max((score for _, score in ranked), default=1.0)
        more = [wanted.page_worth * found[at].score for at, _ in cut]
        ranked = [(n, own.get(n, 0.0) / most + add) for n, add in enumerate(more)]
    ranked = _leading_last(query, [found[at] for at, _ in cut], ranked)
    best = max((score for _, score in ranked), default=1.0) or 1.0
    return [Cut(*cut[n], titled[n], score / best, worth[n]) for n, score in ranked]


async def _by_meaning(found: Sequence[Page], cuts: list[Cut], wanted: Wanted) -> list[Cut]:
    """Rank passages by what they mean, too, where an embedder can tell."""
    above = [(found[cut.page], cut.span) for cut in cuts[:CLOSE]]
    told = [
        "\n".join([page.title.split(SECTION)[-1], *under(page.text, span.start), span.text])
        for page, span in above
    ]
    like = await likeness(wanted.queries, told)
    return cuts if like is None else by_meaning(cuts, like)


def _choose(found: Sequence[Page], cuts: Sequence[Cut], wanted: Wanted) -> list[tuple[Page, Span]]:
    """Choose the best passages, each different from the others."""
    first, each = (
        [at for at, page in enumerate(found) if page.id in ids]
        for ids in (wanted.before, wanted.each)
    )
    spans = choose([page.text for page in found], cuts, wanted.room, first, each)
    return [(found[at], span) for at, some in spans.items() for span in some]


def _leading_last(
    query: str, of: Sequence[Page], ranked: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Return ranked passages, those of pages that only lead to others worth less."""
    every = {page.id: page for page in of}.values()
    leading = {one.id for one in every if leads_on(one.title, one.text)}
    worth = WEIGHTS.leading if leading and not asks_way(query) else 0.0
    less = [(at, score * (1 - worth * (of[at].id in leading))) for at, score in ranked]
    return sorted(less, key=lambda one: -one[1])


def _best_of(page: Page, query: str) -> list[Span]:
    """Return the passages of a page that fit best, in the order of the page.

    Where a list is asked for, a passage that begins one has all of it.
    """
    whole = passages(page.text)
    spans = [span for span in whole if not scrap(span.text)] or whole
    if asks_list(query):
        spans = [with_lists(page.text, span, LIST) for span in spans]
    if len(spans) <= FROM_A_PAGE:
        return spans
    ranked = rank(query, [span.text for span in spans])
    return [spans[index] for index in sorted(index for index, _ in ranked[:FROM_A_PAGE])]


async def verified(
    here: Here,
    context: Context,
    role: str,
    text: str,
    sources: Mapping[str, Source],
    question: str = "",
    ruling: Ruling = NO_RULING,
    least: float = 0.0,
) -> Proven:
    """Return a text without what the stored pages of its sources do not bear out.

    A page that was forgotten bears out nothing. What the question names may be named. What a
    second reader has ruled stands.

    Args:
        here: The point of the run.
        context: The choices of the run, for the minutes that are left to it.
        role: Who wrote the text.
        text: Markdown as a model wrote it.
        sources: What it may cite, by id.
        question: What it answers.
        ruling: What a second reader has ruled.
        least: How many seconds the checks may take when the minutes of the run are used up.

    Raises:
        Problem: `budget_spent` when the minutes of the run are used up, or else `text_timeout`.
    """
    names = {name: f"{one['title']}\n{one['location']}" for name, one in sources.items()}
    pages = await texts(here.owner, sources)
    work = partial(proven, text, pages, question, names, ruling)
    return await beside(here, context, role, work, least=least)


@asynccontextmanager
async def preparing(
    here: Here, context: Context, role: str, sources: Mapping[str, Source]
) -> AsyncIterator[None]:
    """Make what a text will be compared with while a model still writes it.

    Nothing waits for that: what is not made when the text is there is made with the checks.
    """
    written = threading.Event()

    async def prepared() -> None:
        with suppress(Problem):
            pages = await texts(here.owner, sources)
            await beside(here, context, role, prepare, list(pages.values()), written.is_set)

    work = asyncio.create_task(prepared())
    try:
        yield
    finally:
        written.set()
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def note_checked(here: Here, role: str, checked: Proven, *, again: bool = False) -> None:
    """Write down what the checks took out of a text, and what they doubt in it.

    What is noted `again`, of the same draft, takes the place of what was noted before.
    """
    if again or checked.removed or checked.doubted:
        more = {"removed": checked.removed, "doubted": checked.doubted}
        await trace(here, "check", role, "ok", **more)


async def texts(owner: str, sources: Mapping[str, Source]) -> dict[str, str]:
    """Return the stored text of each source by its id, as far as it can prove anything.

    A page that was forgotten has none. What a run wrote itself proves nothing: a number that was
    doubted in one report must not be borne out by it in the next.
    """
    ids = [source["page"] for source in sources.values()]
    stored = await pages.texts(owner, ids, but=[REPORT])
    named = {name: source["page"] for name, source in sources.items()}
    return {name: stored[page] for name, page in named.items() if page in stored}


async def cited_texts(owner: str, state: State) -> dict[str, str]:
    """Return the stored text of each source that the report of a turn cites, by its id."""
    sources = state.get("sources", {})
    return await texts(owner, {name: sources[name] for name in state["report"]["cited"]})
