"""Facts and earlier runs are found by what they mean, where an embedder knows more than words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from sqlalchemy import select

from config.errors import ErrorCode, Problem
from memory import text_vectors
from memory.experience.credit_assignment import OutcomeSignals
from memory.experience.related_runs import store_related_runs
from memory.experience.run_history import RunEnding, record_run_end
from memory.facts.fact import NewFact
from memory.facts.memory import FactMemory
from memory.facts.store import add_fact
from memory.protocol import Query
from memory.tables import meanings as table
from models.embeddings import Embedder
from models.hashing_vectors import FloatMatrix
from storage.engine import read_rows
from storage.events import read_revision
from tests.places import new_process

pytestmark = pytest.mark.usefixtures("database")

ME = "me/"
GOOD = OutcomeSignals(1.0, 1.0, 1.0, 1.0)
SENSES = (
    "metro|subway|underground",
    "oslo|norway|norwegian",
    "bees?|hives?|honey",
    "vegan|meat|diet",
)


class Knowing:
    """An embedder that knows which words mean the same, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def pages(self, texts: Sequence[str]) -> FloatMatrix:
        self.asked += texts
        return np.array([self.row(text) for text in texts], np.float32)

    def row(self, text: str) -> FloatMatrix:
        found = [float(bool(re.search(sense, text.lower()))) for sense in SENSES]
        vector = np.array([*found, 0.01], np.float32)
        return vector / np.linalg.norm(vector)

    def made(self) -> Embedder:
        return Embedder("test:senses", self.pages, self.row)


@pytest.fixture
def knowing(monkeypatch: pytest.MonkeyPatch) -> Knowing:
    """The embedder that is set."""
    one = Knowing()
    monkeypatch.setattr(text_vectors, "load_embedder", one.made)
    monkeypatch.setattr(text_vectors, "embedder_name", lambda: "made:up")
    return one


async def told(text: str) -> list[str]:
    notes = await FactMemory().recall(
        Query(ME, "planner", text, (), await read_revision(ME)), 3_000
    )
    return [note.text for note in notes]


async def test_a_run_that_asked_the_same_in_other_words_is_found(knowing: Knowing):
    await record_run_end(ME, "metro", RunEnding("metro of Oslo", GOOD))
    await record_run_end(ME, "bees", RunEnding("How do bees dance?", GOOD))

    found = await store_related_runs(ME, "new", "subway of Norway's capital")

    assert [one.past.run for one in found] == ["metro"]
    assert found[0].similarity > 0.9
    assert sorted(knowing.asked) == ["How do bees dance?", "metro of Oslo"]


async def test_without_such_an_embedder_only_words_are_compared():
    await record_run_end(ME, "metro", RunEnding("metro of Oslo", GOOD))

    assert await store_related_runs(ME, "new", "subway of Norway's capital") == []
    assert [one.past.run for one in await store_related_runs(ME, "new", "the metro of Oslo")] == [
        "metro"
    ]


@pytest.mark.usefixtures("knowing")
async def test_a_fact_that_means_what_is_talked_about_comes_before_a_surer_one():
    await add_fact(ME, NewFact("Does not eat meat", "preference", 0.6))
    await add_fact(ME, NewFact("Runs marathons", "behavior", 0.95))

    assert (await told("Plan a vegan dinner"))[0] == "Does not eat meat"


async def test_vectors_are_made_once_and_kept(knowing: Knowing):
    await add_fact(ME, NewFact("Keeps honey bees"))
    await told("hives in winter")
    new_process()

    await add_fact(ME, NewFact("Lives in Oslo"))
    await told("hives in summer")

    assert knowing.asked == ["Keeps honey bees", "Lives in Oslo"]
    rows = (await read_rows(select(table.c.owner, table.c.embedder))).all()
    assert [tuple(row) for row in rows] == [(ME, "test:senses")] * 2


async def test_an_embedder_that_is_down_leaves_the_words(
    knowing: Knowing, monkeypatch: pytest.MonkeyPatch
):
    def broken(*_: object) -> FloatMatrix:
        raise Problem(ErrorCode.MODEL_UNAVAILABLE, "it is down")

    monkeypatch.setattr(knowing, "pages", broken)
    monkeypatch.setattr(knowing, "row", broken)
    await add_fact(ME, NewFact("Keeps honey bees", confidence=0.5))
    await add_fact(ME, NewFact("Runs marathons"))

    assert (await told("bees in winter"))[0] == "Keeps honey bees"


async def test_a_call_never_waits_for_more_vectors_than_a_few(
    knowing: Knowing, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(text_vectors, "MAX_NEW_VECTORS", 2)
    for number in range(5):
        await add_fact(ME, NewFact(f"Has hive {number} in field {number * 7}"))

    counts = []
    for _ in range(4):
        await told("honey")
        counts.append(len(knowing.asked))

    assert counts == [2, 4, 5, 5]


def test_an_embedder_of_english_is_not_asked_about_chinese():
    one = Knowing().made()

    assert text_vectors.supports_language(one, "蜜蜂怎么跳舞")
    assert not text_vectors.supports_language(one._replace(name="minilm"), "蜜蜂怎么跳舞")
    assert text_vectors.supports_language(one._replace(name="minilm"), "How do bees dance?")
