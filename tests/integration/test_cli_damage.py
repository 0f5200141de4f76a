"""Whatever happens to a file of a home, every command ends in a named error or its result."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.damage import COMMANDS, DAMAGES, FILES, damage, furnish
from benchmarks.forks import judge_end, make_environment
from benchmarks.hostile.homes import (
    BYTES,
    KILLED,
    MOMENTS,
    RESUMING,
    ask_in,
    forge_checkpoint,
    forge_parts,
    list_rows,
    with_bytes,
    with_lines,
    with_row,
)
from tests.integration.command import Forks, Place

pytestmark = pytest.mark.integration

READERS = {
    "database": "resume runs search",
    "its WAL": "resume",
    "checkpoints": "follow",
    "their WAL": "follow resume",
    "trace": "show",
    "lock": "runs",
    ".env": "runs",
    "models.toml": "doctor",
    "AGENTS.md": "memory doctor",
    "report.md": "show",
    "report.html": "show",
}
"""Which commands read a file; the others meet it as if it were whole."""


def told(place: Place) -> dict[str, str]:
    own = make_environment(place.folder)
    return {name: own[name] for name in ("DOSSIER_HOME", "DOSSIER_MODELS")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Path:
    """A folder with a home in which everything is there that can be damaged."""
    place = Place(tmp_path_factory.mktemp("whole"))
    shutil.rmtree(place.docs)
    furnish(place.folder, lambda words: forks.run(place, *words, **told(place)))
    for thread in MOMENTS:
        died = forks.start(place, *ask_in(thread), dies_in=thread, **told(place)).ended()
        assert died.status == KILLED, died.err
    assert all((place.folder / file).is_file() for file in FILES.values())
    return place.folder


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_every_command_that_reads_it_ends_in_a_named_error_or_its_result(
    tmp_path: Path, whole: Path, forks: Forks, file: str, how: str
):
    place = Place(tmp_path / "place")
    wrong = {}
    for name in READERS[file].split():
        shutil.rmtree(place.folder)
        shutil.copytree(whole, place.folder)
        damage(place.folder / FILES[file], how, seed=1)
        done = forks.run(place, *COMMANDS[name], **told(place))
        if judge_end(done.status, done.err).wrong:
            wrong[name] = (done.status, done.err[-500:])

    assert wrong == {}


FORGED = [
    ("waits", None, [1]),
    ("waits", "plan", {"": None}),
    ("waits", "plan", 7.5),
    ("waits", "sources", {}),
    ("waits", "sources", {"S1": {"id": 1}}),
    ("waits", "unsearched", "none"),
    ("waits", "messages", {"id": 1}),
    ("waits", "background", {"1/1": None}),
    ("waits", "__pregel_tasks", 1.5),
    ("waits", "__pregel_tasks", ""),
    ("waits", "language", "x" * 5_000),
    ("over", "messages", [[["x"]]]),
    ("over", "answers", {"": 3}),
    ("over", "sources", b"\xff"),
    ("over", "unsearched", 1e308),
]
"""Values that no node writes, each with its thread and its place."""


@pytest.mark.parametrize(("thread", "name", "value"), FORGED)
def test_a_forged_checkpoint_is_told_as_damage_of_its_file(
    tmp_path: Path, whole: Path, forks: Forks, thread: str, name: str | None, value: Any
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    forge_checkpoint(thread, name, value)(place.folder)

    done = forks.run(place, *RESUMING[thread], **told(place))

    assert done.status in (0, 7)
    assert not judge_end(done.status, done.err).wrong
    if done.status:
        assert done.problem.startswith("error[storage_corrupt]")
        assert "checkpoints.db" in done.problem


ROWS = [
    ("killed", "checkpoints", "turn", {"id": 1}),
    ("killed", "checkpoints", "v", "2"),
    ("killed", "checkpoints", "step", [None]),
    ("killed", "checkpoints", "versions_seen", 4),
    ("killed", "checkpoints", "finding", {"text": b"x"}),
    ("waits", "writes", None, [[1.5]]),
    ("written", "writes", None, 2**63 - 1),
    ("written", "writes", None, {"": None}),
    ("joined", "writes", None, [[1.5]]),
    ("joined", "writes", None, b"\xff"),
    ("joined", "checkpoints", "channel_versions", 3),
    ("waits", "blobs", None, {"id": 3}),
    ("over", "blobs", None, "x" * 5_000),
]
"""Values that no node writes, each with its thread, its table and its place in the rows."""


@pytest.mark.parametrize(("thread", "table", "name", "value"), ROWS)
def test_a_forged_branch_write_or_entry_is_told_as_damage(
    tmp_path: Path, whole: Path, forks: Forks, thread: str, table: str, name: str | None, value: Any
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    for row, held in list_rows(place.folder, table, thread):
        forgeries = dict(forge_parts(held, value))
        new = value if name is None else forgeries.get(name, held)
        with_row(table, row, new)(place.folder)

    done = forks.run(place, *RESUMING[thread], **told(place))

    assert done.problem.startswith("error[storage_corrupt]")
    assert done.status == 7
    assert "checkpoints.db" in done.problem


@pytest.mark.parametrize("how", BYTES)
@pytest.mark.parametrize("thread", ["waits", "written", "joined"])
def test_damaged_bytes_of_what_was_written_are_told_as_damage_or_are_not_needed(
    tmp_path: Path, whole: Path, forks: Forks, thread: str, how: str
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    for row, _ in list_rows(place.folder, "writes", thread):
        with_bytes("writes", row, how)(place.folder)

    done = forks.run(place, *RESUMING[thread], **told(place))

    assert done.status in (0, 7)
    assert not judge_end(done.status, done.err).wrong
    if done.status:
        assert done.problem.startswith("error[storage_corrupt]")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -5, 2**80, [], None, "soon"])
@pytest.mark.parametrize("name", ["at", "seconds", "dollars", "tokens_in"])
def test_a_line_of_a_trace_with_an_impossible_number_is_none_of_ours(
    tmp_path: Path, whole: Path, forks: Forks, name: str, value: Any
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    with_lines(name, value)(place.folder)

    done = forks.run(place, "runs", "show", "over-1", "--json", **told(place))

    assert (done.status, done.told["calls"]) == (0, [])


STOPPED = [
    ("waits", ("plan", 7.5), "waits-1"),
    ("waits", ("__pregel_tasks", 1.5), "waits-1"),
    ("over", ("sources", b"\xff"), "over-2"),
]
"""Values that no node writes, each with its thread, its place and the run that stops over it."""


@pytest.mark.parametrize(("thread", "forgery", "run"), STOPPED)
def test_a_run_that_stops_over_damage_is_listed_as_failed(
    tmp_path: Path, whole: Path, forks: Forks, thread: str, forgery: tuple[str, Any], run: str
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    before = listed(place, forks)
    forge_checkpoint(thread, *forgery)(place.folder)

    done = forks.run(place, *RESUMING[thread], **told(place))

    assert done.problem.startswith("error[storage_corrupt]")
    failed = {run: ("failed", "storage_corrupt")}
    assert listed(place, forks) in ({**before, **failed}, before if thread == "over" else {})


def test_a_killed_run_whose_branch_is_damaged_is_listed_as_failed(
    tmp_path: Path, whole: Path, forks: Forks
):
    place = Place(tmp_path / "place")
    shutil.rmtree(place.folder)
    shutil.copytree(whole, place.folder)
    before = listed(place, forks)
    for row, held in list_rows(place.folder, "checkpoints", "killed"):
        with_row("checkpoints", row, {**held, "v": "2"})(place.folder)

    forks.run(place, "resume", "killed-1", **told(place))

    assert before["killed-1"][0] == "paused"
    assert listed(place, forks) == {**before, "killed-1": ("failed", "storage_corrupt")}


def listed(place: Place, forks: Forks) -> dict[str, tuple[str, str]]:
    """Return how each run stands, and the code of what it failed of."""
    runs = forks.run(place, "runs", "--json", **told(place)).told
    return {run["run"]: (run["status"], run["code"]) for run in runs}
