"""Vectors in the database: in the order of their commits, and whose serve a search."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sqlalchemy import Connection

from library.chroma import plan_collection_parts
from library.vector_rows import (
    VectorLengthError,
    VectorSet,
    delete_vectors,
    ensure_vector_set,
    find_pages_with_vectors,
    insert_vectors,
    read_page_vectors,
    read_vectors_after,
    renumber_vectors,
    serving_embedder,
)
from storage.engine import run_read, run_write


def a_set(namespace: int, embedder: str, *, whole: bool = True) -> VectorSet:
    return VectorSet(namespace, namespace, embedder, whole, "", 0, 0, 0, "", {}, 0)


def vector(*numbers: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array(numbers, np.float32)


def _put(connection: Connection, pages: list[int], embedder: str = "a", width: int = 2) -> int:
    into = ensure_vector_set(connection, 1, embedder)
    insert_vectors(connection, into, {page: vector(*[page / 100] * width) for page in pages})
    return into.number


@pytest.mark.usefixtures("either")
async def test_vectors_are_read_after_the_last_one_that_is_known():
    number = await run_write(partial(_put, pages=[5, 3]))
    first = await run_read(partial(read_vectors_after, number=number, last=0))
    await run_write(partial(_put, pages=[4]))

    second = await run_read(partial(read_vectors_after, number=number, last=first.last))

    assert (first.pages.tolist(), second.pages.tolist()) == ([5, 3], [4])
    np.testing.assert_allclose(second.matrix, [[0.04, 0.04]], atol=1e-4)
    assert (
        await run_read(partial(read_vectors_after, number=number, last=second.last))
    ).pages.tolist() == []


@pytest.mark.usefixtures("either")
async def test_a_page_keeps_the_vector_it_has():
    number = await run_write(partial(_put, pages=[5]))
    await run_write(
        lambda connection: insert_vectors(
            connection, ensure_vector_set(connection, 1, "a"), {5: vector(1, 0)}
        )
    )

    part = await run_read(partial(read_page_vectors, numbers=[number], pages=[5, 6]))

    assert part.pages.tolist() == [5]
    np.testing.assert_allclose(part.matrix, [[0.05, 0.05]], atol=1e-4)


@pytest.mark.usefixtures("either")
async def test_vectors_of_another_length_are_refused():
    await run_write(partial(_put, pages=[5]))

    with pytest.raises(VectorLengthError, match="2 and 3 numbers"):
        await run_write(partial(_put, pages=[6], width=3))


@pytest.mark.usefixtures("either")
async def test_vectors_can_be_given_new_numbers_and_be_removed_from_every_set():
    number = await run_write(partial(_put, pages=[1, 2, 3]))
    other = await run_write(partial(_put, pages=[2], embedder="b", width=3))
    await run_write(partial(renumber_vectors, number=number, pages=[2]))
    assert (await run_read(partial(read_vectors_after, number=number, last=0))).pages.tolist() == [
        1,
        3,
        2,
    ]

    await run_write(partial(delete_vectors, pages=[2]))

    assert await run_read(partial(find_pages_with_vectors, number=number, pages=[1, 2, 3])) == {
        1,
        3,
    }
    assert await run_read(partial(find_pages_with_vectors, number=other, pages=[2])) == set()


@pytest.mark.usefixtures("either")
async def test_a_set_is_whole_from_the_start_unless_another_has_vectors_already():
    def made(connection: Connection) -> list[bool]:
        sets = [ensure_vector_set(connection, 1, "a"), ensure_vector_set(connection, 1, "b")]
        insert_vectors(connection, sets[0], {1: vector(1, 0)})
        return [bool(one.whole) for one in [*sets, ensure_vector_set(connection, 1, "c")]]

    assert await run_write(made) == [True, True, False]


@pytest.mark.parametrize(
    ("sets", "used"),
    [
        ([], "new"),
        ([a_set(1, "new"), a_set(1, "old")], "new"),
        ([a_set(1, "new", whole=False), a_set(1, "old")], "old"),
        ([a_set(1, "new"), a_set(2, "new", whole=False), a_set(1, "old"), a_set(2, "old")], "old"),
        ([a_set(1, "new", whole=False), a_set(1, "old", whole=False)], "new"),
        ([a_set(1, "new"), a_set(2, "old")], "new"),
    ],
)
def test_the_vectors_that_serve_are_whole_in_everything_an_owner_has(
    sets: list[VectorSet], used: str
):
    assert serving_embedder(sets, "new") == used


@pytest.mark.parametrize("count", [1, 12, 4_999, 5_001, 12_345, 100_000])
def test_the_parts_of_a_collection_are_alike_and_none_is_too_large(count: int):
    parts = plan_collection_parts(count)

    assert sum(parts) == count
    assert max(parts) - min(parts) <= 1
    assert max(parts) <= 5_000
