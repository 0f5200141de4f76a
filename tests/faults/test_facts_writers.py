"""Several processes write facts at once, and one of them is killed: nothing is lost or doubled."""

from __future__ import annotations

import pytest

from memory.facts.queries import list_facts
from storage.events import list_events
from tests.faults.facts_writer import make_content, start_writer

pytestmark = pytest.mark.usefixtures("either")

OWNER = "trial/"


async def test_processes_that_write_at_once_lose_and_double_nothing():
    processes = [await start_writer(OWNER, name, 20) for name in "abc"]
    said = [await process.communicate() for process in processes]

    known = sorted(fact.content for fact in await list_facts(OWNER))
    assert [len(out.splitlines()) for out, _ in said] == [20] * 3
    assert known == sorted({make_content(name, at) for name in "abc" for at in range(20)})
    assert len(await list_events(OWNER, limit=1_000)) == 3 * 20


async def test_what_was_said_to_be_kept_outlives_a_kill():
    process = await start_writer(OWNER, "k", 10_000)
    assert process.stdout
    lines = [await process.stdout.readline() for _ in range(20)]
    process.kill()
    lines += (await process.stdout.read()).splitlines()
    await process.wait()

    facts = await list_facts(OWNER)
    known = {fact.content for fact in facts}
    whole = [line.split() for line in lines if line.endswith(b"\n") or len(line.split()) == 2]
    assert {make_content("k", int(number)) for _, number in whole} <= known
    events = {one.event.item: one.id for one in await list_events(OWNER, limit=1_000)}
    assert {fact.id: fact.revision for fact in facts} == events
