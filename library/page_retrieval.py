"""Find pages in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, bindparam, case, func, select

from library.indexing import needs_refresh, refresh_index
from library.page_index import SEARCHED_NAMESPACES, PageIndex, open_index, searched_condition
from library.page_ranking import ScoredPage, drop_common_words, find_distinct_rows, rank_pages
from library.page_scoring import Vector, VectorCollection
from library.spelling import correct_question
from library.tables import PAGE_NUMBERS, documents, namespaces, pages, vector_sets
from models.embeddings import LEXICAL_EMBEDDERS, embedder_name
from storage.engine import run_read
from text.words import query_terms

Answer = TypeVar("Answer")

SPARE = 10
"""So many more pages are ranked, for those that repeat others are left out."""

ROOT_FOLDERS: BindParameter[str] = bindparam("roots", expanding=True)
"""The folders that files are searched below."""


class FoundPage(NamedTuple):
    """A page that was found; `score` is higher for a better fit."""

    id: str
    kind: str
    title: str
    location: str
    text: str
    score: float


class SearchResult(NamedTuple):
    """A page that a search found, and what each sign adds to its score."""

    page: FoundPage
    parts: Mapping[str, float]
    trust: float
    """How far vectors were trusted beside words, in 0..1."""


def format_location(origin: str, place: str) -> str:
    """Join where something is from and the place in it, as an address with a fragment.

    A file that is gone is from nowhere.
    """
    return f"{origin}#{place}" if origin and place else origin


async def run_search(
    owner: str,
    work: Callable[[PageIndex], Answer],
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Answer:
    """Let a function search some of an owner's pages, and return what it returns.

    Args:
        owner: Whose pages.
        work: Is given the pages as the scorer sees them; it runs in a thread.
        kinds: Of these kinds only.
        groups: Of these groups only, such as the folders of files.
    """

    def look(connection: Connection) -> list[Answer]:
        """Return one answer, or none while the index is not true."""
        return (
            []
            if needs_refresh(connection, owner)
            else [work(open_index(connection, owner, kinds, groups))]
        )

    while not (answer := await run_read(look)):
        await refresh_index(owner)
    return answer[0]


async def find_misspellings(
    owner: str,
    question: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> dict[str, str]:
    """Return the words of a question that no page holds, each with the nearest that some do.

    Where there are no pages, nothing is known to be misspelt.
    """
    return await run_search(
        owner, lambda index: correct_question(question, index).changed, kinds, groups
    )


def page_columns(rooted: bool = False) -> tuple[Any, ...]:
    """Return what has to be read of a page to make a `FoundPage`: `path` is where it is from.

    With `rooted` that is a path below one of the folders `ROOT_FOLDERS`.
    """
    named = (documents.c.owner == pages.c.owner, documents.c.sha256 == pages.c.origin)
    path = select(func.min(documents.c.path)).where(pages.c.kind == "file", *named)
    below = path.where(documents.c.root.in_(ROOT_FOLDERS)) if rooted else path
    # The origin of a file is the hash of its content; it may be in no folder any more.
    elsewhere = case((pages.c.kind == "file", ""), else_=pages.c.origin)
    origin = func.coalesce(below.scalar_subquery(), elsewhere).label("path")
    names = ("number", "id", "kind", "title", "place", "text")
    return (*(pages.c[name] for name in names), origin)


HITS, ROOTED_HITS = (
    select(*page_columns(rooted)).where(pages.c.number.in_(PAGE_NUMBERS), searched_condition(pages))
    for rooted in (False, True)
)


async def search_pages(
    owner: str,
    question: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[SearchResult]:
    """Return the pages that answer a question best, best first.

    Args:
        owner: Whose pages.
        question: What is asked.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only, such as conversations or folders of files.
    """
    return (await search_pages_many(owner, [question], limit, kinds, groups))[0]


async def search_pages_many(
    owner: str,
    questions: Sequence[str],
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[list[SearchResult]]:
    """Do the same for several questions, in one look at the store."""

    def look(index: PageIndex) -> list[list[SearchResult]]:
        return [_found(index, question, limit, groups) for question in questions]

    return await run_search(owner, look, kinds, groups)


def _found(
    index: PageIndex, question: str, limit: int, roots: Sequence[str] | None
) -> list[SearchResult]:
    meant = _meant(index, question)
    found = rank_pages(question, index, limit + SPARE, **meant._asdict())
    hits = [found[at] for at in find_distinct_rows([hit.row for hit in found])]
    hits = _below_cited(index, hits)[:limit]
    # Vectors have a nearest page for everything, also one that nothing speaks for.
    worth = {hit.row.number: hit for hit in hits if hit.score > 0}
    wanted = HITS if roots is None else ROOTED_HITS
    values = {
        **index.bound_values,
        PAGE_NUMBERS.key: list(worth),
        ROOT_FOLDERS.key: list(roots or ()),
    }
    rows = {row.number: row for row in index.connection.execute(wanted, values)}
    return [
        SearchResult(_page(rows[number], hit.score), hit.parts, meant.trust)
        for number, hit in worth.items()
        if number in rows
    ]


class _QueryMeaning(NamedTuple):
    """What vectors tell of a question, as the scorer asks for it."""

    vectors: VectorCollection | None = None
    vector: Vector | None = None
    trust: float = 0.0


_OWNERS = select(namespaces.c.owner).where(namespaces.c.number.in_(SEARCHED_NAMESPACES))
_KNOWS_MORE = select(
    select(vector_sets.c.number)
    .join(namespaces, namespaces.c.number == vector_sets.c.namespace)
    .where(namespaces.c.owner.in_(_OWNERS), vector_sets.c.embedder.not_in(LEXICAL_EMBEDDERS))
    .exists()
)
"""Whether the owner of what is searched has vectors that know more than words."""


def _meant(index: PageIndex, question: str) -> _QueryMeaning:
    """Return the vector of a question, unless words find pages and no embedder knows more."""
    worded = bool(index.counts(query_terms(question)))
    if not index.namespaces or (worded and _words_alone(index)):
        return _QueryMeaning()
    # Most stores have words alone, and what compares vectors takes longer to load than a search.
    from library.query_vectors import prepare_query_vectors  # noqa: PLC0415

    meant = prepare_query_vectors(index, drop_common_words(question, index), worded=worded)
    vector = None if meant.vector is None else meant.vector.tolist()
    return _QueryMeaning(meant.vectors, vector, meant.trust)


def _words_alone(index: PageIndex) -> bool:
    """Tell whether neither the embedder that is set nor one that made vectors knows more."""
    if embedder_name() not in LEXICAL_EMBEDDERS:
        return False
    return not index.connection.execute(_KNOWS_MORE, index.bound_values).scalar()


REPORTS = select(pages.c.number, pages.c.links).where(
    pages.c.number.in_(PAGE_NUMBERS), pages.c.kind == "report", searched_condition(pages)
)


def _below_cited(index: PageIndex, hits: Sequence[ScoredPage]) -> list[ScoredPage]:
    """Put each report below the sources that it cites, as far as they were found."""
    values = {**index.bound_values, PAGE_NUMBERS.key: [hit.row.number for hit in hits]}
    rows = index.connection.execute(REPORTS, values)
    cited = {row.number: set(json.loads(row.links)) for row in rows}
    ordered = list(hits)
    for hit in (hit for hit in hits if hit.row.number in cited):
        at = ordered.index(hit)
        places = [n for n, one in enumerate(ordered) if one.row.id in cited[hit.row.number]]
        ordered.insert(max([at, *places]) + 1, hit)
        del ordered[at]
    return ordered


def _page(row: Any, score: float) -> FoundPage:
    where = format_location(row.path, row.place)
    return FoundPage(row.id, row.kind, row.title, where, row.text, score)


TURN_PAGES = "chat"
"""The kind whose pages are so short that each is its own abstract; its sessions speak for them."""


async def find_pages(
    owner: str, query: str, limit: int, roots: Sequence[str] | None = None
) -> list[FoundPage]:
    """Return the pages that fit a query best, best first.

    Args:
        owner: Whose pages.
        query: What they are about.
        limit: How many at most.
        roots: Only files below these folders; everything the owner has when it is `None`.
    """
    return (await find_pages_many(owner, [query], limit, roots))[0]


async def find_pages_many(
    owner: str, queries: Sequence[str], limit: int, roots: Sequence[str] | None = None
) -> list[list[FoundPage]]:
    """Do the same for several queries, in one look at the store."""
    if roots == []:
        return [[] for _ in queries]
    kinds = None if roots is None else ["file"]
    each = await search_pages_many(owner, queries, limit, kinds, roots)
    return [[one.page for one in found] for found in each]
