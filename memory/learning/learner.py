"""Learn from what people said: at once by rules, and later, once for each thread, with a model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from config.errors import Problem
from memory.facts.cache import find_similar_facts
from memory.learning import message_queue as outbox
from memory.learning.claim_checks import is_worth_reading
from memory.learning.claim_extraction import AskMemorizer, Claim, NumberedItems, extract_claims
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
"""After this many failures only the rules are used."""

MEMORIZER_ROLE = "memorizer"


async def learn_by_rules(place: CallSite, said: PersonMessage) -> None:
    """Store a person's explicit statements; they are known from the next call on."""
    statements = extract_statements(said.text)
    if statements:
        refusals = [await save_statement(place.owner, one, said) for one in statements]
        facts = [await find_learnt_fact(place.owner, one, said.message) for one in statements]
        # A statement whose fact has ended says nothing of who somebody is.
        pairs = zip(statements, facts, strict=True)
        live = [one for one, fact in pairs if fact is None or fact.live]
        update = profile_update_from_statements(live, said)
        await PROFILE.record(place.owner, update, run=said.run, why="said so")
        await _trace(place, "ok", len(statements), refusals)


async def process_messages(
    place: CallSite, ask: AskMemorizer | None, *, thread: str = "", excluded_run: str = ""
) -> int:
    """Learn from the queued messages of an owner, and return how many there were.

    Messages that cannot be read now are tried again later.

    Args:
        place: The call site that reads, for the trace; the messages are its owner's.
        ask: Asks the model; without it only the rules are used.
        thread: The thread whose messages are read even before they are due.
        excluded_run: The run whose messages stay in the queue.
    """
    turns = await outbox.lease_messages(place.owner, thread, excluded_run)
    turns.sort(key=lambda turn: (turn.content.thread, turn.job.id))
    for _, group in groupby(turns, key=lambda turn: turn.content.thread):
        await _read(place, ask, list(group))
    return len(turns)


async def _read(place: CallSite, ask: AskMemorizer | None, turns: Sequence[QueuedMessage]) -> None:
    failed_often = max(turn.job.tries for turn in turns) >= TRIES
    if ask and not failed_often and any(is_worth_reading(turn.content.text) for turn in turns):
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


async def _learn_with_model(
    place: CallSite, ask: AskMemorizer, said: Sequence[PersonMessage]
) -> None:
    text = "\n".join(one.text for one in said)
    similar = await find_similar_facts(place.owner, text, MAX_SHOWN_FACTS)
    known = {fact.id: fact.content for fact, similarity in similar if similarity > 0}
    profile = (await load_profile(place.owner)).profile
    learnt, shown = await extract_claims(ask, said, known, profile)
    refusals = [await _save_shown_claim(place, claim, shown) for claim in learnt.facts]
    update, more = profile_update_from_manner(learnt.profile, shown)
    await PROFILE.record(
        place.owner, update, provenance="model", run=said[-1].run, why="read in what was said"
    )
    await _trace(place, "ok", len(learnt.facts), [*refusals, *more])


async def _save_shown_claim(place: CallSite, claim: Claim, shown: NumberedItems) -> str:
    """Store a claim about a message that was shown; return why not, "" if it is stored."""
    said = shown.messages.get(claim.message)
    if said is None:
        return "not_offered"
    return await save_claim(place.owner, claim, said, shown.facts.get(claim.replaces or 0, ""))


async def _trace(place: CallSite, status: str, read: int, refusals: Sequence[str]) -> None:
    """Record how many things were read, and why some are not stored; never what they say."""
    reasons = [reason for reason in refusals if reason]
    await trace(place, "learn", MEMORIZER_ROLE, status, read=read, refused=reasons)
