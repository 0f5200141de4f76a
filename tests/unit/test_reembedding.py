"""Another embedder: searches go on with the old vectors until the new ones are whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.openai_server import Server
from library.page_embedding import embed_due, reembed
from library.page_erasure import forget_pages
from library.vector_rows import VectorSet, list_vector_sets
from library.vector_upkeep import update_vectors
from storage.engine import run_read
from tests.page_vectors import DANCE, HONEY, ME, TRAIN, asked, count, kept, nearest, use
from tests.places import new_process
from tests.unit.test_minilm import tiny

assert tiny  # a fixture

pytestmark = pytest.mark.usefixtures("either")


@pytest.fixture
def other(tiny: Path) -> str:
    """The name of another embedder."""
    return f"minilm:{tiny}"


@pytest.fixture
async def ids(either: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three pages with vectors that hashing made; their ids."""
    del either
    use(monkeypatch, "hashing")
    ids = await kept(DANCE, HONEY, TRAIN)
    await embed_due()
    return ids


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server([]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


async def sets() -> list[VectorSet]:
    return await run_read(lambda connection: list_vector_sets(connection, ME))


async def width() -> int:
    """Return how long the vector is with which a search is made."""
    vector = (await asked("bees dance")).vector
    assert vector is not None
    return len(vector)


@pytest.mark.usefixtures("ids")
async def test_old_vectors_serve_until_the_new_ones_are_whole(
    monkeypatch: pytest.MonkeyPatch, other: str
):
    use(monkeypatch, other)
    assert await width() == 1024

    assert (await reembed(2)).pages == 2
    assert await width() == 1024
    assert (await nearest("bees dance"))[0] == DANCE

    assert (await reembed(2)).pages == 1
    assert (await reembed(2)).pages == 0
    assert await width() == 64
    assert {*await nearest("bees dance")} == {DANCE, HONEY, TRAIN}


@pytest.mark.usefixtures("ids")
async def test_the_vectors_of_the_former_embedder_are_removed_in_the_end(
    monkeypatch: pytest.MonkeyPatch, other: str
):
    use(monkeypatch, other)

    await update_vectors()

    assert [(one.embedder, one.whole) for one in await sets()] == [(other, 1)]
    assert await count("vectors") == 3
    assert await count("outbox") == 0


@pytest.mark.usefixtures("ids")
async def test_a_page_that_comes_meanwhile_is_found_before_and_after(
    monkeypatch: pytest.MonkeyPatch, other: str
):
    use(monkeypatch, other)
    await reembed(1)
    await kept("bees dance")
    await kept("Bees dance in reports.", kind="report")
    await embed_due()
    assert await width() == 1024
    assert (await nearest("bees dance"))[:2] == ["bees dance", "Bees dance in reports."]

    await update_vectors()

    assert await width() == 64
    assert len(await nearest("bees dance")) == 5


async def test_a_page_that_is_forgotten_meanwhile_does_not_come_back(
    ids: list[str], monkeypatch: pytest.MonkeyPatch, other: str
):
    use(monkeypatch, other)
    await reembed(1)
    await forget_pages(ME, ids)

    await update_vectors()

    assert await count("vectors") == 0


@pytest.mark.usefixtures("ids")
async def test_kinds_change_over_together(monkeypatch: pytest.MonkeyPatch, other: str):
    await kept("Bees dance in reports.", kind="report")
    await embed_due()
    use(monkeypatch, other)

    while (await reembed(1)).pages:
        used = await width()
        assert len(await nearest("bees dance")) == 4
        assert used in (1024, 64)

    assert await width() == 64


@pytest.mark.usefixtures("ids")
async def test_going_back_meanwhile_takes_up_the_vectors_that_are_there(
    monkeypatch: pytest.MonkeyPatch, other: str
):
    use(monkeypatch, other)
    await reembed(2)
    use(monkeypatch, "hashing")

    assert await width() == 1024
    await update_vectors()

    assert [one.embedder for one in await sets()] == ["hashing"]
    assert await count("vectors") == 3
    assert await count("outbox") == 0


@pytest.mark.usefixtures("ids")
async def test_a_provider_that_is_down_leaves_the_old_vectors_at_work(
    monkeypatch: pytest.MonkeyPatch, server: Server
):
    use(monkeypatch, "openai:m")
    server.rules.append({"path": "embeddings", "error": 503})

    done = await update_vectors()

    assert done.problem is not None
    assert done.problem.code == "model_unavailable"
    assert await nearest("bees dance") == [DANCE, HONEY, TRAIN]


@pytest.mark.usefixtures("ids")
async def test_a_text_that_the_new_provider_refuses_does_not_keep_back_the_others(
    monkeypatch: pytest.MonkeyPatch, server: Server
):
    use(monkeypatch, "openai:m")
    server.rules.append({"path": "embeddings", "match": HONEY, "error": 400})

    await update_vectors()

    assert await width() == 8
    assert await count("vectors") == 2
    assert await count("outbox") == 1


@pytest.mark.usefixtures("ids")
async def test_an_old_embedder_that_cannot_be_had_any_more_gives_way_at_once(
    monkeypatch: pytest.MonkeyPatch, other: str, tiny: Path
):
    use(monkeypatch, other)
    await update_vectors()
    new_process()
    (tiny / "model.safetensors").unlink()
    use(monkeypatch, "hashing")
    await reembed(1)

    assert await width() == 1024
    assert await nearest("bees dance") == [DANCE]


@pytest.mark.usefixtures("ids")
async def test_nothing_is_made_again_without_a_change():
    assert (await reembed()).pages == 0
    assert await count("outbox") == 0
