"""Another model, which is asked when the first one is down and never otherwise."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from models.chat_models import chat_model_providers
from tests.fake_model import FakeModel, Script
from tests.model_calls import (
    BAD_KEY,
    BAD_REQUEST,
    CUT,
    DOWN,
    EMPTY,
    REFUSED,
    SLOW_DOWN,
    TIMEOUT,
    TOO_LONG,
    asked,
    models,
    written,
)

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture
def other(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """The script of another model."""
    text = 'default = "fake:any"\nfallback = "other:any"\n'
    models(tmp_path / "two.toml", monkeypatch, text)
    other = Script()
    other.on("Bee", {"title": "from the other"})
    monkeypatch.setitem(chat_model_providers, "other", lambda _: FakeModel(script=other))
    return other


@pytest.mark.parametrize("failure", [DOWN, SLOW_DOWN, EMPTY, CUT, TOO_LONG])
async def test_the_other_model_is_asked_once_when_the_first_is_down(
    script: Script, other: Script, failure: Exception | AIMessage
):
    script.on("Bee", failure)

    assert await asked() == "from the other"
    assert len(other.asked) == 1


@pytest.mark.parametrize(
    "failure",
    [
        BAD_KEY,
        BAD_REQUEST,
        REFUSED,
    ],
)
async def test_the_other_model_is_not_asked_what_the_first_one_refuses(
    script: Script, other: Script, failure: Exception | AIMessage
):
    script.on("Bee", failure)
    await asked()

    assert other.asked == []


async def test_the_other_model_is_not_asked_when_the_budget_is_spent(script: Script, other: Script):
    assert await asked("Which bee? " * 250, max_tokens=1_000) == "budget_spent"
    assert script.asked == other.asked == []


async def test_when_both_models_are_down_the_second_failure_is_told(script: Script, other: Script):
    script.on("Bee", DOWN)
    other.on("Bee", TIMEOUT)

    assert await asked() == "model_timeout"
    assert (len(script.asked), len(other.asked)) == (3, 3)


async def test_an_answer_names_the_model_that_gave_it(script: Script, other: Script):
    script.on("reporter", DOWN)
    other.on("reporter", "Bees dance.")

    told = await written()

    assert (told.text, told.complete, told.model) == ("Bees dance.", True, "other:any")
