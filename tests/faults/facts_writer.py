"""Write facts in a process of its own: `python -m tests.faults.facts_writer OWNER NAME COUNT`."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from memory.facts.fact import NewFact
from memory.facts.store import add_fact

ROOT = Path(__file__).parents[2]


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


async def start_writer(owner: str, name: str, count: int) -> Process:
    """Start a process that adds so many facts, and says so on its output."""
    command = ("-m", "tests.faults.facts_writer", owner, name, str(count))
    return await asyncio.create_subprocess_exec(sys.executable, *command, cwd=ROOT, stdout=PIPE)


if __name__ == "__main__":
    asyncio.run(_write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
