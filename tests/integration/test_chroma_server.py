"""A Chroma server by URL: it holds large sets, and when it is down or silent searches go on."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tenacity import retry, stop_after_delay, wait_fixed

from config.errors import Problem
from config.settings import settings
from library import chroma, query_vectors
from library.page_embedding import embed_due
from library.vector_rows import delete_vectors, list_vector_sets
from library.vector_upkeep import build_due_collection
from storage.engine import run_read, run_write
from tests.page_vectors import ME, kept, nearest, use
from tests.places import new_process

pytestmark = [
    pytest.mark.integration,
    pytest.mark.usefixtures("database", "small"),
]

BEES = [f"Bee number {number} visits flower {number * 7}." for number in range(12)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """More than ten vectors are many here, and hashing makes them."""
    monkeypatch.setattr(query_vectors, "EXACT", 10)
    use(monkeypatch, "hashing")
    yield
    new_process()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--host", "127.0.0.1"]
    folder = tmp_path_factory.mktemp("chroma")
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [*command, "--port", str(port), "--path", str(folder)], stdout=log, stderr=log
    )
    url = f"http://127.0.0.1:{port}"
    _until_up(url)
    yield url
    process.kill()
    process.wait()
    log.close()


@retry(stop=stop_after_delay(60), wait=wait_fixed(0.1))
def _until_up(url: str) -> None:
    httpx.get(f"{url}/api/v2/heartbeat").raise_for_status()


def at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server hold large sets."""
    monkeypatch.setenv("DOSSIER_CHROMA_URL", url)
    monkeypatch.setenv("DOSSIER_CONNECT_SECONDS", "0.5")
    new_process()


async def fill() -> None:
    await kept(*BEES)
    await embed_due()


async def test_a_server_holds_a_large_set_and_no_folder_does(
    server: str, monkeypatch: pytest.MonkeyPatch
):
    at(server, monkeypatch)
    await fill()

    assert await build_due_collection() == 12
    await run_write(lambda connection: delete_vectors(connection, range(1, 100)))

    assert (await nearest(BEES[3]))[0] == BEES[3]
    assert not settings().vectors.exists()


async def test_a_new_collection_takes_the_place_of_the_old_on_the_server(
    server: str, monkeypatch: pytest.MonkeyPatch
):
    at(server, monkeypatch)
    await fill()
    await build_due_collection()
    (before,) = await run_read(lambda connection: list_vector_sets(connection, ME))
    await kept(*(f"Wasp number {number}" for number in range(11)))
    await embed_due()

    assert await build_due_collection() == 23

    assert (await nearest("Wasp number 5"))[0] == "Wasp number 5"
    with pytest.raises(Problem):
        chroma.query_collection(before.collection, [0.0] * 1024, 5)  # type: ignore[arg-type]


async def test_when_the_server_is_gone_every_page_is_still_found(
    server: str, monkeypatch: pytest.MonkeyPatch
):
    at(server, monkeypatch)
    await fill()
    await build_due_collection()
    new_process()

    at("http://127.0.0.1:9", monkeypatch)

    assert (await nearest(BEES[3]))[0] == BEES[3]


async def test_a_server_that_never_answers_does_not_stop_a_search(
    server: str, monkeypatch: pytest.MonkeyPatch
):
    at(server, monkeypatch)
    await fill()
    await build_due_collection()
    new_process()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        at(f"http://127.0.0.1:{silent.getsockname()[1]}", monkeypatch)
        found = await nearest(BEES[3])

    assert found[0] == BEES[3]


async def test_a_server_that_is_gone_is_told_when_a_collection_is_built(
    monkeypatch: pytest.MonkeyPatch,
):
    at("http://127.0.0.1:9", monkeypatch)
    await fill()

    with pytest.raises(Problem) as failure:
        await build_due_collection()

    assert failure.value.code == "chroma_unavailable"
    assert "127.0.0.1:9" in failure.value.where
