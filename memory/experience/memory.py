"""Tell each role what past runs teach it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from config.settings import settings
from memory.base import Note, Query
from memory.experience.insights import Insight
from memory.experience.recalling import Candidate, learnt, prepared
from memory.experience.utterances import Utterance, spoken

INSIGHT = "insight"
"""The title of the notes whose ids are those of insights."""

INSIGHTS = 3
"""So many insights a call is told at the most."""

EXAMPLES = 2
"""Of so many earlier runs a call is told the key steps."""

ROLES = ("planner", "researcher", "coder", "reflector", "reporter")
"""Those who are told of past runs."""

SHOWN = ("planner", "researcher", "coder")
"""Those who are shown how it was done; the others judge and write, and need no steps."""

WORTH = 0.5
"""Insights are told that are worth at least this part of what the best one is."""

RUNS = 64
"""What so many runs were told is held in memory."""


Key = tuple[str, str, str, int]
"""The database, the owner, the run, and the newest event of the owner."""


class Told(NamedTuple):
    """What a run can learn: worked out once, when its first call asks."""

    insights: Sequence[tuple[Insight, float]]
    examples: Sequence[tuple[Candidate, Sequence[Utterance]]]


class Experience:
    """What past runs teach: insights in the words for a role, and key steps of runs like this."""

    name = "experience"
    share = 0.13

    def __init__(self) -> None:
        self.told: OrderedDict[Key, Told] = OrderedDict()

    async def recall(self, query: Query, budget: int) -> list[Note]:
        """Return the insights for the role, the best first, and then the key steps."""
        del budget
        if query.role not in ROLES or not query.run:
            return []
        told = await self._told((settings().database, query.owner, query.run, query.revision))
        notes = [*_insights(told, query.role), *_examples(told, query.role)]
        # They are told best first, so none of them is newer than the others.
        at = max((note.revision for note in notes), default=0)
        return [note._replace(revision=at) for note in notes]

    async def _told(self, key: Key) -> Told:
        known = self.told.get(key)
        if known is None:
            _, owner, run, _ = key
            known = await _worked_out(owner, run)
            if known.insights or known.examples:
                self.told[key] = known
                while len(self.told) > RUNS:
                    self.told.popitem(last=False)
        return known


async def _worked_out(owner: str, run: str) -> Told:
    candidates = await prepared(owner, run)
    resolved = [one for one in candidates if one.past.status == "resolved"]
    examples = [(one, await spoken(owner, one.past.run, main=True)) for one in resolved[:EXAMPLES]]
    return Told(await learnt(owner, candidates), [one for one in examples if one[1]])


def _insights(told: Told, role: str) -> list[Note]:
    for_role = [(one, worth) for one, worth in told.insights if role in one.projections]
    least = WORTH * for_role[0][1] if for_role else 0.0
    return [
        Note(
            INSIGHT,
            one.projections[role],
            id=one.id,
            revision=one.revision,
            score={"worth": worth, "wins": one.wins, "uses": one.uses},
        )
        for one, worth in for_role[:INSIGHTS]
        if worth >= least
    ]


def _examples(told: Told, role: str) -> list[Note]:
    if role not in SHOWN:
        return []
    return [
        Note(
            f"how a similar question was answered: {one.past.question}",
            "\n".join(line(step) for step in steps if _concerns(step, role)),
            id=one.past.run,
            revision=one.past.revision,
            score={"rating": one.rating, "similarity": one.similarity, "outcome": one.past.outcome},
        )
        for one, steps in told.examples
        if any(_concerns(step, role) for step in steps)
    ]


def _concerns(step: Utterance, role: str) -> bool:
    return role == "planner" or step.who in (role, "web", "files")


def line(step: Utterance) -> str:
    """Return what was done in a key step, as one line.

    What was seen or written there is left out: it may be the words of any page that was read.
    """
    return f"{step.who}: {' '.join(step.action.split())[:300]}"
