"""A long thread: what it gathers is saved once, and of a finished turn only its end is kept."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint

from config.errors import Problem
from config.settings import settings
from runs import checkpoint_store, checkpointer
from runs.checkpointer import CheckpointSaver, open_checkpointer

LONG = "The waggle dance tells other bees the direction of food. " * 20


@pytest.fixture
async def saver() -> AsyncIterator[CheckpointSaver]:
    """The opened checkpoints."""
    async with open_checkpointer() as opened:
        yield opened


def at(thread: str = "t1", id: str = "", space: str = "") -> Any:
    place = {"thread_id": thread, "checkpoint_ns": space}
    return {"configurable": {**place, "checkpoint_id": id} if id else place}


async def put(
    saver: CheckpointSaver, source: str = "loop", parent: Any = None, run: str = "", **values: Any
) -> Any:
    """Save one more checkpoint of a thread, behind its newest or another one; return its place."""
    newest = await saver.aget_tuple(at()) if parent is None else None
    config = parent or (newest.config if newest else at())
    checkpoint: Any = {**empty_checkpoint(), "channel_values": values}
    metadata: Any = {"source": source, "run_id": run}
    return await saver.aput(config, checkpoint, metadata, {})


async def turn(saver: CheckpointSaver, number: int, parent: Any = None, run: str = "") -> Any:
    """Save the five checkpoints of a turn; return the place of the last."""
    said = [HumanMessage(f"{one}? {LONG}", id=str(one)) for one in range(1, number + 1)]
    place = await put(saver, "input", parent, run, messages=said, turn=number)
    for step in range(4):
        place = await put(saver, "loop", place, run, messages=said, turn=number, step=step)
        await saver.aput_writes(place, [("step", step + 1)], f"task-{step}")
    return place


async def saved(saver: CheckpointSaver, thread: str = "t1") -> list[CheckpointTuple]:
    """Return what is saved of a thread, oldest first."""
    return [one async for one in saver.alist(at(thread))][::-1]


def told(found: list[CheckpointTuple]) -> list[tuple[int, int | None]]:
    values = [one.checkpoint["channel_values"] for one in found]
    return [(one["turn"], one.get("step")) for one in values]


def rows(saver: CheckpointSaver, table: str, thread: str = "t1") -> int:
    count = f"SELECT COUNT(*) FROM {table} WHERE thread_id = ?"  # noqa: S608 - our own names
    return int(saver.conn.execute(count, (thread,)).fetchone()[0])


async def test_what_a_thread_gathers_comes_back_as_it_was(saver: CheckpointSaver):
    values = {
        "messages": [
            HumanMessage(LONG, id="1"),
            AIMessage("Yes.", id="2"),
            HumanMessage("", id="3"),
        ],
        "sources": {"S1": {"title": LONG}, "S2": {}},
        "answers": {"1": {"text": "蜜蜂" * 99, "open": []}},
        "findings": {"1/s1": b"\x00" * 16, "1/s2": None, "1/s3": ["a", LONG]},
        "background": {},
        "question": LONG,
    }
    await put(saver, **values)

    (found,) = await saved(saver)

    assert found.checkpoint["channel_values"] == values
    assert found.checkpoint.keys() == empty_checkpoint().keys()


async def test_an_entry_is_saved_once_however_many_checkpoints_hold_it(saver: CheckpointSaver):
    for step in range(5):
        await put(saver, messages=[HumanMessage(LONG, id="1")], step=step)

    (sizes,) = zip(*saver.conn.execute("SELECT LENGTH(checkpoint) FROM checkpoints"), strict=True)
    assert max(sizes) < len(LONG)
    assert rows(saver, "blobs") == 1


async def test_threads_share_no_entry(saver: CheckpointSaver):
    said = [HumanMessage(LONG, id="1")]
    await put(saver, messages=said)
    await put(saver, parent=at("t2"), messages=said)

    await saver.adelete_thread("t1")

    assert rows(saver, "blobs") == 0
    assert (await saved(saver, "t2"))[0].checkpoint["channel_values"] == {"messages": said}


async def test_of_a_finished_turn_only_its_end_is_kept_and_of_the_newest_all(
    saver: CheckpointSaver,
):
    for number in (1, 2, 3):
        await turn(saver, number)

    found = await saved(saver)

    assert told(found) == [(1, 3), (2, 3), (3, None), (3, 0), (3, 1), (3, 2), (3, 3)]
    assert rows(saver, "writes") == 6
    assert [one.parent_config for one in found] == [None, *(one.config for one in found[:-1])]
    assert [len(one.checkpoint["channel_values"]["messages"]) for one in found[:2]] == [1, 2]


async def test_another_question_may_be_asked_of_an_earlier_turn(saver: CheckpointSaver):
    first = await turn(saver, 1)
    await turn(saver, 2)
    await turn(saver, 3)
    fork = await turn(saver, 2, parent=first)

    assert told(await saved(saver))[:3] == [(1, 3), (2, 3), (3, 3)]
    assert (await saver.aget_tuple(at())) == (await saver.aget_tuple(fork))

    await turn(saver, 3)
    ends = told(await saved(saver))
    assert ends[:4] == [(1, 3), (2, 3), (3, 3), (2, 3)]
    assert len(ends) == 4 + 5


async def test_a_turn_that_was_left_in_the_middle_stays_as_it_was_left(saver: CheckpointSaver):
    await turn(saver, 1)
    waiting = await put(saver, "input", turn=2)
    waiting = await put(saver, "loop", waiting, turn=2, step=0)
    await saver.aput_writes(waiting, [("__interrupt__", "plan")], "review")
    await turn(saver, 2, parent=waiting)
    await turn(saver, 3)

    found = {one.config["configurable"]["checkpoint_id"]: one for one in await saved(saver)}

    left = found[waiting["configurable"]["checkpoint_id"]]
    assert left.pending_writes == [("review", "__interrupt__", "plan")]


async def test_a_state_that_was_edited_is_kept_where_a_question_follows_it(saver: CheckpointSaver):
    await turn(saver, 1)
    await put(saver, "update", turn=1, step=9)
    await turn(saver, 2)

    assert told(await saved(saver))[0] == (1, 9)


async def test_what_was_done_again_from_an_earlier_state_has_an_end_of_its_own(
    saver: CheckpointSaver,
):
    await turn(saver, 1)
    middle = (await saved(saver))[2].config
    await put(saver, "fork", middle, turn=1, step=7)
    await put(saver, turn=1, step=8)
    await turn(saver, 2)

    found = await saved(saver)
    assert told(found)[:2] == [(1, 3), (1, 8)]
    assert [one.parent_config for one in found[:2]] == [None, None]


async def test_a_thread_of_hundreds_of_steps_is_compacted_a_part_at_a_time(
    saver: CheckpointSaver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(checkpoint_store, "_inner_checkpoints", lambda every: [])
    for number in (1, 2, 3):
        await turn(saver, number)
    monkeypatch.undo()
    monkeypatch.setattr(checkpoint_store, "MAX_DELETED", 7)

    left = []
    for number in (4, 5, 6):
        await turn(saver, number)
        found = await saved(saver)
        left.append(len(found))
        assert [one.parent_config for one in found] == [None, *(one.config for one in found[:-1])]

    assert left == [13, 11, 10]


async def test_entries_that_nothing_holds_any_more_go_with_what_held_them(saver: CheckpointSaver):
    await put(saver, "input", background={"1/a": {"text": LONG}})
    await put(saver, background={"1/a": {"text": LONG}}, run="r1")
    await put(saver, "input", background={"2/b": {"text": LONG * 3}}, run="r2")
    assert rows(saver, "blobs") == 2

    await saver.adelete_for_runs(["r1"])
    assert rows(saver, "blobs") == 1

    await put(saver, background={"2/c": {"text": LONG * 2}})
    await saver.aprune(["t1"])
    assert rows(saver, "blobs") == 1
    (newest,) = await saved(saver)
    assert newest.checkpoint["channel_values"] == {"background": {"2/c": {"text": LONG * 2}}}


async def test_a_copied_thread_has_entries_of_its_own(saver: CheckpointSaver):
    await turn(saver, 1)
    await saver.acopy_thread("t1", "t2")
    await saver.adelete_thread("t1")

    assert told(await saved(saver, "t2")) == [(1, None), (1, 0), (1, 1), (1, 2), (1, 3)]


async def test_an_entry_that_is_forgotten_and_said_again_is_whole_and_the_old_one_is_not(
    saver: CheckpointSaver,
):
    said = [HumanMessage(LONG, id="1")]
    await put(saver, messages=said, step=1)
    gone = saver.serde.dumps_typed(HumanMessage("[forgotten]", id="1"))
    saver.conn.execute("UPDATE blobs SET type = ?, value = ?, erased = 1", gone)
    await put(saver, messages=said, step=2)

    old, new = await saved(saver)

    assert old.checkpoint["channel_values"]["messages"][0].text == "[forgotten]"
    assert new.checkpoint["channel_values"]["messages"] == said


FORGED = {
    "an entry is gone": "DELETE FROM blobs",
    "an entry is nothing": "UPDATE blobs SET value = NULL",
    "an entry is no data": "UPDATE blobs SET value = x'c1'",
    "an entry is another value": "UPDATE blobs SET type = 'msgpack', value = x'01'",
}


@pytest.mark.parametrize("what", FORGED)
async def test_what_lacks_an_entry_is_told_as_damaged(saver: CheckpointSaver, what: str):
    await turn(saver, 1)
    saver.conn.execute(FORGED[what])

    with pytest.raises(Problem, match="cannot be read"):
        await saver.aget_tuple(at())
    with pytest.raises(Problem, match="cannot be read"):
        await saved(saver)


@pytest.mark.parametrize("held", [["turn"], "messages", 7, {"messages": 1}, [["messages"]], None])
async def test_a_checkpoint_that_lies_about_its_entries_is_told_as_damaged(
    saver: CheckpointSaver, held: Any
):
    forged: Any = {**empty_checkpoint(), "channel_values": {"turn": 1}, "blobs": held}
    data = saver.serde.dumps_typed(forged)
    await put(saver, turn=1)
    saver.conn.execute("UPDATE checkpoints SET type = ?, checkpoint = ?", data)

    with pytest.raises(Problem, match="cannot be read"):
        await saver.aget_tuple(at())


async def test_beside_a_damaged_checkpoint_no_entry_is_deleted(saver: CheckpointSaver):
    end = await turn(saver, 1)
    await put(saver, "input", messages=[HumanMessage(LONG * 2, id="9")], turn=2)
    broken = "UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ?"
    saver.conn.execute(broken, (end["configurable"]["checkpoint_id"],))
    saver.conn.execute("UPDATE checkpoints SET metadata = 'x' WHERE checkpoint = x'c1'")

    await turn(saver, 3)

    assert rows(saver, "blobs") == 4


async def test_a_question_that_cannot_be_saved_deletes_nothing(saver: CheckpointSaver):
    await turn(saver, 1)
    refuse = "CREATE TRIGGER refuse BEFORE DELETE ON writes BEGIN SELECT RAISE(FAIL, 'no'); END"
    saver.conn.execute(refuse)

    with pytest.raises(sqlite3.IntegrityError):
        await put(saver, "input", messages=[HumanMessage(LONG * 2, id="9")], turn=2)

    assert len(told(await saved(saver))) == 5
    assert rows(saver, "blobs") == 1


async def test_room_that_a_thread_needed_once_is_given_back_by_and_by(
    saver: CheckpointSaver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(checkpointer, "SPARE", 10)
    for step in range(40):
        await put(saver, question=str(step) + LONG * 10)

    def pages() -> int:
        return int(saver.conn.execute("PRAGMA page_count").fetchone()[0])

    most = pages()
    for number in range(1, 15):
        await turn(saver, number)

    assert pages() < most / 2


async def test_a_file_of_an_older_program_is_compacted_when_threads_are_pruned():
    settings().checkpoints.parent.mkdir(parents=True)
    with sqlite3.connect(settings().checkpoints) as old:
        old.execute("CREATE TABLE other (n)")
    async with open_checkpointer() as saver:
        assert saver.conn.execute("PRAGMA auto_vacuum").fetchone() == (0,)
        await saver.compact()
        assert saver.conn.execute("PRAGMA auto_vacuum").fetchone() == (2,)
