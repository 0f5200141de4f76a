"""Choose what answers one search: the best passages, named sections whole, and little else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from calls.run_budget import run_within_budget
from graph.context import Context
from library.document_sections import PagePart, outline_document
from library.page_retrieval import FoundPage
from library.recall import read_pages
from runs.call_site import CallSite
from text.keyword_ranking import ScoredPassage
from text.literal_terms import find_term, list_missing_terms
from text.named_sections import find_named_heading
from text.passage_splitting import merge_passages
from text.reading_windows import section_around
from text.sentences import Span
from text.tokens import estimate_tokens
from tools.evidence import Evidence, list_distinct_pages, register_spans
from tools.passage_choice import (
    PassageRequest,
    list_site_terms,
    rank_by_meaning,
    rank_passages,
)

ANSWER_TOKENS = 1_500
"""How many tokens answer a search; about 6,000 characters of English."""

STRONG_TOKENS = 3_000
"""How many they may be while the hits are as good as the best ones."""

STRONG = 0.8
"""The least worth of such a hit, as a part of the best one's."""

WEAK = 0.5
"""A hit of less than this part of the best one's worth is left out."""

SECTION = 2_000
"""A section of at most this many characters is shown whole around a hit."""

ALL = 1_000
"""More candidate passages than a page has."""

MISFITS = 4
"""The choice ends after so many hits in a row for which there is no room."""


MISSING = 4
"""For how many literal terms that no chosen hit contains a place of their own is shown."""

_Place = tuple[int, int]
"""The number of a page, and a place in its text."""


class _Piece(NamedTuple):
    """A piece of a page to show, and how good its hit is, as a part of the best one."""

    page: FoundPage
    span: Span
    share: float


async def answer_search(
    here: CallSite,
    context: Context,
    results: Sequence[list[FoundPage]],
    wanted: PassageRequest,
    files: Sequence[str],
) -> Evidence:
    """Choose what answers a search of the found pages, and register their pages as sources.

    A section that a literal term of the query names is shown whole, other hits with their section
    if it is short. Hits that are clearly weaker than the best one are left out.

    Args:
        here: The point of the run.
        context: The choices of the run.
        results: The pages that were found.
        wanted: What is looked for.
        files: The folders of the run, below which a file with copies is cited.
    """
    found = list_distinct_pages(results)
    wanted = wanted._replace(per_page=ALL, literally=True)
    size = sum(len(page.text) for page in found)
    do = partial(run_within_budget, here, context, "researcher", characters=size)
    cuts = await rank_by_meaning(found, await do(rank_passages, found, wanted), wanted)
    best = cuts[0].worth if cuts else 0.0
    good = [cut for cut in cuts if cut.worth >= WEAK * best]
    query = "\n".join(wanted.queries)
    headings = await do(_find_named_headings, query, found, good)
    named = await _read_named_sections(here.owner, found, headings)
    # A long document has thousands of hits, and only those that are looked at are widened.
    chosen = await do(_choose, _widen(found, good, named, best))
    chosen += await do(_find_missing, query, found, chosen)
    return await register_spans(here, chosen, files)


def _find_named_headings(
    query: str, found: Sequence[FoundPage], cuts: Sequence[ScoredPassage]
) -> dict[_Place, _Place]:
    """Return where the sections begin that the query names, by the hits in them."""
    headings = {
        (cut.page, cut.span.start): find_named_heading(query, found[cut.page].text, cut.span)
        for cut in cuts
    }
    return {hit: (hit[0], one.start) for hit, one in headings.items() if one}


def _find_missing(
    query: str, found: Sequence[FoundPage], chosen: Sequence[tuple[FoundPage, Span]]
) -> list[tuple[FoundPage, Span]]:
    """Return the first place of each literal term of a query that no chosen piece contains."""
    shown = [f"{page.title}\n{span.text}" for page, span in chosen]
    places: list[tuple[FoundPage, Span]] = []
    site = list_site_terms(query, found)
    missing = [term for term in list_missing_terms(query, shown) if term not in site]
    for term in missing[:MISSING]:
        at = ((page, find_term(page.text, term)) for page in found)
        first = next(((page, start) for page, start in at if start is not None), None)
        if first is not None:
            page, start = first
            hit = Span(start, start + len(term), page.text[start : start + len(term)])
            places.append((page, _widen_hit(page.text, hit)))
    return places


async def _read_named_sections(
    owner: str, found: Sequence[FoundPage], headings: Mapping[_Place, _Place]
) -> dict[_Place, list[tuple[FoundPage, Span]]]:
    """Return sections by the hits in them.

    A section may go on in the next pages of its document; one that is too long is left out.
    """
    begun = dict.fromkeys(headings.values())
    sections = {
        (page, start): await _read_section(owner, found[page].id, start) for page, start in begun
    }
    return {hit: sections[place] for hit, place in headings.items()}


async def _read_section(owner: str, page_id: str, start: int) -> list[tuple[FoundPage, Span]]:
    document = await outline_document(owner, page_id)
    sections = document.sections if document else ()
    parts: Sequence[PagePart] = next(
        (one.parts for one in sections if one.parts and one.parts[0][:2] == (page_id, start)), ()
    )
    if sum(part.end - part.start for part in parts) > STRONG_TOKENS * 4:
        return []
    pages = {page.id: page for page in await read_pages(owner, [part.page for part in parts])}
    return [
        (pages[part.page], _strip(pages[part.page].text, part.start, part.end))
        for part in parts
        if part.page in pages
    ]


def _strip(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return Span(start, start + len(piece.strip()), piece.strip())


def _widen(
    found: Sequence[FoundPage],
    cuts: Sequence[ScoredPassage],
    named: Mapping[_Place, list[tuple[FoundPage, Span]]],
    best: float,
) -> Iterator[list[_Piece]]:
    """Yield what is to be shown for each hit, the best first."""
    for cut in cuts:
        page, share = found[cut.page], cut.worth / best if best else 1.0
        pieces = named.get((cut.page, cut.span.start)) or [(page, _widen_hit(page.text, cut.span))]
        yield [_Piece(*piece, share) for piece in pieces]


def _widen_hit(text: str, hit: Span) -> Span:
    section = section_around(text, hit)
    return section if len(section.text) <= SECTION else merge_passages(text, [hit])[0]


def _choose(groups: Iterable[list[_Piece]]) -> list[tuple[FoundPage, Span]]:
    """Return the pieces for which there is room, each page's in order, the best page first."""
    chosen: dict[str, list[_Piece]] = {}
    used = misfits = 0
    for pieces in groups:
        new = [one for one in pieces if not _is_shown(one, chosen.get(one.page.id, ()))]
        size = sum(estimate_tokens(one.span.text) for one in new)
        room = STRONG_TOKENS if pieces[0].share >= STRONG else ANSWER_TOKENS
        if chosen and used + size > room:
            misfits += 1
            if misfits == MISFITS:
                break
            continue
        used += size
        misfits = 0
        for one in new:
            chosen.setdefault(one.page.id, []).append(one)
    return [
        (some[0].page, span)
        for some in chosen.values()
        for span in merge_passages(some[0].page.text, [one.span for one in some])
    ]


def _is_shown(piece: _Piece, others: Sequence[_Piece]) -> bool:
    return any(
        one.span.start <= piece.span.start and piece.span.end <= one.span.end for one in others
    )
