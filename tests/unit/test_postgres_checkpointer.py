"""The checkpoints on PostgreSQL: what is kept of turns, what is masked, and what damage does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from sqlalchemy import text

from config.errors import ErrorCode, Problem
from runs.checkpointer import open_checkpointer, save_run_status
from runs.postgres_checkpointer import PostgresCheckpointSaver
from storage.engine import run_write
from tests.databases import OTHERS_OF_SCHEMA
from tests.places import new_process

pytestmark = [
    pytest.mark.parametrize("either", ["postgresql"], indirect=True),
    pytest.mark.usefixtures("either"),
]

LONG = "The waggle dance tells other bees the direction of food. " * 20


@pytest.fixture
async def saver(either: str) -> AsyncIterator[PostgresCheckpointSaver]:
    """The opened checkpoints."""
    async with open_checkpointer() as opened:
        assert isinstance(opened, PostgresCheckpointSaver)
        yield opened


def at(thread: str = "t1", id: str = "", space: str = "") -> Any:
    place = {"thread_id": thread, "checkpoint_ns": space}
    return {"configurable": {**place, "checkpoint_id": id} if id else place}


async def put(
    saver: Any, source: str = "loop", parent: Any = None, run: str = "", **values: Any
) -> Any:
    """Save one more checkpoint behind the newest or another one; return its place.

    A value that is the same as before keeps its version, as LangGraph has it.
    """
    newest = await saver.aget_tuple(parent or at())
    config = newest.config if newest else parent or at()
    known = newest.checkpoint if newest else empty_checkpoint()
    checkpoint: Any = {**empty_checkpoint(), "channel_values": values}
    versions = dict(known["channel_versions"])
    new = {
        name: saver.get_next_version(versions.get(name), None)
        for name, value in values.items()
        if name not in versions or known["channel_values"].get(name) != value
    }
    checkpoint["channel_versions"] = {**versions, **new}
    metadata: Any = {"source": source, "run_id": run, "step": 1}
    return await saver.aput(config, checkpoint, metadata, new)


async def turn(saver: Any, number: int, parent: Any = None) -> Any:
    """Save the five checkpoints of a turn; return the place of the last."""
    said = [HumanMessage(f"{one}? {LONG}", id=str(one)) for one in range(1, number + 1)]
    place = await put(saver, "input", parent, messages=said, turn=number)
    for step in range(4):
        place = await put(saver, "loop", place, messages=said, turn=number, step=step)
        await saver.aput_writes(place, [("step", step + 1)], f"task-{step}")
    return place


async def saved(saver: Any, thread: str = "t1") -> list[CheckpointTuple]:
    """Return what is saved of a thread, oldest first."""
    return [one async for one in saver.alist(at(thread))][::-1]


def told(found: list[CheckpointTuple]) -> list[tuple[int, int | None]]:
    values = [one.checkpoint["channel_values"] for one in found]
    return [(one["turn"], one.get("step")) for one in values]


async def execute(statement: str, **values: Any) -> Any:
    return await run_write(lambda connection: connection.execute(text(statement), values))


async def count(table: str) -> int:
    statement = text(f"SELECT count(*) FROM {table}")  # noqa: S608 - our own names
    return await run_write(lambda connection: connection.execute(statement).scalar_one())


async def test_of_a_finished_turn_only_its_end_is_kept_and_of_the_newest_all(saver: Any):
    for number in (1, 2, 3):
        await turn(saver, number)

    found = await saved(saver)

    assert told(found) == [(1, 3), (2, 3), (3, None), (3, 0), (3, 1), (3, 2), (3, 3)]
    assert await count("checkpoint_writes") == 6
    assert [one.parent_config for one in found] == [None, *(one.config for one in found[:-1])]
    assert [len(one.checkpoint["channel_values"]["messages"]) for one in found[:2]] == [1, 2]
    # The messages of three turns, each once.
    assert await count("checkpoint_blobs") == 3


async def test_another_question_may_be_asked_of_an_earlier_turn(saver: Any):
    first = await turn(saver, 1)
    await turn(saver, 2)
    await turn(saver, 3)
    fork = await turn(saver, 2, parent=first)

    assert told(await saved(saver))[:3] == [(1, 3), (2, 3), (3, 3)]
    assert await saver.aget_tuple(at()) == await saver.aget_tuple(fork)

    await turn(saver, 3)
    ends = told(await saved(saver))
    assert ends[:4] == [(1, 3), (2, 3), (3, 3), (2, 3)]
    assert len(ends) == 4 + 5


async def test_values_go_with_the_last_checkpoint_that_holds_them(saver: Any):
    await put(saver, "input", background={"1/a": {"text": LONG}})
    await put(saver, background={"1/b": {"text": LONG}}, run="r1")
    await put(saver, "input", background={"2/b": {"text": LONG * 3}}, run="r2")
    assert await count("checkpoint_blobs") == 2

    await saver.adelete_for_runs(["r2"])
    assert await count("checkpoint_blobs") == 1
    await saver.adelete_thread("t1")
    assert await count("checkpoint_blobs") == 0


@pytest.mark.parametrize("odd", ["a\0b", "\\u0000", "", "蜜蜂🐝"])
async def test_any_text_comes_back_as_it_was(saver: Any, odd: str):
    values = {"question": odd, "answers": {"1": odd}, "flag": True, "none": None, "cost": 0.5}

    place = await put(saver, run=odd, **values)
    await saver.aput_writes(place, [("question", odd)], "task")

    found = await saver.aget_tuple(at())
    assert found.checkpoint["channel_values"] == values
    assert found.pending_writes == [("task", "question", odd)]


async def test_no_secret_is_saved(saver: Any):
    secret = "My password is hunter2hunter2"
    said = [HumanMessage(secret, id="1"), AIMessage("fine", id="2")]
    place = await put(saver, messages=said, question=secret)
    await saver.aput_writes(place, [("messages", said), ("__resume__", secret)], "task")

    found = await saver.aget_tuple(at())
    assert "hunter2" not in str(found)
    assert "password" in str(found)
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        hit = f"SELECT count(*) FROM {table} AS row WHERE row::text LIKE :words"  # noqa: S608
        found = await run_write(
            lambda connection, hit=hit: connection.execute(
                text(hit), {"words": "%hunter2%"}
            ).scalar()
        )
        assert found == 0


DAMAGE = {
    "a value is no data": "UPDATE checkpoint_blobs SET blob = '\\xc1'",
    "a value has an unknown encoding": "UPDATE checkpoint_blobs SET type = 'pickled'",
    "a write is no data": "UPDATE checkpoint_writes SET blob = '\\xc1'",
    "a key is missing": "UPDATE checkpoints SET checkpoint = checkpoint - 'versions_seen'",
    "it is a list": "UPDATE checkpoints SET checkpoint = '[]'",
    "its id leaves no room": "UPDATE checkpoints SET "
    "checkpoint_id = 'ffffffff-ffff-6fff-8000-000000000000'",
}


@pytest.mark.parametrize("what", DAMAGE)
async def test_damage_is_told(saver: Any, what: str):
    place = await put(saver, messages=[HumanMessage(LONG, id="1")], turn=1)
    await saver.aput_writes(place, [("messages", [LONG])], "task")
    await execute(DAMAGE[what])

    with pytest.raises(Problem) as raised:
        await saver.aget_tuple(at())

    assert raised.value.error == ErrorCode.STORAGE_CORRUPT
    assert "postgresql://" in raised.value.where


async def test_a_forged_value_runs_no_code(saver: Any, tmp_path: Path):
    forged = ormsgpack.Ext(0, ormsgpack.packb(["os", "mkdir", str(tmp_path / "forged")]))
    await put(saver, messages=[HumanMessage(LONG, id="1")])
    await execute("UPDATE checkpoint_blobs SET blob = :forged", forged=ormsgpack.packb(forged))

    await saver.aget_tuple(at())

    assert not (tmp_path / "forged").exists()


async def test_another_server_of_langgraph_goes_on_with_a_thread_and_back(saver: Any):
    plain = AsyncPostgresSaver(saver.pool)
    await turn(saver, 1)
    ours = await saver.aget_tuple(at())
    assert await plain.aget_tuple(at()) == ours

    said = [*ours.checkpoint["channel_values"]["messages"], HumanMessage("2?", id="2")]
    place = await put(plain, "input", messages=said, turn=2)
    await put(plain, "loop", place, messages=said, turn=2, step=3)
    await turn(saver, 3)

    assert told(await saved(saver))[:2] == [(1, 3), (2, 3)]


async def test_the_status_of_a_run_is_written_in_place(saver: Any):
    await put(saver, messages=[HumanMessage(LONG, id="1")], status="running", turn=1)

    await save_run_status("t1", "cancelled")
    await save_run_status("t1", "failed")

    (found,) = await saved(saver)
    assert found.checkpoint["channel_values"]["status"] == "cancelled"
    assert found.checkpoint["channel_values"]["messages"][0].text == LONG


async def test_a_server_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DOSSIER_DATABASE_URL", "postgresql://me:secret@127.0.0.1:1/dossier")
    new_process()

    with pytest.raises(Problem, match="it fails") as raised:
        async with open_checkpointer():
            pass

    assert raised.value.error == ErrorCode.STORAGE_UNAVAILABLE
    assert "secret" not in str(raised.value)


@pytest.mark.bare
async def test_several_processes_make_the_tables_at_once(either: str):
    async with AsyncExitStack() as stack:
        opening = [stack.enter_async_context(open_checkpointer()) for _ in range(4)]
        savers: list[Any] = await asyncio.gather(*opening)
        await asyncio.gather(*(one.setup() for one in savers))
        await asyncio.gather(*(put(one, parent=at(f"t{n}"), n=n) for n, one in enumerate(savers)))

        values = [(await savers[0].aget_tuple(at(f"t{n}"))).checkpoint for n in range(4)]
    assert [one["channel_values"]["n"] for one in values] == [0, 1, 2, 3]


async def test_a_connection_that_was_lost_is_opened_again(saver: Any):
    await put(saver, turn=1)
    killed = text(f"SELECT pg_terminate_backend(pid) {OTHERS_OF_SCHEMA}")
    assert await run_write(lambda connection: connection.execute(killed).all())

    await put(saver, turn=2)

    assert len(await saved(saver)) == 2


async def test_a_change_that_fails_changes_nothing(saver: Any):
    await turn(saver, 1)
    refuse = "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'no'; END $$ "
    await execute(refuse + "LANGUAGE plpgsql")
    trigger = "CREATE TRIGGER refuse BEFORE DELETE ON checkpoint_writes FOR EACH ROW "
    await execute(trigger + "EXECUTE FUNCTION refuse()")
    try:
        for change in (saver.adelete_thread("t1"), turn(saver, 2)):
            with pytest.raises(Problem):
                await change
    finally:
        await execute("DROP FUNCTION refuse CASCADE")

    assert len(await saved(saver)) == 5


async def test_a_limit_below_zero_is_none(saver: Any):
    await turn(saver, 1)

    found = [[one async for one in saver.alist(at(), limit=limit)] for limit in (-1, 0, 2, None)]

    assert [len(one) for one in found] == [5, 0, 2, 5]


async def test_a_caller_who_stops_early_keeps_no_connection(saver: Any):
    await turn(saver, 1)

    for _ in range(20):
        async for _one in saver.alist(at()):
            break

    assert saver.pool.get_stats()["pool_size"] <= 4
    assert len(await asyncio.gather(*(saver.aget_tuple(at()) for _ in range(30)))) == 30
