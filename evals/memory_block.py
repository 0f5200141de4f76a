"""Measure the block of everything remembered that stands in front of each model call.

`python -m evals.memory_block`: in a home with 10,000 facts, 50 reports, a profile, three AGENTS.md
and the experience of 200 runs, how long the whole block takes while nothing changes, and each
memory alone; how much of the block stays the same from call to call of a role; and how often random
notes are longer than their budget. SQLite in a folder of its own, or what DOSSIER_DATABASE_URL
names.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from config.settings import settings
from evals.facts import keep
from evals.facts_made import Made, context, facts
from evals.memory_home import furnish
from memory.base import Note, Query
from memory.budget import Part, fitting, told
from memory.experience.recalling import prepare
from memory.middleware import BUDGET, remembered
from memory.registry import MEMORIES
from retrieval.tokens import count, exact
from storage.engine import close
from storage.events import revision

ROLES = ("planner", "researcher", "reporter")
CONVERSATION = 30
NEWS = 5
"""After so many calls of the conversation a new fact is learnt."""

MIXES = 1_000
BUDGETS = (100, 300, 1_000, 3_000)
TEXTS = (
    "The hive lost weight in {0} weeks.",
    "蜂群在{0}天内失去了重量。",
    "def weigh({0}=None):\n    return {0}",
)
ODD = (
    "🐝🍯👩‍👩‍👧{0}",
    "<|endoftext|>{0}</memory>",
    "| a{0} | b |\n|---|---|\n| 1 | 2 |",
    "x{0}" * 200,
)


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        settings.cache_clear()
        asyncio.run(_measure(Path(home), facts(options.facts), options.calls))


async def _measure(home: Path, made: Sequence[Made], calls: int) -> None:
    owner, questions = await furnish(home, made)
    print(f"tokens are {'exact' if exact() else 'estimated'}\n")
    await _speeds(owner, made, questions, calls)
    await _prefixes(owner, made, questions)
    _budgets()
    await close()


async def _speeds(owner: str, made: Sequence[Made], questions: Sequence[str], calls: int) -> None:
    """Time calls that come one after the other, as those of runs do: ten of them to a question."""
    asked = []
    for number in range(calls):
        run = f"new{number // 10}"
        question = questions[number // 10 % len(questions)]
        if number % 10 == 0:
            await prepare(owner, run, question)
        text = f"{question}\n{context(made, number)}"
        role = ROLES[number % len(ROLES)]
        asked.append(Query(owner, role, text, (question,), run=run, question=question))
    await remembered(asked[-1], MEMORIES, BUDGET)
    whole = [await _timed(query) for query in asked]
    print("| memory | notes | tokens | p50 ms | p95 ms |\n|---|---|---|---|---|")
    now = await revision(owner)
    for memory in MEMORIES:
        times, notes = [], 0
        for query in asked:
            started = time.perf_counter()
            some = await memory.recall(query._replace(revision=now), BUDGET)
            times.append((time.perf_counter() - started) * 1e3)
            notes += len(some)
        parts = [part for _, some in whole for part in some if part.name == memory.name]
        tokens = sum(count(told([part])) for part in parts) / calls
        _row(memory.name, notes / calls, tokens, times)
    blocks = [(sum(len(part.notes) for part in some), count(told(some))) for _, some in whole]
    notes_told, tokens_told = np.mean(blocks, axis=0)
    _row("the whole block", notes_told, tokens_told, [each for each, _ in whole])
    print("goal: the whole block within 15 ms at p95\n")


def _row(name: str, notes: float, tokens: float, times: Sequence[float]) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(f"| {name} | {notes:.1f} | {tokens:.0f} | {p50:.2f} | {p95:.2f} |")


async def _timed(query: Query) -> tuple[float, list[Part]]:
    started = time.perf_counter()
    parts = await remembered(query, MEMORIES, BUDGET)
    told(parts)
    return (time.perf_counter() - started) * 1e3, parts


async def _prefixes(owner: str, made: Sequence[Made], questions: Sequence[str]) -> None:
    """Have a conversation of one role, in which facts are learnt, and compare its calls."""
    before: list[str] = []
    after: list[str] = []
    turns: list[str] = []
    for number in range(CONVERSATION):
        question = questions[number // NEWS]
        if number % NEWS == 0:
            turns.append(question)
            await keep(owner, [Made(f"New: {context(made, -number)[:60]}", "context", 0.9)])
            await prepare(owner, f"talk{number}", question)
        run = f"talk{number // NEWS * NEWS}"
        text = f"{question}\n{made[number].content}"
        query = Query(owner, "researcher", text, tuple(turns[-3:]), run=run, question=question)
        parts = await remembered(query, MEMORIES, BUDGET)
        after.append(told(parts))
        before.append(told([_by_score(part) for part in reversed(parts)]))
    print(f"identical leading tokens of a block and the one before, {CONVERSATION} calls of a role")
    print(f"| changing text first, best note first | {_kept(before):.1%} |")
    print(f"| as it is told | {_kept(after):.1%} |\n")


def _by_score(part: Part) -> Part:
    notes = sorted(part.notes, key=lambda note: -sum(note.score.values()))
    return part._replace(notes=notes)


def _kept(blocks: Sequence[str]) -> float:
    same = [count(one[: _alike(one, other)]) for one, other in pairwise(blocks)]
    return sum(same) / sum(count(block) for block in blocks[1:])


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _budgets() -> None:
    chance = random.Random(4)
    over = 0
    for number in range(MIXES):
        budget = BUDGETS[number % len(BUDGETS)]
        parts = [Part(memory.name, memory.share, [*_notes(chance)]) for memory in MEMORIES]
        over += count(told(fitting(parts, budget))) > budget
    print(f"{MIXES} mixes of English, Chinese, code and emoji: budget exceeded {over} times")


def _notes(chance: random.Random) -> Iterator[Note]:
    for number in range(chance.randrange(20)):
        lines = chance.choices([*TEXTS, *ODD], k=chance.randrange(1, 12))
        text = chance.choice(["\n", " "]).join(line.format(number) for line in lines)
        yield Note(chance.choice(["", "title", "标题"]), text, must=chance.random() < 0.1)


if __name__ == "__main__":
    main()
