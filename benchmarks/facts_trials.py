"""Write facts from several processes at once, and kill a writer at random moments.

`python -m benchmarks.facts_trials OWNER NAME COUNT` is such a writer.
"""

from __future__ import annotations

import asyncio
import random
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from pathlib import Path

from sqlalchemy import Connection, text

from memory.facts.fact import Fact, NewFact
from memory.facts.queries import list_facts
from memory.facts.store import add_fact
from storage.engine import run_read
from storage.events import list_events

ROOT = Path(__file__).parents[1]

PROCESSES, EACH, KILLS = 8, 500, 200


def make_content(name: str, number: int) -> str:
    """Return a fact: every fifth is the same for all who write, the others are their own."""
    if number % 5 == 0:
        return f"Everyone knows item{number} of list{number % 7}, 大家都知道第{number}项"
    return f"Writer{name} noted entry{name}x{number} in book{number % 13}, 第{number}条笔记"


async def _write(owner: str, name: str, count: int) -> None:
    """Add so many facts, and say each time that one is kept."""
    for number in range(count):
        fact = await add_fact(owner, NewFact(make_content(name, number), confidence=0.8))
        print(f"{fact.id} {number}", flush=True)


async def run_writers() -> None:
    """Let processes add facts at the same time, some of them the same, and count what is there."""
    names = [f"w{number}" for number in range(PROCESSES)]
    running = [await start_writer("writers/", name, EACH) for name in names]
    said = await asyncio.gather(*(process.communicate() for process in running))
    failed = sum(process.returncode != 0 for process in running)
    acknowledged = sum(len(out.splitlines()) for out, _ in said)
    wanted = {make_content(name, number) for name in names for number in range(EACH)}
    lost, doubled, torn = _flaws(await list_facts("writers/"), wanted)
    events = len(await list_events("writers/", limit=10 * PROCESSES * EACH))
    print(
        f"\n{PROCESSES} processes x {EACH} writes: {acknowledged} acknowledged, {lost} lost, "
        f"{doubled} doubled, {torn} torn; {events} events; {failed} processes failed"
    )


async def run_kills() -> None:
    """Kill a process that adds facts, at random moments; look each time for what it had said."""
    chance = random.Random(1)
    said, lost, broken, half = 0, 0, 0, 0
    for number in range(KILLS):
        owner, name = "kills/", f"k{number}"
        process = await start_writer(owner, name, 10_000)
        assert process.stdout  # noqa: S101
        lines = [await process.stdout.readline() for _ in range(chance.randrange(1, 12))]
        await asyncio.sleep(chance.random() / 50)
        process.kill()
        lines += (await process.stdout.read()).splitlines()
        await process.wait()
        numbers = [int(line.split()[1]) for line in lines if len(line.split()) == 2]
        known = {fact.content for fact in await list_facts(owner)}
        said += len(numbers)
        lost += sum(make_content(name, at) not in known for at in numbers)
        broken += not await _intact()
        half += await _half()
    print(
        f"\n{KILLS} kills while writing: {said} writes acknowledged, {lost} of them lost; "
        f"{broken} times not intact; {half} facts without their event"
    )


def _flaws(found: list[Fact], wanted: set[str]) -> tuple[int, int, int]:
    """Return how many facts are lost, how many there are too often, and how many are another's."""
    times = Counter(fact.content for fact in found)
    return (
        len(wanted - times.keys()),
        sum(times[one] - 1 for one in times),
        len(times.keys() - wanted),
    )


async def _intact() -> bool:
    def check(connection: Connection) -> bool:
        if connection.dialect.name != "sqlite":
            return True
        return connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"

    return await run_read(check)


async def _half() -> int:
    """Return how many facts have a revision that no event of theirs has."""
    lonely = text(
        "SELECT count(*) FROM facts WHERE owner = 'kills/' AND NOT EXISTS (SELECT 1 FROM events"
        " WHERE events.id = facts.revision AND events.item = facts.id)"
    )
    return int(await run_read(lambda connection: connection.execute(lonely).scalar_one()))


async def start_writer(owner: str, name: str, count: int) -> Process:
    """Start a process that adds so many facts, and says so on its output."""
    command = ("-m", "benchmarks.facts_trials", owner, name, str(count))
    return await asyncio.create_subprocess_exec(sys.executable, *command, cwd=ROOT, stdout=PIPE)


if __name__ == "__main__":
    asyncio.run(_write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
