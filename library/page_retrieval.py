"""Find pages in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, bindparam, case, func, select

from library.indexing import refresh_index
from library.page_index import PageIndex, open_index, searched_condition
from library.page_ranking import ScoredPage, drop_common_words, find_distinct_rows, rank_pages
from library.page_scoring import Vector, VectorCollection
from library.spelling import correct_question
from library.tables import PAGE_NUMBERS, documents, pages
from models.embeddings import LEXICAL_EMBEDDERS, embedder_name
from storage.engine import run_read
from text.words import query_terms

Answer = TypeVar("Answer")

SPARE = 10
"""How many more pages than requested are ranked, since repetitions are dropped."""

ROOT_FOLDERS: BindParameter[str] = bindparam("roots", expanding=True)
"""The folders to which a search of files is limited."""


class FoundPage(NamedTuple):
    """A page that a search found; a better match has a higher `score`."""

    id: str
    kind: str
    title: str
    location: str
    text: str
    score: float


class SearchResult(NamedTuple):
    """A page that a search found, and what each signal adds to its score."""

    page: FoundPage
    parts: Mapping[str, float]
    trust: float
    """The weight of vectors beside words, in 0..1."""


def format_location(origin: str, place: str) -> str:
    """Join an origin and a place in it, as an address with a fragment.

    The location of a file that is gone is empty.
    """
    return f"{origin}#{place}" if origin and place else origin


def document_location(location: str) -> str:
    """Return the path or address in a location, which all pages of a document have in common."""
    # A file may have a # in its name, but no place has one.
    return location.rpartition("#")[0] or location


async def run_search(
    owner: str,
    work: Callable[[PageIndex], Answer],
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Answer:
    """Search some of an owner's pages with a function, and return its result.

    Args:
        owner: The owner of the pages.
        work: The function; it takes the index and runs in a thread.
        kinds: Only pages of these kinds.
        groups: Only pages of these groups, such as the folders of files.
    """
    can_refresh = True

    def search(connection: Connection) -> list[Answer]:
        """Return the result in a list, which is empty while the index can be refreshed first."""
        index = open_index(connection, owner, kinds, groups)
        return [] if index.is_stale and can_refresh else [work(index)]

    while not (results := await run_read(search)):
        can_refresh = await refresh_index(owner)
    return results[0]


async def find_misspellings(
    owner: str,
    question: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> dict[str, str]:
    """Map the words of a question that no page contains to the most similar words of pages.

    Without pages, the result is empty.
    """
    return await run_search(
        owner, lambda index: correct_question(question, index).changed, kinds, groups
    )


def page_columns(rooted: bool = False) -> tuple[Any, ...]:
    """Return the columns of a `FoundPage`; `path` is the path of a file, or another origin.

    With `rooted`, the path of a file is one below the folders `ROOT_FOLDERS`.
    """
    path = select(func.min(documents.c.path)).where(
        pages.c.kind == "file",
        documents.c.owner == pages.c.owner,
        documents.c.sha256 == pages.c.origin,
    )
    if rooted:
        path = path.where(documents.c.root.in_(ROOT_FOLDERS))
    # The origin of a file is the hash of its content; it may be in no folder any more.
    other = case((pages.c.kind == "file", ""), else_=pages.c.origin)
    names = ("number", "id", "kind", "title", "place", "text")
    return (
        *(pages.c[name] for name in names),
        func.coalesce(path.scalar_subquery(), other).label("path"),
    )


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
        owner: The owner of the pages.
        question: The question.
        limit: The most pages returned.
        kinds: Only pages of these kinds.
        groups: Only pages of these groups, such as conversations or folders of files.
    """
    return (await search_pages_many(owner, [question], limit, kinds, groups))[0]


async def search_pages_many(
    owner: str,
    questions: Sequence[str],
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[list[SearchResult]]:
    """Search as `search_pages` does for several questions, in one read transaction."""

    def search(index: PageIndex) -> list[list[SearchResult]]:
        return [_search(index, question, limit, groups) for question in questions]

    return await run_search(owner, search, kinds, groups)


def _search(
    index: PageIndex, question: str, limit: int, roots: Sequence[str] | None
) -> list[SearchResult]:
    meaning = _query_meaning(index, question)
    ranked = rank_pages(question, index, limit + SPARE, **meaning._asdict())
    distinct = [ranked[at] for at in find_distinct_rows([hit.row for hit in ranked])]
    # Vectors have a nearest page for every question, even one that no signal supports.
    hits = [hit for hit in _below_cited(distinct)[:limit] if hit.score > 0]
    values = {
        **index.bound_values,
        PAGE_NUMBERS.key: [hit.row.number for hit in hits],
        ROOT_FOLDERS.key: list(roots or ()),
    }
    columns = index.connection.execute(HITS if roots is None else ROOTED_HITS, values)
    rows = {row.number: row for row in columns}
    return [
        SearchResult(_page(rows[hit.row.number], hit.score), hit.parts, meaning.trust)
        for hit in hits
        if hit.row.number in rows
    ]


class _QueryMeaning(NamedTuple):
    """The arguments about vectors that `rank_pages` takes."""

    vectors: VectorCollection | None = None
    vector: Vector | None = None
    trust: float = 0.0


def _query_meaning(index: PageIndex, question: str) -> _QueryMeaning:
    """Return the vector of a question, unless its words match and all embedders are lexical."""
    worded = bool(index.counts(query_terms(question)))
    if not index.namespaces or (worded and _is_lexical(index)):
        return _QueryMeaning()
    # Most stores are lexical, and the vector libraries take longer to import than a search runs.
    from library.query_vectors import prepare_query_vectors  # noqa: PLC0415

    prepared = prepare_query_vectors(index, drop_common_words(question, index), worded=worded)
    vector = None if prepared.vector is None else prepared.vector.tolist()
    return _QueryMeaning(prepared.vectors, vector, prepared.trust)


def _is_lexical(index: PageIndex) -> bool:
    """Tell whether the configured embedder and those of all stored vectors are lexical."""
    return embedder_name() in LEXICAL_EMBEDDERS and not index.has_meaning_vectors


def _below_cited(hits: Sequence[ScoredPage]) -> list[ScoredPage]:
    """Move each report below those of its sources that were found."""
    ordered = list(hits)
    for hit in (hit for hit in hits if hit.row.cited != "[]"):
        at, cited = ordered.index(hit), set(json.loads(hit.row.cited))
        sources = [n for n, other in enumerate(ordered) if other.row.id in cited]
        ordered.insert(max([at, *sources]) + 1, hit)
        del ordered[at]
    return ordered


def _page(row: Any, score: float) -> FoundPage:
    location = format_location(row.path, row.place)
    return FoundPage(row.id, row.kind, row.title, location, row.text, score)


TURN_PAGES = "chat"
"""The kind of single turns, which have no abstracts; pages of their session stand for them."""


async def find_pages(
    owner: str, query: str, limit: int, roots: Sequence[str] | None = None
) -> list[FoundPage]:
    """Return the pages that match a query best, best first.

    Args:
        owner: The owner of the pages.
        query: What the pages are about.
        limit: The most pages returned.
        roots: Only files below these folders; all pages of the owner if `None`.
    """
    return (await find_pages_many(owner, [query], limit, roots))[0]


async def find_pages_many(
    owner: str, queries: Sequence[str], limit: int, roots: Sequence[str] | None = None
) -> list[list[FoundPage]]:
    """Search as `find_pages` does for several queries, in one read transaction."""
    if roots == []:
        return [[] for _ in queries]
    kinds = None if roots is None else ["file"]
    results = await search_pages_many(owner, queries, limit, kinds, roots)
    return [[result.page for result in found] for found in results]
