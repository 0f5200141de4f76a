"""Find pages in the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import BindParameter, Connection, bindparam, case, func, select

from memory.pages.upkeep import due, refresh
from models.embeddings import WORDS_ALONE, chosen
from retrieval.index import HERE, Index, mine, opened
from retrieval.pool import Vector, Vectors
from retrieval.repeats import distinct
from retrieval.search import Hit, gist
from retrieval.search import search as answering
from retrieval.spelling import corrected
from retrieval.words import terms
from storage.engine import read
from storage.tables import GIVEN, documents, namespaces, pages, vector_sets

Answer = TypeVar("Answer")

SPARE = 10
"""So many more pages are ranked, for those that repeat others are left out."""

ROOTS: BindParameter[str] = bindparam("roots", expanding=True)
"""The folders that files are searched below."""


class Page(NamedTuple):
    """A page that was found; `score` is higher for a better fit."""

    id: str
    kind: str
    title: str
    location: str
    text: str
    score: float


class Found(NamedTuple):
    """A page that a search found, and what each sign adds to its score."""

    page: Page
    parts: Mapping[str, float]
    trust: float
    """How far vectors were trusted beside words, in 0..1."""


def location(origin: str, place: str) -> str:
    """Join where something is from and the place in it, as an address with a fragment.

    A file that is gone is from nowhere.
    """
    return f"{origin}#{place}" if origin and place else origin


async def searching(
    owner: str,
    work: Callable[[Index], Answer],
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
        return [] if due(connection, owner) else [work(opened(connection, owner, kinds, groups))]

    while not (answer := await read(look)):
        await refresh(owner)
    return answer[0]


async def spelling(
    owner: str,
    question: str,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> dict[str, str]:
    """Return the words of a question that no page holds, each with the nearest that some do.

    Where there are no pages, nothing is known to be misspelt.
    """
    return await searching(owner, lambda index: corrected(question, index).changed, kinds, groups)


def columns(rooted: bool = False) -> tuple[Any, ...]:
    """Return what has to be read of a page to make a `Page`: `path` is where it is from.

    With `rooted` that is a path below one of the folders `ROOTS`.
    """
    named = (documents.c.owner == pages.c.owner, documents.c.sha256 == pages.c.origin)
    path = select(func.min(documents.c.path)).where(pages.c.kind == "file", *named)
    below = path.where(documents.c.root.in_(ROOTS)) if rooted else path
    # The origin of a file is the hash of its content; it may be in no folder any more.
    elsewhere = case((pages.c.kind == "file", ""), else_=pages.c.origin)
    origin = func.coalesce(below.scalar_subquery(), elsewhere).label("path")
    names = ("number", "id", "kind", "title", "place", "text")
    return (*(pages.c[name] for name in names), origin)


HITS, ROOTED_HITS = (
    select(*columns(rooted)).where(pages.c.number.in_(GIVEN), mine(pages))
    for rooted in (False, True)
)


async def search(
    owner: str,
    question: str,
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[Found]:
    """Return the pages that answer a question best, best first.

    Args:
        owner: Whose pages.
        question: What is asked.
        limit: How many at most.
        kinds: Of these kinds only.
        groups: Of these groups only, such as conversations or folders of files.
    """
    return (await search_each(owner, [question], limit, kinds, groups))[0]


async def search_each(
    owner: str,
    questions: Sequence[str],
    limit: int,
    kinds: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> list[list[Found]]:
    """Do the same for several questions, in one look at the store."""

    def look(index: Index) -> list[list[Found]]:
        return [_found(index, question, limit, groups) for question in questions]

    return await searching(owner, look, kinds, groups)


def _found(index: Index, question: str, limit: int, roots: Sequence[str] | None) -> list[Found]:
    meant = _meant(index, question)
    found = answering(question, index, limit + SPARE, **meant._asdict())
    hits = [found[at] for at in distinct([hit.row for hit in found])]
    hits = _below_cited(index, hits)[:limit]
    # Vectors have a nearest page for everything, also one that nothing speaks for.
    worth = {hit.row.number: hit for hit in hits if hit.score > 0}
    wanted = HITS if roots is None else ROOTED_HITS
    values = {**index.here, GIVEN.key: list(worth), ROOTS.key: list(roots or ())}
    rows = {row.number: row for row in index.connection.execute(wanted, values)}
    return [
        Found(_page(rows[number], hit.score), hit.parts, meant.trust)
        for number, hit in worth.items()
        if number in rows
    ]


class Meant(NamedTuple):
    """What vectors tell of a question, as the scorer asks for it."""

    vectors: Vectors | None = None
    vector: Vector | None = None
    trust: float = 0.0


_OWNERS = select(namespaces.c.owner).where(namespaces.c.number.in_(HERE))
_KNOWS_MORE = select(
    select(vector_sets.c.number)
    .join(namespaces, namespaces.c.number == vector_sets.c.namespace)
    .where(namespaces.c.owner.in_(_OWNERS), vector_sets.c.embedder.not_in(WORDS_ALONE))
    .exists()
)
"""Whether the owner of what is searched has vectors that know more than words."""


def _meant(index: Index, question: str) -> Meant:
    """Return the vector of a question, unless words find pages and no embedder knows more."""
    worded = bool(index.counts(terms(question)))
    if not index.namespaces or (worded and _words_alone(index)):
        return Meant()
    # Most stores have words alone, and what compares vectors takes longer to load than a search.
    from memory.pages.meaning import meaning  # noqa: PLC0415

    meant = meaning(index, gist(question, index), worded=worded)
    vector = None if meant.vector is None else meant.vector.tolist()
    return Meant(meant.vectors, vector, meant.trust)


def _words_alone(index: Index) -> bool:
    """Tell whether neither the embedder that is set nor one that made vectors knows more."""
    if chosen() not in WORDS_ALONE:
        return False
    return not index.connection.execute(_KNOWS_MORE, index.here).scalar()


REPORTS = select(pages.c.number, pages.c.links).where(
    pages.c.number.in_(GIVEN), pages.c.kind == "report", mine(pages)
)


def _below_cited(index: Index, hits: Sequence[Hit]) -> list[Hit]:
    """Put each report below the sources that it cites, as far as they were found."""
    values = {**index.here, GIVEN.key: [hit.row.number for hit in hits]}
    rows = index.connection.execute(REPORTS, values)
    cited = {row.number: set(json.loads(row.links)) for row in rows}
    ordered = list(hits)
    for hit in (hit for hit in hits if hit.row.number in cited):
        at = ordered.index(hit)
        places = [n for n, one in enumerate(ordered) if one.row.id in cited[hit.row.number]]
        ordered.insert(max([at, *places]) + 1, hit)
        del ordered[at]
    return ordered


def _page(row: Any, score: float) -> Page:
    where = location(row.path, row.place)
    return Page(row.id, row.kind, row.title, where, row.text, score)
