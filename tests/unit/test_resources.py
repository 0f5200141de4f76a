"""What a process keeps is made once, closed in the reverse order, and then made anew."""

from __future__ import annotations

import asyncio

import pytest

from config.resources import (
    LoopResource,
    RecentCache,
    Resource,
    SharedTasks,
    close_resources,
    process_cached,
    replace_resources,
)


def test_a_resource_is_made_on_first_use_and_once():
    made: list[int] = []
    resource = Resource(lambda: made.append(1) or made)

    assert not made
    assert resource.get() is resource.get() is made
    assert made == [1]


async def test_closing_goes_backwards_and_what_is_used_again_is_made_anew():
    closed: list[str] = []
    first = Resource(lambda: "first", closed.append)
    second = Resource(lambda: first.get() + " second", closed.append)

    async def close(value: str) -> None:
        closed.append(value)

    of_loop = LoopResource(lambda: "loop", close)
    first.get(), second.get(), of_loop.get()
    await close_resources()

    assert closed == ["loop", "first second", "first"]
    assert second.get() == "first second"


def test_an_event_loop_has_its_own():
    resource = LoopResource(list[int])

    async def get() -> list[int]:
        assert resource.get() is resource.get()
        return resource.get()

    assert asyncio.run(get()) is not asyncio.run(get())


def test_what_was_remembered_is_read_again_in_a_new_process(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    @process_cached
    def read(name: str) -> str:
        asked.append(name)
        return name

    assert read("a") == read("a") == "a"
    replace_resources().close()
    read("a")

    assert asked == ["a", "a"]


def test_what_was_used_longest_ago_is_dropped():
    cache = RecentCache[str, int](2)
    cache["a"], cache["b"] = 1, 2
    assert cache["a"] == 1
    cache["c"] = 3

    assert list(cache) == ["a", "c"]


async def test_what_callers_want_at_the_same_moment_is_done_once():
    tasks, done = SharedTasks[str, int](), []

    async def work() -> int:
        await asyncio.sleep(0)
        done.append("bees")
        return len(done)

    assert await asyncio.gather(*(tasks.run("bees", work) for _ in range(3))) == [1, 1, 1]
    assert await tasks.run("bees", work) == 2


async def test_a_caller_that_is_cancelled_leaves_the_work_to_the_others():
    tasks, go_on = SharedTasks[str, str](), asyncio.Event()

    async def work() -> str:
        await go_on.wait()
        return "done"

    first, second = (asyncio.create_task(tasks.run("bees", work)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    go_on.set()

    assert first.cancelled()
    assert await second == "done"


async def test_an_error_of_shared_work_reaches_every_caller():
    tasks = SharedTasks[str, None]()

    async def work() -> None:
        raise ValueError

    found = await asyncio.gather(
        tasks.run("bees", work), tasks.run("bees", work), return_exceptions=True
    )

    assert [type(one) for one in found] == [ValueError, ValueError]
