"""However a run of a server ends, it is written down as it ended."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

import pytest
import uvicorn
from langchain_core.runnables import RunnableConfig
from langgraph_api.errors import UserInterrupt, UserRollback
from starlette.applications import Starlette

from app.auth.user_store import add_user, remove_user
from app.http_app import server_lifespan
from app.server import open_server_checkpointer, serve_dossier
from app.server_kind import REQUEST_GRACE, limit_shutdown
from config.errors import ErrorCode, Problem
from config.resources import LoopResource
from config.settings import settings
from graph.context import Context
from graph.session import open_session
from runs.lifecycle import create_run, find_run
from runs.lock import acquire, is_thread_locked, thread_lock
from tests.conftest import make
from tests.flow.test_defects import quiet
from tests.places import new_process
from tests.unit.test_cost_quotas import spend

pytestmark = pytest.mark.usefixtures("database")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Problem(ErrorCode.MODEL_AUTH, "the key is wrong"), "failed", "model_auth"),
        (KeyError("a mistake of ours"), "failed", "internal"),
        (asyncio.CancelledError("the server stops"), "paused", ""),
        (UserInterrupt("cancelled by a client"), "cancelled", ""),
        (UserRollback("cancelled and to be forgotten"), "cancelled", ""),
    ],
)
async def test_a_run_that_ends_in_an_error_says_which(error: BaseException, status: str, code: str):
    run = await create_run("local/", "t1", 1, "Question?", Context())
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))

    with pytest.raises(type(error)):
        async with serve_dossier({"configurable": {"thread_id": "t1"}}, runtime):
            raise error

    left = await find_run("local/", run)
    assert (left.status, left.code) == (status, code)
    assert not is_thread_locked("t1")


@pytest.mark.parametrize(("asked", "status"), [("served-1", "cancelled"), ("served-2", "paused")])
async def test_a_worker_of_aegra_that_stops_cancels_no_run_but_those_it_was_asked_to(
    monkeypatch: pytest.MonkeyPatch, asked: str, status: str
):
    noted = SimpleNamespace(explicit_run_cancellations={asked})
    monkeypatch.setitem(sys.modules, "aegra_api.core.active_runs", noted)
    run = await create_run("local/", "t1", 1, "Question?", Context())
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))
    place: RunnableConfig = {"configurable": {"thread_id": "t1", "run_id": "served-1"}}

    with pytest.raises(asyncio.CancelledError):
        async with serve_dossier(place, runtime):
            raise asyncio.CancelledError

    assert (await find_run("local/", run)).status == status


async def test_what_runs_need_is_open_until_a_stopping_server_has_ended_them(
    monkeypatch: pytest.MonkeyPatch,
):
    closed: list[str] = []
    opened = LoopResource(lambda: "open", lambda one: _note(closed, one))
    monkeypatch.setattr("app.http_app.SERVER_STATE_DIR", settings().home)

    async with open_server_checkpointer():
        async with server_lifespan(Starlette()):
            opened.get()
        assert closed == []

    assert closed == ["open"]


async def _note(closed: list[str], name: str) -> None:
    closed.append(name)


async def test_a_run_waits_for_the_others_of_its_thread_where_the_server_does_not_queue_them(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("app.server.queues_by_thread", lambda: False)
    monkeypatch.setattr("app.server.QUEUE_INTERVAL", 0.01)
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))
    served = serve_dossier({"configurable": {"thread_id": "t1"}}, runtime)
    other = acquire("t1")
    waiting = asyncio.create_task(served.__aenter__())
    await asyncio.sleep(0.1)
    assert not waiting.done()

    other.release()

    await waiting
    assert is_thread_locked("t1")
    await served.__aexit__(None, None, None)


async def test_a_run_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.server.queues_by_thread", lambda: False)
    monkeypatch.setattr("app.server.QUEUE_SECONDS", 0)
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))
    with thread_lock("t1"), pytest.raises(Problem, match="run_in_progress"):
        async with serve_dossier({"configurable": {"thread_id": "t1"}}, runtime):
            pass


FORGED = (
    "UPDATE checkpoints SET checkpoint = x'c1'",
    "UPDATE checkpoints SET checkpoint = replace(checkpoint, 'succeeded', 'zzzzzzzzz')",
    "UPDATE checkpoints SET checkpoint_id = checkpoint_id || '0'",
    "UPDATE checkpoints SET metadata = '{}'",
    "UPDATE writes SET channel = 'plan'",
)


@pytest.mark.extractive("Triage", "Rewrite", "Draft", "researcher", "Verdict", "reporter", "Checks")
@pytest.mark.parametrize("change", FORGED)
async def test_a_run_that_fails_over_a_forged_thread_is_told_as_damage(
    choices: dict[str, object], change: str
):
    runtime = cast("Any", SimpleNamespace(user=None, execution_runtime=SimpleNamespace(context={})))
    async with open_session("t1") as thread:
        await thread.begin("How do bees dance?", make(choices), quiet)
    with closing(sqlite3.connect(settings().checkpoints)) as file, file:
        file.execute(change)

    with pytest.raises(Problem) as failure:
        async with serve_dossier({"configurable": {"thread_id": "t1"}}, runtime):
            raise KeyError("what a node says of it")

    assert failure.value.code == "storage_corrupt"
    assert not is_thread_locked("t1")


@pytest.mark.parametrize(("chosen", "seconds"), [(None, REQUEST_GRACE), (30, 30)])
def test_a_server_that_stops_does_not_wait_long_for_requests(chosen: int | None, seconds: int):
    server = uvicorn.Server(uvicorn.Config("none:app", timeout_graceful_shutdown=chosen))

    with server.capture_signals():
        limit_shutdown()

    assert server.config.timeout_graceful_shutdown == seconds


async def test_a_run_that_waited_while_others_used_up_the_month_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_CALLER_MAX_COST_MONTH", "5")
    new_process()
    execution = SimpleNamespace(context={})
    ada = cast(
        "Any", SimpleNamespace(user=SimpleNamespace(identity="ada"), execution_runtime=execution)
    )
    await add_user("ada")
    await spend("ada", 5.0, thread="t1")

    with pytest.raises(Problem, match=r"\$5.00 of \$5.00") as refused:
        async with serve_dossier({"configurable": {"thread_id": "t2"}}, ada):
            pytest.fail("it has begun")
    # What another process has begun is finished.
    async with serve_dossier({"configurable": {"thread_id": "t1"}}, ada):
        assert is_thread_locked("t1")

    assert refused.value.code == "cost_quota"
    assert not is_thread_locked("t2")


async def test_a_cron_of_a_user_who_was_removed_begins_no_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    new_process()
    await add_user("ada")
    await remove_user("ada")
    execution = SimpleNamespace(context={})
    ada = cast(
        "Any", SimpleNamespace(user=SimpleNamespace(identity="ada"), execution_runtime=execution)
    )

    with pytest.raises(Problem) as refused:
        async with serve_dossier({"configurable": {"thread_id": "t1"}}, ada):
            pytest.fail("it has begun")

    assert refused.value.code == "token_wrong"
    assert not is_thread_locked("t1")
