"""Two homes on one PostgreSQL: either goes on where the other stopped, and never at once.

`python -m evals.takeover` kills many workers at random moments.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import Engine, create_engine, make_url, text

from evals.crash import make_world
from evals.openai_server import Server
from evals.takeover import Workers, find_holder, find_other_holder, judge_calls
from tests.integration.command import LONG, WHO, Forks, Place

pytestmark = pytest.mark.integration

WORLD = {"seconds": 0.05, "steps": 2, "results": 2}


class Shared(NamedTuple):
    """Two homes, and what they share."""

    here: Place
    there: Place
    environment: dict[str, str]


@pytest.fixture
def shared(postgres: str, tmp_path: Path) -> Shared:
    environment = {
        "DOSSIER_DATABASE_URL": postgres,
        "DOSSIER_FILES_URL": f"file://{tmp_path}/files",
    }
    return Shared(Place(tmp_path / "here"), Place(tmp_path / "there"), environment)


def test_a_review_is_answered_and_the_report_read_from_the_other_home(shared: Shared, forks: Forks):
    here, there, environment = shared
    ask = ["ask", WHO, "--docs", "bees", "--review", "--json", "--thread", "t1"]
    waiting = forks.run(here, *ask, **environment)

    seen = forks.run(there, "runs", "show", "t1-1", **environment)
    told = forks.run(there, "resume", "t1-1", "--approve", "--json", **environment)
    report = forks.run(here, "runs", "show", "t1-1", "--report", **environment)
    file = forks.run(here, "export", "t1-1", "--format", "md", "--out", "copy.md", **environment)

    assert waiting.told["status"] == "waiting_review"
    assert "waiting_review" in seen.out
    assert told.told["status"] == "succeeded"
    assert "1927" in report.out
    assert file.status == 0
    assert "1927" in (here.folder / "copy.md").read_text("utf-8")
    assert not [*here.home.glob("checkpoints*"), *there.home.glob("checkpoints*")]


def test_of_two_homes_that_ask_in_one_thread_at_once_one_is_refused(shared: Shared, forks: Forks):
    words = ["ask", WHO, "--docs", "bees", "--yes", "--json", "--thread", "t1"]
    both = [forks.start(place, *words, **shared.environment) for place in shared[:2]]

    done = [running.ended() for running in both]

    refused = [one for one in done if one.status]
    assert all("run_in_progress" in one.err for one in refused)
    runs = [one.told["run"] for one in done if not one.status]
    # A fast one may have ended before the other began.
    assert sorted(runs) == ["t1-1"] if refused else ["t1-1", "t1-2"]


@pytest.fixture
def world() -> Iterator[Server]:
    with make_world(**WORLD) as world:  # type: ignore[arg-type]
        yield world


@pytest.fixture
def engine(postgres: str) -> Iterator[Engine]:
    engine = create_engine(make_url(postgres).set(drivername="postgresql+psycopg"))
    yield engine
    engine.dispose()


@pytest.fixture
def workers(postgres: str, world: Server, tmp_path: Path) -> Iterator[Workers]:
    pool = Workers(tmp_path, postgres, world, ["t1"], lease=2.0)
    yield pool
    pool.stop()


def requests(world: Server) -> int:
    return sum("messages" in call.body for call in world.log)


def wait_for_work(workers: Workers, world: Server, engine: Engine, asked: int) -> tuple[int, str]:
    """Wait until a worker has asked the model so often; return its process and its lease."""
    process = workers.start()
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        with engine.connect() as connection:
            thread, holder = find_holder(connection, process.pid)
        if thread and requests(world) >= asked:
            return process.pid, holder
        assert process.poll() is None, (workers.folder / "worker1.log").read_text("utf-8")
        time.sleep(0.02)
    raise TimeoutError


def ends(engine: Engine) -> tuple[str, int]:
    """Return the status of the only run, and how often its thread was taken."""
    with engine.connect() as connection:
        status = connection.execute(text("SELECT status FROM runs")).scalar_one()
        token = connection.execute(text("SELECT token FROM leases WHERE name = 't1'")).scalar_one()
    return status, token


def paid_again(world: Server, engine: Engine) -> int:
    with engine.connect() as connection:
        return judge_calls(connection, world.log).recorded


def test_a_worker_that_was_killed_is_taken_over_and_nothing_recorded_is_paid_again(
    workers: Workers, world: Server, engine: Engine
):
    wait_for_work(workers, world, engine, asked=4)
    workers.kill(workers.running[0])

    workers.start()
    workers.wait()

    assert workers.failures == 0
    assert ends(engine) == ("succeeded", 2)
    assert paid_again(world, engine) == 0
    assert (workers.folder / "files/reports/t1-1/report.md").is_file()


def test_a_worker_that_was_stopped_for_longer_than_its_lease_writes_nothing_when_it_wakes_up(
    workers: Workers, world: Server, engine: Engine
):
    _, holder = wait_for_work(workers, world, engine, asked=4)
    zombie = workers.running[0]
    zombie.send_signal(signal.SIGSTOP)
    workers.start()
    until = time.monotonic() + LONG
    with engine.connect() as connection:
        while not find_other_holder(connection, "t1", holder) and time.monotonic() < until:
            time.sleep(0.05)
    zombie.send_signal(signal.SIGCONT)
    workers.wait()

    said = (workers.folder / "worker1.log").read_text("utf-8")
    assert workers.failures == 0
    assert "run_taken_over" in said
    assert ends(engine)[0] == "succeeded"
    assert paid_again(world, engine) == 0
    with engine.connect() as connection:
        sessions = connection.execute(text("SELECT DISTINCT session FROM attempts")).all()
    assert len(sessions) >= 2
