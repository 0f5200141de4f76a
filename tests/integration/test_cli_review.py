"""The review of a plan by commands: one process stops at it, another decides."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.command import WHO, Done, Forks, Place, calls, status

pytestmark = pytest.mark.integration


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
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("approved")

    done = forks.run(place, "resume", "approved-1", "--approve", "--json")

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


@pytest.mark.parametrize(
    ("thread", "options", "what"),
    [
        ("unasked", ("--approve", "--answer", "q1=2"), "there is no question 'q1'"),
        ("undecided", ("--answer", "q1=2"), "an answer without a decision"),
        ("halved", ("--approve", "--answer", "2"), "an answer is incomplete"),
    ],
)
def test_an_answer_that_cannot_be_taken_leaves_the_plan_waiting(
    wait: Callable[[str], Done],
    forks: Forks,
    place: Place,
    thread: str,
    options: tuple[str, ...],
    what: str,
):
    wait(thread)

    done = forks.run(place, "resume", f"{thread}-1", *options)

    assert done.status == 2
    assert what in done.problem
    assert status(forks, place, f"{thread}-1") == "waiting_review"


def test_an_edited_plan_is_researched_exactly_as_edited(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    plan = wait("edited").told["plan"]
    plan["steps"] = [{"id": "mine", "title": "The winter cluster", "queries": ["winter cluster"]}]
    # Some editors begin a file with a mark of its encoding.
    (place.folder / "plan.json").write_text(json.dumps(plan), "utf-8-sig")

    done = forks.run(place, "resume", "edited-1", "--plan", "plan.json", "--json")

    researched = [one for one in calls(forks, place, "edited-1") if one["role"] == "researcher"]
    assert done.status == 0
    assert {call["step"] for call in researched} == {"mine"}
    assert "20 kilograms" in Path(done.told["report"]).read_text("utf-8")


def test_a_plan_edited_as_lines_of_text_is_researched_as_edited(forks: Forks, place: Place):
    way = ["--docs", "bees", "--review", "--thread", "lines", "--set", "max_rounds=0"]
    shown = forks.run(place, "ask", WHO, *way).out
    assert shown.splitlines()[2].startswith("1. ")
    mine = "1. The winter cluster\n   search: winter cluster honey\n2. Its warmth\n   after: 1\n"
    (place.folder / "plan.md").write_text(mine, "utf-8")

    done = forks.run(place, "resume", "lines-1", "--plan", "plan.md", "--json")

    researched = [one for one in calls(forks, place, "lines-1") if one["role"] == "researcher"]
    assert done.status in (0, 6)
    assert {call["step"] for call in researched} == {"s1", "s2"}
    assert "20 kilograms" in Path(done.told["report"]).read_text("utf-8")


def test_a_run_is_found_by_its_own_name_before_a_thread_of_that_name(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("same")
    for _ in range(2):
        forks.run(place, "ask", WHO, "--docs", "bees", "--quick", "--thread", "same-1")

    done = forks.run(place, "resume", "same-1", "--approve", "--json")

    assert (done.told["thread"], done.told["run"]) == ("same", "same-1")


def test_of_two_decisions_at_once_one_is_taken(
    wait: Callable[[str], Done], forks: Forks, place: Place
):
    wait("both")

    both = [forks.start(place, "resume", "both-1", "--approve") for _ in range(2)]
    one, other = sorted(running.ended() for running in both)

    assert (one.status, other.status) == (0, 5)
    assert other.problem.startswith(("error[run_in_progress]", "error[not_waiting]"))
    made = [(call["kind"], call["role"]) for call in calls(forks, place, "both-1")]
    assert made.count(("model", "reporter")) == 1
