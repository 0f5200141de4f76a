"""Learn from what people said: at once by rules, and later, once for each thread, with a model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from config.errors import Problem
from memory.facts.cache import find_similar_facts
from memory.learning import message_queue as outbox
from memory.learning.claim_checks import is_worth_reading
from memory.learning.claim_extraction import AskMemorizer, Learnt, NumberedItems, extract_claims
from memory.learning.knowledge_updates import (
    MAX_SHOWN_FACTS,
    find_learnt_fact,
    profile_update_from_manner,
    profile_update_from_statements,
    save_claim,
    save_statement,
)
from memory.learning.message_queue import PersonMessage, QueuedMessage
from memory.learning.self_statements import extract_statements
from memory.profile.memory import PROFILE
from memory.profile.store import load_profile
from runs.call_site import CallSite
from runs.trace import trace

TRIES = 4
"""After so many failures the rules alone must do."""

MEMORIZER_ROLE = "memorizer"


async def learn_by_rules(place: CallSite, said: PersonMessage) -> None:
    """Keep what a person says in so many words; it is known from the next call on."""
    statements = extract_statements(said.text)
    if statements:
        refused = [await save_statement(place.owner, one, said) for one in statements]
        before = [await find_learnt_fact(place.owner, one, said.message) for one in statements]
        # What is history by now says nothing of who somebody is.
        pairs = zip(statements, before, strict=True)
        told = profile_update_from_statements(
            [one for one, fact in pairs if fact is None or fact.live], said
        )
        await PROFILE.record(place.owner, told, run=said.run, why="said so")
        await _trace(place, "ok", len(statements), refused)


async def process_messages(
    place: CallSite, ask: AskMemorizer | None, *, thread: str = "", excluded_run: str = ""
) -> int:
    """Read what an owner said and nobody has read yet, and return how many messages that were.

    What cannot be read now is left, and tried again later.

    Args:
        place: Who reads, for the trace; what is read belongs to its owner.
        ask: The door to the model; without one the rules alone read.
        thread: Whose messages are read even when they are not due.
        excluded_run: The run whose messages are left.
    """
    taken = await outbox.lease_messages(place.owner, thread, excluded_run)
    taken.sort(key=lambda one: (one.content.thread, one.job.id))
    for _, some in groupby(taken, key=lambda one: one.content.thread):
        await _read(place, ask, list(some))
    return len(taken)


async def _read(place: CallSite, ask: AskMemorizer | None, turns: Sequence[QueuedMessage]) -> None:
    if ask and _worth_asking(turns):
        try:
            await _learn_with_model(place, ask, [turn.content for turn in turns])
        except Problem as problem:
            await outbox.postpone_messages(turns)
            await _trace(place, problem.code, 0, [])
            return
    else:
        for turn in turns:
            await learn_by_rules(place, turn.content)
    await outbox.complete_messages(turns)


def _worth_asking(turns: Sequence[QueuedMessage]) -> bool:
    """Tell whether a model might find anything in messages, and has not failed too often."""
    tired = max(turn.job.tries for turn in turns) >= TRIES
    return not tired and any(is_worth_reading(turn.content.text) for turn in turns)


async def _learn_with_model(
    place: CallSite, ask: AskMemorizer, said: Sequence[PersonMessage]
) -> None:
    text = "\n".join(one.text for one in said)
    known = {
        one.id: one.content
        for one, alike in await find_similar_facts(place.owner, text, MAX_SHOWN_FACTS)
        if alike > 0
    }
    learnt, shown = await extract_claims(
        ask, said, known, (await load_profile(place.owner)).profile
    )
    refused = await _facts(place, learnt, shown)
    told, more = profile_update_from_manner(learnt.profile, shown)
    await PROFILE.record(
        place.owner, told, provenance="model", run=said[-1].run, why="read in what was said"
    )
    await _trace(place, "ok", len(learnt.facts), [*refused, *more])


async def _facts(place: CallSite, learnt: Learnt, shown: NumberedItems) -> list[str]:
    """Keep the facts; return why others are not kept."""
    refused = []
    for claim in learnt.facts:
        said = shown.messages.get(claim.message)
        replaces = shown.facts.get(claim.replaces or 0, "")
        why = await save_claim(place.owner, claim, said, replaces) if said else "not_offered"
        refused.append(why)
    return refused


async def _trace(place: CallSite, status: str, read: int, refused: Sequence[str]) -> None:
    """Write down how many things were read, and why some are not kept; never what they say."""
    reasons = [one for one in refused if one]
    await trace(place, "learn", MEMORIZER_ROLE, status, read=read, refused=reasons)
