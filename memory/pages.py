"""The page store: everything that was read, once, with where it is from."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, select, text
from typing_extensions import TypedDict

from retrieval.text import sentences
from retrieval.words import terms, words
from storage.engine import read_rows
from storage.journal import commit
from storage.tables import documents, pages
from storage.upsert import insert_new

ABSTRACT = 300
"""The longest abstract, in characters."""


class NewPage(TypedDict):
    """A page that is about to be kept; `place` is where in its origin it stands."""

    title: str
    place: str
    text: str


class Page(NamedTuple):
    """A page that was found; `score` is higher for a better fit."""

    id: str
    kind: str
    title: str
    location: str
    text: str
    score: float


async def keep(owner: str, kind: str, origin: str, new: Sequence[NewPage]) -> list[str]:
    """Keep the pages of one origin and return their ids.

    A page that says what it said before is kept once; one that has changed stands beside the old
    one, which may have been cited.

    Args:
        owner: Who they belong to.
        kind: `file`, `web` or `report`.
        origin: The content hash of a file, the address of a web page, the id of a run.
        new: The pages, in their order.
    """
    rows, indexed = await asyncio.to_thread(_rows, owner, kind, origin, new)
    if rows:
        kept_already = insert_new(pages).on_conflict_do_nothing(index_elements=["id"])
        await commit((kept_already, rows), (INDEX, indexed))
    return [row["id"] for row in rows]


async def kept(owner: str, kind: str, origin: str) -> list[str]:
    """Return the ids of the pages of one origin, in their order."""
    wanted = select(pages.c.id).where(
        pages.c.owner == owner, pages.c.kind == kind, pages.c.origin == origin
    )
    return list((await read_rows(wanted.order_by(pages.c.position))).scalars())


async def find(
    owner: str, query: str, limit: int, roots: Sequence[str] | None = None
) -> list[Page]:
    """Return the pages that fit a query best, best first.

    Args:
        owner: Whose pages.
        query: What they are about.
        limit: How many at most.
        roots: Only files below these folders; everything the owner has when it is `None`.
    """
    match = " OR ".join(f'"{word}"' for word in dict.fromkeys(terms(query)))
    if not match or roots == []:
        return []
    names = {f"root{number}": root for number, root in enumerate(roots or [])}
    below = f"AND documents.root IN ({', '.join(f':{name}' for name in names)})" if names else ""
    values = {"match": match, "owner": owner, "limit": limit, **names}
    rows = (await read_rows(text(FIND.format(below=below)), values)).all()
    return [
        Page(row.id, row.kind, row.title, location(row.path, row.place), row.text, -row.rank)
        for row in rows
    ]


async def texts(ids: Sequence[str]) -> dict[str, str]:
    """Return the full texts of pages by their ids."""
    wanted = select(pages.c.id, pages.c.text).where(pages.c.id.in_(ids))
    return {row.id: row.text for row in await read_rows(wanted)}


async def read(ids: Sequence[str]) -> list[Page]:
    """Return pages by their ids, in the order of the ids; web pages and reports only."""
    wanted = select(pages).where(pages.c.id.in_(ids))
    rows = {row.id: row for row in await read_rows(wanted)}
    found = [rows[one] for one in ids if one in rows]
    return [
        Page(row.id, row.kind, row.title, location(row.origin, row.place), row.text, 0.0)
        for row in found
    ]


def location(origin: str, place: str) -> str:
    """Join where something is from and the place in it, as an address with a fragment."""
    return f"{origin}#{place}" if place else origin


FIND = """
WITH found AS MATERIALIZED (
    SELECT rowid, bm25(page_words, 3.0, 1.0) AS rank FROM page_words WHERE page_words MATCH :match
)
SELECT pages.id, pages.kind, pages.title, pages.place, pages.text,
       COALESCE(MIN(documents.path), pages.origin) AS path, found.rank AS rank
FROM found
JOIN pages ON pages.number = found.rowid
LEFT JOIN documents ON documents.sha256 = pages.origin AND documents.owner = pages.owner
     AND pages.kind = 'file'
WHERE pages.owner = :owner {below}
GROUP BY pages.id, pages.kind, pages.title, pages.place, pages.text, pages.origin, found.rank
ORDER BY found.rank, pages.id LIMIT :limit
"""

INDEX = text(
    "INSERT INTO page_words (rowid, title, body) SELECT number, :title, :body FROM pages "
    "WHERE id = :id AND NOT EXISTS (SELECT 1 FROM page_words WHERE rowid = pages.number)"
)


def _rows(
    owner: str, kind: str, origin: str, new: Sequence[NewPage]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of some pages and of their keyword index."""
    rows = [_row(owner, kind, origin, position, page) for position, page in enumerate(new)]
    return rows, [_index(row) for row in rows]


def _row(owner: str, kind: str, origin: str, position: int, page: NewPage) -> dict[str, Any]:
    name = "\n".join([owner, kind, origin, str(position), page["text"]])
    return {
        "id": hashlib.sha256(name.encode()).hexdigest()[:24],
        "owner": owner,
        "kind": kind,
        "origin": origin,
        "place": page["place"],
        "position": position,
        "title": page["title"],
        "abstract": _abstract(page["text"]),
        "text": page["text"],
        "sha256": hashlib.sha256(page["text"].encode()).hexdigest(),
        "created": time.time(),
    }


def _abstract(body: str) -> str:
    """Return the first sentences, as many as fit."""
    abstract = ""
    for sentence in sentences(body[: 4 * ABSTRACT]):
        longer = f"{abstract} {sentence.text}".strip()
        if len(longer) > ABSTRACT:
            break
        abstract = longer
    return abstract or body[:ABSTRACT]


def _index(row: dict[str, Any]) -> dict[str, Any]:
    body = " ".join(words(row["text"]))
    return {"id": row["id"], "title": " ".join(words(row["title"])), "body": body}


async def forget_document(owner: str, root: str, path: str) -> None:
    """Take a file out of its folder's list; its pages stay until they are forgotten."""
    gone = delete(documents).where(
        documents.c.owner == owner, documents.c.root == root, documents.c.path == path
    )
    await commit((gone, None))
