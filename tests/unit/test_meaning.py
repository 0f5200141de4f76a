"""Search by meaning: what was just written is found, and what fails is told and never raised."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from evals.openai_server import Server
from library import query_vectors as searches
from library.page_embedding import embed_due
from library.page_erasure import forget_pages
from library.page_index import PageIndex
from library.page_retrieval import run_search
from library.query_vectors import prepare_query_vectors
from models.embeddings import load_embedder
from tests.page_vectors import DANCE, HONEY, ME, OTHER, TRAIN, asked, kept, nearest, use
from tests.unit.test_minilm import tiny

assert tiny  # a fixture

pytestmark = pytest.mark.usefixtures("either", "hashing")


@pytest.fixture
def hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashing makes the vectors."""
    use(monkeypatch, "hashing")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A provider makes the vectors: a server of OpenAI's kind."""
    with Server([]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        use(monkeypatch, "openai:m")
        yield server


async def test_the_nearest_page_comes_first():
    await kept(TRAIN, HONEY, DANCE)
    await embed_due()

    assert await nearest("winter bees", 2) == [HONEY, DANCE]


async def test_a_page_is_found_by_its_vector_as_soon_as_it_is_written():
    await kept(TRAIN)
    await embed_due()
    assert await nearest("bees that dance") == [TRAIN]

    await kept(DANCE)

    assert await nearest("bees that dance") == [DANCE, TRAIN]


async def test_a_page_is_found_while_a_worker_has_taken_it_and_after():
    await kept(DANCE)
    assert await nearest("bees that dance") == [DANCE]

    await embed_due()

    assert await nearest("bees that dance") == [DANCE]


async def test_of_many_pages_that_wait_a_search_embeds_only_the_newest(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(searches, "PAGES", 2)
    await kept("bee one", "bee two", "bee three")

    assert {*await nearest("bee")} == {"bee two", "bee three"}
    assert {*await nearest("bee")} == {"bee one", "bee two", "bee three"}


async def test_when_a_worker_is_far_behind_a_search_embeds_nothing(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(searches, "JOBS", 2)
    await kept("bee one")
    await kept("bee two")

    assert await nearest("bee") == []


async def test_a_page_that_waits_and_is_forgotten_is_not_found():
    ids = await kept(DANCE)
    assert await nearest("dance") == [DANCE]

    await forget_pages(ME, ids)

    assert await nearest("dance") == []


async def test_pages_of_another_owner_kind_or_group_are_not_compared():
    await kept(DANCE, owner=OTHER)
    await kept("bees dance", kind="report")
    await kept("bees dance today", group="a")
    await embed_due()

    assert await nearest("bees dance", owner=OTHER) == [DANCE]
    assert await nearest("bees dance", kinds=["web"]) == ["bees dance today"]
    assert await nearest("bees dance", groups=["b"]) == []
    assert {*await nearest("bees dance")} == {"bees dance", "bees dance today"}


async def test_with_no_embedder_there_is_no_vector_and_no_problem(
    monkeypatch: pytest.MonkeyPatch,
):
    await kept(DANCE)
    use(monkeypatch, "none")

    found = await asked("dance")

    assert found.vector is None
    assert found.problem is None


async def test_a_provider_that_is_down_is_told_and_left_in_peace_for_a_while(
    server: Server, monkeypatch: pytest.MonkeyPatch
):
    await kept(DANCE)
    server.rules.append({"path": "embeddings", "error": 503})

    found = [await asked("one"), await asked("two")]

    assert [each.vector for each in found] == [None, None]
    assert [each.problem.code for each in found if each.problem] == ["model_unavailable"] * 2
    assert len(server.log) == 1

    server.rules.clear()
    monkeypatch.setattr(searches, "AGAIN", 0)
    monkeypatch.setattr(searches.time, "monotonic", lambda: 1e12)
    assert (await asked("two")).vector is not None


async def test_an_embedder_that_cannot_be_had_is_told(monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, "openai:m")

    problem = (await asked("dance")).problem

    assert problem is not None
    assert problem.code == "model_key_missing"


async def test_a_question_is_embedded_once_however_often_it_is_asked(server: Server):
    await kept(DANCE)
    await embed_due()
    before = len(server.log)

    for _ in range(3):
        await asked("dance")

    assert len(server.log) == before + 1


async def test_an_owner_without_pages_finds_nothing():
    assert await nearest("dance") == []


async def test_likeness_is_the_cosine_of_pages_with_and_without_a_worker():
    await kept(DANCE)
    await embed_due()
    await kept(TRAIN)
    maker = load_embedder("hashing")
    assert maker is not None

    def work(index: PageIndex) -> tuple[dict[int, float], dict[int, float]]:
        found = prepare_query_vectors(index, "bees dance")
        assert found.vector is not None
        near = found.vectors.nearest(found.vector, 5)
        return near, found.vectors.likeness(found.vector, [*near, 999])

    near, likeness = await run_search(ME, work)

    expected = maker.embed_pages([f". {DANCE}", f". {TRAIN}"]) @ maker.embed_query("bees dance")
    np.testing.assert_allclose([likeness[n] for n in sorted(near)], expected, atol=5e-4)
    assert likeness.keys() == near.keys()
