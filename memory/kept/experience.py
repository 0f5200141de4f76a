"""What past runs taught, as people see it: insights, and how each run ended."""

from __future__ import annotations

import asyncio

from memory.experience import insights
from memory.experience.insights import Insight, guides
from memory.experience.runs import Experience, found
from memory.kept.shelf import Item, not_editable
from memory.learning.feedback import WHY
from memory.learning.gate import unfit
from retrieval.keyword import rank

UNTOLD = "not told"
"""The state of an insight that no run is told: its words are a model's, a log's or a file's."""


class ExperienceShelf:
    """The insights of an owner; a run is found under its name."""

    name = "experience"

    async def listed(self, owner: str, limit: int, *, every: bool = False) -> list[Item]:
        """Return the insights, the newest first."""
        known = await insights.listed(owner, every=every)
        newest = sorted(known, key=lambda one: -one.created)
        return [_item(one) for one in newest[:limit]]

    async def named(self, owner: str, id: str) -> list[Item]:
        """Return the insights whose id begins so, and the run of this name."""
        known = await insights.listed(owner, every=True)
        run = await found(owner, id)
        named = [_item(one) for one in known if one.id.startswith(id)]
        return [*named, *([_run(run)] if run else [])]

    async def search(self, owner: str, query: str, limit: int) -> list[Item]:
        """Return the insights that share words with a query, best first."""
        known = await insights.listed(owner)
        ranked = await asyncio.to_thread(rank, query, [one.content for one in known])
        return [_item(known[at]) for at, score in ranked[:limit] if score > 0]

    async def edit(self, owner: str, id: str, text: str) -> Item:
        """Let an insight say something else, to every role it concerns.

        Raises:
            Problem: `not_editable` for a run, and for a text that will not do.
        """
        old = next((one for one in await insights.listed(owner, every=True) if one.id == id), None)
        words = " ".join(text.split())
        if old is None:
            raise not_editable(id, "how a run ended is not written", "dossier feedback RUN up")
        if why := WHY.get(unfit(words), "" if words else "there are no words"):
            raise not_editable(id, why, "write one sentence on what to do differently")
        told = dict.fromkeys(old.projections, words)
        new = insights.Wording(words, told, "user", "edited by the person")
        return _item(await insights.edit(owner, id, new))


def _item(one: Insight) -> Item:
    roles = dict(one.projections)
    more = {"roles": roles, "wins": one.wins, "uses": one.uses, "worth": one.score}
    ended = "joined" if one.merged_into else "ended"
    state = ended if not one.live else "" if guides(one) else UNTOLD
    return Item(
        "experience",
        one.id,
        one.content,
        kind="insight",
        state=state,
        at=one.created,
        provenance=one.provenance,
        more={**more, "merged_into": one.merged_into, "revision": one.revision},
    )


def _run(one: Experience) -> Item:
    more = {
        "status": one.status,
        "outcome": one.outcome,
        "signs": one.signs._asdict(),
        "reason": one.reason,
    }
    text = f"{one.question} ({one.status})"
    return Item("experience", one.run, text, kind="run", at=one.created, run=one.run, more=more)
