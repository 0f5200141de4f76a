"""The store knows what its vectors are worth, and a search goes by that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from library.page_retrieval import search_pages
from library.vector_rows import list_vector_sets
from library.vector_upkeep import judge_vectors, update_vectors
from models import embeddings
from models.embeddings import Embedder
from models.hashing_vectors import FloatMatrix
from storage.engine import run_read
from tests.page_vectors import ME, asked, kept, use

pytestmark = pytest.mark.usefixtures("either")


def story(number: int) -> str:
    """A page whose sentences are about one thing and share no word."""
    name = letters(number)
    return f"The story{name} begins. This tale{name} continues quietly."


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:02}")


def topics(texts: Sequence[str]) -> FloatMatrix:
    """Vectors that know which story a text is about."""
    made = np.zeros((len(texts), 64), np.float32)
    for at, text in enumerate(texts):
        told = [n for n in range(63) if f"{letters(n)} " in f"{text} "]
        made[at, told[0] if told else 63] = 1.0
    return made


@pytest.fixture(autouse=True)
def knowing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the embedder that is set know what stories are about."""
    use(monkeypatch, "minilm")
    maker = Embedder("minilm", topics, lambda question: topics([question])[0])
    for module in (
        "library.page_embedding",
        "library.vector_upkeep",
        "library.query_vectors",
    ):
        monkeypatch.setattr(f"{module}.load_embedder", lambda *_: maker)


async def judged() -> tuple[Mapping[str, float], int]:
    (one,) = await run_read(lambda connection: list_vector_sets(connection, ME))
    return one.trust, one.judged


async def test_vectors_are_judged_when_they_are_made():
    await kept(*map(story, range(20)))

    await update_vectors()

    assert await judged() == ({"en": 1.0}, 20)


async def test_vectors_are_judged_again_when_they_have_grown_by_a_half():
    await kept(*map(story, range(20)))
    await update_vectors()
    await kept(*map(story, range(20, 30)))
    await update_vectors()
    assert (await judged())[1] == 20

    await kept(story(30))
    await update_vectors()

    assert (await judged())[1] == 31


async def test_a_search_trusts_vectors_as_they_were_judged():
    await kept(*map(story, range(20)))
    assert (await asked("storyab")).trust == 0.5

    await update_vectors()

    assert (await asked("storyab")).trust == 1.0
    assert {found.trust for found in await search_pages(ME, "storyab", 5)} == {1.0}


async def test_an_embedder_that_fails_leaves_vectors_to_be_judged_later(monkeypatch):
    await kept(*map(story, range(20)))
    await update_vectors()
    await kept(*map(story, range(20, 40)))

    def failing(texts: Sequence[str]) -> FloatMatrix:
        if texts[0].startswith("This"):
            raise TimeoutError
        return topics(texts)

    maker = Embedder("minilm", failing, lambda question: topics([question])[0])
    for module in ("library.page_embedding", "library.vector_upkeep"):
        monkeypatch.setattr(f"{module}.load_embedder", lambda *_: maker)
    await update_vectors()

    assert (await judged())[1] == 20


async def test_hashing_adds_nothing_to_words_and_is_asked_only_where_they_find_nothing(monkeypatch):
    for module in (
        "library.page_embedding",
        "library.vector_upkeep",
        "library.query_vectors",
    ):
        monkeypatch.setattr(f"{module}.load_embedder", embeddings.load_embedder)
    use(monkeypatch, "hashing")
    await kept("Shakespeare wrote plays.", "Goethe wrote poems.")
    await update_vectors()

    assert not await judge_vectors()
    worded = await search_pages(ME, "who wrote plays", 5)
    assert all("meaning" not in found.parts for found in worded)
    (found,) = await search_pages(ME, "Shakespere", 5)
    assert found.page.text == "Shakespeare wrote plays."
    assert await search_pages(ME, "zymurgy", 5) == []
