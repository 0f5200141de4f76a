"""What a person says of a run is written down, and words are in force from then on."""

from __future__ import annotations

import pytest

from config.errors import Problem
from graph.context import Context
from memory.facts.store import listed
from memory.learning.feedback import feed_back
from memory.profile.store import kept
from runs.lifecycle import Run, found, opened
from storage.events import history

pytestmark = pytest.mark.usefixtures("either")

OWNER = "local/"


async def run() -> Run:
    name = await opened(OWNER, "t1", 1, "How do bees dance?", Context())
    return await found(OWNER, name)


@pytest.mark.parametrize("verdict", ["up", "down", "Up", "up!"])
async def test_up_and_down_are_events_of_the_run(verdict: str):
    assert await feed_back(await run(), verdict) is None

    (one,) = await history(OWNER, run="t1-1")
    assert (one.event.name, one.event.item) == (f"feedback.{verdict.lower().rstrip('!')}", "t1-1")
    assert await listed(OWNER) == []


async def test_words_are_a_correction_and_an_event():
    said = "You should have said 14 degrees, not 40."
    fact = await feed_back(await run(), said)

    (known,) = await listed(OWNER)
    assert fact
    assert (known.id, known.content, known.quote) == (fact.id, said, said)
    assert (known.category, known.provenance, known.run) == ("correction", "user", "t1-1")
    names = [one.event.name for one in await history(OWNER, run="t1-1")]
    assert names == ["feedback.text", "fact.add"]


async def test_words_on_how_answers_are_liked_change_the_profile():
    await feed_back(await run(), "I prefer short answers.")

    assert (await kept(OWNER)).profile["tastes"]["detail"]["text"] == "concise"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("feedback_empty", "  "),
        ("feedback_empty", "<!-- x -->"),
        ("feedback_unclear", "sideways"),
        ("feedback_unclear", "sideways!"),
        ("feedback_unclear", "横着"),
        ("feedback_refused", "my password is hunter2"),
        ("feedback_refused", "too long " * 100),
    ],
)
async def test_what_cannot_be_kept_is_told_and_leaves_nothing(code: str, words: str):
    with pytest.raises(Problem) as problem:
        await feed_back(await run(), words)

    assert problem.value.code == code
    assert await history(OWNER) == []
    assert await listed(OWNER) == []
