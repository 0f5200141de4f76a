"""Several processes over the same vectors: what one writes others find, and no kill costs any."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select, update

from config.settings import settings
from library import query_vectors
from library.tables import pages, vector_sets, vectors
from library.vector_upkeep import update_vectors
from storage.engine import read_rows, run_write
from storage.tables import outbox
from tests.integration.vector_writer import VectorWriter
from tests.page_vectors import nearest, use

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("database", "small")]

EXACT = 20


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than twenty vectors lie in Chroma, and hashing makes them."""
    monkeypatch.setattr(query_vectors, "EXACT", EXACT)
    use(monkeypatch, "hashing")


def said(number: int) -> str:
    return f"Animal number {number} likes plant number {7 * number}."


async def due_now() -> None:
    """Let work that a killed process had taken be due."""
    await run_write(lambda connection: connection.execute(update(outbox).values(due=0)))


async def whole() -> bool:
    """Say whether every page has one vector, and only the collection in use is on the disk."""
    kept = set((await read_rows(select(pages.c.number))).scalars())
    made = Counter((await read_rows(select(vectors.c.page))).scalars())
    used = set((await read_rows(select(vector_sets.c.collection))).scalars()) - {""}
    there = {folder.name for folder in settings().vectors.glob("*")}
    return made == Counter(kept) and there == used


async def test_an_open_reader_finds_at_once_what_another_process_wrote(home: Path):
    late: list[int] = []
    assert await nearest("animal") == []

    with VectorWriter(home, EXACT) as writer:
        for number in range(50):
            writer.do(keep=[said(number)])
            # In turn: nobody has made the vector; a worker has; and it is in a collection.
            if number % 3:
                writer.do(work=True)
            if (await nearest(said(number)))[:1] != [said(number)]:
                late.append(number)

    assert late == []
    assert (await read_rows(select(vector_sets.c.collection))).scalar()


async def test_of_four_processes_that_write_at_once_none_loses_a_vector(home: Path):
    writers = [VectorWriter(home, EXACT) for _ in range(4)]
    for at, writer in enumerate(writers):
        for number in range(100 * at, 100 * at + 100, 10):
            writer.tell(keep=[said(each) for each in range(number, number + 10)])
            writer.tell(work=True)
    for writer in writers:
        for _ in range(20):
            writer.answer()
        writer.kill()
    await update_vectors()

    assert await whole()
    lost = [n for n in range(0, 400, 9) if (await nearest(said(n)))[:1] != [said(n)]]
    assert lost == []


async def test_a_killed_worker_costs_no_vector_and_leaves_nothing_behind(home: Path):
    for kill in range(4):
        with VectorWriter(home, EXACT) as writer:
            texts = [said(number) for number in range(100 * kill, 100 * kill + 100)]
            writer.do(keep=texts)
            await due_now()
            writer.tell(work=True)
            # Killed in its first batch, after it, while a collection is built, or when all is done.
            for _ in range(kill):
                writer.line()
        assert (await nearest(texts[0]))[:1] != [""]

    await due_now()
    await update_vectors()

    assert await whole()
    assert [n for n in range(0, 400, 9) if (await nearest(said(n)))[:1] != [said(n)]] == []
