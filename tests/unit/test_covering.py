"""Large sets of vectors lie in Chroma; what comes later, or leaves, is seen all the same."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import delete

from config.errors import Problem
from config.settings import settings
from library import chroma, query_vectors, vector_upkeep
from library.chroma import has_collections
from library.page_embedding import embed_due, reembed
from library.page_erasure import forget_pages
from library.tables import vectors
from library.vector_rows import VectorSet, list_vector_sets
from library.vector_upkeep import LOCK, build_due_collection, update_vectors
from runs.lock import thread_lock
from storage.engine import run_read, run_write
from tests.page_vectors import ME, kept, nearest, use
from tests.places import new_process
from tests.unit.test_minilm import tiny

assert tiny  # a fixture

pytestmark = pytest.mark.usefixtures("either", "small")

BEES = [f"Bee number {number} visits flower {number * 7}." for number in range(12)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than ten vectors are many here, and hashing makes them."""
    monkeypatch.setattr(query_vectors, "EXACT", 10)
    use(monkeypatch, "hashing")
    # As with a server of Chroma, which every machine sees.
    monkeypatch.setattr(chroma, "has_collections", lambda: True)


async def the_set() -> VectorSet:
    (one,) = await run_read(lambda connection: list_vector_sets(connection, ME))
    return one


async def add(*texts: str, kind: str = "web", group: str = "") -> list[str]:
    """Keep pages that have their vectors; return their ids."""
    ids = await kept(*texts, kind=kind, group=group)
    await embed_due()
    return ids


async def lose_vectors() -> None:
    """Let the database forget its vectors, so that only a collection can have any."""
    await run_write(lambda connection: connection.execute(delete(vectors)))


def folders() -> set[str]:
    return {folder.name for folder in settings().vectors.glob("*")}


async def test_a_small_set_needs_no_collection():
    await add(*BEES[:10])

    assert await build_due_collection() == 0
    assert folders() == set()


def test_a_search_of_small_sets_does_not_import_chroma():
    modules = "library.vector_upkeep, library.query_vectors"
    code = f"import sys, {modules}; assert 'chromadb' not in sys.modules"

    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


async def test_a_large_set_is_found_through_a_collection():
    await add(*BEES)

    assert await build_due_collection() == 12
    await lose_vectors()

    assert (await nearest(BEES[3]))[0] == BEES[3]
    assert folders() == {(await the_set()).collection}


async def test_machines_that_share_a_database_and_no_chroma_compare_all_vectors(
    either: str, monkeypatch: pytest.MonkeyPatch
):
    await add(*BEES)
    await build_due_collection()
    await add(*(f"Wasp {number} visits nobody." for number in range(20)))
    monkeypatch.setattr(chroma, "has_collections", has_collections)

    assert has_collections() == (either == "sqlite")
    assert (await build_due_collection() > 0) == (either == "sqlite")
    if either == "postgresql":
        # The folder of this machine is not that of the others.
        monkeypatch.setattr(chroma, "query_collection", None)
    assert (await nearest(BEES[3]))[0] == BEES[3]


async def test_a_collection_is_built_once():
    await add(*BEES)

    assert [await build_due_collection(), await build_due_collection()] == [12, 0]


async def test_a_thread_may_have_any_name_while_a_collection_is_built():
    await add(*BEES)

    with thread_lock("vectors"):
        assert await build_due_collection() == 12


async def test_pages_that_come_after_the_collection_are_found_beside_it():
    await add(*BEES)
    await build_due_collection()

    await add("A new bee visits a rose.")

    assert (await nearest("new bee rose"))[0] == "A new bee visits a rose."
    assert (await nearest(BEES[3]))[0] == BEES[3]


async def test_pages_that_are_forgotten_are_not_found_in_the_collection():
    ids = await add(*BEES)
    await build_due_collection()

    await forget_pages(ME, ids[:9])

    assert {*await nearest("bee", 3)} == {*BEES[9:]}


async def test_a_small_group_of_a_large_set_is_found_whole():
    await add(*BEES)
    await add("Bees at night", "Bees by day", group="times")
    await build_due_collection()

    assert {*await nearest(BEES[3], 2, groups=["times"])} == {"Bees at night", "Bees by day"}


async def test_a_large_group_of_a_large_set_is_found_too():
    await add(*BEES, group="most")
    await add("Bees at night", "Bees by day")
    await build_due_collection()

    assert {*await nearest("Bees at night", 12, groups=["most"])} == {*BEES}


async def test_vectors_much_like_many_others_are_found_too():
    alike = [f"Animal number {number} likes plant number {7 * number}." for number in range(300)]
    for first in range(0, 300, 60):
        await add(*alike[first : first + 60], "?!")

    await build_due_collection()

    assert (await the_set()).apart > 0
    assert [text for text in alike[::7] if (await nearest(text, 1)) != [text]] == []
    assert await build_due_collection() == 0


async def test_when_a_set_has_grown_by_half_a_new_collection_takes_the_place_of_the_old():
    await add(*BEES)
    await build_due_collection()
    old = (await the_set()).collection
    await add(*(f"Wasp number {number}" for number in range(11)))

    assert await build_due_collection() == 23

    new = await the_set()
    assert folders() == {new.collection} != {old}
    assert (await nearest("Wasp number 5"))[0] == "Wasp number 5"
    await lose_vectors()
    assert (await nearest("Wasp number 5"))[0] == "Wasp number 5"


async def test_a_collection_that_was_never_finished_is_removed_by_the_next_builder(
    monkeypatch: pytest.MonkeyPatch,
):
    await add(*BEES)
    with monkeypatch.context() as killed:
        killed.setattr(vector_upkeep, "_publish", None)
        with pytest.raises(TypeError):
            await build_due_collection()
    (left,) = folders()
    assert (await nearest(BEES[3]))[0] == BEES[3]

    assert await build_due_collection() == 12

    assert folders() == {(await the_set()).collection}
    assert left not in folders()


async def test_what_another_process_builds_is_not_built_here():
    await add(*BEES)

    with thread_lock(LOCK):
        assert await build_due_collection() == 0

    assert await build_due_collection() == 12


async def test_of_two_machines_that_build_the_one_that_began_later_wins():
    await add(*BEES)
    number = (await the_set()).number
    names = ["earlier", "later"]
    for name in names:
        await run_write(partial(vector_upkeep._begin, number=number, name=name))

    outgrown = vector_upkeep.OutgrownSet(number, 12, 12)
    gone = [
        await run_write(
            partial(
                vector_upkeep._publish,
                outgrown=outgrown,
                name=name,
                built=chroma.BuiltCollection(12, []),
            )
        )
        for name in names
    ]

    assert gone == ["earlier", ""]
    assert (await the_set()).collection == "later"


async def test_a_collection_that_is_lost_costs_no_page():
    await add(*BEES)
    await build_due_collection()
    chroma.drop_collection((await the_set()).collection)

    assert (await nearest(BEES[3]))[0] == BEES[3]


async def test_a_collection_that_is_spoilt_costs_no_page():
    await add(*BEES)
    await build_due_collection()
    name = (await the_set()).collection
    new_process()
    (settings().vectors / name / "chroma.sqlite3").write_bytes(b"spoilt" * 999)

    assert (await nearest(BEES[3]))[0] == BEES[3]


async def test_the_collections_of_a_former_embedder_are_removed(
    monkeypatch: pytest.MonkeyPatch, tiny: Path
):
    await add(*BEES)
    await build_due_collection()
    (old,) = folders()
    use(monkeypatch, f"minilm:{tiny}")
    while (await reembed(5)).pages:
        assert (await nearest(BEES[3]))[0] == BEES[3]

    await update_vectors()

    assert folders() == {(await the_set()).collection} != {old}


async def test_a_folder_that_cannot_be_written_is_told():
    await add(*BEES)
    settings().home.mkdir(exist_ok=True)
    settings().vectors.write_text("a file")

    with pytest.raises(Problem) as failure:
        await build_due_collection()

    assert failure.value.code == "chroma_unavailable"
    assert (await nearest(BEES[3]))[0] == BEES[3]
