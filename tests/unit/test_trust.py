"""What vectors are worth is measured on a store's own pages."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest

from library.page_embedding import embedding_text
from library.page_ranking import rank_pages
from library.vector_upkeep import FEWEST, measure_trust
from models.hashing_vectors import FloatMatrix
from tests.memory_store import MemoryStore, MemoryVectors, _row

COUNT = 3 * FEWEST


def english(number: int) -> str:
    """A page whose sentences are about one thing and share no word."""
    name = letters(number)
    return f"The story{name} begins. This tale{name} continues quietly."


def chinese(number: int) -> str:
    """A page whose sentences share the words that no other page has."""
    return f"故事第{number}号开始。故事第{number}号下。"


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in f"{number:02}")


def store(*texts: str) -> MemoryStore:
    return MemoryStore(_row(number, "", text) for number, text in enumerate(texts))


def topics(texts: Sequence[str]) -> FloatMatrix:
    """Vectors that know what English texts are about, and nothing of Chinese ones."""
    made = np.zeros((len(texts), COUNT + 1), np.float32)
    for at, text in enumerate(texts):
        told = [n for n in range(COUNT) if f"{letters(n)} " in text]
        made[at, told[0] if told else COUNT] = 1.0
    return made


def noise(texts: Sequence[str]) -> FloatMatrix:
    """Vectors that have nothing to do with the texts."""
    made = [np.random.default_rng(crc32(text.encode())).standard_normal(64) for text in texts]
    vectors = np.array(made, np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def vectors(pages: MemoryStore, embed: object) -> MemoryVectors:
    rows = pages.sample(1000)
    made = embed([embedding_text(each.title, each.speaker, each.text) for each in rows])  # type: ignore[operator]
    return MemoryVectors([each.number for each in rows], made)


def test_vectors_that_know_what_pages_are_about_are_trusted_wholly():
    pages = store(*map(english, range(COUNT)))

    assert measure_trust(pages, vectors(pages, topics), topics) == {"en": 1.0}


def test_vectors_that_know_nothing_are_not_trusted():
    pages = store(*map(english, range(COUNT)))

    assert measure_trust(pages, vectors(pages, noise), noise) == {"en": 0.0}


def test_vectors_are_trusted_in_one_language_and_not_in_another():
    pages = store(*map(english, range(COUNT)), *map(chinese, range(COUNT)))

    assert measure_trust(pages, vectors(pages, topics), topics) == {"en": 1.0, "zh": 0.0}


def test_nothing_is_told_of_a_language_of_few_pages():
    pages = store(*map(english, range(COUNT)), *map(chinese, range(FEWEST - 1)))

    assert measure_trust(pages, vectors(pages, topics), topics) == {"en": 1.0}


@pytest.mark.parametrize(("trusted", "best"), [(1.0, [0, 2]), (0.0, [0, 1])])
def test_what_is_meant_counts_as_far_as_vectors_are_trusted(trusted, best):
    pages = store("bees dance", "a dance of snow and of sand", "the waggle run", *["sand"] * 20)
    near = MemoryVectors(range(23), np.eye(23, dtype=np.float32))
    asked = np.zeros(23, np.float32)
    asked[[0, 2]] = 0.6, 0.8

    hits = rank_pages("bees dance", pages, 2, vectors=near, vector=asked.tolist(), trust=trusted)

    assert [hit.row.number for hit in hits] == best


def test_where_no_word_is_known_the_nearest_pages_are_found_and_no_others():
    pages = store("bees dance", "wasps sting", "ants march")
    near = MemoryVectors(range(3), np.eye(3, dtype=np.float32))

    hits = rank_pages("hymenoptera", pages, vectors=near, vector=[0.9, 0.4, 0.1], trust=0.0)

    assert [hit.row.number for hit in hits if hit.score > 0] == [0, 1]
