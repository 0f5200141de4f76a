"""Store pages with vectors, choose an embedder, and ask which pages are nearest."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.page_rows import NewPage
from library.query_vectors import QueryVectors, prepare_query_vectors
from library.store import store_pages
from storage.engine import read_rows
from tests.places import new_process

ME, OTHER = "me/", "other/"

DANCE = "Bees dance to tell where the flowers are."
HONEY = "A winter cluster of bees eats its honey."
TRAIN = "The night train to Vienna is late."


def use(monkeypatch: pytest.MonkeyPatch, embedder: str) -> None:
    """Let an embedder be the one that the installation sets, as in a new process."""
    monkeypatch.setenv("DOSSIER_EMBEDDINGS", embedder)
    new_process()


async def kept(*texts: str, owner: str = ME, kind: str = "web", group: str = "") -> list[str]:
    """Keep pages of an origin that is named like the first text; return their ids."""
    new = [NewPage(title="", place=str(at), text=each) for at, each in enumerate(texts)]
    return await store_pages(owner, kind, texts[0], new, group=group)


async def asked(question: str, owner: str = ME) -> QueryVectors:
    """Return what a search by meaning is given; its vectors can be asked no more."""
    return await run_search(owner, lambda index: prepare_query_vectors(index, question))


async def nearest(
    question: str,
    limit: int = 10,
    owner: str = ME,
    kinds: list[str] | None = None,
    groups: list[str] | None = None,
) -> list[str]:
    """Return the texts of the nearest pages, nearest first."""

    def work(index: PageIndex) -> list[str]:
        found = prepare_query_vectors(index, question)
        if found.vector is None:
            return []
        near = found.vectors.nearest(found.vector, limit)
        texts = {row.number: row.text for row in index.rows(list(near))}
        return [texts[number] for number in near]

    return await run_search(owner, work, kinds, groups)


async def count(table: str) -> int:
    """Return how many rows a table has."""
    return int((await read_rows(text(f"SELECT COUNT(*) FROM {table}"))).scalar() or 0)  # noqa: S608
