"""Measure what the block of memory costs in a home that is full."""

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

from benchmarks.facts_data import MadeFact, make_context, make_facts
from benchmarks.facts_speed import keep_facts
from config.resources import replace_resources
from config.settings import Settings
from library import store as pages
from library.page_rows import NewPage
from memory.agents_md.project_trust import add_trusted_folder, project_name
from memory.experience import insights
from memory.experience.credit_assignment import OutcomeSignals, credit_insights
from memory.experience.related_runs import store_related_runs
from memory.experience.run_history import record_run_end
from memory.experience.utterances import Utterance
from memory.middleware import recall_block
from memory.profile.store import update_profile
from memory.profile.traits import Trait, empty_profile_update
from memory.protocol import Note, Query
from memory.registry import MEMORIES
from memory.token_budget import MemoryBlock, NoteGroup, build_block, render_notes
from runs.call_site import join_owner
from storage.engine import close_database
from storage.events import read_revision
from text.tokens import count_tokens, is_count_exact

REPORTS = 50
RUNS = 200
USER = "local"

TRAITS = ("beekeeper", "keeps 40 hives", "curious", "careful with numbers", "patient")

RULES = "# Rules\n\n" + "\n".join(f"- Rule {at}: weigh hive {at} first." for at in range(20))


async def _furnish(home: Path, made: Sequence[MadeFact]) -> tuple[str, list[str]]:
    """Fill a home; return whose it is, and questions that its reports and runs are about."""
    folder = _written(home)
    await add_trusted_folder(USER, str(folder))
    owner = join_owner(USER, project_name(str(folder)))
    await keep_facts(owner, made)
    traits = [
        Trait(text=one, quote=one, confidence=0.9, stated=True, run="", at=0) for one in TRAITS
    ]
    await update_profile(
        owner, {**empty_profile_update(), "identities": traits[:2], "characteristics": traits[2:]}
    )
    questions = [f"What is known of {made[7 * at].content}?" for at in range(REPORTS)]
    for at, question in enumerate(questions):
        await _report(owner, f"report{at}", question, make_context(made, at))
    for at in range(RUNS):
        await _run(owner, f"run{at}", questions[at % REPORTS], made[at].content)
    return owner, questions


def _written(home: Path) -> Path:
    """Write the files of a person and a project; return the project's folder."""
    folder = home.resolve() / "project"
    for place in (home, folder, folder / ".dossier"):
        place.mkdir(exist_ok=True)
        (place / "AGENTS.md").write_text(f"{RULES}\n\nOf {place.name}.\n", encoding="utf-8")
    return folder


async def _report(owner: str, run: str, question: str, text: str) -> None:
    page = NewPage(title=question, place="", text=f"{question} {text}.\n\n## More\n\n{text}.")
    await pages.store_pages(owner, "report", run, [page], run=run)


async def _run(owner: str, run: str, question: str, content: str) -> None:
    lesson = f"Look twice for {content}."
    made = await insights.add_insight(
        owner, lesson, dict.fromkeys(("planner", "researcher"), lesson), [run]
    )
    await credit_insights(owner, run, "planner", [made.id])
    said = [Utterance("researcher", f"search {content} {at}", question) for at in range(6)]
    await record_run_end(owner, run, question, OutcomeSignals(1.0, 1.0, 1.0, 1.0), utterances=said)


ROLES = ("planner", "researcher", "reporter")
CONVERSATION = 30
NEWS = 5
"""After so many calls of the conversation a new fact is learnt."""

MIXES = 1_000
BUDGET = Settings.memory_tokens
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
        replace_resources().close()
        asyncio.run(_measure(Path(home), make_facts(options.facts), options.calls))


async def _measure(home: Path, made: Sequence[MadeFact], calls: int) -> None:
    owner, questions = await _furnish(home, made)
    print(f"tokens are {'exact' if is_count_exact() else 'estimated'}\n")
    await _speeds(owner, made, questions, calls)
    await _prefixes(owner, made, questions)
    _budgets()
    await close_database()


async def _speeds(
    owner: str, made: Sequence[MadeFact], questions: Sequence[str], calls: int
) -> None:
    """Time calls that come one after the other, as those of runs do: ten of them to a question."""
    asked = []
    for number in range(calls):
        run = f"new{number // 10}"
        question = questions[number // 10 % len(questions)]
        if number % 10 == 0:
            await store_related_runs(owner, run, question)
        text = f"{question}\n{make_context(made, number)}"
        role = ROLES[number % len(ROLES)]
        asked.append(Query(owner, role, text, (question,), run=run, question=question))
    await recall_block(asked[-1], MEMORIES, BUDGET)
    whole = [await _timed(query) for query in asked]
    print("| memory | notes | tokens | p50 ms | p95 ms |\n|---|---|---|---|---|")
    now = await read_revision(owner)
    for memory in MEMORIES:
        times, notes = [], 0
        for query in asked:
            started = time.perf_counter()
            some = await memory.recall(query._replace(revision=now), BUDGET)
            times.append((time.perf_counter() - started) * 1e3)
            notes += len(some)
        parts = [part for _, some in whole for part in some.groups if part.name == memory.name]
        tokens = sum(count_tokens(render_notes([part])) for part in parts) / calls
        _row(memory.name, notes / calls, tokens, times)
    blocks = [(sum(len(part.notes) for part in some.groups), some.tokens) for _, some in whole]
    notes_told, tokens_told = np.mean(blocks, axis=0)
    _row("the whole block", notes_told, tokens_told, [each for each, _ in whole])
    print("goal: the whole block within 15 ms at p95\n")


def _row(name: str, notes: float, tokens: float, times: Sequence[float]) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(f"| {name} | {notes:.1f} | {tokens:.0f} | {p50:.2f} | {p95:.2f} |")


async def _timed(query: Query) -> tuple[float, MemoryBlock]:
    started = time.perf_counter()
    block = await recall_block(query, MEMORIES, BUDGET)
    return (time.perf_counter() - started) * 1e3, block


async def _prefixes(owner: str, made: Sequence[MadeFact], questions: Sequence[str]) -> None:
    """Have a conversation of one role, in which facts are learnt, and compare its calls."""
    before: list[str] = []
    after: list[str] = []
    turns: list[str] = []
    for number in range(CONVERSATION):
        question = questions[number // NEWS]
        if number % NEWS == 0:
            turns.append(question)
            await keep_facts(
                owner, [MadeFact(f"New: {make_context(made, -number)[:60]}", "context", 0.9)]
            )
            await store_related_runs(owner, f"talk{number}", question)
        run = f"talk{number // NEWS * NEWS}"
        text = f"{question}\n{made[number].content}"
        query = Query(owner, "researcher", text, tuple(turns[-3:]), run=run, question=question)
        block = await recall_block(query, MEMORIES, BUDGET)
        after.append(block.text)
        before.append(render_notes([_by_score(part) for part in reversed(block.groups)]))
    print(f"identical leading tokens of a block and the one before, {CONVERSATION} calls of a role")
    print(f"| changing text first, best note first | {_kept(before):.1%} |")
    print(f"| as it is told | {_kept(after):.1%} |\n")


def _by_score(part: NoteGroup) -> NoteGroup:
    notes = sorted(part.notes, key=lambda note: -sum(note.score.values()))
    return part._replace(notes=notes)


def _kept(blocks: Sequence[str]) -> float:
    same = [count_tokens(one[: _alike(one, other)]) for one, other in pairwise(blocks)]
    return sum(same) / sum(count_tokens(block) for block in blocks[1:])


def _alike(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def _budgets() -> None:
    chance = random.Random(4)
    over = 0
    for number in range(MIXES):
        budget = BUDGETS[number % len(BUDGETS)]
        parts = [NoteGroup(memory.name, memory.share, [*_notes(chance)]) for memory in MEMORIES]
        over += count_tokens(build_block(parts, budget).text) > budget
    print(f"{MIXES} mixes of English, Chinese, code and emoji: budget exceeded {over} times")


def _notes(chance: random.Random) -> Iterator[Note]:
    for number in range(chance.randrange(20)):
        lines = chance.choices([*TEXTS, *ODD], k=chance.randrange(1, 12))
        text = chance.choice(["\n", " "]).join(line.format(number) for line in lines)
        yield Note(chance.choice(["", "title", "标题"]), text, pinned=chance.random() < 0.1)


if __name__ == "__main__":
    main()
