"""A server deletes by itself what has expired, and one process at a time does."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import func, insert, select

from app.upkeep import UPKEEP_LOCK, UpkeepCounts, delete_expired
from library.tables import uploads
from privacy import retention
from runs.lock import thread_lock
from runs.tables import report_shares, runs
from storage.engine import read_rows, run_write
from storage.tables import leases
from tests.places import new_process
from tests.unit.test_retention import ALL, NONE, ended, left

pytestmark = pytest.mark.usefixtures("either")

LONG_AGO = time.time() - 10 * 86_400


async def expired(either: str) -> None:
    """A share, an upload and on PostgreSQL a lease that have expired, and others that have not."""

    def add(connection: object) -> None:
        for number, until in enumerate((LONG_AGO, time.time() + 86_400)):
            named = {"id": f"s{number}", "owner": "me/", "run": "r", "token": f"t{number}"}
            share = {**named, "created": 0.0, "expires": until}
            connection.execute(insert(report_shares).values(share))  # type: ignore[attr-defined]
            upload = {"id": f"upload-{number}", "owner": f"user{number}/", "name": "a.md"}
            upload |= {"size": 9, "status": "receiving", "created": 0.0, "updated": until}
            connection.execute(insert(uploads).values(upload))  # type: ignore[attr-defined]
            lease = {"name": f"t{number}", "holder": "h", "token": 1, "process": "far away"}
            if either == "postgresql":
                connection.execute(insert(leases).values({**lease, "expires": until}))  # type: ignore[attr-defined]

    await run_write(add)


async def test_what_has_expired_goes_and_conversations_stay_unless_the_operator_says(either: str):
    await ended("old", days=100)
    await expired(either)

    deleted = await delete_expired()

    assert deleted == UpkeepCounts(0, 1, 1, int(either == "postgresql"))
    assert await left("old") == ALL
    assert (await read_rows(select(report_shares.c.id))).scalars().all() == ["s1"]
    assert (await read_rows(select(uploads.c.id))).scalars().all() == ["upload-1"]
    assert await delete_expired() == UpkeepCounts(0, 0, 0, 0)


async def test_old_conversations_of_everybody_go_but_the_newest_of_each(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("DOSSIER_RETENTION_DAYS", "30")
    monkeypatch.setenv("DOSSIER_RETENTION_KEEP_LAST", "1")
    new_process()
    for owner in ("ada/", "bob/"):
        for days in (100, 90, 80):
            await ended(f"{owner[:3]}{days}", days=days, owner=owner)
        await ended(f"{owner[:3]}waits", days=95, owner=owner, status="waiting_review")
    await ended("ada1", days=1, owner="ada/")

    deleted = await delete_expired()

    assert deleted
    assert deleted.threads == 5
    there = select(runs.c.thread).order_by(runs.c.thread)
    kept = (await read_rows(there)).scalars().all()
    assert kept == ["ada1", "adawaits", "bob80", "bobwaits"]
    assert await left("ada80") == NONE


async def test_one_process_at_a_time_does_it(either: str):
    await expired(either)

    with thread_lock(UPKEEP_LOCK):
        assert await delete_expired() is None

    assert (await read_rows(select(func.count()).select_from(report_shares))).scalar() == 2
    assert await delete_expired()


async def test_what_would_be_deleted_is_measured_and_stays():
    await ended("old", days=100)

    old = await retention.list_expired_threads(None, 30 * 86_400)

    assert [(one.thread, one.owner) for one in old] == [("old", "me/")]
    assert 100 < await retention.measure_threads(old) < 100_000
    assert await retention.measure_threads([]) == 0
    assert await left("old") == ALL
