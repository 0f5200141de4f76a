"""Runs that are at work, stopped, refused or torn off, and how the command goes on with them."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from evals.openai_server import Server
from evals.world import make_rules
from tests.integration.command import LONG, ROOT, WHO, Done, Forks, Place, calls, status

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def slow() -> Iterator[Server]:
    """A model server that answers everything but the research, which takes for ever."""
    hang = {"match": "<step title=", "hang": 600}
    with Server([hang, *make_rules(2, 60, 60)]) as server:
        yield server


def with_model(server: Server) -> dict[str, str]:
    return {
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": server.url,
        "DOSSIER_MODEL": "openai:gpt-4o",
    }


def wait_for_research(server: Server) -> None:
    """Wait until a step is being researched by the server."""
    until = time.monotonic() + LONG
    seen = len(server.log)
    while not any("<step title=" in json.dumps(call.body) for call in server.log[seen:]):
        assert time.monotonic() < until
        time.sleep(0.02)


def forget(place: Place, statement: str) -> None:
    """Undo what was saved of a thread, as a kill before it was saved would have."""
    with sqlite3.connect(place.home / "checkpoints.db") as saved:
        saved.execute(statement)
    saved.close()


def test_a_run_that_is_at_work_cannot_be_resumed_or_asked_beside(
    slow: Server, forks: Forks, place: Place
):
    words = ["ask", WHO, "--docs", "bees", "--thread", "busy", "--yes"]
    running = forks.start(place, *words, **with_model(slow))
    wait_for_research(slow)

    resumed = forks.run(place, "resume", "busy-1")
    asked = forks.run(place, "ask", WHO, "--thread", "busy")
    before = status(forks, place, "busy-1")
    running.process.kill()
    running.ended()
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
    with Server(make_rules(2, 60, 60)) as server:
        resumed = forks.run(place, "resume", "paused-1", "--json", **with_model(server))
        forms = [call.body.get("response_format") for call in server.log]
    assert resumed.told["status"] == "succeeded"
    assert not {"Triage", "Rewrite", "Draft"} & {
        form["json_schema"]["name"] for form in forms if form
    }


ENDLESS = """
import sys
from itertools import count
from calls import run_budget
from tools import evidence

def endless(*_):
    print("at work", flush=True)
    return sum(0 for _ in count())

evidence.choose_passages = endless
# The texts of the test are short, and work on those starts no thread.
run_budget.MAX_AT_ONCE = 0
from app.cli.main import main
main()
"""
"""The program, with texts among which it never ends to choose."""


def test_ctrl_c_pauses_a_run_in_the_middle_of_its_work_on_texts(place: Place, forks: Forks):
    words = ["ask", WHO, "--again", "new", "--docs", "bees", "--thread", "endless", "--yes"]
    running = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, *words],
        cwd=place.folder,
        env=place.environment(PYTHONPATH=str(ROOT)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert running.stdout
        assert running.stdout.readline() == "at work\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=LONG)
    finally:
        running.kill()

    assert (running.returncode, said.splitlines()[-1]) == (
        130,
        "Paused. Go on with: dossier resume endless-1",
    )
    resumed = forks.run(place, "resume", "endless-1", "--json")
    assert resumed.told["status"] == "succeeded"


def test_a_run_whose_key_is_refused_fails_with_that_code_and_goes_on_with_another(
    forks: Forks, place: Place
):
    words = ["ask", WHO, "--docs", "bees", "--thread", "locked"]
    with Server([{"schema": "Draft", "error": 401, "times": 1}, *make_rules(2, 60, 60)]) as server:
        refused = forks.run(place, *words, **with_model(server))
        failed = forks.run(place, "runs", "show", "locked-1", "--json").told
        resumed = forks.run(place, "resume", "locked-1", "--json", **with_model(server))

    assert refused.status == 7
    assert refused.problem.startswith("error[model_auth]")
    assert "go on with: dossier resume locked-1" in refused.err
    assert (failed["status"], failed["code"]) == ("failed", "model_auth")
    assert resumed.told["status"] == "succeeded"


def test_json_names_the_run_that_failed_and_the_command_that_goes_on_with_it(
    forks: Forks, place: Place
):
    words = ["ask", WHO, "--docs", "bees", "--project", "my bees", "--json"]
    with Server([{"schema": "Draft", "error": 401, "times": 1}, *make_rules(2, 60, 60)]) as server:
        refused = forks.run(place, *words, **with_model(server)).told
        command = shlex.split(refused["resume"])
        resumed = forks.run(place, *command[1:], "--json", **with_model(server)).told

    assert refused["error"]["code"] == "model_auth"
    assert (refused["status"], refused["report"]) == ("failed", None)
    assert command[2:] == [refused["run"], "--project", "my bees"]
    assert (resumed["status"], resumed["thread"]) == ("succeeded", refused["thread"])


def test_json_names_a_run_that_was_paused(slow: Server, forks: Forks, place: Place):
    words = ["ask", WHO, "--docs", "bees", "--thread", "halted", "--yes", "--json"]
    running = forks.start(place, *words, **with_model(slow))
    wait_for_research(slow)
    running.process.send_signal(signal.SIGINT)
    done = running.ended()

    assert done.status == 130
    assert (done.told["run"], done.told["status"]) == ("halted-1", "paused")
    assert done.told["resume"] == "dossier resume halted-1"


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


def test_a_resumed_run_writes_where_it_was_asked_to(forks: Forks, place: Place):
    words = ["ask", WHO, "--docs", "bees", "--thread", "where", "--review", "--out", "there"]
    forks.run(place, *words)

    done = forks.run(place, "resume", "where-1", "--approve", "--json")

    assert done.told["report"] == str(place.folder / "there" / "report.md")


def kill_behind_the_files(place: Place, forks: Forks, thread: str) -> None:
    """Ask with a folder, and undo what is written down behind the files of the report."""
    asked = ["ask", WHO, "--docs", "bees", "--thread", thread, "--out", thread]
    assert forks.run(place, *asked).status == 0
    with sqlite3.connect(place.home / "dossier.db") as saved:
        saved.execute("UPDATE runs SET folder = '', status = 'running' WHERE thread = ?", [thread])
        saved.execute("DELETE FROM events WHERE name = 'report.file' AND run = ?", [f"{thread}-1"])
    saved.close()


@pytest.mark.parametrize("words", [[], ["--out", "same"]])
def test_a_run_killed_behind_its_files_ends_in_them(place: Place, forks: Forks, words: list[str]):
    thread = words[-1] if words else "behind"
    kill_behind_the_files(place, forks, thread)

    done = forks.run(place, "resume", f"{thread}-1", *words, "--json")

    assert (done.status, done.told["status"]) == (0, "succeeded")
    assert done.told["report"] == str(place.folder / thread / "report.md")
    assert status(forks, place, f"{thread}-1") == "succeeded"


def test_what_another_has_written_into_its_files_is_kept_when_a_run_is_resumed(
    place: Place, forks: Forks
):
    kill_behind_the_files(place, forks, "mine")
    report = place.folder / "mine" / "report.md"
    report.write_text("my own words")

    for words in ([], ["--out", "mine"]):
        done = forks.run(place, "resume", "mine-1", *words)
        assert done.problem.startswith("error[output_exists]")
    assert report.read_text() == "my own words"


@pytest.mark.parametrize("words", [[], ["--approve"], ["--out", "again"]])
def test_a_finished_run_is_not_resumed_but_written_again_where_it_is_asked_for(
    place: Place, forks: Forks, words: list[str]
):
    thread = f"over{len(words)}"
    forks.run(place, "ask", WHO, "--docs", "bees", "--thread", thread, "--out", thread)
    report = place.folder / thread / "report.md"

    done = forks.run(place, "resume", f"{thread}-1", *words)

    if "--out" in words:
        written = place.folder / "again" / "report.md"
        assert (done.status, written.read_text("utf-8")) == (0, report.read_text("utf-8"))
    else:
        assert (done.status, done.problem[:18]) == (5, "error[not_waiting]")
        assert str(report) in done.problem


def test_a_finished_run_replaces_no_report_unless_it_is_told_to(place: Place, forks: Forks):
    forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "kept", "--out", "kept")
    words = ["resume", "kept-1", "--out", "kept"]

    refused = forks.run(place, *words)
    forced = forks.run(place, *words, "--force")

    assert (refused.status, refused.problem[:20]) == (5, "error[output_exists]")
    assert forced.status == 0


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_told_to_end_is_paused_and_can_be_resumed(
    slow: Server, forks: Forks, place: Place, sent: signal.Signals
):
    thread = sent.name.lower()
    words = ["ask", WHO, "--docs", "bees", "--thread", thread, "--yes", "--json"]
    running = forks.start(place, *words, **with_model(slow))
    wait_for_research(slow)
    running.process.send_signal(sent)
    done = running.ended()

    assert done.status == 128 + sent
    assert (done.told["status"], done.told["resume"]) == ("paused", f"dossier resume {thread}-1")
    assert status(forks, place, f"{thread}-1") == "paused"
    with Server(make_rules(2, 60, 60)) as server:
        resumed = forks.run(place, "resume", f"{thread}-1", "--json", **with_model(server))
    assert resumed.told["status"] == "succeeded"


def test_a_command_that_is_told_to_end_at_the_review_decides_nothing(forks: Forks, place: Place):
    with forks.terminal(place, "ask", WHO, "--docs", "bees", "--thread", "told") as terminal:
        terminal.wait_for("with words? ")
        terminal.process.send_signal(signal.SIGTERM)
        ending = terminal.end()

    assert ending == 128 + signal.SIGTERM
    assert "Nothing is decided. Go on with: dossier resume told-1" in terminal.screen
    assert status(forks, place, "told-1") == "waiting_review"
