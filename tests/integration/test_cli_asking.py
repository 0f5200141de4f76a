"""What steps ask, answered by commands: one process stops, another answers; and at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server as ModelServer
from tests.integration.command import WHO, Done, Forks, Place, status

pytestmark = pytest.mark.integration

COUNTRY = {"question": "In which country?", "default": "Germany", "options": ["Germany", "Austria"]}
HIVES = {"question": "How many hives?", "default": "few"}
SAID = "Karl von Frisch described the waggle dance in 1927 [S1]."
PROMPTS = ("with words? ", "Enter: Germany? ", "Enter: few? ")
ASK = (
    *("--docs", "bees", "--json", "--set", 'models={"researcher": "openai:gpt-4o"}'),
    *("--set", "max_reflections=0", "--set", "max_rounds=0"),
)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """A model that asks two questions at once before it writes."""
    asked = [{"name": "ask_user", "args": COUNTRY}, {"name": "ask_user", "args": HIVES}]
    with ModelServer([{"answered": 0, "tool_calls": asked}, {"reply": SAID}]) as server:
        yield server


@pytest.fixture
def keys(model: ModelServer) -> dict[str, str]:
    return {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": model.url, "DOSSIER_MODEL": "extractive:"}


def waiting(forks: Forks, place: Place, keys: dict[str, str], thread: str) -> Done:
    """Ask, and approve the plan; the step then asks."""
    forks.run(place, "ask", WHO, *ASK, "--review", "--thread", thread, **keys)
    return forks.run(place, "resume", f"{thread}-1", "--approve", "--json", **keys)


def test_a_run_waits_for_its_steps_and_another_process_answers_them(
    forks: Forks, place: Place, keys: dict[str, str], model: ModelServer
):
    done = waiting(forks, place, keys, "asked")

    assert done.status == 0
    assert done.told["status"] == status(forks, place, "asked-1") == "waiting_review"
    assert done.told["resume"] == "dossier resume asked-1 --answer q1=TEXT"
    first, second = done.told["requests"]
    assert (first["id"], first["step"], first["name"]) == ("q1", "s1", "ask_user")
    assert first["args"]["options"] == ["Germany", "Austria"]
    assert second["args"] == {"question": "How many hives?", "options": [], "answer": "few"}
    assert "q1. In which country? (1) Germany (2) Austria (assumed: Germany)" in done.err

    partly = forks.run(place, "resume", "asked-1", "--answer", "q2=about twelve", "--json", **keys)

    assert [one["id"] for one in partly.told["requests"]] == ["q1"]
    assert status(forks, place, "asked-1") == "waiting_review"

    model.log.clear()
    done = forks.run(place, "resume", "asked-1", "--answer", "q1=2", "--json", **keys)

    assert done.status in (0, 6)
    talk = model.log[0].body["messages"]
    results = [one["content"] for one in talk if one["role"] == "tool"]
    assert ["Austria" in results[0], "about twelve" in results[1]] == [True, True]
    assert "Assumed" not in Path(done.told["report"]).read_text("utf-8")


def test_without_a_terminal_the_plan_is_approved_and_the_run_stops_where_a_step_asks(
    forks: Forks, place: Place, keys: dict[str, str]
):
    done = forks.run(place, "ask", WHO, *ASK, "--thread", "alone", **keys)

    assert done.status == 0
    assert "a step that asks stops the run" in done.err
    assert done.told["resume"] == "dossier resume alone-1 --answer q1=TEXT"
    assert [one["id"] for one in done.told["requests"]] == ["q1", "q2"]

    done = forks.run(place, "resume", "alone-1", "--approve", "--json", **keys)

    assert done.told["status"] in ("succeeded", "partial")
    assert "Assumed" not in Path(done.told["report"]).read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--answer", "q7=2"), "there is no question 'q7'"),
        (("--plan", "plan.md"), "no plan waits, but a question of a step"),
        (("--again", "reuse"), "no plan waits, but a question of a step"),
        ((), "waits for your decision"),
    ],
)
def test_an_answer_that_cannot_be_taken_leaves_the_questions_waiting(
    forks: Forks, place: Place, keys: dict[str, str], options: tuple[str, ...], what: str
):
    thread = f"wrong{len(options)}{options[-1][:2] if options else ''}"
    waiting(forks, place, keys, thread)
    (place.folder / "plan.md").write_text("1. winter\n", "utf-8")

    done = forks.run(place, "resume", f"{thread}-1", *options, **keys)

    assert done.status != 0
    assert what in done.problem
    assert status(forks, place, f"{thread}-1") == "waiting_review"


def test_with_yes_nothing_waits_and_the_report_says_what_was_assumed(
    forks: Forks, place: Place, keys: dict[str, str]
):
    done = forks.run(place, "ask", WHO, *ASK, "--yes", **keys)

    assert done.told["status"] in ("succeeded", "partial")
    report = Path(done.told["report"]).read_text("utf-8")
    assumed = "Assumed, as there was no answer: In which country? Germany; How many hives? few"
    assert assumed in report


def test_at_a_terminal_the_questions_are_asked_one_after_the_other(
    forks: Forks, place: Place, keys: dict[str, str]
):
    words: list[Any] = ["ask", WHO, *ASK[:2], *ASK[3:], "--thread", "typed", "--again", "new"]
    with forks.terminal(place, *words, **keys) as terminal:
        terminal.wait_for(PROMPTS[0])
        terminal.type("a\n")
        terminal.wait_for(PROMPTS[1])
        terminal.type("2\n")
        terminal.wait_for(PROMPTS[2])
        terminal.type("\n")
        ending = terminal.end()

    assert ending in (0, 6)
    assert "Step s1 asks" in terminal.screen
    assert "1927" in terminal.screen


def test_leaving_at_a_question_leaves_it_waiting(forks: Forks, place: Place, keys: dict[str, str]):
    waiting(forks, place, keys, "left")

    with forks.terminal(place, "resume", "left-1", **keys) as terminal:
        terminal.wait_for(PROMPTS[1])
        assert terminal.interrupt() == 130

    assert terminal.screen.rstrip().endswith("Go on with: dossier resume left-1")
    assert status(forks, place, "left-1") == "waiting_review"
