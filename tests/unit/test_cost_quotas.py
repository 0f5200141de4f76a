"""What the runs of a user cost in a month is counted, bounded and told."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from app.api.application import make_api
from app.auth.access_handlers import own_run
from app.auth.user_store import add_user
from app.cli.dispatch import Invocation
from app.cli.users import limit_user
from calls.attempts import begin_attempt, end_statement
from calls.ledger import CallCost
from config.errors import Problem
from graph.context import Context
from privacy.retention import ExpiredThread, delete_run_records
from runs.call_site import CallSite, join_owner
from runs.cost_quotas import check_cost_room, read_cost_quota, set_cost_limit
from runs.lifecycle import create_run
from runs.month_costs import find_month
from storage.engine import commit_statements, run_write
from tests.api_client import LoggedIn, connect
from tests.places import new_process
from tests.unit.test_access_handlers import asks

pytestmark = pytest.mark.usefixtures("either")


@pytest.fixture(autouse=True)
def users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOSSIER_AUTH", "users")
    monkeypatch.setenv("DOSSIER_CALLER_MAX_COST_MONTH", "5")
    new_process()


async def spend(user: str, dollars: float, project: str = "", thread: str = "t1") -> str:
    """Let a run of a user cost so much, just now."""
    owner = join_owner(user, project)
    run = await create_run(owner, thread, 1, "How do bees dance?", Context())
    site, cost = (
        CallSite(owner, thread, run, "", "0.0.0"),
        CallCost("m", 10, 10, dollars, session="x"),
    )
    attempt = await begin_attempt(site, "planner", cost, 60)
    await commit_statements(end_statement(attempt, "ok", cost))
    return run


async def test_a_user_who_has_spent_the_month_begins_no_run_and_others_do():
    await add_user("ada")
    await add_user("bob")
    await add_user("ada/x")
    await spend("ada", 3.0)
    ask = asks("threads", "create_run")

    assert await own_run(ask, {"kwargs": {}}) == {"owner": "ada"}
    await spend("ada", 2.5, "bees", "t2")
    with pytest.raises(Problem, match=r"\$5.50 of \$5.00 this month") as refused:
        await own_run(ask, {"kwargs": {}})

    assert (refused.value.code, refused.value.error.http_status) == ("cost_quota", 403)
    assert await own_run(asks("threads", "create_run", "bob"), {"kwargs": {}})
    await set_cost_limit("ada", 10)
    assert await own_run(ask, {"kwargs": {}})
    await set_cost_limit("ada", None)
    with pytest.raises(Problem):
        await own_run(ask, {"kwargs": {}})


async def test_what_calls_at_work_may_cost_keeps_no_other_call_from_being_made():
    owner = join_owner("ada", "bees")
    run = await create_run(owner, "t1", 1, "How do bees dance?", Context())
    site = CallSite(owner, "t1", run, "", "0.0.0")
    attempt = await begin_attempt(site, "planner", CallCost("m", 10, 10, 9.0, session="x"), 60)
    await check_cost_room(owner)
    assert (await read_cost_quota("ada")).spent == 9.0

    await commit_statements(end_statement(attempt, "ok", CallCost("m", 10, 10, 5.0, session="x")))
    with pytest.raises(Problem, match="max_cost_month = 5") as refused:
        await check_cost_room(owner)

    assert refused.value.code == "budget_spent"
    await check_cost_room(join_owner("ad", "a/bees"))
    await set_cost_limit("ada", 10)
    await check_cost_room(owner)


async def test_who_deletes_conversations_has_spent_it_all_the_same():
    for number in (1, 2):
        run = await spend("ada", 2.0, thread=f"t{number}")
        old = ExpiredThread(f"t{number}", (run,), 0.0)
        await run_write(partial(delete_run_records, old=old))

    assert (await read_cost_quota("ada")).spent == pytest.approx(4.0)


async def test_a_month_begins_anew(monkeypatch: pytest.MonkeyPatch):
    await spend("ada", 6.0)
    month = find_month(time.time())

    monkeypatch.setattr(time, "time", lambda: month.ends + 1)

    assert (await read_cost_quota("ada")).left == 5
    december = datetime(2026, 12, 31, 23, 59, tzinfo=UTC).timestamp()
    assert find_month(december).ends == datetime(2027, 1, 1, tzinfo=UTC).timestamp()


async def test_users_and_operators_see_what_is_left(capsys: pytest.CaptureFixture[str]):
    await add_user("ada")
    await spend("ada", 1.5)

    async with connect(LoggedIn(make_api(), "ada")) as client:
        told: dict[str, Any] = (await client.get("/api/cost-quota")).json()
    await limit_user(name="ada", cost_month="20", invocation=Invocation())

    assert (told["limit"], told["spent"], told["left"]) == (5, 1.5, 3.5)
    assert "$20.00 a month; $1.50 spent this month, $18.50 left" in capsys.readouterr().out
    with pytest.raises(Problem, match="user_not_found"):
        await limit_user(name="eve", cost_month="20", invocation=Invocation())
    with pytest.raises(Problem, match="is no amount"):
        await limit_user(name="ada", cost_month="nan", invocation=Invocation())
