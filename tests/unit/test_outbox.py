"""Work that waits: taken by one, due again when nobody ends it, later when it fails."""

from __future__ import annotations

from functools import partial

import pytest
from sqlalchemy import select

from storage import outbox
from storage.engine import read_rows, run_read, run_write
from storage.outbox import OutboxJob
from storage.tables import outbox as rows

pytestmark = pytest.mark.usefixtures("either")


async def put(number: int, owner: str = "me/", job: str = "count") -> None:
    await run_write(
        lambda connection: outbox.enqueue_job(connection, owner, job, {"number": number})
    )


async def take(many: int = 1, job: str = "count") -> list[OutboxJob]:
    return await run_write(lambda c: outbox.claim_jobs(c, job, lambda taken: len(taken) >= many))


async def due() -> float:
    return float((await read_rows(select(rows.c.due))).scalar_one())


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> float:
    """The clock stands still, at this time."""
    monkeypatch.setattr(outbox.time, "time", lambda: 1e9)
    return 1e9


async def test_the_oldest_work_of_a_kind_is_taken_first_and_only_as_much_as_is_enough():
    for number in range(3):
        await put(number)
    await put(9, job="other")

    assert [one.data["number"] for one in await take(2)] == [0, 1]
    assert [one.data["number"] for one in await take(2)] == [2]


async def test_work_that_was_taken_is_due_again_when_its_lease_ends(
    now: float, monkeypatch: pytest.MonkeyPatch
):
    await put(1)
    await take()
    assert await take() == []

    monkeypatch.setattr(outbox.time, "time", lambda: now + outbox.JOB_LEASE)

    assert len(await take()) == 1


async def test_work_that_was_taken_before_the_clock_was_set_back_a_day_is_due_again(
    now: float, monkeypatch: pytest.MonkeyPatch
):
    await put(1)
    await take()

    monkeypatch.setattr(outbox.time, "time", lambda: now - 86_400)

    assert len(await take()) == 1
    assert await take() == []


async def test_work_that_fails_waits_twice_as_long_each_time_and_an_hour_at_most(now: float):
    await put(1)
    (job,) = await take()

    for tries, wait in ((0, 10), (1, 20), (2, 40), (30, 3600)):
        failed = job._replace(tries=tries)
        await run_write(partial(outbox.postpone_job, one=failed, data={"number": 2}))
        assert await due() == now + wait


@pytest.mark.usefixtures("now")
async def test_work_that_goes_on_is_due_at_once_with_its_new_data():
    await put(1)
    (job,) = await take()

    await run_write(partial(outbox.continue_job, one=job, data={"number": 2}))

    assert [one.data for one in await take()] == [{"number": 2}]


async def test_work_that_is_done_is_gone():
    await put(1)
    (job,) = await take()

    await run_write(partial(outbox.finish_job, one=job))

    assert await run_write(partial(outbox.lock_job, one=job)) is None


async def test_an_owner_sees_the_newest_of_what_waits_for_it():
    for number in range(3):
        await put(number)
    await put(9, owner="other/")

    found = await run_read(
        lambda connection: outbox.list_waiting_jobs(connection, "me/", "count", 2)
    )

    assert [data["number"] for data in found] == [2, 1]
    assert await run_read(lambda c: outbox.list_job_owners(c, "count")) == {"me/", "other/"}
