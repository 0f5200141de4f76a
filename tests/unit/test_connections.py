"""How many connections to PostgreSQL a process opens, whatever it does at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, make_url, text

from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.checkpointer import open_checkpointer
from storage.engine import get_engine, run_read
from tests.databases import POSTGRES
from tests.unit.test_postgres_checkpointer import at, put

pytestmark = [
    pytest.mark.bare,
    pytest.mark.parametrize("either", ["postgresql"], indirect=True),
    pytest.mark.usefixtures("either"),
]


def count_connections() -> int:
    """Return how many connections this process has, seen through another one."""
    name = make_url(settings().database).query["application_name"]
    count = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
    server = create_engine(make_url(POSTGRES).set(drivername="postgresql+psycopg"))
    with server.connect() as connection:
        found = connection.execute(count, {"name": name}).scalar_one()
    server.dispose()
    return int(found)


def sleep(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1 FROM pg_sleep(0.05)")).scalar_one())


async def test_a_process_opens_no_more_connections_than_it_may():
    async with open_checkpointer() as first, open_checkpointer() as second:
        savers: list[Any] = [first, second]
        await put(first, turn=1)
        work = [run_read(sleep) for _ in range(60)]
        work += [savers[n % 2].aget_tuple(at()) for n in range(60)]
        running = asyncio.gather(*work)
        most = 0
        while not running.done():
            most = max(most, await asyncio.to_thread(count_connections))
        found = await running

    assert found[:60] == [1] * 60
    assert 4 < most <= settings().database_connections == 10


async def test_connections_of_checkpoints_are_closed_with_the_last_saver():
    async with open_checkpointer() as first:
        async with open_checkpointer() as second:
            await put(second, turn=1)
        assert await first.aget_tuple(at())
    (await get_engine()).dispose()

    assert await asyncio.to_thread(count_connections) == 0


async def test_a_process_without_a_free_connection_says_so(monkeypatch: pytest.MonkeyPatch):
    opened = await get_engine()
    monkeypatch.setattr(opened.pool, "_timeout", 0.05)
    held = [opened.connect() for _ in range(6)]

    with pytest.raises(Problem, match="no connection to the database is free") as raised:
        await run_read(sleep)

    for one in held:
        one.close()
    assert raised.value.error == ErrorCode.STORAGE_BUSY
    assert await run_read(sleep) == 1
