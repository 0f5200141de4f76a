"""Show whether experience helps: a scripted agent meets 6 kinds of tasks again and again.

`python -m evals.lessons --tasks 120`: each kind of task has one thing that somebody must know, the
planner, say, or the reporter. The agent succeeds if the first thing that this role is told of
earlier runs is the right one; one time in five it succeeds by luck. What it concludes of a run is
more often right than wrong when it succeeded, and more often wrong when it failed; it is a method,
right or wrong for the task. The same tasks with the same luck and the same conclusions are met
three times: with the experience of `memory`, with a plain memory that tells every role the
conclusions of the most similar questions, and with none.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Sequence
from typing import NamedTuple

from evals.retrieval_eval import open_own_store
from memory.experience import consolidation, insights
from memory.experience.credit_assignment import OutcomeSignals, credit_insights
from memory.experience.memory import EXPERIENCE_ROLES, INSIGHT_TITLE, ExperienceMemory
from memory.experience.related_runs import store_related_runs
from memory.experience.run_history import RunEnding, question_vector, record_run_end
from memory.experience.utterances import Utterance
from memory.protocol import Query
from models.hashing_vectors import FloatMatrix
from prompts.methods import load_methods
from storage.engine import close_database
from text.script import detect_language

OWNER = "eval/"
LUCK, RIGHT_AFTER_SUCCESS, RIGHT_AFTER_FAILURE = 0.2, 0.8, 0.35
TOLD = 3


class _Kind(NamedTuple):
    """A kind of task: how it is asked, and by which methods it is done and is not."""

    asked: Sequence[str]
    role: str
    right: str
    wrong: Sequence[str]

    def said(self, method: str) -> str:
        """Return the sentence of a method in the language of the questions."""
        return load_methods()[method].sentence(detect_language(self.asked[0]))


class _Task(NamedTuple):
    """One task, with the luck and the conclusion that belong to it."""

    question: str
    kind: _Kind
    luck: bool
    right: tuple[bool, bool]
    """Whether the conclusion is right after a failure, and after a success."""
    wrong: str


THINGS = ("Oslo", "Lima", "Kyoto", "Accra", "Quito", "Turin", "成都", "昆明", "Leeds", "Ghent")
KINDS = (
    _Kind(
        ("When did the metro of {} open?", "In which year did the first metro line of {} open?"),
        "planner",
        "step_on_records",
        ("one_thing_per_step", "step_on_units"),
    ),
    _Kind(
        ("How many people lived in {} in 1990?", "What was the population of {} in 1990?"),
        "researcher",
        "in_statistics",
        ("in_encyclopedias", "in_maps"),
    ),
    _Kind(
        ("How much did rents in {} rise in percent?", "By what percentage did rent grow in {}?"),
        "researcher",
        "index_values",
        ("add_the_unit", "real_prices"),
    ),
    _Kind(
        ("Is the air of {} better than ten years ago?", "Has air quality in {} improved lately?"),
        "reflector",
        "same_basis",
        ("has_a_unit", "sums_add_up"),
    ),
    _Kind(
        ("Compare the trams of {} with buses.", "Are trams or buses cheaper to run in {}?"),
        "reporter",
        "year_of_each_figure",
        ("whole_list", "order_of_time"),
    ),
    _Kind(
        ("{}有多少座图书馆？", "{}的公共图书馆一共有几座？"),
        "researcher",
        "in_registers",
        ("in_news", "in_maps"),
    ),
)


class _Ours:
    """The three tiers, as a run uses them."""

    async def told(self, run: str, question: str) -> dict[str, list[str]]:
        """Return the insights for each role, and give them credit."""
        await store_related_runs(OWNER, run, question)
        memory, notes = ExperienceMemory(), {}
        for role in EXPERIENCE_ROLES:
            found = await memory.recall(Query(OWNER, role, question, run=run), 3_000)
            notes[role] = [note.text for note in found]
            await credit_insights(
                OWNER, run, role, [one.id for one in found if one.title == INSIGHT_TITLE]
            )
        return notes

    async def keep(self, run: str, task: _Task, good: bool, learnt: str, role: str) -> None:
        """Close the run and add the insight."""
        value = float(good)
        said = [Utterance("planner", f"plan for {task.question}")]
        if good:
            said.append(Utterance(task.kind.role, task.kind.said(task.kind.right)))
        await record_run_end(
            OWNER,
            run,
            RunEnding(task.question, OutcomeSignals(value, value, value, 1.0), utterances=said),
        )
        await insights.add_insight(OWNER, insights.InsightText(learnt, {role: learnt}), [run])
        await consolidation.retire_insights(OWNER)


class _Plain:
    """A list of conclusions; the most similar questions give some of theirs, to whoever asks."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.conclusions: list[tuple[FloatMatrix, str]] = []

    async def told(self, run: str, question: str) -> dict[str, list[str]]:
        """Return the conclusions of the most similar questions."""
        del run
        vector = question_vector(question)
        near = sorted(self.conclusions, key=lambda one: -float(one[0] @ vector))
        best = list(dict.fromkeys(text for _, text in near))[: self.most]
        return dict.fromkeys(EXPERIENCE_ROLES, best)

    async def keep(self, run: str, task: _Task, good: bool, learnt: str, role: str) -> None:
        """Keep the conclusion beside its question."""
        del run, good, role
        self.conclusions.append((question_vector(task.question), learnt))


def main() -> None:
    """Print the success rate of each condition, quarter by quarter, and the precision per role."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with open_own_store():
        asyncio.run(_measure(_tasks(options.tasks, options.seed)))


async def _measure(met: list[_Task]) -> None:
    quarter = max(1, len(met) // 4)
    print(f"{'memory':>12} {'1st':>6} {'2nd':>6} {'3rd':>6} {'4th quarter':>12} {'all':>6}")
    precisions = {}
    memories: dict[str, _Ours | _Plain]
    memories = {"experience": _Ours(), "similarity": _Plain(TOLD), "none": _Plain(0)}
    for name, memory in memories.items():
        won, precisions[name] = await _meet(met, memory)
        parts = [won[at : at + quarter] for at in range(0, 4 * quarter, quarter)]
        cells = [sum(part) / len(part) for part in (*parts, won)]
        print(f"{name:>12} " + " ".join(f"{cell:>6.0%}" for cell in cells))
    print("\nshare of what a role was told that was right for the task and the role")
    for role in EXPERIENCE_ROLES:
        told = [f"{name} {shares.get(role, 0.0):.0%}" for name, shares in precisions.items()]
        print(f"{role:>12} {', '.join(told[:2])}")
    await close_database()


async def _meet(
    met: Sequence[_Task], memory: _Ours | _Plain
) -> tuple[list[bool], dict[str, float]]:
    """Let the agent meet tasks; return which it solved, and how precise each role was told."""
    won: list[bool] = []
    right: dict[str, list[bool]] = {}
    for number, task in enumerate(met):
        run, kind = f"run{number}", task.kind
        useful = kind.said(kind.right)
        notes = await memory.told(run, task.question)
        for role, texts in notes.items():
            said = [useful in text and role == kind.role for text in texts[:TOLD]]
            right.setdefault(role, []).extend(said)
        first = notes[kind.role][:1]
        good = task.luck or any(useful in text for text in first)
        learnt = useful if task.right[good] else kind.said(task.wrong)
        await memory.keep(run, task, good, learnt, kind.role)
        won.append(good)
    return won, {role: sum(said) / len(said) for role, said in right.items() if said}


def _tasks(count: int, seed: int) -> list[_Task]:
    """Return so many tasks, all kinds equally often, in a mixed order."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        made.append(
            _Task(
                chance.choice(kind.asked).format(chance.choice(THINGS)),
                kind,
                chance.random() < LUCK,
                (chance.random() < RIGHT_AFTER_FAILURE, chance.random() < RIGHT_AFTER_SUCCESS),
                chance.choice(kind.wrong),
            )
        )
    chance.shuffle(made)
    return made


if __name__ == "__main__":
    main()
