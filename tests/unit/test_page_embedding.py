"""The worker that makes vectors: all pages, once, whatever fails and whoever else is at it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from sqlalchemy import select, text, update

from config.errors import Problem
from evals.openai_server import Server
from library.page_embedding import embed_due
from library.page_erasure import forget_pages
from library.store import store_pages
from library.tables import vectors
from models.embeddings import collect_embedding_calls
from storage import outbox
from storage.engine import read_rows, run_write
from storage.tables import outbox as rows
from tests.page_vectors import DANCE, HONEY, ME, TRAIN, count, kept, nearest, use

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


async def due_now() -> None:
    """Let all work that waits be due."""
    await run_write(lambda connection: connection.execute(update(rows).values(due=0)))


async def waiting() -> list[int]:
    """Return how often each job that waits was tried."""
    return list((await read_rows(select(rows.c.tries).order_by(rows.c.id))).scalars())


async def test_pages_get_their_vectors_and_the_work_is_gone():
    await kept(DANCE, HONEY)
    await kept(TRAIN)

    assert (await embed_due()).pages == 3

    assert await count("vectors") == 3
    assert await count("outbox") == 0
    assert (await embed_due()).pages == 0


async def test_a_worker_does_only_as_much_as_it_is_told_and_the_rest_stays():
    await kept(*(f"Bee number {number}" for number in range(10)))

    assert (await embed_due(4)).pages == 4
    assert await count("vectors") == 4

    assert [(await embed_due(4)).pages for _ in range(3)] == [4, 2, 0]
    assert await count("vectors") == 10


async def test_work_that_was_done_already_is_done_without_another_vector():
    await kept(DANCE)
    work = (await read_rows(select(rows))).one()
    await embed_due()
    await run_write(
        lambda connection: outbox.enqueue_job(connection, ME, work.job, json.loads(work.data))
    )

    assert (await embed_due()).pages == 1

    assert await count("vectors") == 1
    assert await count("outbox") == 0


async def test_several_workers_at_once_make_every_vector_once():
    for number in range(30):
        await kept(f"Bee number {number}", f"Flower number {number}")

    async def worker() -> int:
        pages = 0
        while done := (await embed_due(8)).pages:
            pages += done
        return pages

    assert sum(await asyncio.gather(*(worker() for _ in range(4)))) == 60
    assert await count("vectors") == 60
    assert await count("outbox") == 0


async def test_work_that_a_worker_took_and_left_is_done_by_the_next_one_later(
    monkeypatch: pytest.MonkeyPatch,
):
    await kept(DANCE)
    await run_write(lambda connection: outbox.claim_jobs(connection, "vectors", bool))

    assert (await embed_due()).pages == 0

    monkeypatch.setattr(outbox.time, "time", lambda: 4e9)
    assert (await embed_due()).pages == 1


async def test_pages_that_are_forgotten_lose_their_vectors():
    (dance,) = await kept(DANCE)
    await kept(TRAIN)
    await embed_due()

    await forget_pages(ME, [dance])
    await embed_due()

    assert await count("vectors") == 1
    assert await nearest("dance") == [TRAIN]


async def test_a_page_that_was_forgotten_before_its_turn_gets_no_vector():
    ids = await kept(DANCE)
    await forget_pages(ME, ids)

    await embed_due()

    assert await count("vectors") == 0
    assert await count("outbox") == 0


async def test_a_page_that_has_changed_is_found_by_its_new_words_only():
    await store_pages(ME, "web", "u", [{"title": "", "place": "", "text": DANCE}])
    await embed_due()
    await store_pages(ME, "web", "u", [{"title": "", "place": "", "text": TRAIN}])
    await embed_due()

    assert await nearest("bees dance") == [TRAIN]
    assert await count("vectors") == 1


async def test_with_no_embedder_the_work_waits(monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, "none")
    await kept(DANCE)

    assert (await embed_due()).pages == 0
    use(monkeypatch, "hashing")

    assert (await embed_due()).pages == 1


async def test_a_provider_that_is_down_leaves_the_work_for_later(server: Server):
    await kept(DANCE, HONEY)
    server.rules.append({"path": "embeddings", "error": 503})

    done = await embed_due()

    assert done.pages == 0
    assert done.problem is not None
    assert done.problem.code == "model_unavailable"
    assert await waiting() == [1]
    assert (await embed_due()).problem is None  # it is not due now
    server.rules.clear()
    await due_now()
    assert (await embed_due()).pages == 2
    assert await count("outbox") == 0


async def test_work_that_fails_again_waits_longer(server: Server):
    await kept(DANCE)
    server.rules.append({"path": "embeddings", "error": 503})

    waits = []
    for _ in range(3):
        await due_now()
        before = outbox.time.time()
        await embed_due()
        due = (await read_rows(select(rows.c.due))).scalar_one()
        waits.append(round((due - before) / 10))

    assert waits == [1, 2, 4]


async def test_a_text_that_a_provider_refuses_does_not_keep_others_from_their_vectors(
    server: Server,
):
    await kept(DANCE, TRAIN, HONEY)
    server.rules.append({"path": "embeddings", "match": TRAIN, "error": 400})

    done = await embed_due()

    assert done.pages == 2
    assert done.problem is not None
    assert done.problem.code == "model_rejected"
    assert await count("vectors") == 2
    assert await waiting() == [1]


async def test_vectors_of_another_length_than_before_are_refused_and_told(server: Server):
    await kept(DANCE)
    await embed_due()
    await kept(TRAIN)
    data = [{"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}]
    answer = {"object": "list", "model": "m", "data": data, "usage": {}}
    server.rules.append({"path": "embeddings", "body": answer})

    done = await embed_due()

    assert done.pages == 0
    assert done.problem is not None
    assert done.problem.code == "embedder_changed"
    assert await waiting() == [1]
    assert await count("vectors") == 1


async def test_an_embedder_that_cannot_be_had_is_told_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
):
    await kept(DANCE)
    use(monkeypatch, "minilm:/no/such/folder")

    with pytest.raises(Problem, match="MiniLM"):
        await embed_due()

    assert await waiting() == [0]


async def test_a_turn_of_a_dialogue_is_embedded_with_its_speaker(server: Server):
    turn = {"title": "Monday", "place": "", "text": "I like bees.", "speaker": "Ada"}
    await store_pages(
        ME, "chat", "c", [turn, {"title": "Bees", "place": "", "text": "They dance."}]
    )  # type: ignore[list-item]

    await embed_due()

    assert server.log[0].body["input"] == ["Ada: I like bees.", "Bees. They dance."]


async def test_what_a_provider_was_asked_is_told(server: Server):
    await kept(DANCE)

    with collect_embedding_calls() as asked:
        await embed_due()

    assert [one.name for one in asked] == ["openai:m at " + server.url.split("/")[2]]


async def test_a_page_has_one_vector_however_many_namespaces_it_is_in():
    await kept(DANCE, kind="chat", group="monday")
    await embed_due()
    await kept(DANCE, kind="chat", group="tuesday")
    await embed_due()

    assert await count("vectors") == 1
    assert await nearest("dance", kinds=["chat"], groups=["tuesday"]) == [DANCE]


async def test_vectors_are_kept_in_half_the_room():
    await kept(DANCE)
    await embed_due()

    size = (await read_rows(select(text("LENGTH(vector)")).select_from(vectors))).scalar_one()

    assert size == 2 * 1024
