"""Measure what it costs to add a run to the experience, and to find what helps a new one.

`python -m benchmarks.experience_cost --runs 100 1000 10000`: so many runs of 20 utterances, whose
questions are made-up words as common as in English; then runs are added, and lessons looked up, one
by one. `--kills 100`: a process that adds runs is killed with SIGKILL at random moments; then edges
that lead nowhere are looked for. DOSSIER_DATABASE_URL chooses the database; SQLite in a folder of
its own when it is not set.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.synthetic import make_texts
from config.resources import replace_resources
from memory.experience import insights
from memory.experience.credit_assignment import OutcomeSignals, credit_insights
from memory.experience.insights import VOUCHED_PROVENANCE, count_dangling_edges
from memory.experience.memory import ExperienceMemory
from memory.experience.related_runs import store_related_runs
from memory.experience.run_history import list_past_runs, record_run_end
from memory.experience.utterances import Utterance
from memory.protocol import Query
from storage.engine import close_database

OWNER = "eval/"
TRIALS = 100
WORDS = 12
UTTERANCES = 20
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print a row for each number of runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="*", default=[100, 1_000, 10_000])
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--add", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.add is not None:
        asyncio.run(_go_on(options.add))
        return
    if options.kills:
        with tempfile.TemporaryDirectory() as home:
            os.environ["DOSSIER_HOME"] = home
            replace_resources().close()
            asyncio.run(_killed(options.kills))
        return
    print(f"{'runs':>7} {'add p50':>9} {'p95':>7} {'retrieve p50':>13} {'p95':>7}   milliseconds")
    with tempfile.TemporaryDirectory() as home:
        os.environ["DOSSIER_HOME"] = home
        replace_resources().close()
        asyncio.run(_measure(sorted(options.runs)))
    print("goals: add ≤ 20, retrieve ≤ 20, from 1,000 to 10,000 no more than twice as long")


async def _measure(sizes: list[int]) -> None:
    questions = (text for _, text in make_texts(max(sizes) + 3 * TRIALS * len(sizes), WORDS))
    number = 0
    for size in sizes:
        while number < size:
            await _add(number, next(questions))
            number += 1
        added = [await _timed(_add(number + n, next(questions))) for n in range(TRIALS)]
        number += TRIALS
        found = [await _timed(_retrieve(f"new{n}", next(questions))) for n in range(TRIALS)]
        cells = [np.percentile(times, part) for times in (added, found) for part in (50, 95)]
        print(f"{size:>7} {cells[0]:>9.1f} {cells[1]:>7.1f} {cells[2]:>13.1f} {cells[3]:>7.1f}")
    await close_database()


async def _killed(times: int) -> None:
    """Kill a writer again and again, and look for what it left behind."""
    chance, told = random.Random(1), 0
    for number in range(times):
        words = [sys.executable, "-m", "benchmarks.experience_cost", "--add", str(1_000 * number)]
        process = await asyncio.create_subprocess_exec(*words, stdout=PIPE, cwd=ROOT)
        assert process.stdout  # noqa: S101
        await process.stdout.readline()
        await asyncio.sleep(chance.random() * 0.2)
        process.kill()
        told += 1 + (await process.stdout.read()).count(b"\n")
        await process.wait()
        if wrong := await count_dangling_edges():
            raise RuntimeError(str(wrong))
    kept = len(await list_past_runs(OWNER, 1_000_000))
    print(f"killed {times} times: {told} runs said to be kept, {kept} kept, no edge leads nowhere")
    await close_database()


async def _go_on(number: int) -> None:
    """Add runs until somebody ends this process, and say so."""
    for at, (_, question) in enumerate(make_texts(1_000, WORDS, seed=number + 1), start=number):
        await _add(at, question)
        print(at, flush=True)


TAUGHT: list[str] = []
"""The insights of this process."""


async def _add(number: int, question: str) -> None:
    run = f"run{number}"
    good = float(number % 3 > 0)
    if number % 5 == 1 and TAUGHT:
        await credit_insights(OWNER, run, "planner", TAUGHT[-1:])
    signs = OutcomeSignals(good, good, good, 1.0)
    await record_run_end(OWNER, run, question, signs, utterances=list(_utterances(question)))
    if number % 5 == 0:
        content = f"For {question} look twice."
        made = await insights.add_insight(
            OWNER, content, {"planner": content}, [run], provenance=VOUCHED_PROVENANCE
        )
        TAUGHT.append(made.id)


def _utterances(question: str) -> Iterator[Utterance]:
    words = question.split()
    for at in range(UTTERANCES):
        who = "researcher" if at % 2 else "web"
        yield Utterance(who, " ".join([*words[at % WORDS :], str(at)]), question, step=f"s{at % 4}")


async def _retrieve(run: str, question: str) -> None:
    await store_related_runs(OWNER, run, question)
    memory = ExperienceMemory()
    for role in ("planner", "researcher", "reporter"):
        await memory.recall(Query(OWNER, role, question, run=run), 3_000)


async def _timed(work: object) -> float:
    started = time.perf_counter()
    await work  # type: ignore[misc]
    return (time.perf_counter() - started) * 1_000


if __name__ == "__main__":
    main()
