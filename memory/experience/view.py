"""The view that people have of past runs: insights, and how each run ended."""

from __future__ import annotations

import asyncio

from memory.experience import insights
from memory.experience.insights import Insight, has_guidance
from memory.experience.run_history import PastRun, find_past_run
from memory.learning.claim_checks import find_unfit_reason
from memory.learning.run_feedback import REFUSAL_REASONS
from memory.protocol import CatalogItem, not_editable_problem
from text.keyword_ranking import rank_texts

NOT_RECALLED = "not told"
"""The state of an insight that no run is told: its words are a model's, a log's or a file's."""


class ExperienceView:
    """The insights of an owner; a run is found under its name."""

    name = "experience"

    async def list_items(self, owner: str, limit: int, *, every: bool = False) -> list[CatalogItem]:
        """Return the insights, the newest first."""
        known = await insights.list_insights(owner, include_ended=every)
        newest = sorted(known, key=lambda one: -one.created)
        return [_item(one) for one in newest[:limit]]

    async def find_by_id(self, owner: str, id: str) -> list[CatalogItem]:
        """Return the insights whose id begins so, and the run of this name."""
        known = await insights.list_insights(owner, include_ended=True)
        run = await find_past_run(owner, id)
        named = [_item(one) for one in known if one.id.startswith(id)]
        return [*named, *([_run(run)] if run else [])]

    async def search(self, owner: str, query: str, limit: int) -> list[CatalogItem]:
        """Return the insights that share words with a query, best first."""
        known = await insights.list_insights(owner)
        ranked = await asyncio.to_thread(rank_texts, query, [one.content for one in known])
        return [_item(known[at]) for at, score in ranked[:limit] if score > 0]

    async def edit(self, owner: str, id: str, text: str) -> CatalogItem:
        """Let an insight say something else, to every role it concerns.

        Raises:
            Problem: `not_editable_problem` for a run, and for a text that will not do.
        """
        old = next(
            (
                one
                for one in await insights.list_insights(owner, include_ended=True)
                if one.id == id
            ),
            None,
        )
        words = " ".join(text.split())
        if old is None:
            raise not_editable_problem(
                id, "how a run ended is not written", "dossier feedback RUN up"
            )
        if why := REFUSAL_REASONS.get(
            find_unfit_reason(words), "" if words else "there are no words"
        ):
            raise not_editable_problem(id, why, "write one sentence on what to do differently")
        told = dict.fromkeys(old.projections, words)
        new = insights.InsightText(words, told, "user", "edited by the person")
        return _item(await insights.edit_insight(owner, id, new))


def _item(one: Insight) -> CatalogItem:
    roles = dict(one.projections)
    more = {"roles": roles, "wins": one.wins, "uses": one.uses, "worth": one.score}
    ended = "joined" if one.merged_into else "ended"
    state = ended if not one.live else "" if has_guidance(one) else NOT_RECALLED
    return CatalogItem(
        "experience",
        one.id,
        one.content,
        kind="insight",
        state=state,
        at=one.created,
        provenance=one.provenance,
        more={**more, "merged_into": one.merged_into, "revision": one.revision},
    )


def _run(one: PastRun) -> CatalogItem:
    more = {
        "status": one.status,
        "outcome": one.outcome,
        "signs": one.signs._asdict(),
        "reason": one.reason,
    }
    text = f"{one.question} ({one.status})"
    return CatalogItem(
        "experience", one.run, text, kind="run", at=one.created, run=one.run, more=more
    )
