"""What a person says of a run is written down, and words are in force from then on."""

from __future__ import annotations

import pytest

from config.errors import Problem
from graph.context import Context
from memory.facts.queries import list_facts
from memory.learning.run_feedback import record_feedback
from memory.profile.store import load_profile
from runs.lifecycle import RunRecord, create_run, find_run
from storage.events import list_events

pytestmark = pytest.mark.usefixtures("either")

OWNER = "local/"


async def run() -> RunRecord:
    name = await create_run(OWNER, "t1", 1, "How do bees dance?", Context())
    return await find_run(OWNER, name)


@pytest.mark.parametrize("verdict", ["up", "down", "Up", "up!"])
async def test_up_and_down_are_events_of_the_run(verdict: str):
    assert await record_feedback(await run(), verdict) is None

    (one,) = await list_events(OWNER, run="t1-1")
    assert (one.event.name, one.event.item) == (f"feedback.{verdict.lower().rstrip('!')}", "t1-1")
    assert await list_facts(OWNER) == []


async def test_words_are_a_correction_and_an_event():
    said = "You should have said 14 degrees, not 40."
    fact = await record_feedback(await run(), said)

    (known,) = await list_facts(OWNER)
    assert fact
    assert (known.id, known.content, known.quote) == (fact.id, said, said)
    assert (known.category, known.provenance, known.run) == ("correction", "user", "t1-1")
    names = [one.event.name for one in await list_events(OWNER, run="t1-1")]
    assert names == ["feedback.text", "fact.add"]


async def test_words_on_how_answers_are_liked_change_the_profile():
    await record_feedback(await run(), "I prefer short answers.")

    assert (await load_profile(OWNER)).profile["tastes"]["detail"]["text"] == "concise"


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
        await record_feedback(await run(), words)

    assert problem.value.code == code
    assert await list_events(OWNER) == []
    assert await list_facts(OWNER) == []
