"""The vectors of pages; any index of them can be rebuilt from here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from library.tables import PAGE_NUMBERS, namespaces, vector_sets, vectors
from storage.upsert import dialect_insert

FloatArray = NDArray[np.float32]
_Numbers = NDArray[np.int64]

STORED_TYPE = np.dtype("<f2")
"""Vectors are kept as 16-bit floats: half the disk, and no cosine changes by more than 0.001."""

RENUMBER_BATCH = 1_000
"""How many vectors are given new numbers at once."""

SELECT_VECTORS = select(vectors.c.number, vectors.c.page, vectors.c.vector)
"""Selects what `stack_vectors` takes."""


class VectorSet(NamedTuple):
    """A row of `vector_sets`."""

    number: int
    namespace: int
    embedder: str
    whole: bool
    collection: str
    covered: int
    held: int
    apart: int
    building: str
    trust: Mapping[str, float]
    judged: int


class VectorLengthError(ValueError):
    """An embedder makes vectors that are not as long as those it made before."""


class VectorBatch(NamedTuple):
    """Some vectors of a set, one in each row of the matrix; `last` is the highest number."""

    pages: _Numbers
    matrix: FloatArray
    last: int


_SETS_OF_OWNER = (
    select(vector_sets)
    .join(namespaces, namespaces.c.number == vector_sets.c.namespace)
    .where(namespaces.c.owner == bindparam("owner"))
    .order_by(vector_sets.c.number.desc())
)


def list_vector_sets(connection: Connection, owner: str) -> list[VectorSet]:
    """Return the vector sets of everything an owner has, the newest first."""
    return [_set(row) for row in connection.execute(_SETS_OF_OWNER, {"owner": owner})]


def _set(row: Any) -> VectorSet:
    return VectorSet(**{**row._mapping, "trust": json.loads(row.trust)})


def serving_embedder(sets: Sequence[VectorSet], current: str) -> str:
    """Return the embedder whose vectors a search uses, of all sets that an owner has.

    It is the current one, unless its vectors are not whole and those of another are.
    """
    every = {one.namespace for one in sets}
    for name in dict.fromkeys([current, *(one.embedder for one in sets)]):
        if every == {one.namespace for one in sets if one.embedder == name and one.whole}:
            return name
    return current


def ensure_vector_set(connection: Connection, namespace: int, embedder: str) -> VectorSet:
    """Return the set of an embedder, a new one if there is none, and hold it till the commit.

    So what is written to one set is numbered in the order of the commits.
    """
    mine = (vector_sets.c.namespace == namespace, vector_sets.c.embedder == embedder)
    held = select(vector_sets).where(*mine).with_for_update()
    row = connection.execute(held).one_or_none()
    if row is None:
        others = select(vectors.c.number).join(vector_sets, vector_sets.c.number == vectors.c.set)
        known = connection.execute(others.where(vector_sets.c.namespace == namespace).limit(1))
        new = {"namespace": namespace, "embedder": embedder, "whole": int(known.first() is None)}
        connection.execute(dialect_insert(vector_sets).on_conflict_do_nothing(), new)
        row = connection.execute(held).one()
    return _set(row)


def find_outgrown_set(connection: Connection, embedder: str) -> VectorSet | None:
    """Return a set of an embedder that has half as many vectors more than when it was judged."""
    count = select(func.count()).where(vectors.c.set == vector_sets.c.number).scalar_subquery()
    grown = (vector_sets.c.embedder == embedder, 2 * count > 3 * vector_sets.c.judged)
    wanted = select(vector_sets).where(*grown).order_by(vector_sets.c.number).limit(1)
    row = connection.execute(wanted).one_or_none()
    return None if row is None else _set(row)


def record_trust(connection: Connection, number: int, trust: Mapping[str, float]) -> None:
    """Note what the vectors of a set are worth, by language."""
    count = select(func.count()).where(vectors.c.set == number).scalar_subquery()
    new = {"trust": json.dumps(trust), "judged": count}
    connection.execute(update(vector_sets).where(vector_sets.c.number == number).values(new))


def insert_vectors(connection: Connection, into: VectorSet, made: Mapping[int, FloatArray]) -> None:
    """Write vectors by the numbers of their pages; a page that has one keeps it.

    Raises:
        VectorLengthError: If they are not as long as those that are there.
    """
    there = select(vectors.c.vector).where(vectors.c.set == into.number).limit(1)
    known = connection.execute(there).scalar()
    sizes = {len(vector) for vector in made.values()}
    if known is not None:
        sizes.add(len(known) // STORED_TYPE.itemsize)
    if len(sizes) > 1:
        msg = f"{into.embedder} makes vectors of {' and '.join(map(str, sorted(sizes)))} numbers"
        raise VectorLengthError(msg)
    rows = [
        {"set": into.number, "page": page, "vector": vector.astype(STORED_TYPE).tobytes()}
        for page, vector in made.items()
    ]
    if rows:
        connection.execute(dialect_insert(vectors).on_conflict_do_nothing(), rows)


def renumber_vectors(connection: Connection, number: int, pages: Sequence[int]) -> None:
    """Give the vectors of pages in a set new numbers, as if they had come just now."""
    mine = (vectors.c.set == number, vectors.c.page.in_(pages))
    held = connection.execute(select(vectors.c.page, vectors.c.vector).where(*mine)).all()
    connection.execute(delete(vectors).where(*mine))
    again = [{"set": number, "page": row.page, "vector": row.vector} for row in held]
    if again:
        connection.execute(insert(vectors), again)


def delete_vectors(connection: Connection, pages: Sequence[int]) -> None:
    """Remove the vectors of pages from every set."""
    connection.execute(delete(vectors).where(vectors.c.page.in_(pages)))


def find_pages_with_vectors(connection: Connection, number: int, pages: Sequence[int]) -> set[int]:
    """Return which of some pages have a vector in a set."""
    wanted = select(vectors.c.page).where(vectors.c.set == number, vectors.c.page.in_(pages))
    return set(connection.execute(wanted).scalars())


def read_vectors_after(
    connection: Connection, number: int, last: int, upto: int | None = None, size: int | None = None
) -> VectorBatch:
    """Return the vectors of a set numbered above `last`, in their order.

    With `upto` and `size`, they are the next `size` ones up to that number.
    """
    wanted = SELECT_VECTORS.where(vectors.c.set == number, vectors.c.number > last)
    wanted = wanted if upto is None else wanted.where(vectors.c.number <= upto)
    rows = connection.execute(wanted.order_by(vectors.c.number).limit(size)).all()
    return stack_vectors(rows, last)


def read_page_vectors(
    connection: Connection, numbers: Sequence[int], pages: Sequence[int]
) -> VectorBatch:
    """Return the vectors that pages have in any of these sets."""
    wanted = SELECT_VECTORS.where(vectors.c.set.in_(numbers), vectors.c.page.in_(PAGE_NUMBERS))
    return stack_vectors(connection.execute(wanted, {PAGE_NUMBERS.key: list(pages)}).all())


def stack_vectors(rows: Sequence[Any], last: int = 0) -> VectorBatch:
    """Return rows of `SELECT_VECTORS` as arrays; `last` counts as the highest number of none."""
    made = np.frombuffer(b"".join(row.vector for row in rows), STORED_TYPE).astype(np.float32)
    numbers = np.array([row.page for row in rows], np.int64)
    highest = max((row.number for row in rows), default=last)
    return VectorBatch(numbers, made.reshape(len(rows), -1 if rows else 0), highest)
