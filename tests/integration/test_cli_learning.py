"""What a person says on the command line is learnt from, and what they say of a run is kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.integration.command import WHO, Done, Forks, Place

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def talk(place: Place, forks: Forks) -> Done:
    """A little talk in which somebody says who they are."""
    return forks.run(place, "ask", "Hello, I'm a nurse.", "--thread", "talk", "--json")


@pytest.fixture(scope="module")
def said(place: Place, forks: Forks) -> Done:
    """What somebody says of a report."""
    asked = forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "bees")
    assert asked.status == 0, asked.err
    words = "The year should be 1923, not 1927."
    return forks.run(place, "feedback", "bees-1", words, "--json")


def rows(place: Place, query: str) -> list[str]:
    with closing(sqlite3.connect(place.home / "dossier.db")) as database:
        return [row[0] for row in database.execute(query)]


def test_small_talk_is_learnt_from_and_leaves_nothing_to_do(place: Place, talk: Done):
    assert talk.status == 0
    assert rows(place, "SELECT content FROM facts WHERE live = 1") == ["I'm a nurse"]
    assert rows(place, "SELECT data FROM outbox WHERE job = 'learn'") == []


def test_words_on_a_run_are_a_correction_and_an_event_of_the_run(place: Place, said: Done):
    (fact,) = rows(place, "SELECT id FROM facts WHERE category = 'correction'")

    assert said.status == 0
    assert said.told == {"run": "bees-1", "feedback": "text", "fact": fact}
    assert rows(place, "SELECT item FROM events WHERE name = 'feedback.text'") == ["bees-1"]


def test_a_verdict_is_noted_in_a_word(place: Place, forks: Forks, said: Done):
    assert said.status == 0

    done = forks.run(place, "feedback", "bees-1", "down")

    assert (done.status, done.out.strip()) == (0, "Noted.")
    assert rows(place, "SELECT item FROM events WHERE name = 'feedback.down'") == ["bees-1"]
