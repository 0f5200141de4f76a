"""Choose what a researcher reads: whole documents where they fit, else hits with their sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import NamedTuple

from calls.context_window import input_window
from calls.run_budget import run_within_budget
from config.model_table import token_prices
from config.settings import settings
from graph.context import Context
from graph.records import Passage, ShownSpan, Source
from library.document_pages import (
    DocumentPlace,
    find_pages_on_names,
    find_places,
    read_documents,
    read_folders,
    read_short_documents,
)
from library.page_retrieval import FoundPage
from library.store import read_page_texts
from models.chat_models import built_in, load_role_model, model_for_role
from runs.call_site import CallSite
from text.keyword_ranking import ScoredPassage, find_best_texts
from text.passage_splitting import split_passages
from text.reading_windows import widen_hits
from text.sentences import Span
from text.tokens import estimate_tokens
from text.topics import extract_names, named_terms
from text.words import query_terms
from tools.passage_choice import PassageRequest, make_passage, rank_by_meaning, rank_passages

WINDOW_SHARE = 0.4
"""The share of a model's window that what it reads first may take."""

READINGS = 4
"""How many calls of a step are expected to send what it reads: its tools, and a redo."""

SPENT_SHARE = 0.8
"""The share of a run's caps that all readings may take together."""

SHARED_SHARE = 0.2
"""The share of the room that is for what the first search found, which all steps read alike."""

CHARACTERS = 6
"""No token of running text has more characters, on average."""

BEST = 20
"""In how many of the best hits names are looked for."""

NAMES = 60
"""How many of these names are followed."""

SHORT = 10_000
"""A document of at most this many characters is read whole wherever it is hit."""

PER_QUERY = 8
"""How many of the best hits of each query alone are read before most others."""

PAGES_PER_NAME = 3
"""How many pages are searched for each, beside those that were found."""

PER_NAME = 2
"""How many hits about each are read."""

PageSpan = tuple[FoundPage, Span]


class Reading(NamedTuple):
    """What a step reads: first what every step of the run reads alike, then what it found."""

    shared: list[PageSpan]
    own: list[PageSpan]


async def reading_room(role: str, context: Context, narrow: int) -> int:
    """Return how many tokens of sources a role may be shown at once.

    Args:
        role: The role.
        context: The choices of the run, for its models and caps.
        narrow: How many the built-in model is shown, which only quotes; nobody is shown fewer.
    """
    if built_in(role, context):
        return narrow
    window = input_window(await load_role_model(role, context))
    room = min(settings().reading_tokens, int(WINDOW_SHARE * window))
    return max(narrow, min(room, _affordable(context, model_for_role(role, context))))


def _affordable(context: Context, model: str) -> int:
    """Return how many tokens each step can read so often without reaching a cap of the run."""
    limits = context.limits
    dollars = token_prices(model)[0]
    tokens = limits.max_tokens
    if dollars:
        tokens = min(tokens, int(limits.max_cost / dollars))
    return int(SPENT_SHARE * tokens / (READINGS * limits.max_steps))


async def choose_reading(
    here: CallSite,
    context: Context,
    found: Sequence[FoundPage],
    wanted: PassageRequest,
    files: Sequence[str],
) -> Reading:
    """Choose what a step reads within the room of its request.

    The files of the run are read whole if they fit; so are the documents that were found. Of
    others the best hits are read with their sections.

    Args:
        here: The point of the run.
        context: The choices of the run.
        found: The pages that were found, the best first.
        wanted: What is looked for.
        files: The folders of the run and of its thread.
    """
    shared = await _read_all_files(here.owner, found, wanted.room, files)
    known = {page.id for page, _ in shared}
    rest = [page for page in found if page.id not in known]
    wanted = wanted._replace(room=wanted.room - _count(shared))
    places = await find_places(here.owner, [page.id for page in rest])
    whole = await _read_whole(here.owner, rest, places, wanted.room)
    if whole is not None:
        return Reading(shared, whole)
    if shared:
        _, own = await _read_hits(here, context, rest, wanted, files)
        return Reading(shared, own)
    return Reading(*await _read_hits(here, context, rest, wanted, files))


async def _read_all_files(
    owner: str, found: Sequence[FoundPage], room: int, files: Sequence[str]
) -> list[PageSpan]:
    """Return all pages of the files, or nothing if they are too many to leave room for others."""
    others = any(page.kind != "file" for page in found)
    room = room // 2 if others else room
    pages = await read_folders(owner, files, room * CHARACTERS) or []
    spans = [_all_of(page) for page in pages]
    return spans if _count(spans) <= room else []


async def _read_whole(
    owner: str, found: Sequence[FoundPage], places: dict[str, DocumentPlace], room: int
) -> list[PageSpan] | None:
    """Return the found documents whole, and other pages as they are; `None` if they do not fit."""
    documents = dict.fromkeys(place.document for place in places.values())
    pages = await read_documents(owner, list(documents), room * CHARACTERS)
    if pages is None:
        return None
    apart = [page for page in found if page.id not in places]
    spans = [_all_of(page) for page in [*pages, *apart]]
    return spans if _count(spans) <= room else None


async def _read_hits(
    here: CallSite,
    context: Context,
    found: Sequence[FoundPage],
    wanted: PassageRequest,
    files: Sequence[str],
) -> tuple[list[PageSpan], list[PageSpan]]:
    """Return the hits of the first search with their sections, and then those of this step.

    A step reads more of the pages that its own searches found, and not of those that only the first
    search found: that one was for the whole question.
    """
    size = sum(len(page.text) for page in found)
    do = partial(run_within_budget, here, context, "researcher", characters=size)
    searched = [page for page in found if page.id not in wanted.found_first] or found
    ranked = await do(rank_passages, searched, wanted)
    cuts = await rank_by_meaning(searched, ranked, wanted)
    cuts = await do(put_best_first, cuts, wanted.queries)
    searched, cuts = await _follow_names(here, context, searched, cuts, wanted, files)
    ids = {page.id for page in searched}
    found = [*searched, *(page for page in found if page.id not in ids)]
    first = _first_hits(found, wanted.seen)
    found, (first, cuts) = await _with_short_documents(here, found, [first, cuts])
    texts = [page.text for page in found]
    shared = await do(widen_hits, texts, first, int(SHARED_SHARE * wanted.room))
    before = sum(estimate_tokens(span.text) for span in chain.from_iterable(shared.values()))
    new = [cut for cut in cuts if not _is_inside(cut.span, shared.get(cut.page, ()))]
    own = await do(widen_hits, texts, new, wanted.room - before)
    left = {page: _leave_out(spans, shared.get(page, ())) for page, spans in own.items()}
    places = await find_places(here.owner, [page.id for page in found])
    # Steps find documents in different orders, and what they share has to begin alike.
    alike = sorted(found, key=lambda page: page.location)
    return _in_order(found, places, shared, alike), _in_order(found, places, left, found)


def put_best_first(cuts: Sequence[ScoredPassage], queries: Sequence[str]) -> list[ScoredPassage]:
    """Return hits with the `PER_QUERY` best of each query by turns with the others.

    What one query looks for alone stands far behind what touches on all of them.
    """
    best = find_best_texts(queries, [cut.text for cut in cuts], PER_QUERY)
    turns = chain.from_iterable(zip_longest(range(len(cuts)), best))
    return [cuts[at] for at in dict.fromkeys(turns) if at is not None]


async def _with_short_documents(
    here: CallSite, found: Sequence[FoundPage], ranked: Sequence[Sequence[ScoredPassage]]
) -> tuple[list[FoundPage], list[list[ScoredPassage]]]:
    """Return pages and hits with the whole of each short document in the place of its best hit.

    Args:
        here: The point of the run.
        found: The pages.
        ranked: Some lists of hits in them, the best first.
    """
    places = await find_places(here.owner, [page.id for page in found])
    named = [places[page.id].document for page in found if page.id in places]
    short = await read_short_documents(here.owner, list(dict.fromkeys(named)), SHORT)
    known = {page.id: number for number, page in enumerate(found)}
    every = list(found)
    for page in chain.from_iterable(short.values()):
        if page.id not in known:
            known[page.id] = len(every)
            every.append(page)

    def whole(hit: ScoredPassage) -> list[ScoredPassage]:
        """Return all pages of the document of a hit if it is short, else the hit."""
        place = places.get(every[hit.page].id)
        parts = short.get(place.document, []) if place else []
        return [hit._replace(page=known[one.id], span=_all_of(one)[1]) for one in parts] or [hit]

    wide = [[one for hit in hits for one in whole(hit)] for hits in ranked]
    return every, [list({(one.page, one.span): one for one in hits}.values()) for hits in wide]


async def _follow_names(
    here: CallSite,
    context: Context,
    found: Sequence[FoundPage],
    cuts: Sequence[ScoredPassage],
    wanted: PassageRequest,
    files: Sequence[str],
) -> tuple[list[FoundPage], list[ScoredPassage]]:
    """Return the pages and the hits with those about the names in the best hits behind these.

    What a question asks often stands where something is described that only a hit names, such as
    the director of the film in question.
    """
    asked = named_terms("\n".join([*wanted.queries, wanted.subject]))
    names = [name for cut in cuts[:BEST] for name in extract_names(cut.span.text)]
    new = [name for name in dict.fromkeys(names) if not asked.issuperset(query_terms(name))]
    followed = new[:NAMES]
    named = await find_pages_on_names(here.owner, followed, PAGES_PER_NAME, files)
    known = {page.id for page in found}
    every = [*found, *(page for page in named if page.id not in known)]
    size = sum(len(page.text) for page in every)
    do = partial(run_within_budget, here, context, "researcher", characters=size)
    return every, await do(_rank_with_names, every, cuts, followed)


def _rank_with_names(
    every: Sequence[FoundPage], cuts: Sequence[ScoredPassage], names: Sequence[str]
) -> list[ScoredPassage]:
    """Return the best hits, then by turns the best passages about the names and the other hits."""
    known = {(cut.page, cut.span.start) for cut in cuts}
    candidates = list(cuts) + [
        ScoredPassage(at, span, f"{page.title}\n{span.text}", 0.0)
        for at, page in enumerate(every)
        for span in split_passages(page.text)
        if (at, span.start) not in known
    ]
    about = find_best_texts(names, [one.text for one in candidates], PER_NAME)
    first = range(len(cuts[:BEST]))
    named = [at for at in about if at not in first]
    turns = chain.from_iterable(zip_longest(named, range(len(first), len(cuts))))
    return [candidates[at] for at in dict.fromkeys([*first, *turns]) if at is not None]


def _first_hits(found: Sequence[FoundPage], seen: Iterable[ShownSpan]) -> list[ScoredPassage]:
    """Return the hits of the first search that are in the found pages."""
    numbers = {page.id: number for number, page in enumerate(found)}
    spans = [
        (numbers[one["page"]], one["start"], one["end"]) for one in seen if one["page"] in numbers
    ]
    return [
        ScoredPassage(number, Span(start, end, found[number].text[start:end]), "", 1.0)
        for number, start, end in spans
    ]


def _is_inside(span: Span, others: Iterable[Span]) -> bool:
    return any(one.start <= span.start and span.end <= one.end for one in others)


def _leave_out(spans: Sequence[Span], others: Iterable[Span]) -> list[Span]:
    """Return what is left of pieces of a text without others, which the same prompt shows."""
    left = list(spans)
    for other in others:
        left = [part for one in left for part in _outside(one, other)]
    return left


def _outside(span: Span, other: Span) -> Iterator[Span]:
    """Yield what a piece of a text has before another one and behind it."""
    before = span.text[: max(other.start - span.start, 0)]
    behind = span.text[max(other.end - span.start, 0) :]
    for start, part in ((span.start, before), (span.end - len(behind), behind)):
        if part.strip():
            first = start + len(part) - len(part.lstrip())
            yield Span(first, first + len(part.strip()), part.strip())


def _in_order(
    found: Sequence[FoundPage],
    places: dict[str, DocumentPlace],
    spans: Mapping[int, Sequence[Span]],
    first: Sequence[FoundPage],
) -> list[PageSpan]:
    """Return spans by documents, in the order in which these come first, each in its order."""
    order: dict[str, int] = {}
    for page in first:
        place = places.get(page.id)
        order.setdefault(place.document if place else page.id, len(order))

    def key(number: int) -> tuple[int, int]:
        """Order pages by the rank of their document, then by their place in it."""
        page = found[number]
        place = places.get(page.id, DocumentPlace(page.id, 0))
        return order[place.document], place.position

    return [(found[number], span) for number in sorted(spans, key=key) for span in spans[number]]


def _all_of(page: FoundPage) -> PageSpan:
    return page, Span(0, len(page.text), page.text)


def _count(spans: Iterable[PageSpan]) -> int:
    return sum(estimate_tokens(span.text) for _, span in spans)


def list_spans(passages: Iterable[Passage], sources: Mapping[str, Source]) -> list[ShownSpan]:
    """Return passages as references to their pages, which is what a state keeps of them."""
    spans = []
    for passage in passages:
        start = passage.get("start", 0)
        span = ShownSpan(
            page=sources[passage["source"]]["page"], start=start, end=start + len(passage["text"])
        )
        spans.append(span | {"shared": True} if passage.get("shared") else span)
    return spans


async def load_passages(
    owner: str, spans: Sequence[ShownSpan], sources: Mapping[str, Source]
) -> list[Passage]:
    """Return the passages that references stand for, without those of forgotten pages."""
    by_page = {source["page"]: source for source in sources.values()}
    ids = list(dict.fromkeys(span["page"] for span in spans))
    texts = await read_page_texts(owner, ids)
    return [
        _to_passage(by_page[span["page"]], texts[span["page"]], span)
        for span in spans
        if span["page"] in texts and span["page"] in by_page
    ]


def _to_passage(source: Source, text: str, span: ShownSpan) -> Passage:
    piece = Span(span["start"], span["end"], text[span["start"] : span["end"]])
    passage = make_passage(source["id"], source["title"], text, piece)
    return passage | {"shared": True} if span.get("shared") else passage
