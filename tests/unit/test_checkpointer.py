"""The checkpoints: what a server asks of them, and what a forged one must not do."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import ormsgpack
import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import empty_checkpoint

from config.errors import Problem
from config.settings import settings
from runs.checkpointer import CheckpointSaver, _enable_write_ahead_log, open_checkpointer
from runs.thread_saver import ThreadSaver
from tests.clock import Clock


@pytest.fixture
async def saver() -> AsyncIterator[CheckpointSaver]:
    """The opened checkpoints of SQLite."""
    async with open_checkpointer() as opened:
        yield cast("CheckpointSaver", opened)


@pytest.fixture
async def each(either: str) -> AsyncIterator[ThreadSaver]:
    """The opened checkpoints of each database in turn."""
    async with open_checkpointer() as opened:
        yield opened


async def put(
    saver: ThreadSaver, thread: str, *numbers: int, run: str = "r1", space: str = ""
) -> None:
    """Save one checkpoint with one write for each number, one after the other."""
    for number in numbers:
        parent = await saver.aget_tuple(at(thread, space))
        config = parent.config if parent else at(thread, space)
        value = {"n": number, "said": [f"{number}"]}
        checkpoint = checkpoint_of(f"{number:08}", **value)
        metadata: Any = {"source": "loop", "step": number, "run_id": run}
        versions = checkpoint["channel_versions"]
        saved = await saver.aput(config, checkpoint, metadata, versions)
        await saver.aput_writes(saved, [("n", number + 1)], f"task-{number}")


def checkpoint_of(id: str = "", **values: Any) -> Any:
    """Return a checkpoint with values, each of a version of its own."""
    made = {**empty_checkpoint(), "channel_values": values}
    made["id"] = id or made["id"]
    made["channel_versions"] = {name: f"{made['id']}.{name}" for name in values}
    return made


def at(thread: str, space: str = "") -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": space}}


async def numbers(saver: ThreadSaver, thread: str, space: str = "") -> list[int]:
    """Return the numbers saved of a thread, newest first."""
    found = [one async for one in saver.alist(at(thread, space))]
    values = [one.checkpoint["channel_values"] for one in found]
    assert all(one["said"] == [f"{one['n']}"] for one in values)
    return [one["n"] for one in values]


async def count_writes(saver: ThreadSaver, *threads: str) -> int:
    """Return how many writes are saved behind the checkpoints of threads."""
    found = [
        one for name in threads async for one in saver.alist({"configurable": {"thread_id": name}})
    ]
    return sum(len(one.pending_writes or ()) for one in found)


@pytest.mark.usefixtures("either")
async def test_what_was_saved_is_there_when_it_is_opened_again():
    async with open_checkpointer() as saver:
        await put(saver, "t1", 1, 2)

    async with open_checkpointer() as saver:
        assert await numbers(saver, "t1") == [2, 1]


async def test_deleting_runs_deletes_what_they_saved_and_nothing_else(each: ThreadSaver):
    await put(each, "t1", 1, run="r1")
    await put(each, "t1", 2, 3, run="r2")
    await put(each, "t2", 1, run="r2")
    await put(each, "t3", 1, run="r3")

    await each.adelete_for_runs(["r2", "unknown"])

    assert await numbers(each, "t1") == [1]
    assert await numbers(each, "t2") == []
    assert await numbers(each, "t3") == [1]
    assert await count_writes(each, "t1", "t3") == 2


async def test_deleting_no_runs_deletes_nothing(each: ThreadSaver):
    await put(each, "t1", 1)
    await each.adelete_for_runs([])

    assert await numbers(each, "t1") == [1]


@pytest.mark.parametrize("name", ["r1' OR '1'='1", '["r1"]', "%", "r_"])
async def test_the_id_of_a_run_is_only_a_name(each: ThreadSaver, name: str):
    await put(each, "t1", 1)
    await each.adelete_for_runs([name])

    assert await numbers(each, "t1") == [1]


async def test_a_copied_thread_has_everything_and_a_life_of_its_own(each: ThreadSaver):
    await put(each, "t1", 1, 2)
    await put(each, "t1", 1, space="step")

    await each.acopy_thread("t1", "t2")
    assert await numbers(each, "t2", "step") == [1]
    await put(each, "t2", 3)

    assert await numbers(each, "t2") == [3, 2, 1]
    assert await numbers(each, "t1") == [2, 1]
    newest = await each.aget_tuple(at("t1"))
    copied = await each.aget_tuple(
        {"configurable": {"thread_id": "t2", "checkpoint_ns": "", "checkpoint_id": "00000002"}}
    )
    assert newest
    assert copied
    assert copied.pending_writes == newest.pending_writes == [("task-2", "n", 3)]


async def test_pruning_keeps_the_newest_of_every_part_of_a_thread(each: ThreadSaver):
    await put(each, "t1", 1, 2, 3)
    await put(each, "t1", 1, 2, space="step")
    await put(each, "t2", 1, 2)

    await each.aprune(["t1"])

    assert await numbers(each, "t1") == [3]
    assert await numbers(each, "t1", "step") == [2]
    assert await numbers(each, "t2") == [2, 1]
    assert await count_writes(each, "t1", "t2") == 4


async def test_pruning_may_delete_whole_threads(each: ThreadSaver):
    await put(each, "t1", 1, 2)
    await put(each, "t2", 1)

    await each.aprune(["t1", "unknown"], strategy="delete")

    assert await numbers(each, "t1") == []
    assert await numbers(each, "t2") == [1]


async def test_a_thread_goes_on_after_it_was_pruned(each: ThreadSaver):
    await put(each, "t1", 1, 2)
    await each.aprune(["t1"])
    await put(each, "t1", 3)

    assert await numbers(each, "t1") == [3, 2]


async def test_messages_come_back_as_messages(each: ThreadSaver):
    said = {"messages": [HumanMessage("蜜蜂", id="1")], "sources": {"S1": {"title": "Bees"}}}
    checkpoint = checkpoint_of(**said)
    await each.aput(at("t1"), checkpoint, {}, checkpoint["channel_versions"])

    found = await each.aget_tuple(at("t1"))

    assert found
    assert found.checkpoint["channel_values"] == said


FORGED = {
    "a call with one argument": (0, lambda place: ["os", "mkdir", place]),
    "a call with arguments": (1, lambda place: ["os", "mkdir", [place]]),
    "a call with named arguments": (2, lambda place: ["os", "mkdir", {"path": place}]),
    "a method": (3, lambda place: ["shutil", "os", place, "mkdir"]),
}


@pytest.mark.parametrize("kind", FORGED)
async def test_a_forged_checkpoint_runs_no_code(saver: CheckpointSaver, tmp_path, kind: str):
    code, forge = FORGED[kind]
    forged = ormsgpack.Ext(code, ormsgpack.packb(forge(str(tmp_path / "forged"))))
    value = ormsgpack.packb({**empty_checkpoint(), "channel_values": {"n": forged}})
    await put(saver, "t1", 1)
    saver.conn.execute("UPDATE checkpoints SET type = 'msgpack', checkpoint = ?", (value,))
    saver.conn.execute("UPDATE writes SET type = 'msgpack', value = ?", (value,))

    found = await saver.aget_tuple(at("t1"))

    assert found
    assert not list(tmp_path.glob("forged"))


async def test_a_forged_checkpoint_in_json_makes_no_object(saver: CheckpointSaver, tmp_path):
    place = str(tmp_path / "forged")
    made = {"lc": 2, "type": "constructor", "id": ["os", "mkdir"], "args": [place]}
    await put(saver, "t1", 1)
    value = json.dumps({**empty_checkpoint(), "channel_values": {"n": made}}).encode()
    saver.conn.execute("UPDATE checkpoints SET type = 'json', checkpoint = ?", (value,))

    found = await saver.aget_tuple(at("t1"))

    assert found
    assert not list(tmp_path.glob("forged"))


def pragma(saver: CheckpointSaver, name: str) -> Any:
    return saver.conn.execute(f"PRAGMA {name}").fetchone()[0]


async def test_a_killed_process_loses_no_checkpoint(saver: CheckpointSaver):
    assert pragma(saver, "journal_mode") == "wal"
    assert pragma(saver, "synchronous") == 1
    assert settings().checkpoints.exists()


async def test_a_process_waits_until_another_has_written(saver: CheckpointSaver):
    assert pragma(saver, "busy_timeout") == 5000


async def test_whatever_is_asked_takes_one_visit_to_the_thread(
    saver: CheckpointSaver, monkeypatch: pytest.MonkeyPatch
):
    visits: list[object] = []
    submit = saver.thread.submit
    monkeypatch.setattr(saver.thread, "submit", lambda *work: visits.append(work) or submit(*work))

    await put(saver, "t1", 1)  # Looks for the newest, saves a checkpoint, saves a write.
    await numbers(saver, "t1")
    await saver.acopy_thread("t1", "t2")
    await saver.aprune(["t1", "t2"])
    await saver.adelete_for_runs(["r1", "r2"])
    await saver.adelete_thread("t1")

    assert len(visits) == 8


async def test_several_savers_work_on_one_new_file():
    async with AsyncExitStack() as stack:
        opening = [stack.enter_async_context(open_checkpointer()) for _ in range(8)]
        savers = await asyncio.gather(*opening)
        await asyncio.gather(*(put(saver, f"t{n}", 1, 2) for n, saver in enumerate(savers)))

        assert [await numbers(savers[0], f"t{n}") for n in range(8)] == [[2, 1]] * 8


async def test_a_file_that_another_process_is_making_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
):
    settings().checkpoints.parent.mkdir(parents=True)
    other = sqlite3.connect(settings().checkpoints, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(_enable_write_ahead_log.retry, "sleep", lambda _: other.rollback())

    async with open_checkpointer() as saver:
        assert pragma(saver, "journal_mode") == "wal"
    other.close()


async def test_a_change_that_fails_changes_nothing(saver: CheckpointSaver):
    await put(saver, "t1", 1)
    refuse = "CREATE TRIGGER refuse BEFORE DELETE ON writes BEGIN SELECT RAISE(FAIL, 'no'); END"
    saver.conn.execute(refuse)

    for change in (saver.adelete_thread("t1"), saver.aprune(["t1"], strategy="delete")):
        with pytest.raises(sqlite3.IntegrityError):
            await change

    await put(saver, "t2", 1)
    assert await numbers(saver, "t1") == [1]


async def test_the_methods_that_do_not_wait_find_the_same(saver: CheckpointSaver):
    await put(saver, "t1", 1, 2)

    assert saver.get_tuple(at("t1")) == await saver.aget_tuple(at("t1"))
    assert list(saver.list(at("t1"))) == [one async for one in saver.alist(at("t1"))]


async def cancelled_in_a_write(saver: CheckpointSaver) -> threading.Event:
    """Cancel a save whose transaction has begun; return what lets its thread go on."""
    begun, go_on = threading.Event(), threading.Event()

    def wait(statement: str) -> None:
        if statement.startswith("BEGIN"):
            begun.set()
            go_on.wait(10)

    saver.conn.set_trace_callback(wait)
    saving = asyncio.create_task(put(saver, "t1", 1))
    await asyncio.to_thread(begun.wait)
    saving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await saving
    return go_on


async def test_a_save_that_nobody_waits_for_is_whole_and_the_next_one_works(saver: CheckpointSaver):
    go_on = await cancelled_in_a_write(saver)
    go_on.set()
    await put(saver, "t1", 2)

    assert await numbers(saver, "t1") == [2, 1]
    assert not saver.conn.in_transaction


async def test_closing_waits_for_a_save_that_nobody_waits_for():
    async with open_checkpointer() as saver:
        go_on = await cancelled_in_a_write(saver)
        asyncio.get_running_loop().call_soon(go_on.set)

    async with open_checkpointer() as saver:
        assert await numbers(saver, "t1") == [1]


async def test_it_is_closed_behind_a_caller_who_left_while_it_was_opened(
    monkeypatch: pytest.MonkeyPatch,
):
    begun, go_on = threading.Event(), threading.Event()
    opened: list[CheckpointSaver] = []

    def setup(saver: CheckpointSaver) -> None:
        opened.append(saver)
        begun.set()
        go_on.wait(10)

    monkeypatch.setattr(CheckpointSaver, "setup", setup)
    opening = asyncio.create_task(AsyncExitStack().enter_async_context(open_checkpointer()))
    await asyncio.to_thread(begun.wait)
    opening.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await opening

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].conn.execute("SELECT 1")


async def test_what_branches_saved_is_deleted_when_the_whole_graph_is_saved_behind_them(
    each: ThreadSaver,
):
    await put(each, "t1", 1)
    await put(each, "t1", 2, 3, space="step:a")
    await put(each, "t2", 2, space="step:b")
    await put(each, "t1", 4)
    await put(each, "t1", 5, space="step:c")

    assert await numbers(each, "t1") == [4, 1]
    assert await numbers(each, "t1", "step:a") == []
    assert await numbers(each, "t1", "step:c") == [5]
    assert await numbers(each, "t2", "step:b") == [2]


async def test_a_state_that_was_edited_by_hand_deletes_no_branch(each: ThreadSaver):
    await put(each, "t1", 1, space="step:a")
    checkpoint: Any = {**empty_checkpoint(), "id": "00000002"}

    await each.aput(at("t1"), checkpoint, {"source": "update", "step": 2}, {})

    assert await numbers(each, "t1", "step:a") == [1]


DAMAGED = "ffffffff-ffff-6fff-8000-000000000000"
"""An id behind which there is no room for others."""


async def test_an_id_that_no_other_can_come_after_is_damage(saver: CheckpointSaver):
    await put(saver, "t1", 1)
    saver.conn.execute("UPDATE checkpoints SET checkpoint_id = ?", (DAMAGED,))

    with pytest.raises(Problem, match="a checkpoint cannot be read"):
        await saver.aget_tuple(at("t1"))


async def test_ids_come_after_those_of_every_branch_of_the_thread(
    each: ThreadSaver, monkeypatch: pytest.MonkeyPatch
):
    clock = Clock(monkeypatch)
    clock.step(3_600)
    for space in ("", "step:a"):
        checkpoint = empty_checkpoint()
        await each.aput(at("t1", space), checkpoint, {"source": "update"}, {})
    clock.restart(-7_200)

    await each.aget_tuple(at("t1"))

    assert empty_checkpoint()["id"] > checkpoint["id"]
