"""The review of a plan on the command line: in other processes, at a terminal, and cut short."""

from __future__ import annotations

import json
import signal
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.openai_server import Server
from evals.world import rules
from tests.integration.command import LONG, WHO, Done, Forks, Place, ended

pytestmark = pytest.mark.integration

PROMPT = "with words? "


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("review"))


@pytest.fixture
def wait(forks: Forks, place: Place) -> Callable[[str], Done]:
    """Ask in a thread of that name and stop at the plan."""
    words = [
        "ask",
        WHO,
        "--docs",
        "bees",
        "--review",
        "--json",
        "--set",
        "max_rounds=0",
        "--thread",
    ]
    return lambda thread: forks.run(place, *words, thread)


@pytest.fixture(scope="module")
def slow() -> Iterator[Server]:
    """A model server that answers everything but the research, which takes for ever."""
    hang = {"match": "<step title=", "hang": 600}
    with Server([hang, *rules(2)]) as server:
        yield server


def status(forks: Forks, place: Place, run: str) -> str:
    rows = forks.run(place, "runs", "--json").told
    return next(row["status"] for row in rows if row["run"] == run)


def calls(forks: Forks, place: Place, run: str) -> list[dict[str, Any]]:
    return list(forks.run(place, "runs", "show", run, "--json").told["calls"])


def with_model(server: Server) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": server.url,
        "DOSSIER_MODEL": "openai:gpt-4o",
    }


def test_review_stops_at_the_plan_and_says_how_to_go_on(wait: Callable[[str], Done]):
    done = wait("stops")

    assert done.status == 0
    assert (done.told["status"], done.told["report"]) == ("waiting_review", None)
    assert done.told["plan"]["steps"]
    assert done.told["resume"] == "dossier resume stops-1 --approve"
    assert done.told["resume"] in done.err
    assert done.told["plan"]["steps"][0]["title"] in done.err


def test_a_waiting_run_is_listed_as_such_and_nothing_is_researched(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("listed")

    assert status(forks, place, "listed-1") == "waiting_review"
    assert "researcher" not in {call["role"] for call in calls(forks, place, "listed-1")}


def test_an_approved_plan_is_researched_by_another_process(
    wait: Callable[[str], Done], place: Place
):
    wait("approved")

    done = place.run("resume", "approved-1", "--approve", "--json")

    assert done.status == 0
    assert done.told["status"] == "succeeded"
    assert "1927" in Path(done.told["report"]).read_text("utf-8")


def test_a_rejected_plan_gives_way_to_another_that_heard_the_words(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    first = wait("rejected").told["plan"]

    done = forks.run(place, "resume", "rejected-1", "--reject", "also the winter", "--json")

    assert (done.status, done.told["status"]) == (0, "waiting_review")
    assert done.told["plan"] != first
    assert "winter" in json.dumps(done.told["plan"]).lower()
    assert "researcher" not in {call["role"] for call in calls(forks, place, "rejected-1")}


def test_an_edited_plan_is_researched_exactly_as_edited(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    plan = wait("edited").told["plan"]
    plan["steps"] = [{"id": "mine", "title": "The winter cluster", "queries": ["winter cluster"]}]
    (place.folder / "plan.json").write_text(json.dumps(plan))

    done = forks.run(place, "resume", "edited-1", "--plan", "plan.json", "--json")

    researched = [one for one in calls(forks, place, "edited-1") if one["role"] == "researcher"]
    assert done.status == 0
    assert {call["step"] for call in researched} == {"mine"}
    assert "20 kilograms" in Path(done.told["report"]).read_text("utf-8")


def test_of_two_decisions_at_once_one_is_taken(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("both")

    both = [place.start("resume", "both-1", "--approve") for _ in range(2)]
    one, other = sorted(ended(process) for process in both)

    assert (one.status, other.status) == (0, 5)
    assert other.problem.startswith(("error[run_in_progress]", "error[not_waiting]"))
    reports = [call for call in calls(forks, place, "both-1") if call["role"] == "reporter"]
    assert len(reports) == 1


def test_a_run_that_is_at_work_cannot_be_resumed_or_asked_beside(
    slow: Server, forks: Forks, place: Place
):
    words = ["ask", WHO, "--docs", "bees", "--thread", "busy", "--yes"]
    process = place.start(*words, **with_model(slow))
    wait_for_research(slow)

    resumed = forks.run(place, "resume", "busy-1")
    asked = forks.run(place, "ask", WHO, "--thread", "busy")
    before = status(forks, place, "busy-1")
    process.kill()
    ended(process)
    decided = forks.run(place, "resume", "busy-1", "--approve")
    asked_later = forks.run(place, "ask", WHO, "--thread", "busy")

    for done in (resumed, asked):
        assert (done.status, done.problem[:22]) == (5, "error[run_in_progress]")
    assert before == "running"
    assert status(forks, place, "busy-1") == "paused"
    assert (decided.status, decided.problem[:18]) == (5, "error[not_waiting]")
    assert (asked_later.status, asked_later.problem[:21]) == (5, "error[run_unfinished]")
    assert asked_later.problem.endswith("dossier resume busy-1")


def test_ctrl_c_pauses_a_run_and_the_command_it_prints_goes_on_with_it(
    slow: Server, forks: Forks, place: Place
):
    words = ["ask", WHO, "--docs", "bees", "--thread", "paused", "--yes"]
    with place.terminal(*words, **with_model(slow)) as terminal:
        wait_for_research(slow)
        terminal.type("\x03")
        ending = terminal.end()

    assert ending == 130
    assert terminal.screen.rstrip().endswith("Paused. Go on with: dossier resume paused-1")
    assert "Traceback" not in terminal.screen
    assert status(forks, place, "paused-1") == "paused"
    with Server(rules(2)) as server:
        resumed = forks.run(place, "resume", "paused-1", "--json", **with_model(server))
        forms = [call.body.get("response_format") for call in server.log]
    assert resumed.told["status"] == "succeeded"
    assert not {"Triage", "Rewrite", "Draft"} & {
        form["json_schema"]["name"] for form in forms if form
    }


def forget(place: Place, statement: str) -> None:
    """Undo what was saved of a thread, as a kill before it was saved would have."""
    with sqlite3.connect(place.home / "checkpoints.db") as saved:
        saved.execute(statement)
    saved.close()


def wait_for_research(server: Server) -> None:
    """Wait until a step is being researched by the server."""
    until = time.monotonic() + LONG
    seen = len(server.log)
    while not any("<step title=" in json.dumps(call.body) for call in server.log[seen:]):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_at_a_terminal_the_plan_is_shown_and_a_approves_it(place: Place):
    with place.terminal("ask", WHO, "--docs", "bees", "--thread", "shown") as terminal:
        screen = terminal.wait_for(PROMPT)
        terminal.type("a\n")
        ending = terminal.end()

    assert f"s1 {WHO}" in screen
    assert "\x1b[36m" in terminal.raw
    assert ending == 0
    assert "1927" in terminal.screen.partition(PROMPT)[2]


def test_at_a_terminal_an_edit_that_is_impossible_is_told_and_can_be_mended(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("mended")
    editor = place.folder / "editor"
    # The first time it writes a cycle, and then breaks the cycle that it finds written.
    editor.write_text(
        "#!/bin/sh\n"
        'if grep -q needs.*s1 $1; then sed -i \'s/"needs".*/"needs": [],/\' $1\n'
        'else sed -i \'s/"needs".*/"needs": ["s1"],/\' $1; fi\n'
        'sed -i \'s/"title": "Who.*/"title": "My winter cluster",/\' $1\n'
    )
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)

    settings = {"EDITOR": str(editor), "NO_COLOR": "1"}
    with place.terminal("resume", "mended-1", "--out", "mended", **settings) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        terminal.wait_for("error[plan_cycle]")
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        ending = terminal.end()

    assert ending == 0
    assert not any(f"\x1b[{colour}m" in terminal.raw for colour in (31, 33, 36))
    assert (place.folder / "mended" / "report.md").read_text("utf-8").startswith("# My winter")


def test_at_a_terminal_a_rejection_asks_for_words_and_shows_another_plan(
    wait: Callable[[str], Done], place: Place
):
    wait("words")

    with place.terminal("resume", "words-1", EDITOR="true") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("\n")
        terminal.wait_for(PROMPT)
        terminal.type("e\n")
        terminal.wait_for("Nothing was changed")
        terminal.wait_for(PROMPT)
        terminal.type("r\n")
        terminal.wait_for("What should be different?")
        terminal.type("also the winter\n")
        terminal.wait_for("s2")
        terminal.wait_for(PROMPT)
        terminal.type("r no, only the queen\n")
        terminal.wait_for(PROMPT)
        terminal.type("\x04")

        assert terminal.end() == 130
    assert terminal.screen.rstrip().endswith("Go on with: dossier resume words-1")


def test_ctrl_c_at_the_review_leaves_it_waiting(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("left")

    with place.terminal("resume", "left-1") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("\x03")

        assert terminal.end() == 130
    assert terminal.screen.rstrip().endswith("Go on with: dossier resume left-1")
    assert "Traceback" not in terminal.screen
    assert status(forks, place, "left-1") == "waiting_review"


def test_a_terminal_that_is_closed_at_the_review_loses_nothing(forks: Forks, place: Place):
    words = ["ask", WHO, "--docs", "bees", "--thread", "closed"]
    with place.terminal(*words) as terminal:
        terminal.wait_for(PROMPT)
        terminal.hang_up()
        ending = terminal.process.wait(LONG)

    before = status(forks, place, "closed-1")
    resumed = forks.run(place, "resume", "closed-1", "--approve")

    assert ending == -signal.SIGHUP
    assert before == "waiting_review"
    assert resumed.status == 0


def test_a_run_that_was_killed_on_its_way_to_the_review_takes_the_decision(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("torn")
    forget(place, "DELETE FROM writes WHERE thread_id = 'torn' AND channel = '__interrupt__'")

    done = forks.run(place, "resume", "torn-1", "--approve", "--json")

    assert (done.status, done.told["status"]) == (0, "succeeded")


def test_a_run_of_which_nothing_but_its_question_was_saved_begins_again(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("early")
    forget(place, "DELETE FROM writes WHERE thread_id = 'early'")
    forget(place, "DELETE FROM checkpoints WHERE thread_id = 'early'")

    begun = forks.run(place, "resume", "early-1")
    done = forks.run(place, "resume", "early-1", "--approve", "--json")

    assert "waits for your decision" in begun.err
    assert (done.status, done.told["run"]) == (0, "early-1")
    made = [call["status"] for call in calls(forks, place, "early-1")]
    assert made.count("recorded") == 3
