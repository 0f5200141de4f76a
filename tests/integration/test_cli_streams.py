"""Streams that are closed, full, or without a reader cost words, never a run or a report."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.command import DOSSIER, WHO, Done, Forks, Place

pytestmark = pytest.mark.integration

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")

QUICK = ["ask", WHO, "--docs", "bees", "--quick", "--thread"]

DISK = "/dev/full"
"""A disk without room."""

_numbers = itertools.count()


def shell(place: Place, script: str) -> Done:
    """Run a line of shell, which may open and close streams as it likes."""
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def unread() -> Iterator[int]:
    """A pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def stands(forks: Forks, place: Place, thread: str) -> str:
    """Return the status of a run whose report is where it is said to be."""
    told = forks.run(place, "runs", "show", f"{thread}-1", "--json").told
    assert "1927" in Path(told["folder"], "report.md").read_text("utf-8")
    assert Path(told["folder"], "report.html").exists()
    return str(told["status"])


@FULL
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_a_full_disk_under_standard_output_is_told_and_the_report_is_there(
    forks: Forks, place: Place, json: list[str]
):
    thread = f"full{len(json)}"
    done = forks.run(place, *QUICK, thread, *json, streams={1: DISK})

    said = done.err.splitlines()
    assert done.status == 7
    assert said[-4].startswith("succeeded: ")
    assert said[-2] == f"To ask on: dossier ask QUESTION --thread {thread}"
    assert said[-1].startswith("error[output_lost]: standard output cannot be written: No space")
    assert stands(forks, place, thread) == "succeeded"


@FULL
@pytest.mark.parametrize("words", ["--help", "runs", "runs --json", "ask --json", "doctor"])
def test_a_full_disk_under_any_command_is_told_in_one_line(forks: Forks, place: Place, words: str):
    done = forks.run(place, *words.split(), streams={1: DISK})

    assert done.status in (2, 7)
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("error[")


@FULL
@pytest.mark.parametrize(
    ("words", "status", "told"), [("runs", 7, "output_lost"), ("ask --json", 2, "question_empty")]
)
def test_a_full_disk_is_told_in_one_line_by_a_process_of_its_own_too(
    place: Place, words: str, status: int, told: str
):
    done = shell(place, f"{DOSSIER} {words} >{DISK}")

    assert done.status == status
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(f"error[{told}]")


def test_a_reader_that_leaves_early_is_no_error(forks: Forks, place: Place, unread: int):
    done = forks.run(place, *QUICK, "left", streams={1: unread})

    assert done.status == 0
    assert done.err.splitlines()[-3].startswith("succeeded: ")
    assert "Error" not in done.err
    assert stands(forks, place, "left") == "succeeded"


def test_a_reader_that_leaves_early_does_not_make_a_success_of_a_failure(
    forks: Forks, place: Place, unread: int
):
    words = ["ask", "What is quantum chromodynamics?", "--docs", "bees"]

    done = forks.run(place, *words, streams={1: unread, 2: unread})

    assert done.status == 1


@pytest.mark.parametrize("closed", [[1], [2], [0, 1, 2]])
def test_closed_streams_are_no_error(forks: Forks, place: Place, closed: list[int]):
    thread = f"closed{next(_numbers)}"
    done = forks.run(place, *QUICK, thread, streams=dict.fromkeys(closed))

    assert done.status == 0
    assert "Traceback" not in done.err
    assert ("1927" in done.out) == (closed == [2])
    assert stands(forks, place, thread) == "succeeded"


def test_a_run_that_begins_without_any_stream_comes_to_its_end(forks: Forks, place: Place):
    done = shell(place, f"{shlex.join([DOSSIER, *QUICK, 'bare'])} <&- >&- 2>&-")

    assert done == (0, "", "")
    assert stands(forks, place, "bare") == "succeeded"


def test_what_is_wrong_is_not_said_on_standard_output_instead(forks: Forks, place: Place):
    done = forks.run(place, "ask", streams={2: None})

    assert (done.status, done.out) == (2, "")


@FULL
def test_progress_that_cannot_be_written_does_not_stop_a_run(forks: Forks, place: Place):
    done = forks.run(place, *QUICK, "silent", streams={2: DISK})

    assert done.status == 0
    assert "1927" in done.out
    assert stands(forks, place, "silent") == "succeeded"


def test_progress_that_nobody_reads_does_not_stop_a_run(forks: Forks, place: Place, unread: int):
    done = forks.run(place, "ask", WHO, "--docs", "bees", "--thread", "unread", streams={2: unread})

    assert done.status == 0
    assert "1927" in done.out
    assert stands(forks, place, "unread") == "succeeded"
