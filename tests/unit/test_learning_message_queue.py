"""What people said waits until it is read, once, whatever ends the process that reads it."""

from __future__ import annotations

import asyncio
import time

import pytest
from sqlalchemy import select

from memory.learning.message_queue import (
    PersonMessage,
    QueuedMessage,
    complete_messages,
    enqueue_message,
    lease_messages,
    postpone_messages,
)
from storage import outbox as queue
from storage.engine import read_rows
from storage.tables import outbox
from tests.places import new_process

OWNER = "local/"


@pytest.fixture(autouse=True)
def _database(either: str) -> None:
    del either


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be due at once."""
    monkeypatch.setenv("DOSSIER_LEARN_SECONDS", "0")
    new_process()


def said(message: str, thread: str = "t1") -> PersonMessage:
    return PersonMessage(thread, f"{thread}-1", message, f"I say {message}")


def names(turns: list[QueuedMessage]) -> list[str]:
    return [turn.content.message for turn in turns]


async def dues() -> list[float]:
    return list((await read_rows(select(outbox.c.due).order_by(outbox.c.id))).scalars())


async def test_a_thread_is_read_at_once_at_its_end_and_others_when_they_are_quiet():
    await enqueue_message(OWNER, said("m1"))
    await enqueue_message(OWNER, said("m2", "t2"))
    await enqueue_message("other/", said("m3"))

    assert await lease_messages(OWNER) == []
    assert names(await lease_messages(OWNER, "t1")) == ["m1"]


async def test_what_was_taken_before_the_clock_was_set_back_is_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    now = time.time()
    await enqueue_message(OWNER, said("m1"))
    assert names(await lease_messages(OWNER, "t1")) == ["m1"]

    monkeypatch.setattr(time, "time", lambda: now - 60)
    assert await lease_messages(OWNER, "t1") == []
    monkeypatch.setattr(time, "time", lambda: now - 86_400)
    assert names(await lease_messages(OWNER)) == ["m1"]


async def test_a_newer_message_puts_off_the_older_ones_of_its_thread():
    await enqueue_message(OWNER, said("m1"))
    await enqueue_message(OWNER, said("m2", "t2"))
    first, other = await dues()

    await enqueue_message(OWNER, said("m3"))

    later = await dues()
    assert later[0] > first
    assert later[1] == other


@pytest.mark.usefixtures("quick")
async def test_a_message_is_kept_once_even_after_it_was_read():
    await enqueue_message(OWNER, said("m1"))
    await enqueue_message(OWNER, said("m1"))
    turns = await lease_messages(OWNER)
    assert names(turns) == ["m1"]
    await complete_messages(turns)

    await enqueue_message(OWNER, said("m1"))

    assert await lease_messages(OWNER) == []


@pytest.mark.usefixtures("quick")
async def test_two_that_read_at_once_do_not_read_the_same():
    for number in range(6):
        await enqueue_message(OWNER, said(f"m{number}"))

    taken = await asyncio.gather(*(lease_messages(OWNER, "t1") for _ in range(3)))

    assert sorted(name for turns in taken for name in names(turns)) == [f"m{n}" for n in range(6)]


@pytest.mark.usefixtures("quick")
async def test_what_somebody_took_and_never_finished_comes_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("memory.learning.message_queue.JOB_LEASE", -1.0)
    await enqueue_message(OWNER, said("m1"))
    await lease_messages(OWNER)

    assert names(await lease_messages(OWNER)) == ["m1"]


@pytest.mark.usefixtures("quick")
async def test_what_could_not_be_read_waits_longer_each_time():
    await enqueue_message(OWNER, said("m1"))
    waits = []
    for _ in range(3):
        turns = await lease_messages(OWNER, "t1")
        await postpone_messages(turns)
        (due,) = await dues()
        waits.append(due)

    assert waits[2] - waits[1] > queue.WAIT
    assert turns[0].job.tries == 2


@pytest.mark.usefixtures("quick")
async def test_what_is_said_in_a_run_that_is_still_at_work_is_left():
    await enqueue_message(OWNER, said("m1"))

    assert await lease_messages(OWNER, excluded_run="t1-1") == []
