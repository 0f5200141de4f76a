"""The file of checkpoints that an older program kept beside PostgreSQL comes into the database."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from config.errors import ErrorCode, Problem
from config.settings import settings
from runs.checkpointer import CheckpointSaver, _open_file, open_checkpointer
from runs.lifecycle import create_run
from tests.conftest import make
from tests.places import new_process
from tests.unit.test_postgres_checkpointer import at, put, saved, told, turn

pytestmark = [
    pytest.mark.parametrize("either", ["postgresql"], indirect=True),
    pytest.mark.usefixtures("either"),
]

open_old = partial(_open_file, CheckpointSaver)


async def begun(*threads: str) -> None:
    """Have the database know runs of threads."""
    for thread in threads:
        await create_run("local/", thread, 1, "How do bees dance?", make({}))


async def test_every_thread_goes_on_where_it_stood():
    await begun("t1", "t2")
    async with open_old() as old:
        await turn(old, 1)
        place = await turn(old, 2)
        await old.aput_writes(place, [("__interrupt__", "plan"), ("messages", ["x"])], "review")
        await put(old, "loop", at("t2", space="step:a"), turn=5)
        before = await saved(old)

    async with open_checkpointer() as saver:
        after: list[Any] = await saved(saver)
        inner = await saver.aget_tuple(at("t2", space="step:a"))
        assert after == before
        assert inner
        assert inner.checkpoint["channel_values"] == {"turn": 5}
        await turn(saver, 3)
        assert told(await saved(saver))[:2] == [(1, 3), (2, 3)]
    assert not [*settings().home.glob("checkpoints*")]


async def test_threads_of_another_database_stay_in_the_file():
    await begun("t1")
    async with open_old() as old:
        await turn(old, 1)
        await put(old, "loop", at("other"), turn=5)

    async with open_checkpointer() as saver:
        assert len(await saved(saver)) == 5
        assert await saver.aget_tuple(at("other")) is None
    async with open_old() as old:
        assert await old.list_threads() == ["other"]


async def test_what_is_in_the_database_already_stays_as_it_is():
    await begun("t1")
    async with open_old() as old:
        place = await put(old, turn=1)
    async with open_checkpointer() as saver:
        await saver.aput(at("t1"), (await saver.aget_tuple(place)).checkpoint, {"step": 9}, {})
    new_process()
    async with open_old() as old:
        found = await put(old, turn=1)
        copied = (await old.aget_tuple(found)).checkpoint
        id = place["configurable"]["checkpoint_id"]
        await old.aput(at("t1"), {**copied, "id": id}, {"step": 1}, {})

    async with open_checkpointer() as saver:
        kept = await saver.aget_tuple(place)

    assert kept
    assert kept.metadata["step"] == 9


async def test_a_file_that_cannot_be_read_stays_and_is_told():
    await begun("t1")
    async with open_old() as old:
        await put(old, turn=1)
        old.conn.execute("UPDATE checkpoints SET checkpoint = x'c1'")
        old.conn.commit()

    with pytest.raises(Problem) as raised:
        async with open_checkpointer():
            pass

    assert raised.value.error == ErrorCode.STORAGE_CORRUPT
    assert settings().checkpoints.exists()
