"""The gate that only so many steps of a run pass at a time."""

from __future__ import annotations

import asyncio

from calls.run_budget import step_semaphore
from tests.places import somewhere


async def test_the_steps_of_a_run_share_a_gate_and_other_runs_have_their_own():
    held = step_semaphore(somewhere(step="s1"), 1)

    assert step_semaphore(somewhere(step="s2"), 1) is held
    assert step_semaphore(somewhere(run="t2-1"), 1) is not held


async def test_a_gate_that_nobody_uses_any_more_is_forgotten():
    held = step_semaphore(somewhere(), 1)
    await held.acquire()
    del held

    assert not step_semaphore(somewhere(), 1).locked()


def test_a_run_that_goes_on_in_another_event_loop_gets_another_gate():
    async def contended() -> None:
        held = step_semaphore(somewhere(), 1)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(3):
                tasks.create_task(_pass(held))

    asyncio.run(contended())
    asyncio.run(contended())


async def _pass(held: asyncio.Semaphore) -> None:
    async with held:
        await asyncio.sleep(0)
