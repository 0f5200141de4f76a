"""`dossier runs show RUN --source N` shows what a report uses of a source, word for word."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.cli import runs
from app.cli.dispatch import Invocation
from config.errors import Problem
from graph.context import Context
from graph.session import ThreadSession
from runs.lifecycle import create_run, find_run
from tests.conftest import make
from tests.fake_model import Script
from tests.flow.test_defects import quiet

pytestmark = pytest.mark.extractive(
    "Triage", "Rewrite", "Draft", "researcher", "Verdict", "Enough", "Checks", "Lessons"
)

QUESTION = "How do bees dance?"
QUOTE = "The waggle dance tells other bees the direction of food."
SAID = f'They show the way: <q s="S1">{QUOTE}</q> [S1]'


@pytest.fixture
async def asked(thread: ThreadSession, choices: dict[str, object], script: Script) -> str:
    script.on("reporter", SAID)
    state = (await thread.begin(QUESTION, make(choices), quiet)).state
    return str(state["run"])


async def show(run: str, source: str, *, as_json: bool = False, removed: bool = False) -> None:
    invocation = Invocation(as_json=as_json)
    await runs.show_run(
        run=run, report=False, removed=removed, source=source, invocation=invocation
    )


@pytest.mark.parametrize("named", ["1", "S1", "s1", "[1]"])
async def test_a_source_is_shown_with_its_paragraph_its_words_and_the_sentence(
    asked: str, capsys: pytest.CaptureFixture[str], named: str
):
    await show(asked, named)

    told = capsys.readouterr().out
    assert told.startswith("[1] ")
    assert f"**{QUOTE}**" in told
    assert "1 paragraph, cited by 1 sentence" in told
    assert f"  - They show the way: “{QUOTE}”" in told


async def test_the_same_is_given_to_programs(asked: str, capsys: pytest.CaptureFixture[str]):
    await show(asked, "1", as_json=True)

    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    (passage,) = told["passages"]
    assert told["run"] == asked
    assert (told["source"]["number"], told["source"]["ids"]) == (1, ["S1"])
    assert {"title", "location", "kind"} <= told["source"].keys()
    assert passage["id"] == "S1"
    assert QUOTE in passage["paragraph"]
    assert passage["cited"] == [{"words": QUOTE, "sentences": [f"They show the way: “{QUOTE}”"]}]


@pytest.mark.parametrize("named", ["2", "0", "S99", "x", "", "-1"])
async def test_a_source_that_the_report_does_not_have_is_refused_with_those_it_has(
    asked: str, named: str
):
    with pytest.raises(Problem) as refused:
        await show(asked, named)

    assert refused.value.code == "source_not_found"
    assert refused.value.exit_status == 4
    assert "S1" in str(refused.value)


async def test_an_earlier_question_of_a_thread_keeps_its_own_numbers(
    thread: ThreadSession,
    choices: dict[str, object],
    script: Script,
    capsys: pytest.CaptureFixture[str],
):
    script.on("reporter", SAID, '<q s="S1">The waggle dance</q> is a dance [S1].')
    first = (await thread.begin(QUESTION, make(choices), quiet)).state["run"]
    second = (await thread.begin("And what is a waggle dance?", make(choices), quiet)).state["run"]

    await show(first, "1")
    assert "They show the way" in capsys.readouterr().out
    await show(second, "1")
    assert "They show the way" not in capsys.readouterr().out


async def test_a_run_without_a_report_has_no_sources():
    run = await create_run("local/", "empty", 1, QUESTION, Context())

    with pytest.raises(Problem) as refused:
        await show(run, "1")

    assert refused.value.code == "report_not_found"


async def test_only_one_thing_is_shown_at_once(asked: str):
    with pytest.raises(Problem) as refused:
        await show(asked, "1", removed=True)

    assert refused.value.code == "usage"
    assert (await find_run("local/", asked)).id == asked
