"""Streams that are closed, full, or without a reader cost words, never a run or a report."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import pytest

from tests.integration.command import DOSSIER, WHO, Done, Forks, Place

pytestmark = pytest.mark.integration

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")

QUICK = f"{DOSSIER} ask '{WHO}' --docs bees --quick --thread"

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


def stands(forks: Forks, place: Place, thread: str) -> str:
    """Return the status of a run whose report is where it is said to be."""
    told = forks.run(place, "runs", "show", f"{thread}-1", "--json").told
    assert "1927" in Path(told["folder"], "report.md").read_text("utf-8")
    assert Path(told["folder"], "report.html").exists()
    return str(told["status"])


@FULL
@pytest.mark.parametrize("json", ["", "--json"])
def test_a_full_disk_under_standard_output_is_told_and_the_report_is_there(
    forks: Forks, place: Place, json: str
):
    thread = f"full{json}"
    done = shell(place, f"{QUICK} {thread} {json} >/dev/full")

    said = done.err.splitlines()
    assert done.status == 7
    assert said[-3].startswith("succeeded: ")
    assert said[-1].startswith("error[output_lost]: standard output cannot be written: No space")
    assert stands(forks, place, thread) == "succeeded"


@FULL
@pytest.mark.parametrize("words", ["--help", "runs", "runs --json", "ask --json", "doctor"])
def test_a_full_disk_under_any_command_is_told_in_one_line(place: Place, words: str):
    done = shell(place, f"{DOSSIER} {words} >/dev/full")

    assert done.status in (2, 7)
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("error[")


def test_a_reader_that_leaves_early_is_no_error(forks: Forks, place: Place):
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [DOSSIER, "ask", WHO, "--docs", "bees", "--quick", "--thread", "left"],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(writer)

    assert done.returncode == 0
    assert done.stderr.splitlines()[-2].startswith("succeeded: ")
    assert "Error" not in done.stderr
    assert stands(forks, place, "left") == "succeeded"


def test_a_reader_that_leaves_early_does_not_make_a_success_of_a_failure(place: Place):
    reader, writer = os.pipe()
    os.close(reader)
    words = ["ask", "What is quantum chromodynamics?", "--docs", "bees"]

    done = subprocess.run(
        [DOSSIER, *words], cwd=place.folder, env=place.environment(), stdout=writer, stderr=writer
    )
    os.close(writer)

    assert done.returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(forks: Forks, place: Place, closed: str):
    thread = f"closed{next(_numbers)}"
    done = shell(place, f"{QUICK} {thread} {closed}")

    assert done.status == 0
    assert "Traceback" not in done.err
    assert ("1927" in done.out) == (closed == "2>&-")
    assert stands(forks, place, thread) == "succeeded"


def test_what_is_wrong_is_not_said_on_standard_output_instead(place: Place):
    done = shell(place, f"{DOSSIER} ask 2>&-")

    assert (done.status, done.out) == (2, "")


@FULL
def test_progress_that_cannot_be_written_does_not_stop_a_run(forks: Forks, place: Place):
    done = shell(place, f"{QUICK} silent 2>/dev/full")

    assert done.status == 0
    assert "1927" in done.out
    assert stands(forks, place, "silent") == "succeeded"


def test_progress_that_nobody_reads_does_not_stop_a_run(forks: Forks, place: Place):
    reader, writer = os.pipe()
    os.close(reader)
    words = ["ask", WHO, "--docs", "bees", "--thread", "unread"]

    done = subprocess.run(
        [DOSSIER, *words],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=writer,
        encoding="utf-8",
    )
    os.close(writer)

    assert done.returncode == 0
    assert "1927" in done.stdout
    assert stands(forks, place, "unread") == "succeeded"
